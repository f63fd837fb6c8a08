#include "cli/fields.h"

#include <fmt/format.h>

namespace muster::cli {

const Json& json_at(const Json& object, std::string_view key) {
  static const Json kNull = nullptr;
  if (!object.is_object()) return kNull;
  const auto found = object.find(std::string(key));
  return found == object.end() ? kNull : *found;
}

std::string json_text(const Json& object, std::string_view key) {
  const Json& value = json_at(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::int64_t json_int(const Json& object, std::string_view key) {
  const Json& value = json_at(object, key);
  if (value.is_number_unsigned()) return static_cast<std::int64_t>(value.get<std::uint64_t>());
  return value.is_number_integer() ? value.get<std::int64_t>() : 0;
}

bool json_bool(const Json& object, std::string_view key) {
  const Json& value = json_at(object, key);
  return value.is_boolean() && value.get<bool>();
}

std::vector<std::string> json_texts(const Json& list, std::string_view key) {
  std::vector<std::string> texts;
  for (const Json& each : list) {
    texts.push_back(key.empty() && each.is_string() ? each.get<std::string>()
                                                    : json_text(each, key));
  }
  return texts;
}

Timestamp json_time(const Json& object, std::string_view key) {
  const std::string text = json_text(object, key);
  if (text.empty()) return {};
  const Result<Timestamp> time = parse_rfc3339(text);
  return time ? *time : Timestamp{};
}

std::string json_cell(const Json& value) {
  if (value.is_null()) return {};
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  std::string text;
  if (value.is_array()) {
    for (const Json& item : value) text += (text.empty() ? "" : ",") + json_cell(item);
    return text;
  }
  if (value.is_object()) {
    for (const auto& [key, item] : value.items()) {
      text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, json_cell(item));
    }
    return text;
  }
  return dump_json(value);
}

std::string json_age(const Json& object, std::string_view key, Timestamp now) {
  const Timestamp time = json_time(object, key);
  return time.is_set() ? format_age(now - time) : std::string();
}

std::string short_id(std::string_view id) {
  constexpr std::size_t kUuidLength = 36;
  return std::string(id.size() == kUuidLength ? id.substr(0, 8) : id);
}

bool is_final_status(std::string_view status) {
  return status == "SUCCEEDED" || status == "DONE" || status == "FAILED" || status == "CANCELLED" ||
         status == "LOST";
}

}  // namespace muster::cli
