#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "core/action/action.h"
#include "core/fleet/agent.h"
#include "core/model/revision.h"
#include "core/plan/plan_record.h"
#include "model/declaration.h"
#include "model/edit.h"

// Everything that can happen to the engine. Inputs carry whatever the engine may not make itself:
// ids, randomness, what is only in the store.

namespace muster::core {

using RequestId = std::uint64_t;  // chosen by the shell; comes back in the Reply
using LookupId = std::uint64_t;

// One action as asked for. References are a UUID, a name, the first digits of an id, or the name of
// another action of the same request; an empty one is passed over.
struct ActionRequest {
  std::optional<ActionId> id;  // chosen by the caller
  std::string name;            // empty: made from kind and id
  std::string kind;
  std::string target;
  JsonText inputs = "{}";
  JsonText context = "{}";
  std::vector<std::string> depends_on;
  std::vector<std::string> depended_by;
  std::optional<ActionId> parent;
  std::optional<Duration> timeout;
  std::optional<Duration> queue_timeout;
  Duration interval;
  Misfire misfire = Misfire::Skip;
  Timestamp not_before;
  Timestamp not_after;
  RetryPolicy retry;
  std::optional<ApprovalPolicy> approval;
  bool hold = false;
  std::string plan;
  std::string task;
};

struct IdempotencyKey {
  std::string key;     // scoped to the identity by whoever makes it
  std::string digest;  // of the request body

  bool operator==(const IdempotencyKey&) const = default;
};

// --- API commands. Each is answered with exactly one Reply. ---

struct Submit {
  RequestId request = 0;
  std::string who;
  std::vector<ActionRequest> actions;  // all or none
  std::vector<ActionId> fresh_ids;     // one per action, random
  std::optional<IdempotencyKey> idempotency;
  // The request is known to be wrong: tell what else is, and create nothing.
  bool only_check = false;
};

struct SignalRequest {
  RequestId request = 0;
  std::string who;
  ActionId id;
  Signal signal = Signal::None;
  std::string reason;
  bool force = false;  // CANCEL only: end it now, whatever the agent says
  std::optional<std::uint64_t> if_revision;
};

struct DecideRequest {
  RequestId request = 0;
  std::string who;
  ActionId id;
  bool approve = false;
  std::string reason;
  std::optional<std::uint64_t> if_revision;
};

struct RefreshRequest {
  RequestId request = 0;
  std::string who;
  AgentName agent;  // empty: every agent that is online
};

// Makes the items at and below `at` what is declared.
struct ApplyDeclaration {
  model::Path at;
  std::shared_ptr<const model::Declaration> wanted;
  model::Prune prune = model::Prune::Nothing;
};
// Makes the model what it was at a revision.
struct RestoreRevision {
  std::uint64_t number = 0;
};
using ModelOperations = std::vector<model::Operation>;
using ModelChange = std::variant<ModelOperations, ApplyDeclaration, RestoreRevision>;

struct EditModel {
  RequestId request = 0;
  std::string who;
  std::string why;
  ModelChange change;  // all of it or none
  // What the caller saw: "model-42", the revision of the whole model, or the fingerprint of the
  // item that is changed.
  std::optional<std::string> if_match;
  bool dry_run = false;  // only tells what would change
  model::Actor actor = model::Actor::User;
  std::optional<IdempotencyKey> idempotency;
};

// A plan that was made from a revision of the model.
struct KeepPlan {
  RequestId request = 0;
  std::string who;
  std::string why;
  std::uint64_t model_revision = 0;
  std::string digest;
  PlanSummary summary;
  std::shared_ptr<const std::string> body;  // as the store keeps it
};

struct RemovePlan {
  RequestId request = 0;
  std::string who;
  std::uint64_t number = 0;
};

// --- Agents. ---

struct AgentConnected {
  SessionId session = 0;
  AgentIdentity identity;
};

struct AgentDisconnected {
  SessionId session = 0;
  std::string reason;
};

struct AgentHeartbeat {
  SessionId session = 0;
  std::string problem = {};  // what keeps the agent from working; empty: nothing
};

// How one action stands on an agent. The fields from `name` on are filled in every sync page, and
// in a report where the origin is Agent: a controller that does not know the action adopts it from
// them.
struct AgentAction {
  ActionId id;
  std::uint32_t attempt = 1;
  Origin origin = Origin::Controller;
  Status status = Status::New;               // New, Running, Suspended or final
  ExecuteResult result = ExecuteResult::Ok;  // of a final one
  std::string reason;
  Timestamp start_time;
  Timestamp stop_time;
  JsonText outputs = "{}";
  std::string name;
  std::string kind;
  JsonText inputs = "{}";
  Duration timeout;
  std::string requested_by;
  Timestamp created_at;

  bool operator==(const AgentAction&) const = default;
};

// A change on the agent.
struct AgentReport {
  SessionId session = 0;
  AgentAction action;
};

// One page of the agent's whole view: unfinished, and finished but not yet acknowledged.
struct AgentSyncPage {
  SessionId session = 0;
  std::uint64_t sync = 0;
  std::vector<AgentAction> actions;
  bool last = false;
};

// --- The shell. ---

struct JobDone {
  ActionId id;
  std::uint32_t attempt = 1;
  ExecuteResult result = ExecuteResult::Ok;
  std::string reason;
  JsonText outputs = "{}";
};

// A job confirms that it is suspended, or goes on.
struct JobStatus {
  ActionId id;
  std::uint32_t attempt = 1;
  bool suspended = false;
};

// The answer to effect Lookup: actions of the history that match, complete. What matches a prefix
// comes whether it has ended or not.
struct LookupDone {
  LookupId lookup = 0;
  std::vector<ActionPtr> found;
};

// The answer to effect AskModel. Whoever cannot find out says so as what is wrong.
struct ModelAnswered {
  LookupId lookup = 0;
  model::Answers answers;
};

// The answer to effect ReadRevisions: the changes of the revisions, newest first, or why they
// cannot be had.
struct RevisionsRead {
  LookupId lookup = 0;
  std::vector<ChangeSetPtr> changes;
  std::optional<Error> problem;
};

// Time has passed; sent when Engine::next_deadline() is due.
struct Tick {};

using Input =
    std::variant<Submit, SignalRequest, DecideRequest, RefreshRequest, EditModel, KeepPlan,
                 RemovePlan, AgentConnected, AgentDisconnected, AgentHeartbeat, AgentReport,
                 AgentSyncPage, JobDone, JobStatus, LookupDone, ModelAnswered, RevisionsRead, Tick>;

}  // namespace muster::core
