#include "controller/api_body.h"

#include <algorithm>
#include <cmath>

#include "base/nearest.h"
#include "base/utf8.h"

namespace muster::controller {
namespace {

constexpr Duration kDurationMax = Duration::days(36'500);

const Json& empty_object() {
  static const Json empty = Json::object();
  return empty;
}

bool is_printable(char32_t point) {
  const bool control = point < 0x20 || (point >= 0x7F && point < 0xA0);
  const bool line_break = point == 0x2028 || point == 0x2029;
  return !control && !line_break;
}

}  // namespace

std::optional<std::string> text_problem(std::string_view text, std::size_t characters_max,
                                        bool may_be_empty) {
  if (text.empty()) {
    if (may_be_empty) return std::nullopt;
    return fmt::format("must have 1 to {} characters, it has none", characters_max);
  }
  std::size_t characters = 0;
  for (std::string_view rest = text; !rest.empty(); ++characters) {
    const Character character = first_character(rest);
    if (!is_printable(character.value)) {
      return fmt::format("must have printable characters only, character {} is U+{:04X}",
                         characters + 1, static_cast<std::uint32_t>(character.value));
    }
    rest.remove_prefix(character.bytes);
  }
  if (characters > characters_max) {
    return fmt::format("has {} characters, at most {} are allowed", characters, characters_max);
  }
  return std::nullopt;
}

Result<Json> parse_body(std::string_view body) {
  if (body.empty()) {
    return fail(ErrorCode::InvalidJson, "the body is empty, it must be a JSON object");
  }
  return parse_json(body);
}

void Problems::add(std::string pointer, ErrorCode code, std::string detail) {
  if (full()) {
    ++dropped_;
    return;
  }
  fields_.push_back({std::move(pointer), code, std::move(detail)});
}

void Problems::add_all(std::vector<FieldError> errors) {
  for (FieldError& error : errors) {
    add(std::move(error.pointer), error.code, std::move(error.detail));
  }
}

bool Problems::has(std::string_view pointer) const {
  return std::ranges::any_of(fields_,
                             [&](const FieldError& field) { return field.pointer == pointer; });
}

Error Problems::to_error() const { return gather(fields_, dropped_); }

ObjectReader::ObjectReader(const Json& value, std::string pointer, Problems& problems)
    : object_(value.is_object() ? value : empty_object()),
      pointer_(std::move(pointer)),
      problems_(problems) {
  if (!value.is_object()) {
    problems_.add(pointer_, ErrorCode::InvalidValue,
                  fmt::format("must be an object, not {}", type_of(value)));
  }
}

std::string ObjectReader::pointer_to(std::string_view field) const {
  return pointer_to_field(pointer_, field);
}

void ObjectReader::invalid(std::string_view field, std::string detail) {
  problems_.add(pointer_to(field), ErrorCode::InvalidValue, std::move(detail));
}

const Json* ObjectReader::find(std::string_view field) {
  if (std::ranges::find(known_, field) == known_.end()) known_.push_back(field);
  const auto found = object_.find(field);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

bool ObjectReader::is_null(std::string_view field) const {
  const auto found = object_.find(field);
  return found != object_.end() && found->is_null();
}

const Json* ObjectReader::require(std::string_view field) {
  const Json* value = find(field);
  if (value == nullptr) {
    problems_.add(pointer_to(field), ErrorCode::MissingField, fmt::format("{} is required", field));
  }
  return value;
}

std::optional<std::string> ObjectReader::text(std::string_view field, std::size_t characters_max,
                                              bool may_be_empty) {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) {
    invalid(field, fmt::format("{} must be a string, not {}", field, type_of(*value)));
    return std::nullopt;
  }
  const auto& text = value->get_ref<const std::string&>();
  if (const auto problem = text_problem(text, characters_max, may_be_empty)) {
    invalid(field, fmt::format("{} {}", field, *problem));
    return std::nullopt;
  }
  return text;
}

std::optional<bool> ObjectReader::flag(std::string_view field) {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) {
    invalid(field, fmt::format("{} must be true or false, not {}", field, type_of(*value)));
    return std::nullopt;
  }
  return value->get<bool>();
}

std::optional<std::uint64_t> ObjectReader::number(std::string_view field, std::uint64_t min,
                                                  std::uint64_t max) {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (value->is_number_unsigned()) {
    const auto number = value->get<std::uint64_t>();
    if (number >= min && number <= max) return number;
  }
  if (value->is_number()) {
    invalid(field, fmt::format("{} is {}, it must be a whole number between {} and {}", field,
                               dump_json(*value), min, max));
  } else {
    invalid(field, fmt::format("{} must be a whole number, not {}", field, type_of(*value)));
  }
  return std::nullopt;
}

std::optional<Duration> ObjectReader::duration(std::string_view field) {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) {
    const auto& text = value->get_ref<const std::string&>();
    const Result<Duration> parsed = parse_duration(text);
    if (parsed) return *parsed;
    invalid(field, text.starts_with('-') ? fmt::format("{} is '{}', it must not be negative", field,
                                                       text.substr(0, 64))
                                         : fmt::format("{}: {}", field, parsed.error().message));
    return std::nullopt;
  }
  if (!value->is_number()) {
    invalid(field, fmt::format("{} must be a number of seconds or a string like 90s, not {}", field,
                               type_of(*value)));
    return std::nullopt;
  }
  const auto seconds = value->get<double>();
  if (seconds < 0) {
    invalid(field, fmt::format("{} is {}, it must not be negative", field, dump_json(*value)));
    return std::nullopt;
  }
  // Written so that NaN is refused too; the bound keeps the conversion from overflowing.
  if (!(seconds <= kDurationMax.as_seconds())) {
    invalid(field, fmt::format("{} is {}, at most {} seconds are allowed", field, dump_json(*value),
                               kDurationMax.us / 1'000'000));
    return std::nullopt;
  }
  return Duration::micros(std::llround(seconds * 1e6));
}

