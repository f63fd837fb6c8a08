#include "cli/inputs.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace muster::cli {
namespace {

constexpr std::size_t kFileMax = std::size_t{16} << 20;
constexpr std::size_t kKeyPartsMax = 32;

std::vector<std::string> split_key(std::string_view key) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (key[i] == '\\' && i + 1 < key.size() && key[i + 1] == '.') {
      parts.back() += '.';
      ++i;
    } else if (key[i] == '.') {
      parts.emplace_back();
    } else {
      parts.back() += key[i];
    }
  }
  return parts;
}

}  // namespace

Result<void> apply_input(Json& object, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return fail(ErrorCode::InvalidValue, "input '{}' is not key=value", text);
  }
  const std::string_view key = text.substr(0, equals);
  const std::vector<std::string> parts = split_key(key);
  if (parts.size() > kKeyPartsMax) {
    return fail(ErrorCode::InvalidValue, "input key '{}' nests deeper than {}", key, kKeyPartsMax);
  }
  Json* place = &object;
  for (const std::string& part : parts) {
    if (part.empty()) {
      return fail(ErrorCode::InvalidValue, "input key '{}' has an empty part", key);
    }
    if (place->is_null()) *place = Json::object();
    if (!place->is_object()) {
      return fail(ErrorCode::InvalidValue,
                  "input key '{}' goes through a value that is no object: {}", key,
                  dump_json(*place).substr(0, 64));
    }
    place = &(*place)[part];
  }
  const std::string_view value = text.substr(equals + 1);
  Result<Json> parsed = parse_json(value);
  *place = parsed ? std::move(*parsed) : Json(std::string(value));
  return {};
}

Result<Json> read_json_argument(std::string_view text, std::string_view option) {
  std::string content(text);
  if (text == "-" || text.starts_with('@')) {
    MUSTER_TRY_ASSIGN(content, read_input_file(text == "-" ? "-" : std::string(text.substr(1))));
  }
  Result<Json> parsed = parse_json(content);
  if (!parsed) return fail(std::move(parsed.error()).wrap(option));
  return parsed;
}

Result<std::string> read_input_file(const std::string& path) {
  const auto close = [](std::FILE* file) {
    if (file != stdin) std::fclose(file);
  };
  std::unique_ptr<std::FILE, decltype(close)> file(
      path == "-" ? stdin : std::fopen(path.c_str(), "re"), close);
  if (!file) {
    return fail(ErrorCode::InvalidValue, "cannot read '{}': {}", path, std::strerror(errno));
  }
  std::string content;
  std::string buffer(std::size_t{64} << 10, '\0');
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    content.append(buffer, 0, got);
    if (content.size() > kFileMax) {
      return fail(ErrorCode::BodyTooLarge, "'{}' is larger than {} bytes", path, kFileMax);
    }
  }
  if (std::ferror(file.get()) != 0) {
    return fail(ErrorCode::InvalidValue, "cannot read '{}': {}", path, std::strerror(errno));
  }
  return content;
}

}  // namespace muster::cli
