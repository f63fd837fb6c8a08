#include "controller/action_json.h"

namespace muster::controller {
namespace {

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

}  // namespace

Json time_json(Timestamp time) {
  return time.is_set() ? Json(format_rfc3339_micros(time)) : Json(nullptr);
}

Json duration_json(Duration duration) {
  if (duration.us % 1'000'000 == 0) return duration.us / 1'000'000;
  return duration.as_seconds();
}

Json action_row_json(const core::Action& action) {
  const core::ActionSpec& spec = *action.spec;
  return {{"id", spec.id.to_string()},
          {"name", spec.name},
          {"action", spec.kind},
          {"target", spec.target},
          {"status", core::name(action.status)},
          {"status_reason", action.status_reason},
          {"control", core::name(action.control)},
          {"attempt", action.attempt},
          {"requested_by", spec.requested_by},
          {"created_at", time_json(spec.created_at)},
          {"updated_at", time_json(action.updated_at)},
          {"start_time", time_json(action.start_time)},
          {"stop_time", time_json(action.stop_time)},
          {"revision", action.revision}};
}

Json explanation_json(const core::Explanation& explanation) {
  const core::Action& action = *explanation.action;
  Json blockers = Json::array();
  for (const core::Blocker& blocker : explanation.blockers) {
    blockers.push_back({{"what", blocker.what},
                        {"subject", blocker.subject},
                        {"detail", blocker.detail},
                        {"since", time_json(blocker.since)},
                        {"until", time_json(blocker.until)}});
  }
  return {{"id", action.id().to_string()},
          {"name", action.spec->name},
          {"status", core::name(action.status)},
          {"summary", explanation.summary},
          {"blockers", std::move(blockers)},
          {"next_try", time_json(explanation.next_try)},
          {"deadline", time_json(explanation.deadline)},
          {"deadline_effect", text_or_null(explanation.deadline_effect)},
          {"control", core::name(action.control)}};
}

Json explanation_of_final_json(const core::Action& action) {
  std::string summary =
      fmt::format("has ended {} at {}", core::name(action.status),
                  format_rfc3339(action.stop_time.is_set() ? action.stop_time : action.updated_at));
  if (!action.status_reason.empty()) summary += fmt::format(": {}", action.status_reason);
  return {{"id", action.id().to_string()},
          {"name", action.spec->name},
          {"status", core::name(action.status)},
          {"summary", std::move(summary)},
          {"blockers", Json::array()},
          {"next_try", nullptr},
          {"deadline", nullptr},
          {"deadline_effect", nullptr},
          {"control", core::name(action.control)}};
}

}  // namespace muster::controller
