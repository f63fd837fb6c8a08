#include "core/action/submission.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/check.h"
#include "base/field_errors.h"
#include "base/nearest.h"
#include "core/action/dependency_graph.h"
#include "core/action/references.h"
#include "core/action/transitions.h"
#include "core/kind/catalog.h"

namespace muster::core {
namespace {

constexpr std::size_t kDependenciesMax = 1000;
constexpr std::size_t kDependentsMax = 10'000;
constexpr std::size_t kErrorsMax = 100;
constexpr std::size_t kAgentsCompared = 1000;  // for "did you mean"
constexpr std::string_view kControllerTarget = "controller";

std::string pointer_to(std::size_t index, std::string_view field) {
  return fmt::format("/actions/{}/{}", index, field);
}

// What repeats without an end never succeeds.
bool is_endless(Duration interval, Timestamp not_after) {
  return !interval.is_zero() && !not_after.is_set();
}

std::string suggest_kind(std::string_view kind) {
  std::vector<std::string_view> known;
  for (const KindInfo& info : KindCatalog::all()) known.push_back(info.name);
  return did_you_mean(kind, known);
}

// One action of the request on its way to become one.
struct Draft {
  const ActionRequest* request = nullptr;
  ActionId id;
  Side side = Side::Engine;
  std::vector<ActionId> depends_on;
  std::vector<ActionId> left;             // those that have not succeeded yet
  std::vector<ActionPtr> new_dependents;  // existing actions that shall depend on it
  std::vector<ActionId> depended_by;
};

class Submission {
 public:
  Submission(Step& step, const Submit& submit, const Lookup& asked,
             const std::vector<ActionPtr>& found)
      : step_(step),
        submit_(submit),
        ids_(choose_ids(submit)),
        resolver_(step.state, submit, ids_, asked, found) {}

  void run() {
    check_limits();
    const auto full = [this] { return errors().size() >= kErrorsMax; };
    for (std::size_t i = 0; i < submit_.actions.size() && !full(); ++i) draft(i);
    // Also where something is wrong already: the store may know of more.
    if (resolver_.needs_lookup() && !full()) {
      defer();
      return;
    }
    if (errors().empty()) {
      link_dependents();
      check_cycles();
    }
    if (!errors().empty()) {
      refuse();
      return;
    }
    if (submit_.only_check) {
      step_.effects.replies.push_back({submit_.request, SubmitReply{}});
      return;
    }
    create();
  }

 private:
  static std::vector<ActionId> choose_ids(const Submit& submit) {
    MUSTER_CHECK(submit.fresh_ids.size() == submit.actions.size(), "{} fresh ids for {} actions",
                 submit.fresh_ids.size(), submit.actions.size());
    std::vector<ActionId> ids;
    for (std::size_t i = 0; i < submit.actions.size(); ++i) {
      ids.push_back(submit.actions[i].id.value_or(submit.fresh_ids[i]));
    }
    return ids;
  }

  std::vector<FieldError>& errors() { return resolver_.errors(); }

  void error(std::size_t index, std::string_view field, ErrorCode code, std::string detail) {
    errors().push_back({pointer_to(index, field), code, std::move(detail)});
  }

  void check_limits() {
    const EngineOptions& options = step_.state.options;
    if (submit_.actions.empty()) {
      errors().push_back(
          {"/actions", ErrorCode::InvalidValue, "there must be at least one action"});
    }
    if (submit_.actions.size() > options.batch_max) {
      errors().push_back({"/actions", ErrorCode::InvalidValue,
                          fmt::format("{} actions in one request, at most {} are allowed",
                                      submit_.actions.size(), options.batch_max)});
    }
    if (step_.state.actions.size() + submit_.actions.size() > options.actions_max) {
      errors().push_back({"/actions", ErrorCode::Overloaded,
                          fmt::format("{} actions have not ended yet, at most {} may be",
                                      step_.state.actions.size(), options.actions_max)});
    }
  }

