#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

// The one place that parses JSON. Keys come out sorted, so output is deterministic; input is
// limited in size and depth, and a duplicate key is an error, because readers disagree on which
// one counts.

namespace muster {

using Json = nlohmann::json;

struct JsonLimits {
  std::size_t bytes_max = std::size_t{16} << 20;
  std::size_t depth_max = 64;
};

// Never throws. Error codes: InvalidJson, JsonTooDeep, BodyTooLarge.
Result<Json> parse_json(std::string_view text, const JsonLimits& limits = {});

// Invalid UTF-8 is replaced, never thrown about.
std::string dump_json(const Json& value, int indent = -1);

}  // namespace muster