std::optional<Timestamp> ObjectReader::time(std::string_view field) {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) {
    invalid(field, fmt::format("{} must be an RFC 3339 time like 2026-11-15T03:00:00Z, not {}",
                               field, type_of(*value)));
    return std::nullopt;
  }
  const Result<Timestamp> parsed = parse_rfc3339(value->get_ref<const std::string&>());
  if (parsed && parsed->is_set()) return *parsed;
  invalid(field, parsed ? fmt::format("{} must be after 1970-01-01T00:00:00Z", field)
                        : fmt::format("{}: {}", field, parsed.error().message));
  return std::nullopt;
}

std::optional<std::vector<std::string>> ObjectReader::texts(std::string_view field,
                                                            std::size_t count_max,
                                                            std::size_t characters_max) {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) {
    invalid(field, fmt::format("{} must be a list of strings, not {}", field, type_of(*value)));
    return std::nullopt;
  }
  if (value->size() > count_max) {
    invalid(field, fmt::format("{} has {} entries, at most {} are allowed", field, value->size(),
                               count_max));
    return std::nullopt;
  }
  std::vector<std::string> texts;
  texts.reserve(value->size());
  for (std::size_t i = 0; i < value->size() && !problems_.full(); ++i) {
    const Json& entry = (*value)[i];
    std::optional<std::string> problem;
    if (entry.is_string()) {
      problem = text_problem(entry.get_ref<const std::string&>(), characters_max, false);
    } else {
      problem = fmt::format("must be a string, not {}", type_of(entry));
    }
    if (problem) {
      problems_.add(fmt::format("{}/{}", pointer_to(field), i), ErrorCode::InvalidValue,
                    fmt::format("{}[{}] {}", field, i, *problem));
      texts.emplace_back();
    } else {
      texts.push_back(entry.get<std::string>());
    }
  }
  return texts;
}

void ObjectReader::finish() {
  for (const auto& [field, value] : object_.items()) {
    if (problems_.full()) return;
    if (std::ranges::find(known_, field) != known_.end()) continue;
    problems_.add(
        pointer_to(field), ErrorCode::UnknownField,
        fmt::format("there is no field {}{}", in_quotes(field), did_you_mean(field, known_)));
  }
}

}  // namespace muster::controller
