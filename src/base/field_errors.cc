#include "base/field_errors.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/utf8.h"

namespace muster {

Error gather(std::vector<FieldError> errors, std::size_t unnamed) {
  MUSTER_CHECK(!errors.empty(), "an error without anything wrong");
  const FieldError& first = errors.front();
  const bool alike =
      std::ranges::all_of(errors, [&](const FieldError& each) { return each.code == first.code; });
  std::string message = first.detail;
  if (const std::size_t count = errors.size() + unnamed; count > 1) {
    message = fmt::format("{} fields are wrong, the first: {}", count, message);
  }
  const ErrorCode code = alike ? first.code : ErrorCode::InvalidRequest;
  return {code, std::move(message), std::move(errors)};
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kShown = 64;
  if (text.size() <= kShown) return fmt::format("'{}'", text);
  return fmt::format("'{}...'", utf8_front(text, kShown));
}

std::string_view type_of(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "a list";
    case Json::value_t::string:
      return "a string";
    case Json::value_t::boolean:
      return "a boolean";
    default:
      return "a number";
  }
}

std::string pointer_to_field(std::string_view pointer, std::string_view field) {
  std::string result(pointer);
  result.reserve(pointer.size() + 1 + field.size());
  result += '/';
  for (const char c : field) {
    if (c == '~') {
      result += "~0";
    } else if (c == '/') {
      result += "~1";
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace muster