  void draft(std::size_t index) {
    const ActionRequest& request = submit_.actions[index];
    Draft draft;
    draft.request = &request;
    draft.id = ids_[index];
    draft.side = choose_side(index, request);
    check_schedule(index, request);
    if (request.id) resolver_.check_free(*request.id, pointer_to(index, "id"));
    if (request.parent) resolver_.check_parent(*request.parent, pointer_to(index, "parent"));
    resolve_dependencies(index, request, draft);
    resolve_dependents(index, request, draft);
    drafts_.push_back(std::move(draft));
  }

  void check_schedule(std::size_t index, const ActionRequest& request) {
    if (!request.not_after.is_set() || request.not_after > step_.now) return;
    error(index, "stop_time", ErrorCode::InvalidValue,
          fmt::format("stop_time {} has passed, it is {} now; it would never start",
                      format_rfc3339(request.not_after), format_rfc3339(step_.now)));
  }

  Side choose_side(std::size_t index, const ActionRequest& request) {
    if (request.kind.empty()) return Side::Engine;  // reported by whoever read the request
    const KindInfo* kind = KindCatalog::find(request.kind);
    const bool on_controller = request.target.empty() || request.target == kControllerTarget;
    if (on_controller) {
      if (kind == nullptr) {
        error(index, "action", ErrorCode::UnknownKind,
              fmt::format("no action kind is called '{}'{}", request.kind.substr(0, 64),
                          suggest_kind(request.kind)));
      } else if (!kind->on_engine) {
        error(index, "target", ErrorCode::MissingField,
              fmt::format("kind '{}' runs on an agent; name one as target", request.kind));
      }
      return Side::Engine;
    }
    if (kind != nullptr && !kind->on_agent) {
      error(index, "target", ErrorCode::InvalidValue,
            fmt::format("kind '{}' runs on the controller; leave the target out", request.kind));
      return Side::Engine;
    }
    const AgentPtr agent = step_.state.agents.find(request.target);
    if (!agent) {
      error(index, "target", ErrorCode::UnknownTarget,
            fmt::format("no agent is called '{}'{}", request.target.substr(0, 64),
                        suggest_agent(request.target)));
      if (kind == nullptr && !may_be_offered(request.kind)) {
        error(index, "action", ErrorCode::UnknownKind,
              fmt::format("no action kind is called '{}', and no agent offers it{}",
                          request.kind.substr(0, 64), suggest_kind(request.kind)));
      }
      return Side::Agent;
    }
    const auto& offered = agent->identity.kinds;
    if (std::find(offered.begin(), offered.end(), request.kind) == offered.end()) {
      const std::vector<std::string_view> known(offered.begin(), offered.end());
      error(index, "action", ErrorCode::UnknownKind,
            fmt::format("agent '{}' does not offer kind '{}'; it offers {}{}", request.target,
                        request.kind.substr(0, 64), fmt::join(offered, ", "),
                        did_you_mean(request.kind, known)));
    }
    return Side::Agent;
  }

  // Comparing with every name of a large fleet would hold the engine up.
  std::string suggest_agent(std::string_view target) const {
    if (step_.state.agents.size() > kAgentsCompared) return {};
    const std::vector<AgentPtr> agents = step_.state.agents.all();
    std::vector<std::string_view> known;
    for (const AgentPtr& agent : agents) known.push_back(agent->identity.name);
    return did_you_mean(target, known);
  }

  // Agents may bring kinds of their own. A large fleet is not searched; then it may be.
  bool may_be_offered(const std::string& kind) const {
    if (step_.state.agents.size() > kAgentsCompared) return true;
    return std::ranges::any_of(step_.state.agents.all(), [&](const AgentPtr& agent) {
      const auto& kinds = agent->identity.kinds;
      return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
    });
  }

