#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/json.h"
#include "controller/api_action_request.h"

// The decoder of create requests must survive any bytes, say what is wrong with what it refuses,
// and keep its promises about what it accepts.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto body = controller::decode_create(text);
  if (!body) {
    MUSTER_CHECK(!body.error().message.empty(), "an error without a message");
    return 0;
  }
  MUSTER_CHECK(!body->actions.empty() && body->actions.size() <= controller::kActionsPerRequestMax,
               "{} actions", body->actions.size());
  for (const core::ActionRequest& action : body->actions) {
    MUSTER_CHECK(!action.kind.empty(), "an action without a kind");
    MUSTER_CHECK(action.interval.us >= 0, "a negative interval");
    MUSTER_CHECK(!action.timeout || action.timeout->us > 0, "a timeout of nothing");
    const auto inputs = parse_json(action.inputs);
    MUSTER_CHECK(inputs.has_value() && inputs->is_object(), "inputs that are no object");
    MUSTER_CHECK(action.inputs.size() <= controller::kInputsBytesMax, "inputs that are too large");
  }
  return 0;
}
