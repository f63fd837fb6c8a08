#include "controller/plan_json.h"

#include "controller/action_json.h"
#include "plan/explain.h"

namespace muster::controller {
namespace {

std::string_view name(plan::TaskKind kind) {
  switch (kind) {
    case plan::TaskKind::Config:
      return "config";
    case plan::TaskKind::Callback:
      return "callback";
    case plan::TaskKind::Remote:
      return "remote";
  }
  return "?";
}

std::string_view name(plan::TaskRole role) {
  switch (role) {
    case plan::TaskRole::Ordinary:
      return "ordinary";
    case plan::TaskRole::Lock:
      return "lock";
    case plan::TaskRole::Unlock:
      return "unlock";
    case plan::TaskRole::Release:
      return "release";
    case plan::TaskRole::Cleanup:
      return "cleanup";
  }
  return "?";
}

Json left_out_json(plan::LeftOut why) {
  switch (why) {
    case plan::LeftOut::No:
      return nullptr;
    case plan::LeftOut::SucceededBefore:
      return "succeeded_before";
    case plan::LeftOut::NodeForRemoval:
      return "node_for_removal";
  }
  return nullptr;
}

Json call_json(const plan::Call& call) { return {{"type", call.type}, {"id", call.id}}; }

// It was written by encode_body() from what the planner was given as JSON.
Json json_of(const std::string& text) {
  auto parsed = parse_json(text);
  return parsed ? std::move(*parsed) : Json(text);
}

void add_work(Json& json, const plan::Work& work) {
  Json nodes = Json::array();
  if (const auto* config = std::get_if<plan::ConfigWork>(&work)) {
    nodes.push_back(config->node.text());
    json["call"] = call_json(config->call);
    json["attributes"] = json_of(config->attributes);
    Json replaces = Json::array();
    for (const plan::Call& call : config->replaces) replaces.push_back(call_json(call));
    json["replaces"] = std::move(replaces);
    json["persist"] = config->persist;
  } else if (const auto* callback = std::get_if<plan::CallbackWork>(&work)) {
    json["method"] = callback->method;
    json["arguments"] = json_of(callback->arguments);
  } else {
    const auto& remote = std::get<plan::RemoteWork>(work);
    for (const model::Path& node : remote.nodes) nodes.push_back(node.text());
    json["action"] = remote.action;
    json["inputs"] = json_of(remote.inputs);
  }
  json["nodes"] = std::move(nodes);
}

Json requirement_json(const plan::Plan& plan, const plan::Requirement& requirement) {
  if (const auto* task = std::get_if<plan::RequiredTask>(&requirement)) {
    return {{"task", plan.id(task->index)}};
  }
  if (const auto* item = std::get_if<plan::RequiredItem>(&requirement)) {
    return {{"item", item->path.text()}};
  }
  const auto& required = std::get<plan::RequiredCall>(requirement);
  if (required.is_of_type()) return {{"every", required.call.type}};
  return {{"call", call_json(required.call)}};
}

Json value_or_null(const std::optional<std::string>& text) { return text ? Json(*text) : Json(); }

}  // namespace

Json plan_json(const core::PlanRecord& plan) {
  const core::PlanSummary& summary = plan.summary;
  return {{"id", plan.number},
          {"kind", "deployment"},
          {"state", core::name(plan.state)},
          {"state_reason", plan.state_reason},
          {"state_since", time_json(plan.state_since)},
          {"created_at", time_json(plan.created_at)},
          {"who", plan.who},
          {"why", plan.why},
          {"model_revision", plan.model_revision},
          {"digest", plan.digest},
          {"revision", plan.revision},
          {"summary",
           {{"add", summary.add},
            {"change", summary.change},
            {"remove", summary.remove},
            {"tasks", summary.tasks},
            {"phases", summary.phases},
            {"nodes", summary.nodes},
            {"clusters", summary.clusters},
            {"clusters_in_parallel", summary.parallel},
            {"left_out", summary.left_out}}}};
}

Json phase_json(const plan::Plan& plan, std::size_t number) {
  const plan::Phase& phase = plan.phases[number];
  Json after = Json::array();
  for (const std::uint32_t each : phase.after) after.push_back(each + 1);
  const model::Path* cluster = plan.cluster_of(phase);
  return {{"phase", number + 1},
          {"group", plan.group_of(phase)},
          {"cluster", cluster ? Json(cluster->text()) : Json()},
          {"locked_node", phase.node == plan::kNone ? Json() : Json(plan.nodes[phase.node].text())},
          {"after", std::move(after)},
          {"tasks", phase.count}};
}

Json task_json(const core::PlanBody& body, std::size_t number) {
  const plan::Plan& plan = body.plan;
  const plan::Task& task = plan.tasks[number];
  const plan::Placement& placement = plan.placements[number];
  Json requires_json = Json::array();
  for (const plan::Requirement& each : task.requirements) {
    requires_json.push_back(requirement_json(plan, each));
  }
  Json items = Json::array();
  for (const model::Path& item : task.model_items) items.push_back(item.text());
  Json properties = Json::object();
  for (const core::PropertyChange& change : body.about[number].changes) {
    properties[change.name] = {{"before", value_or_null(change.before)},
                               {"after", value_or_null(change.after)}};
  }
  Json json = {{"id", plan.id(number)},
               {"phase", placement.phase == plan::kNone ? Json() : Json(placement.phase + 1)},
               {"kind", name(task.kind())},
               {"left_out", left_out_json(placement.left_out)},
               {"role", name(placement.role)},
               {"plugin", task.plugin},
               {"item", task.item.text()},
               {"item_state", model::name(body.about[number].state)},
               {"description", task.description},
               {"tag", task.tag},
               {"model_items", std::move(items)},
               {"requires", std::move(requires_json)},
               {"properties", std::move(properties)}};
  add_work(json, task.work);
  return json;
}

Json explain_json(const plan::Plan& plan, std::size_t task) {
  Json chain = Json::array();
  for (const plan::Reason& reason : plan::explain(plan, task)) {
    chain.push_back(
        {{"why", plan::name(reason.kind)},
         {"task", plan.id(reason.task)},
         {"phase", reason.phase + 1},
         {"after_task", reason.other < plan.tasks.size() ? Json(plan.id(reason.other)) : Json()},
         {"after_phase",
          reason.other_phase < plan.phases.size() ? Json(reason.other_phase + 1) : Json()},
         {"text", reason.text}});
  }
  return chain;
}

}  // namespace muster::controller