  bool never_succeeds(const ReferenceResolver::Target& target) const {
    if (target.action) {
      return !target.action->is_final() &&
             is_endless(target.action->spec->interval, target.action->spec->not_after);
    }
    const ActionRequest& request = submit_.actions[resolver_.position(target.id)];
    return is_endless(request.interval, request.not_after);
  }

  void resolve_dependencies(std::size_t index, const ActionRequest& request, Draft& draft) {
    if (request.depends_on.size() > kDependenciesMax) {
      error(index, "depends_on", ErrorCode::InvalidValue,
            fmt::format("{} dependencies, at most {} are allowed", request.depends_on.size(),
                        kDependenciesMax));
      return;
    }
    for (std::size_t i = 0; i < request.depends_on.size(); ++i) {
      if (request.depends_on[i].empty()) continue;
      const std::string pointer = pointer_to(index, fmt::format("depends_on/{}", i));
      const auto target = resolver_.resolve(request.depends_on[i], pointer);
      using Kind = ReferenceResolver::Target::Kind;
      if (target.kind == Kind::Unresolved) continue;
      if (std::find(draft.depends_on.begin(), draft.depends_on.end(), target.id) !=
          draft.depends_on.end()) {
        continue;
      }
      if (target.kind == Kind::Finished && target.action->status != Status::Succeeded) {
        errors().push_back({pointer, ErrorCode::Conflict,
                            fmt::format("{} is {} already and will not succeed",
                                        describe(*target.action), name(target.action->status))});
        continue;
      }
      if (never_succeeds(target)) {
        errors().push_back({pointer, ErrorCode::InvalidValue,
                            fmt::format("'{}' repeats without an end, so that it never succeeds; "
                                        "only one with a stop_time can be waited for",
                                        request.depends_on[i].substr(0, 64))});
        continue;
      }
      if (target.kind == Kind::Live && target.action->depended_by.size() >= kDependentsMax) {
        errors().push_back({pointer, ErrorCode::InvalidValue,
                            fmt::format("{} has {} dependents, which is the limit",
                                        describe(*target.action), kDependentsMax)});
        continue;
      }
      draft.depends_on.push_back(target.id);
      if (target.kind != Kind::Finished) draft.left.push_back(target.id);
    }
  }

  void resolve_dependents(std::size_t index, const ActionRequest& request, Draft& draft) {
    if (!request.depended_by.empty() && is_endless(request.interval, request.not_after)) {
      error(index, "depended_by", ErrorCode::InvalidValue,
            "the action repeats without an end, so that it never succeeds; give it a stop_time if "
            "others shall wait for it");
      return;
    }
    for (std::size_t i = 0; i < request.depended_by.size(); ++i) {
      if (request.depended_by[i].empty()) continue;
      const std::string pointer = pointer_to(index, fmt::format("depended_by/{}", i));
      const auto target = resolver_.resolve(request.depended_by[i], pointer);
      using Kind = ReferenceResolver::Target::Kind;
      if (target.kind == Kind::New) {
        dependents_in_request_.emplace_back(draft.id, target.id);
      } else if (target.kind == Kind::Finished) {
        errors().push_back({pointer, ErrorCode::Conflict,
                            fmt::format("{} is {} already", describe(*target.action),
                                        name(target.action->status))});
      } else if (target.kind == Kind::Live) {
        if (!can_still_wait(*target.action)) {
          errors().push_back({pointer, ErrorCode::Conflict,
                              fmt::format("{} is {} and can no longer be made to wait",
                                          describe(*target.action), name(target.action->status))});
        } else {
          draft.new_dependents.push_back(target.action);
        }
      }
    }
  }

  static bool can_still_wait(const Action& action) {
    switch (action.status) {
      case Status::Init:
      case Status::PendingApprove:
      case Status::Waiting:
      case Status::Ready:
        return true;
      case Status::PendingSchedule:
        return !action.sent;
      default:
        return false;
    }
  }

