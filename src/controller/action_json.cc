#include "controller/action_json.h"

namespace muster::controller {
namespace {

Json ids_json(const std::vector<core::ActionId>& ids) {
  Json list = Json::array();
  for (const core::ActionId& id : ids) list.push_back(id.to_string());
  return list;
}

// Text that was checked when it came in. What does not parse after all is shown as it is rather
// than hidden.
Json object_json(const core::JsonText& text) {
  Result<Json> parsed = parse_json(text);
  if (parsed && parsed->is_object()) return *std::move(parsed);
  return Json{{"unreadable", text}};
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json approval_json(const core::Action& action) {
  const auto& policy = action.spec->approval;
  if (!policy) return nullptr;
  Json decisions = Json::array();
  for (const core::ApprovalDecision& decision : action.decisions) {
    decisions.push_back({{"who", decision.who},
                         {"approved", decision.approved},
                         {"reason", decision.reason},
                         {"at", time_json(decision.at)}});
  }
  return {{"count", policy->count},
          {"allow_requester", policy->allow_requester},
          {"expires_in", duration_json(policy->expires_in)},
          {"decisions", std::move(decisions)}};
}

void add_spec(const core::ActionSpec& spec, Json& json) {
  json["side"] = spec.side == core::Side::Engine ? "engine" : "agent";
  json["origin"] = spec.origin == core::Origin::Controller ? "controller" : "agent";
  json["cause"] = core::name(spec.cause);
  json["parent"] = spec.parent ? Json(spec.parent->to_string()) : Json(nullptr);
  json["interval"] = duration_json(spec.interval);
  json["misfire"] = spec.misfire == core::Misfire::Skip ? "skip" : "run_once";
  json["scheduled_start"] = time_json(spec.not_before);
  json["scheduled_stop"] = time_json(spec.not_after);
  json["timeout"] = duration_json(spec.timeout);
  json["queue_timeout"] = duration_json(spec.queue_timeout);
  json["retry"] = {{"attempts", spec.retry.attempts},
                   {"backoff", duration_json(spec.retry.backoff.initial)},
                   {"max_backoff", duration_json(spec.retry.backoff.max)}};
  json["inputs"] = object_json(spec.inputs);
  json["context"] = object_json(spec.context);
  json["depends_on"] = ids_json(spec.depends_on);
  json["plan"] = text_or_null(spec.plan);
  json["task"] = text_or_null(spec.task);
}

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

Json action_json(const core::Action& action) {
  Json json = action_row_json(action);
  add_spec(*action.spec, json);
  json["owner"] = text_or_null(action.owner);
  json["status_since"] = time_json(action.status_since);
  json["control_reason"] = action.control_reason;
  json["tries"] = action.tries;
  json["runs"] = action.runs;
  json["approval"] = approval_json(action);
  json["outputs"] = object_json(action.outputs);
  json["data"] = object_json(action.data);
  json["depends_on_left"] = ids_json(action.depends_on_left);
  json["depended_by"] = ids_json(action.depended_by);
  json["next_try"] = time_json(action.next_try);
  json["deadline"] = time_json(action.deadline);
  return json;
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
