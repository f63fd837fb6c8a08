#include "core/kind/field_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/field_errors.h"
#include "base/nearest.h"

namespace muster::core {
namespace {

const Json& empty_object() {
  static const Json empty = Json::object();
  return empty;
}

struct SizeUnit {
  std::string_view suffix;
  std::uint64_t bytes;
};

constexpr std::array kSizeUnits = {
    SizeUnit{"KiB", 1ULL << 10},
    SizeUnit{"MiB", 1ULL << 20},
    SizeUnit{"GiB", 1ULL << 30},
    SizeUnit{"TiB", 1ULL << 40},
    SizeUnit{"KB", 1000},
    SizeUnit{"MB", 1'000'000},
    SizeUnit{"GB", 1000000000},
    SizeUnit{"TB", 1000000000000},
    SizeUnit{"B", 1},
    SizeUnit{"", 1},
};

std::optional<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  for (const SizeUnit& unit : kSizeUnits) {
    if (text != unit.suffix) continue;
    if (number > std::numeric_limits<std::uint64_t>::max() / unit.bytes) return std::nullopt;
    return number * unit.bytes;
  }
  return std::nullopt;
}

// The whole number in `value`, if it has one that fits.
std::optional<std::int64_t> whole_number(const Json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return std::nullopt;
    }
    return static_cast<std::int64_t>(number);
  }
  return value.get<std::int64_t>();
}

}  // namespace

FieldReader::FieldReader(const Json& object, std::string_view pointer,
                         std::vector<FieldError>& errors)
    : object_(object.is_object() ? object : empty_object()),
      pointer_(pointer),
      errors_(errors),
      errors_before_(errors.size()) {
  if (!object.is_object()) {
    add(pointer_, ErrorCode::InvalidValue,
        fmt::format("must be an object, not {}", type_of(object)));
  }
}

void FieldReader::add(std::string pointer, ErrorCode code, std::string detail) {
  if (errors_.size() - errors_before_ >= kErrorsMax) return;
  errors_.push_back({.pointer = std::move(pointer), .code = code, .detail = std::move(detail)});
}

std::string FieldReader::pointer_to(std::string_view field) const {
  return pointer_to_field(pointer_, field);
}

const Json* FieldReader::find(std::string_view field) {
  if (std::ranges::find(known_, field) == known_.end()) known_.push_back(field);
  const auto found = object_.find(field);
  return found == object_.end() ? nullptr : &*found;
}

bool FieldReader::has(std::string_view field) { return find(field) != nullptr; }

void FieldReader::require(std::string_view field) {
  if (has(field)) return;
  add(pointer_to(field), ErrorCode::MissingField, fmt::format("{} is required", field));
}

void FieldReader::missing(std::string_view field, std::string detail) {
  add(pointer_to(field), ErrorCode::MissingField, std::move(detail));
}

void FieldReader::invalid(std::string_view field, std::string detail) {
  add(pointer_to(field), ErrorCode::InvalidValue, std::move(detail));
}

std::optional<std::string> FieldReader::checked_text(const Json& value, const std::string& pointer,
                                                     std::string_view subject, TextLimits limits,
                                                     const TextCheck& check) {
  const auto refuse = [&](std::string detail) {
    add(pointer, ErrorCode::InvalidValue, std::move(detail));
    return std::nullopt;
  };
  if (!value.is_string()) {
    return refuse(fmt::format("{} must be a string, not {}", subject, type_of(value)));
  }
  const auto& text = value.get_ref<const std::string&>();
  if (text.empty() && !limits.may_be_empty) {
    return refuse(fmt::format("{} must not be empty", subject));
  }
  if (text.size() > limits.bytes_max) {
    return refuse(fmt::format("{} has {} bytes, at most {} are allowed", subject, text.size(),
                              limits.bytes_max));
  }
  if (text.find('\0') != std::string::npos) {
    return refuse(fmt::format("{} must not contain a NUL byte", subject));
  }
  if (check) {
    if (const auto problem = check(text)) return refuse(fmt::format("{} {}", subject, *problem));
  }
  return text;
}

