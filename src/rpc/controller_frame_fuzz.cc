#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "rpc/wire_codec.h"

// Whatever a controller sends, decoding ends in a value or an error, and a value keeps the rules
// that the agent's core relies on.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster;
  const auto frame = rpc::decode_controller_frame({reinterpret_cast<const char*>(data), size});
  if (!frame) return 0;
  for (const rpc::FromController& message : frame->messages) {
    if (const auto* schedule = std::get_if<core::agent::Schedule>(&message)) {
      MUSTER_CHECK(schedule->attempt >= 1, "attempt 0 was accepted");
      MUSTER_CHECK(schedule->timeout >= Duration(), "a negative timeout was accepted");
    } else if (const auto* signal = std::get_if<core::agent::SignalFromController>(&message)) {
      MUSTER_CHECK(signal->signal != core::Signal::None, "no signal was accepted as one");
    }
  }
  return 0;
}