  // depended_by of a request, turned round into depends_on of the other draft.
  void link_dependents() {
    for (std::size_t i = 0; i < drafts_.size(); ++i) position_[drafts_[i].id] = i;
    for (const auto& [dependency, dependent] : dependents_in_request_) {
      Draft& draft = drafts_[position_.at(dependent)];
      if (std::find(draft.left.begin(), draft.left.end(), dependency) != draft.left.end()) continue;
      draft.depends_on.push_back(dependency);
      draft.left.push_back(dependency);
    }
  }

  void check_cycles() {
    std::map<ActionId, std::vector<ActionId>> added;  // new edges of existing actions
    for (const Draft& draft : drafts_) {
      for (const ActionPtr& dependent : draft.new_dependents) {
        added[dependent->id()].push_back(draft.id);
      }
    }
    const auto dependencies_of = [&](const ActionId& id) {
      if (const auto own = position_.find(id); own != position_.end()) {
        return drafts_[own->second].left;
      }
      std::vector<ActionId> result;
      if (const ActionPtr live = step_.state.actions.find(id)) result = live->depends_on_left;
      if (const auto more = added.find(id); more != added.end()) {
        result.insert(result.end(), more->second.begin(), more->second.end());
      }
      return result;
    };
    const auto cycle = find_cycle(ids_, dependencies_of);
    if (!cycle) return;
    std::vector<std::string> names;
    for (const ActionId& id : *cycle) names.push_back(label(id));
    const auto own = std::find_if(cycle->begin(), cycle->end(),
                                  [&](const ActionId& id) { return position_.contains(id); });
    error(own == cycle->end() ? 0 : position_.at(*own), "depends_on", ErrorCode::DependencyCycle,
          fmt::format("the dependencies form a cycle: {}", fmt::join(names, " -> ")));
  }

  std::string label(const ActionId& id) const {
    if (const auto own = position_.find(id); own != position_.end()) {
      const std::string& name = drafts_[own->second].request->name;
      return name.empty() ? fmt::format("#{}", own->second) : name;
    }
    const ActionPtr live = step_.state.actions.find(id);
    return live ? describe(*live) : id.to_string();
  }

  void defer() {
    Lookup lookup = resolver_.missing();
    lookup.lookup = ++step_.state.last_lookup;
    step_.state.lookups.emplace(lookup.lookup, PendingSubmit{submit_, lookup});
    step_.effects.lookups.push_back(std::move(lookup));
  }

  void refuse() {
    if (submit_.idempotency) step_.state.idempotency.abandon(submit_.idempotency->key);
    step_.reply(submit_.request, gather(std::move(errors())));
  }

  void create() {
    for (Draft& draft : drafts_) {
      for (const ActionId& dependency : draft.left) {
        if (const auto own = position_.find(dependency); own != position_.end()) {
          drafts_[own->second].depended_by.push_back(draft.id);
        }
      }
      for (const ActionPtr& dependent : draft.new_dependents) {
        draft.depended_by.push_back(dependent->id());
      }
    }
    SubmitReply reply;
    for (const Draft& draft : drafts_) reply.actions.push_back(create_one(draft));
    for (const Draft& draft : drafts_) link_existing(draft);
    if (submit_.idempotency) {
      PutIdempotency record{.key = submit_.idempotency->key,
                            .digest = submit_.idempotency->digest,
                            .actions = ids_,
                            .expires_at = step_.now + step_.state.options.idempotency_for};
      step_.state.idempotency.put(record);
      step_.effects.writes.push_back(std::move(record));
    }
    step_.effects.replies.push_back({submit_.request, std::move(reply)});
  }

  ActionPtr create_one(const Draft& draft) {
    Action action;
    action.spec = make_spec(draft);
    action.depends_on_left = draft.left;
    action.depended_by = draft.depended_by;
    action.next_try = action.spec->not_before;
    const EventNote note{.type = "action.created", .actor = submit_.who};
    if (draft.request->hold) {
      action.status = Status::Init;
      action.status_reason = "held; RESUME releases it";
      action.deadline = step_.now + action.spec->queue_timeout;
      step_.put(std::move(action), &note);
    } else {
      enter_after_hold(step_, std::move(action), note);
    }
    return step_.state.actions.find(draft.id);
  }

