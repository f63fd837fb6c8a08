#include "controller/plan_pipeline.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>

#include "controller/model_snapshot.h"
#include "core/model/model_edits.h"
#include "crypto/sha256.h"
#include "model/lifecycle.h"
#include "plan/template.h"
#include "store/plan_codec.h"

namespace muster::controller {
namespace {

constexpr Duration kRequestDeadline = Duration::seconds(60);
constexpr int kQuestionRoundsMax = 10;
constexpr std::string_view kNodeOrderView = "node_upgrade_ordering";

// Sends a request to the engine and waits for its reply.
template <typename Body>
Result<Body> ask_and_wait(Controller& controller, Controller::Request request) {
  struct Wait {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<core::Reply> reply;
  };
  const auto wait = std::make_shared<Wait>();
  controller.request(std::move(request), [wait](const core::Reply& reply) {
    const std::lock_guard lock(wait->mutex);
    wait->reply = reply;
    wait->changed.notify_all();
  });
  std::unique_lock lock(wait->mutex);
  const auto deadline = std::chrono::microseconds(kRequestDeadline.us);
  if (!wait->changed.wait_for(lock, deadline, [&] { return wait->reply.has_value(); })) {
    return fail(ErrorCode::Timeout, "the engine did not answer within {}",
                format_duration(kRequestDeadline));
  }
  if (const auto* error = std::get_if<Error>(&wait->reply->body)) return fail(*error);
  if (const auto* body = std::get_if<Body>(&wait->reply->body)) return *body;
  return fail(ErrorCode::Internal, "the engine's reply is not of the expected kind");
}

// All failures of plugins as one error that names each.
Error failed(const std::vector<plugin::PluginFailure>& failures) {
  Error error{ErrorCode::PluginFailed, failures.front().message()};
  if (failures.size() > 1) {
    error.message = fmt::format("{} plugins failed, the first: {}", failures.size(), error.message);
  }
  for (const plugin::PluginFailure& failure : failures) {
    error.fields.push_back(
        {.pointer = failure.plugin, .code = ErrorCode::PluginFailed, .detail = failure.message()});
    for (const std::string& problem : failure.problems) {
      error.fields.push_back(
          {.pointer = failure.plugin, .code = ErrorCode::PluginFailed, .detail = problem});
    }
  }
  return error;
}

Error refused(const plan::PlanErrors& errors) {
  std::vector<FieldError> fields;
  for (const plan::PlanError& each : errors.errors) {
    fields.push_back({.pointer = {},
                      .code = ErrorCode::PlanRefused,
                      .detail = each.message,
                      .path = each.item.text()});
  }
  const std::size_t count = errors.errors.size() + errors.unnamed;
  std::string message = errors.errors.front().message;
  if (count > 1) message = fmt::format("{} things are wrong, the first: {}", count, message);
  return {ErrorCode::PlanRefused, std::move(message), std::move(fields)};
}

Error refused(const std::vector<plan::TemplateError>& errors) {
  Error error{ErrorCode::PlanRefused,
              fmt::format("pack '{}', {}: {}", errors.front().pack, errors.front().item.text(),
                          errors.front().message)};
  for (const plan::TemplateError& each : errors) {
    error.fields.push_back({.pointer = {},
                            .code = ErrorCode::PlanRefused,
                            .detail = fmt::format("pack '{}', {}: {}", each.pack,
                                                  model::to_text(each.place), each.message),
                            .path = each.item.text()});
  }
  return error;
}

}  // namespace

Result<void> PlanPipeline::look() {
  MUSTER_TRY_ASSIGN(snapshot_, take_snapshot(controller_, packs_.schema));
  tree_ = std::make_unique<model::Tree>(tree_of(*snapshot_));
  return {};
}

Result<void> PlanPipeline::update_model() {
  auto answers = plugins_.update_model(snapshot_, cancel_);
  if (!answers.good()) return fail(failed(answers.failures));
  if (answers.value.empty()) return {};
  core::EditModel edit;
  edit.who = wish_.who;
  edit.why = "asked for by plugins before a plan is made";
  edit.change = core::ModelOperations(std::move(answers.value));
  edit.if_match = fmt::format("model-{}", snapshot_->revision());
  edit.actor = model::Actor::Plugin;
  MUSTER_TRY(ask_and_wait<core::ModelReply>(controller_, std::move(edit)));
  return look();
}

Result<void> PlanPipeline::validate() {
  model::Answers answers;
  model::Findings findings;
  for (int round = 0;; ++round) {
    findings = model::check_complete(*tree_, answers);
    if (findings.questions.empty() || round == kQuestionRoundsMax) break;
    auto answered = plugins_.check(snapshot_, findings.questions, cancel_);
    if (!answered.good()) return fail(failed(answered.failures));
    const std::size_t before = answers.size();
    answers.insert(answered.value.begin(), answered.value.end());
    // What is not for plugins, as whether a directory is there, was checked when it was set.
    for (const model::Question& question : findings.questions) answers.try_emplace(question);
    if (answers.size() == before) break;
  }
  auto found = plugins_.validate_model(snapshot_, cancel_);
  if (!found.good()) return fail(failed(found.failures));
  for (plugin::ModelFinding& each : found.value) {
    findings.errors.push_back({model::Refusal::Validation, std::move(each.path),
                               std::move(each.property),
                               fmt::format("plugin '{}': {}", each.plugin, each.message)});
  }
  if (!findings.errors.empty()) return fail(core::to_error(findings.errors));
  return {};
}

Result<std::vector<plan::Task>> PlanPipeline::collect_tasks() {
  auto answers = plugins_.create_configuration(snapshot_, cancel_);
  if (!answers.good()) return fail(failed(answers.failures));
  plan::TemplateTasks made = plan::template_tasks(*tree_, packs_.templates);
  if (!made.good()) return fail(refused(made.errors));
  // Behind those of plugins, whose requirements are numbers in their list.
  std::vector<plan::Task> tasks = std::move(answers.value);
  for (plan::Task& task : made.tasks) tasks.push_back(std::move(task));
  return tasks;
}

Result<std::vector<plan::NodeOrder>> PlanPipeline::node_orders(
    const std::vector<model::Path>& nodes) {
  std::set<model::Path> clusters;
  for (const model::Path& node : nodes) {
    const std::int32_t cluster = snapshot_->ancestor(snapshot_->find(node), "cluster-base");
    if (cluster != plugin::Snapshot::kNone) clusters.insert(snapshot_->path(cluster));
  }
  std::vector<plan::NodeOrder> orders;
  for (const model::Path& cluster : clusters) {
    const model::Node* node = tree_->find(cluster);
    if (!node || !node->item().type->views.contains(kNodeOrderView)) continue;
    const auto value = plugins_.view(snapshot_, cluster, std::string(kNodeOrderView), cancel_);
    if (!value) return fail(failed({value.error()}));
    if (value->is_null()) continue;
    plan::NodeOrder order{cluster, {}};
    for (const Json& each : *value) {
      order.nodes.push_back(each.is_string() ? each.get<std::string>() : dump_json(each));
    }
    orders.push_back(std::move(order));
  }
  return orders;
}

Result<std::vector<plan::LockPair>> PlanPipeline::lock_tasks(
    const std::vector<model::Path>& nodes) {
  std::vector<plan::LockPair> pairs;
  if (nodes.empty()) return pairs;
  auto answers = plugins_.create_lock_tasks(snapshot_, nodes, cancel_);
  if (!answers.good()) return fail(failed(answers.failures));
  for (plugin::LockPair& pair : answers.value) {
    pairs.push_back({std::move(pair.node), std::move(pair.lock), std::move(pair.unlock)});
  }
  return pairs;
}

Result<PlanMade> PlanPipeline::keep(plan::Plan plan) {
  core::PlanBody body;
  core::KeepPlan request;
  request.who = wish_.who;
  request.why = wish_.why;
  request.model_revision = snapshot_->revision();
  request.summary = summarise(plan, *tree_);
  body.about = describe_items(plan, *tree_);
  body.plan = std::move(plan);
  request.body = std::make_shared<const std::string>(store::encode_body(body));
  request.digest = crypto::sha256_hex(*request.body);
  MUSTER_TRY_ASSIGN(const core::PlanReply reply,
                    ask_and_wait<core::PlanReply>(controller_, std::move(request)));
  return PlanMade{reply.plan, snapshot_->revision(), 0, {}};
}

Result<PlanMade> PlanPipeline::run() {
  if (!packs_.schema || !packs_.ruleset) {
    return fail(ErrorCode::NotFound, "this controller has no model");
  }
  MUSTER_TRY(look());
  MUSTER_TRY(update_model());
  MUSTER_TRY(validate());
  MUSTER_TRY_ASSIGN(std::vector<plan::Task> tasks, collect_tasks());

  const std::vector<plan::RememberedTask> remembered;  // no plan has been run yet
  plan::PlanRequest request{.model = *tree_,
                            .schema = *packs_.schema,
                            .ruleset = *packs_.ruleset,
                            .locks = wish_.locks,
                            .remembered = remembered};
  const std::vector<model::Path> nodes = plan::nodes_to_lock(request, tasks);
  MUSTER_TRY_ASSIGN(request.node_orders, node_orders(nodes));
  MUSTER_TRY_ASSIGN(std::vector<plan::LockPair> locks, lock_tasks(nodes));
  plan::PlanOutcome outcome = plan::make_plan(request, std::move(tasks), std::move(locks));
  if (const auto* errors = std::get_if<plan::PlanErrors>(&outcome)) return fail(refused(*errors));
  if (auto* nothing = std::get_if<plan::NothingToDo>(&outcome)) {
    return PlanMade{nullptr, snapshot_->revision(), nothing->left_out.size(),
                    std::move(nothing->notices)};
  }
  return keep(std::move(std::get<plan::Plan>(outcome)));
}

}  // namespace muster::controller
