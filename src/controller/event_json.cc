#include "controller/event_json.h"

#include <fmt/format.h>

#include "controller/action_json.h"

namespace muster::controller {

Json event_json(const core::Event& event) {
  return {{"seq", event.seq},         {"at", time_json(event.at)}, {"type", event.type},
          {"subject", event.subject}, {"name", event.name},        {"action", event.kind},
          {"target", event.target},   {"status", event.status},    {"reason", event.reason},
          {"actor", event.actor},     {"revision", event.revision}};
}

std::string event_sse(const core::Event& event) {
  // JSON has no raw line breaks, so one data line is enough.
  return fmt::format("id: {}\nevent: {}\ndata: {}\n\n", event.seq, event.type,
                     dump_json(event_json(event)));
}

}  // namespace muster::controller
