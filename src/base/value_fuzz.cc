#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/time.h"
#include "base/uuid.h"

// The small texts that come in from everywhere: times, durations and ids. What was accepted is
// within its bounds and reads back as the same value.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto time = parse_rfc3339(text); time && time->is_set()) {
    const std::string written = format_rfc3339(*time);
    const auto again = parse_rfc3339(written);
    MUSTER_CHECK(again && *again == *time, "'{}' became '{}'", text, written);
  }
  if (const auto duration = parse_duration(text)) {
    MUSTER_CHECK(duration->us >= 0, "'{}' is negative", text);
    const std::string written = format_duration(*duration);
    const auto again = parse_duration(written);
    MUSTER_CHECK(again && *again == *duration, "'{}' became '{}'", text, written);
    MUSTER_CHECK(!format_age(*duration).empty(), "'{}' has no age", text);
  }
  if (const auto id = Uuid::parse(text)) {
    const auto again = Uuid::parse(id->to_string());
    MUSTER_CHECK(again && *again == *id, "'{}' became '{}'", text, id->to_string());
  }
  return 0;
}
