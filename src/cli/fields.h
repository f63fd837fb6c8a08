#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"

// Reading answers of the API without trusting their shape: a field that is missing, null or of
// another type reads as empty, so that a newer or older controller never breaks a table.

namespace muster::cli {

const Json& json_at(const Json& object, std::string_view key);  // a null where there is none
std::string json_text(const Json& object, std::string_view key);
std::int64_t json_int(const Json& object, std::string_view key);
bool json_bool(const Json& object, std::string_view key);
// Of a list of texts, or of objects the text at this key.
std::vector<std::string> json_texts(const Json& list, std::string_view key = {});
Timestamp json_time(const Json& object, std::string_view key);
// A value as one cell: text as it is, numbers and lists in short, null empty.
std::string json_cell(const Json& value);
// "3m" since the time in the field; empty where there is none.
std::string json_age(const Json& object, std::string_view key, Timestamp now);

// The first eight digits of a UUID; anything else as it is.
std::string short_id(std::string_view id);

bool is_final_status(std::string_view status);

}  // namespace muster::cli
