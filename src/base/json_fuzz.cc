#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/json.h"
#include "base/utf8.h"

// Whatever the bytes are, parsing ends in a value within the limits or in an error; and what was
// accepted is UTF-8 that reads back as the same value.

namespace muster {
namespace {

std::size_t depth_of(const Json& value) {
  std::size_t below = 0;
  if (!value.is_structured()) return 0;
  for (const Json& entry : value) below = std::max(below, depth_of(entry));
  return below + 1;
}

void check(std::string_view text, const JsonLimits& limits) {
  const auto value = parse_json(text, limits);
  if (!value) {
    MUSTER_CHECK(!value.error().message.empty(), "an error without a message");
    MUSTER_CHECK(value.error().message.size() < 256, "an error of {} bytes",
                 value.error().message.size());
    return;
  }
  MUSTER_CHECK(text.size() <= limits.bytes_max, "{} bytes passed", text.size());
  MUSTER_CHECK(depth_of(*value) <= limits.depth_max, "{} levels passed", depth_of(*value));
  const std::string written = dump_json(*value);
  MUSTER_CHECK(is_utf8(written), "bytes that are not UTF-8 passed");
  const auto again = parse_json(written);
  MUSTER_CHECK(again.has_value(), "a written value does not parse: {}", again.error().message);
  MUSTER_CHECK(dump_json(*again) == written, "a value changes when it is written and read");
}

}  // namespace
}  // namespace muster

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  muster::check(text, {});
  muster::check(text, {.bytes_max = 64, .depth_max = 4});
  return 0;
}
