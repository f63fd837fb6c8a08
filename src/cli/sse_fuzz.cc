#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "cli/sse.h"

// A stream of events means the same however it was cut into pieces, and no event passes the limit.
// The first byte says how large the pieces are.

namespace muster::cli {
namespace {

constexpr std::size_t kEventMax = 256;

struct Heard {
  std::vector<SseEvent> events;
  bool refused = false;

  bool operator==(const Heard&) const = default;
};

Heard listen(std::string_view bytes, std::size_t piece) {
  SseParser parser(kEventMax);
  Heard heard;
  while (!bytes.empty() && !heard.refused) {
    const auto fed = parser.feed(bytes.substr(0, piece), [&](const SseEvent& event) {
      heard.events.push_back(event);
      return true;
    });
    heard.refused = !fed;
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  return heard;
}

}  // namespace
}  // namespace muster::cli

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster::cli;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const Heard whole = listen(bytes, size);
  MUSTER_CHECK(whole == listen(bytes, std::size_t{1} + data[0]), "the pieces change what is heard");
  for (const SseEvent& event : whole.events) {
    MUSTER_CHECK(event.data.size() <= kEventMax, "an event of {} bytes", event.data.size());
    MUSTER_CHECK(event.id.find('\0') == std::string::npos, "an id with a NUL byte");
    MUSTER_CHECK(event.id.find_first_of("\r\n") == std::string::npos, "an id of two lines");
    MUSTER_CHECK(!event.type.empty(), "an event without a type");
  }
  return 0;
}
