#include "sitefile/placeholders.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/nearest.h"
#include "document/reader.h"
#include "model/quoted.h"
#include "sitefile/text_file.h"

namespace muster::sitefile {
namespace {

constexpr std::string_view kMark = "%%";

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-';
}

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_name_character);
}

std::string name_problem(std::string_view name) {
  return fmt::format(
      "{} is not a placeholder's name; letters, digits, '_', '.' and '-' are allowed",
      model::quoted(name));
}

}  // namespace

std::optional<std::string_view> placeholder_name(std::string_view value) {
  if (!value.starts_with(kMark) || !value.ends_with(kMark)) return std::nullopt;
  if (value.size() <= 2 * kMark.size()) return std::nullopt;
  const std::string_view name = value.substr(kMark.size(), value.size() - 2 * kMark.size());
  return is_name(name) ? std::optional(name) : std::nullopt;
}

Result<std::pair<std::string, std::string>> parse_setting(std::string_view text) {
  const std::size_t sign = text.find('=');
  if (sign == std::string_view::npos) {
    return fail(ErrorCode::InvalidValue, "{} is not of the form name=value", model::quoted(text));
  }
  const std::string_view name = text.substr(0, sign);
  if (!is_name(name)) return fail(ErrorCode::InvalidValue, "{}", name_problem(name));
  return std::pair(std::string(name), std::string(text.substr(sign + 1)));
}

Values read_values_text(std::string_view text, const std::string& file,
                        document::Problems& problems) {
  Values values;
  document::ReadDocument read = document::read_document(text, file);
  if (!read.good()) {
    problems.add(std::move(read.problems));
    return values;
  }
  const document::Value& root = read.document.root;
  if (root.map() == nullptr) {
    if (root.kind() == document::Kind::Null) return values;
    problems.add(read.document.place(root.mark),
                 fmt::format("values are a mapping of names to texts; here is {}",
                             document::kind_words(root.kind())));
    return values;
  }
  for (const document::Entry& entry : *root.map()) {
    if (!is_name(entry.key)) {
      problems.add(read.document.place(entry.mark), name_problem(entry.key));
      continue;
    }
    std::optional<std::string> value = document::read_text(
        read.document, entry.value, fmt::format("the value of '{}'", entry.key), problems);
    if (value) values.emplace(entry.key, std::move(*value));
  }
  return values;
}

Values read_values(const std::string& path, document::Problems& problems) {
  const std::optional<std::string> text = read_text_file(path, kTextFileMax, problems);
  return text ? read_values_text(*text, path, problems) : Values();
}

std::string Placeholders::resolve_found(Found found) {
  const auto value = values_.find(found.name);
  if (value == values_.end()) {
    std::vector<std::string_view> names;
    for (const auto& [name, unused] : values_) names.push_back(name);
    problems_.add(found.place, fmt::format("the placeholder %%{}%% has no value{}", found.name,
                                           did_you_mean(found.name, names)));
  } else {
    used_.insert(found.name);
  }
  found_.push_back(std::move(found));
  return value == values_.end() ? std::string() : value->second;
}

std::vector<std::string> Placeholders::unused() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : values_) {
    if (!used_.contains(name)) names.push_back(name);
  }
  return names;
}

}  // namespace muster::sitefile
