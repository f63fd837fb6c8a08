#include "http/request_checks.h"

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/field_errors.h"
#include "base/number.h"

namespace muster::http {
namespace {

std::string header_of(const Request& request, const std::string& name) {
  const auto found = request.headers.find(name);
  return found == request.headers.end() ? std::string() : found->second;
}

}  // namespace

Result<void> check_json_body(const Request& request) {
  const std::string type = header_of(request, "content-type");
  std::string media = type.substr(0, type.find(';'));
  while (!media.empty() && media.back() == ' ') media.pop_back();
  if (equals_ignoring_case(media, "application/json")) return {};
  return fail(ErrorCode::UnsupportedMediaType,
              "the Content-Type is {}, it must be application/json", in_quotes(type));
}

Result<std::optional<std::uint64_t>> parse_if_match(const Request& request) {
  if (!request.headers.contains("if-match")) return std::nullopt;
  const std::string text = header_of(request, "if-match");
  if (text == "*") return std::nullopt;
  if (text.size() > 2 && text.front() == '"' && text.back() == '"') {
    const auto revision =
        whole_number<std::uint64_t>(std::string_view(text).substr(1, text.size() - 2));
    if (revision) return revision;
  }
  return fail(ErrorCode::InvalidValue,
              "the header If-Match is {}, it must be an ETag as the action has it, like \"3\"",
              in_quotes(text));
}

Error query_error(std::string_view key, ErrorCode code, std::string detail) {
  FieldError field{fmt::format("?{}", key), code, detail};
  return Error{code, std::move(detail), {std::move(field)}};
}

Result<std::optional<std::uint64_t>> query_number(const Query& query, std::string_view key,
                                                  std::uint64_t min, std::uint64_t max) {
  if (!query.has(key)) return std::nullopt;
  const std::string text = query.get(key);
  const auto number = whole_number<std::uint64_t>(text);
  if (number && *number >= min && *number <= max) return number;
  return fail(query_error(key, ErrorCode::InvalidValue,
                          fmt::format("{} is {}, it must be a whole number between {} and {}", key,
                                      in_quotes(text), min, max)));
}

Result<bool> query_flag(const Query& query, std::string_view key) {
  if (!query.has(key)) return false;
  const std::string text = query.get(key);
  if (text == "true" || text == "1" || text.empty()) return true;
  if (text == "false" || text == "0") return false;
  return fail(query_error(key, ErrorCode::InvalidValue,
                          fmt::format("{} is {}, it must be true or false", key, in_quotes(text))));
}

}  // namespace muster::http
