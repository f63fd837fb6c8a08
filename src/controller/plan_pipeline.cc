#include "controller/plan_pipeline.h"

#include <algorithm>
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

Error refused(const plan::PlanErrors& errors) {
  std::vector<FieldError> fields;
  for (const plan::PlanError& each : errors.errors) {
    fields.push_back({.pointer = {},
                      .code = ErrorCode::PlanRefused,
                      .detail = each.message,
                      .path = each.item.text(),
                      .property = {},
                      .rule = std::string(name(each.kind)),
                      .task = each.task,
                      .plugin = each.plugin});
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
                            .path = each.item.text(),
                            .property = {},
                            .rule = "template",
                            .task = {},
                            .plugin = each.pack});
  }
  return error;
}

// What several sources find wrong, as one error.
Result<void> together(std::vector<Error> errors) {
  if (errors.empty()) return {};
  Error all = std::move(errors.front());
  if (errors.size() == 1) return fail(std::move(all));
  for (auto each = errors.begin() + 1; each != errors.end(); ++each) {
    all.fields.insert(all.fields.end(), each->fields.begin(), each->fields.end());
  }
  all.message = fmt::format("{} things are wrong, the first: {}", all.fields.size(),
                            all.fields.front().detail);
  return fail(std::move(all));
}

}  // namespace

Result<void> PlanPipeline::look() {
  MUSTER_TRY_ASSIGN(snapshot_, take_snapshot(controller_, packs_.schema));
  tree_ = std::make_unique<model::Tree>(tree_of(*snapshot_));
  revision_ = snapshot_->revision();
  return {};
}

Result<void> PlanPipeline::update_model() {
  auto written = plugins_.update_model(snapshot_, cancel_);
  if (!written.good()) return fail(plugin::to_error(written.failures));
  if (written.value.empty()) return {};
  model::Answers answers;
  for (int round = 0; round < kQuestionRoundsMax; ++round) {
    const model::EditOutcome outcome =
        model::edit(*tree_, *packs_.schema, written.value, model::Actor::Plugin, answers);
    if (!outcome.errors.empty()) return fail(core::to_error(outcome.errors));
    if (outcome.questions.empty()) {
      if (outcome.changes.empty()) return {};
      written_ = std::move(written.value);
      snapshot_ = std::make_shared<const plugin::Snapshot>(*tree_, packs_.schema, draft_);
      return {};
    }
    MUSTER_TRY(answer(outcome.questions, answers));
  }
  return fail(ErrorCode::PluginFailed, "checks of values that plugins wrote do not come to an end");
}

// What is not for plugins, as whether a directory is there, was checked when it was set.
Result<void> PlanPipeline::answer(const std::vector<model::Question>& questions,
                                  model::Answers& answers) {
  auto answered = plugins_.check(snapshot_, questions, cancel_);
  if (!answered.good()) return fail(plugin::to_error(answered.failures));
  answers.insert(answered.value.begin(), answered.value.end());
  for (const model::Question& question : questions) answers.try_emplace(question);
  return {};
}

Result<void> PlanPipeline::validate() {
  model::Answers answers;
  model::Findings findings;
  std::vector<Error> errors;
  for (int round = 0;; ++round) {
    findings = model::check_complete(*tree_, answers);
    if (findings.questions.empty() || round == kQuestionRoundsMax) break;
    const std::size_t before = answers.size();
    if (const auto answered = answer(findings.questions, answers); !answered) {
      errors.push_back(answered.error());
      break;
    }
    if (answers.size() == before) break;
  }
  auto found = plugins_.validate_model(snapshot_, cancel_);
  if (!found.good()) errors.push_back(plugin::to_error(found.failures));
  for (plugin::ModelFinding& each : found.value) {
    findings.errors.push_back({model::Refusal::Validation, std::move(each.path),
                               std::move(each.property),
                               fmt::format("plugin '{}': {}", each.plugin, each.message)});
  }
  if (!findings.errors.empty()) errors.push_back(core::to_error(findings.errors));
  return together(std::move(errors));
}

Result<std::vector<plan::Task>> PlanPipeline::collect_tasks() {
  auto answers = plugins_.create_configuration(snapshot_, cancel_);
  plan::TemplateTasks made = plan::template_tasks(*tree_, packs_.templates);
  std::vector<Error> errors;
  if (!answers.good()) errors.push_back(plugin::to_error(answers.failures));
  if (!made.good()) errors.push_back(refused(made.errors));
  MUSTER_TRY(together(std::move(errors)));
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
    if (!value) return fail(plugin::to_error({value.error()}));
    if (value->is_null()) continue;
    const bool is_list =
        value->is_array() && std::all_of(value->begin(), value->end(),
                                         [](const Json& each) { return each.is_string(); });
    if (!is_list) {
      return fail(ErrorCode::PluginFailed,
                  "plugin '{}', view {} of {}: must be a list of the ids of nodes, not {}",
                  node->item().type->pack, kNodeOrderView, cluster.text(),
                  dump_json(*value).substr(0, 200));
    }
    plan::NodeOrder order{cluster, value->get<std::vector<std::string>>()};
    orders.push_back(std::move(order));
  }
  return orders;
}

Result<std::vector<plan::LockPair>> PlanPipeline::lock_tasks(
    const std::vector<model::Path>& nodes) {
  if (nodes.empty()) return std::vector<plan::LockPair>();
  auto answers = plugins_.create_lock_tasks(snapshot_, nodes, cancel_);
  if (!answers.good()) return fail(plugin::to_error(answers.failures));
  return std::move(answers.value);
}

// Not before the plan is known to be possible: a plan that is refused leaves the model as it was.
Result<void> PlanPipeline::keep_written() {
  if (written_.empty()) return {};
  core::EditModel edit;
  edit.who = wish_.who;
  edit.why = "asked for by plugins before a plan is made";
  edit.change = core::ModelOperations(std::move(written_));
  edit.if_match = fmt::format("model-{}", revision_);
  edit.actor = model::Actor::Plugin;
  MUSTER_TRY_ASSIGN(const core::ModelReply reply,
                    ask_and_wait<core::ModelReply>(controller_, std::move(edit)));
  revision_ = reply.revision;
  return {};
}

Result<PlanMade> PlanPipeline::keep(plan::Plan plan) {
  core::PlanBody body;
  core::KeepPlan request;
  request.who = wish_.who;
  request.why = wish_.why;
  request.model_revision = revision_;
  request.summary = summarise(plan, *tree_);
  body.about = describe_items(plan, *tree_);
  body.plan = std::move(plan);
  request.body = std::make_shared<const std::string>(store::encode_body(body));
  request.digest = crypto::sha256_hex(*request.body);
  MUSTER_TRY_ASSIGN(const core::PlanReply reply,
                    ask_and_wait<core::PlanReply>(controller_, std::move(request)));
  return PlanMade{reply.plan, revision_, 0, {}};
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
  MUSTER_TRY(keep_written());
  if (auto* nothing = std::get_if<plan::NothingToDo>(&outcome)) {
    return PlanMade{nullptr, revision_, nothing->left_out.size(), std::move(nothing->notices)};
  }
  return keep(std::move(std::get<plan::Plan>(outcome)));
}

}  // namespace muster::controller
