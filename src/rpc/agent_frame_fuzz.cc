#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "rpc/wire_codec.h"

// Whatever an agent sends, decoding ends in a value or an error; and an action that was accepted is
// one that can be sent on without a change.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster;
  const auto frame = rpc::decode_agent_frame({reinterpret_cast<const char*>(data), size});
  if (!frame) return 0;
  for (const rpc::FromAgent& message : frame->messages) {
    const auto* action = std::get_if<core::AgentAction>(&message);
    if (action == nullptr) continue;
    const auto encoded = rpc::encode_agent_message(core::agent::SendReport{*action});
    const auto again = rpc::decode_agent_frame(rpc::encode_frame(1, encoded));
    MUSTER_CHECK(again.has_value(), "an accepted action does not decode again");
    MUSTER_CHECK(std::get<core::AgentAction>(again->messages.at(0)) == *action,
                 "an accepted action changes on the wire");
  }
  return 0;
}