std::optional<std::string> FieldReader::text(std::string_view field, TextLimits limits,
                                             const TextCheck& check) {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  return checked_text(*value, pointer_to(field), field, limits, check);
}

std::optional<std::string> FieldReader::one_of(std::string_view field,
                                               const std::vector<std::string_view>& allowed) {
  return text(field, {}, [&](std::string_view given) -> std::optional<std::string> {
    if (std::ranges::find(allowed, given) != allowed.end()) return std::nullopt;
    return fmt::format("is {}, it must be one of {}{}", in_quotes(given), fmt::join(allowed, ", "),
                       did_you_mean(given, allowed));
  });
}

std::optional<bool> FieldReader::flag(std::string_view field) {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) {
    invalid(field, fmt::format("{} must be true or false, not {}", field, type_of(*value)));
    return std::nullopt;
  }
  return value->get<bool>();
}

std::optional<Duration> FieldReader::duration(std::string_view field, Duration min, Duration max) {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  std::optional<Duration> parsed;
  if (value->is_number()) {
    const double seconds = value->get<double>();
    // Written so that NaN is refused too. The bound keeps the conversion below from overflowing.
    if (seconds >= 0 && seconds <= Duration::days(36'500).as_seconds()) {
      parsed = Duration::micros(std::llround(seconds * 1e6));
    }
  } else if (value->is_string()) {
    const auto result = parse_duration(value->get_ref<const std::string&>());
    if (!result) {
      invalid(field, fmt::format("{}: {}", field, result.error().message));
      return std::nullopt;
    }
    parsed = *result;
  } else {
    invalid(field, fmt::format("{} must be a number of seconds or a string like 90s, not {}", field,
                               type_of(*value)));
    return std::nullopt;
  }
  if (!parsed || *parsed < min || *parsed > max) {
    invalid(field, fmt::format("{} is {}, it must be between {} and {}", field, dump_json(*value),
                               format_duration(min), format_duration(max)));
    return std::nullopt;
  }
  return parsed;
}

std::optional<std::uint64_t> FieldReader::bytes(std::string_view field, std::uint64_t max) {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  std::optional<std::uint64_t> parsed;
  if (value->is_string()) {
    parsed = parse_size(value->get_ref<const std::string&>());
  } else if (value->is_number_unsigned()) {
    parsed = value->get<std::uint64_t>();
  } else if (const auto number = whole_number(*value); number && *number >= 0) {
    parsed = static_cast<std::uint64_t>(*number);
  }
  if (!parsed) {
    invalid(field,
            fmt::format("{} must be a number of bytes or a string like 512MiB or 1GB", field));
    return std::nullopt;
  }
  if (*parsed > max) {
    invalid(field, fmt::format("{} is {} bytes, at most {} are allowed", field, *parsed, max));
    return std::nullopt;
  }
  return parsed;
}

std::optional<std::vector<int>> FieldReader::numbers(std::string_view field, int min, int max,
                                                     std::size_t count_max) {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) {
    invalid(field,
            fmt::format("{} must be a list of whole numbers, not {}", field, type_of(*value)));
    return std::nullopt;
  }
  if (value->size() > count_max) {
    invalid(field, fmt::format("{} has {} entries, at most {} are allowed", field, value->size(),
                               count_max));
    return std::nullopt;
  }
  std::vector<int> numbers;
  bool complete = true;
  for (std::size_t i = 0; i < value->size(); ++i) {
    const Json& entry = (*value)[i];
    const auto number = whole_number(entry);
    if (number && *number >= min && *number <= max) {
      numbers.push_back(static_cast<int>(*number));
      continue;
    }
    complete = false;
    add(fmt::format("{}/{}", pointer_to(field), i), ErrorCode::InvalidValue,
        entry.is_number()
            ? fmt::format("{} is {}, it must be a whole number between {} and {}", field,
                          dump_json(entry), min, max)
            : fmt::format("{} must hold whole numbers, not {}", field, type_of(entry)));
  }
  return complete ? std::optional(std::move(numbers)) : std::nullopt;
}

