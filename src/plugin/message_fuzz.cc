#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "plugin/message.h"

// Bytes of a plugin, in pieces whose size the first byte decides: lines come out as they went in,
// and each is a message or is refused with a reason.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = data[0] % 61U + 1;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  constexpr std::size_t kLineMax = 4096;
  muster::plugin::LineReader reader(kLineMax);
  std::string seen;
  for (std::size_t at = 0; at < bytes.size() && !reader.too_long(); at += piece) {
    reader.push(bytes.substr(at, piece));
    while (const auto line = reader.next()) {
      MUSTER_CHECK(line->size() <= kLineMax, "a line of {} bytes", line->size());
      seen += *line + "\n";
      const auto message = muster::plugin::parse_message(*line, {.depth_max = 32});
      MUSTER_CHECK(message || !message.error().message.empty(), "a refusal without a reason");
      MUSTER_CHECK(!muster::plugin::excerpt(*line).empty(), "an empty excerpt");
      if (!message) continue;
      if (const auto* request = std::get_if<muster::plugin::PluginRequest>(&*message)) {
        const std::string answer = muster::plugin::result_line(request->id, request->params);
        MUSTER_CHECK(answer.find('\n') == answer.size() - 1, "an answer of several lines");
      }
    }
  }
  MUSTER_CHECK(bytes.substr(0, seen.size()) == seen, "other bytes than went in");
  if (!reader.too_long()) {
    MUSTER_CHECK(reader.rest() == bytes.substr(seen.size()), "a rest that is not one");
  }
  return 0;
}