  std::shared_ptr<const ActionSpec> make_spec(const Draft& draft) {
    const ActionRequest& request = *draft.request;
    const EngineOptions& options = step_.state.options;
    auto spec = std::make_shared<ActionSpec>();
    spec->id = draft.id;
    spec->seq = ++step_.state.last_action_seq;
    spec->name = request.name.empty() ? fmt::format("{}-{}", request.kind, draft.id.short_id())
                                      : request.name;
    spec->kind = request.kind;
    spec->target = request.target;
    spec->side = draft.side;
    spec->cause = request.parent ? Cause::DerivedAction : Cause::RpcRequest;
    spec->parent = request.parent;
    spec->requested_by = submit_.who;
    spec->inputs = request.inputs;
    spec->context = request.context;
    spec->depends_on = draft.depends_on;
    spec->timeout =
        request.timeout && !request.timeout->is_zero() ? *request.timeout : options.default_timeout;
    spec->queue_timeout = request.queue_timeout && !request.queue_timeout->is_zero()
                              ? *request.queue_timeout
                              : options.default_queue_timeout;
    spec->interval = request.interval;
    spec->misfire = request.misfire;
    spec->not_before = request.not_before;
    spec->not_after = request.not_after;
    spec->retry = request.retry;
    spec->approval = request.approval;
    spec->plan = request.plan;
    spec->task = request.task;
    spec->created_at = step_.now;
    return spec;
  }

  // Existing actions on either end of a new edge.
  void link_existing(const Draft& draft) {
    for (const ActionId& dependency : draft.left) {
      if (position_.contains(dependency)) continue;
      Action next = *step_.state.actions.find(dependency);
      next.depended_by.push_back(draft.id);
      step_.put(std::move(next), nullptr);
    }
    for (const ActionPtr& dependent : draft.new_dependents) {
      Action next = *step_.state.actions.find(dependent->id());
      ActionSpec spec = *next.spec;
      spec.depends_on.push_back(draft.id);
      next.spec = std::make_shared<const ActionSpec>(std::move(spec));
      next.depends_on_left.push_back(draft.id);
      const EventNote note{.type = "action.status", .actor = submit_.who};
      if (next.status == Status::Ready || next.status == Status::PendingSchedule ||
          next.status == Status::Waiting) {
        enter_after_approval(step_, std::move(next), note);
      } else {
        step_.put(std::move(next), nullptr);
      }
    }
  }

  Step& step_;
  const Submit& submit_;
  const std::vector<ActionId> ids_;
  ReferenceResolver resolver_;
  std::vector<Draft> drafts_;
  std::vector<std::pair<ActionId, ActionId>> dependents_in_request_;  // dependency, dependent
  std::map<ActionId, std::size_t> position_;
};

// True: the key has been answered, or is being worked on.
bool answer_from_key(Step& step, const Submit& submit) {
  const auto* entry = step.state.idempotency.find(submit.idempotency->key);
  if (entry == nullptr) return false;
  if (const auto conflict = IdempotencyTable::conflict(*entry, *submit.idempotency)) {
    step.reply(submit.request, *conflict);
  } else {
    step.effects.replies.push_back({submit.request, SubmitReply{{}, entry->actions}});
  }
  return true;
}

}  // namespace

void handle_submit(Step& step, const Submit& submit) {
  if (submit.idempotency) {
    if (answer_from_key(step, submit)) return;
    step.state.idempotency.begin(*submit.idempotency,
                                 step.now + step.state.options.idempotency_for);
  }
  Submission(step, submit, {}, {}).run();
}

void resume_submit(Step& step, const PendingSubmit& pending, const std::vector<ActionPtr>& found) {
  Submission(step, pending.submit, pending.asked, found).run();
}

}  // namespace muster::core