std::optional<std::vector<std::string>> FieldReader::texts(std::string_view field,
                                                           std::size_t bytes_max) {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) {
    invalid(field, fmt::format("{} must be a list of strings, not {}", field, type_of(*value)));
    return std::nullopt;
  }
  std::vector<std::string> texts;
  std::size_t total = 0;
  bool complete = true;
  for (std::size_t i = 0; i < value->size(); ++i) {
    auto text = checked_text((*value)[i], fmt::format("{}/{}", pointer_to(field), i),
                             fmt::format("{}[{}]", field, i),
                             {.bytes_max = bytes_max, .may_be_empty = true}, nullptr);
    complete = complete && text.has_value();
    if (!text) continue;
    total += text->size() + 1;
    texts.push_back(*std::move(text));
  }
  if (total > bytes_max) {
    invalid(field,
            fmt::format("{} has {} bytes in all, at most {} are allowed", field, total, bytes_max));
    return std::nullopt;
  }
  return complete ? std::optional(std::move(texts)) : std::nullopt;
}

std::optional<std::map<std::string, std::string>> FieldReader::text_map(
    std::string_view field, std::size_t bytes_max, const TextCheck& check_name) {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (value->is_object()) {
    for (const auto& [name, entry] : value->items()) {
      if (!entry.is_array()) continue;
      add(pointer_to_field(pointer_to(field), name), ErrorCode::InvalidValue,
          fmt::format("{} must be a string, not a list", in_quotes(name)));
      return std::nullopt;
    }
  }
  const auto pairs = text_pairs(field, bytes_max, check_name, nullptr);
  if (!pairs) return std::nullopt;
  return std::map<std::string, std::string>(pairs->begin(), pairs->end());
}

std::optional<std::vector<std::pair<std::string, std::string>>> FieldReader::text_pairs(
    std::string_view field, std::size_t bytes_max, const TextCheck& check_name,
    const TextCheck& check_value) {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) {
    invalid(field, fmt::format("{} must be an object of strings, not {}", field, type_of(*value)));
    return std::nullopt;
  }
  std::vector<std::pair<std::string, std::string>> pairs;
  std::size_t total = 0;
  bool complete = true;
  for (const auto& [name, entry] : value->items()) {
    const std::string pointer = pointer_to_field(pointer_to(field), name);
    const auto name_ok =
        checked_text(Json(name), pointer, fmt::format("the name {}", in_quotes(name)),
                     {.bytes_max = bytes_max}, check_name);
    const bool many = entry.is_array();
    complete = complete && name_ok.has_value();
    for (std::size_t i = 0; i < (many ? entry.size() : 1); ++i) {
      auto text = checked_text(many ? entry[i] : entry,
                               many ? fmt::format("{}/{}", pointer, i) : pointer, in_quotes(name),
                               {.bytes_max = bytes_max, .may_be_empty = true}, check_value);
      complete = complete && text.has_value();
      if (!text) continue;
      total += name.size() + text->size() + 2;
      pairs.emplace_back(name, *std::move(text));
    }
  }
  if (total > bytes_max) {
    invalid(field,
            fmt::format("{} has {} bytes in all, at most {} are allowed", field, total, bytes_max));
    return std::nullopt;
  }
  return complete ? std::optional(std::move(pairs)) : std::nullopt;
}

void FieldReader::finish() {
  for (const auto& [field, value] : object_.items()) {
    if (errors_.size() - errors_before_ >= kErrorsMax) return;
    if (std::ranges::find(known_, field) != known_.end()) continue;
    std::string detail = fmt::format("there is no input {}", in_quotes(field));
    const std::string hint = did_you_mean(field, known_);
    if (!hint.empty()) {
      detail += hint;
    } else if (known_.empty()) {
      detail += ", this kind of action takes none";
    } else {
      detail += fmt::format(", known are {}", fmt::join(known_, ", "));
    }
    add(pointer_to(field), ErrorCode::UnknownField, std::move(detail));
  }
}

}  // namespace muster::core
