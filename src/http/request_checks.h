#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/result.h"
#include "http/router.h"
#include "http/server.h"

// What handlers check in every request the same way. Pure.

namespace muster::http {

// A body must be declared as JSON. Pages of a browser cannot do that to another origin unasked, so
// this also keeps them away from a loopback port. Error: UnsupportedMediaType.
Result<void> check_json_body(const Request& request);

// The revision that If-Match asks for; nothing if there is no such header, or it takes any. Error:
// InvalidValue.
Result<std::optional<std::uint64_t>> parse_if_match(const Request& request);

// A whole number of the query between bounds; nothing if it is absent. Error: InvalidValue.
Result<std::optional<std::uint64_t>> query_number(const Query& query, std::string_view key,
                                                  std::uint64_t min, std::uint64_t max);
// Absent: false; without a value: true. Error: InvalidValue.
Result<bool> query_flag(const Query& query, std::string_view key);

// A wrong parameter of the query, as a field error with the pointer "?key".
Error query_error(std::string_view key, ErrorCode code, std::string detail);

}  // namespace muster::http
