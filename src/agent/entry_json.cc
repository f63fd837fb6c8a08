#include "agent/entry_json.h"

namespace muster::agent {
namespace {

// Text that was checked when it came in; what does not parse after all is shown as it is.
Json object_json(const core::JsonText& text) {
  Result<Json> parsed = parse_json(text);
  if (parsed && parsed->is_object()) return *std::move(parsed);
  return Json{{"unreadable", text}};
}

Json seconds_json(Duration duration) {
  if (duration.us % 1'000'000 == 0) return duration.us / 1'000'000;
  return duration.as_seconds();
}

}  // namespace

Json time_json(Timestamp time) {
  return time.is_set() ? Json(format_rfc3339_micros(time)) : Json(nullptr);
}

Json entry_row_json(const core::JournalEntry& entry) {
  return {{"id", entry.id.to_string()},
          {"name", entry.name},
          {"action", entry.kind},
          {"origin", entry.origin == core::Origin::Controller ? "controller" : "agent"},
          {"attempt", entry.attempt},
          {"status", core::name(entry.status)},
          {"status_reason", entry.reason},
          {"result", entry.is_final() ? Json(core::name(entry.result)) : Json(nullptr)},
          {"control", core::name(entry.control)},
          {"control_reason", entry.control_reason},
          {"timeout", seconds_json(entry.timeout)},
          {"requested_by", entry.requested_by},
          {"created_at", time_json(entry.created_at)},
          {"start_time", time_json(entry.start_time)},
          {"stop_time", time_json(entry.stop_time)},
          {"acknowledged", entry.acked}};
}

Json entry_json(const core::JournalEntry& entry) {
  Json json = entry_row_json(entry);
  json["inputs"] = object_json(entry.inputs);
  json["outputs"] = object_json(entry.outputs);
  return json;
}

}  // namespace muster::agent
