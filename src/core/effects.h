#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "core/action/action.h"
#include "core/event.h"
#include "core/fleet/agent.h"
#include "core/input.h"
#include "core/model/revision.h"
#include "core/plan/plan_record.h"
#include "model/migrate.h"

// What the shell must do after a step. The contract: first commit `writes` of this step and of all
// steps before it, then, in order, everything else. Nothing of a step may leave before its writes
// are durable.

namespace muster::core {

// --- Records. ---

struct PutAction {
  ActionPtr action;  // live or final; a final one leaves the engine with this write
};
struct PutAgent {
  AgentPtr agent;
};
struct PutIdempotency {
  std::string key;
  std::string digest;
  std::vector<ActionId> actions;
  Timestamp expires_at;
  std::uint64_t revision = 0;  // of the model, where the request was an edit
};
struct DropIdempotency {
  std::string key;
};
struct AppendEvent {
  Event event;  // also published to subscribers, after the commit
};
struct PutItem {
  model::Path path;
  model::ItemPtr item;  // null: it is not there any more
};
struct PutRevision {
  RevisionPtr revision;
};
struct DropRevision {
  std::uint64_t number = 0;
  std::size_t changes = 0;  // that it has
};
// The packs that the model was last used with.
struct PutModelPacks {
  model::PackVersions versions;
};
struct PutPlan {
  PlanRecordPtr plan;
  std::shared_ptr<const std::string> body;  // null: it is there already
};
struct DropPlan {
  std::uint64_t number = 0;
  std::uint64_t body_bytes = 0;
};
using Write = std::variant<PutAction, PutAgent, PutIdempotency, DropIdempotency, AppendEvent,
                           PutItem, PutRevision, DropRevision, PutModelPacks, PutPlan, DropPlan>;

// --- To agents. ---

struct SendSchedule {
  ActionPtr action;
  Duration start_within = {};  // after that the controller gives it up; zero: never
};
struct SendSignal {
  ActionId id;
  std::uint32_t attempt = 1;
  Signal signal = Signal::Cancel;
  std::string reason;
};
// The final report is durable; the agent may forget the action.
struct SendAck {
  ActionId id;
  std::uint32_t attempt = 1;
};
struct SendSyncRequest {
  std::uint64_t sync = 0;
};
// Ends the session.
struct CloseSession {
  std::string reason;
};
struct AgentSend {
  SessionId session = 0;
  std::variant<SendSchedule, SendSignal, SendAck, SendSyncRequest, CloseSession> message;
};

// --- To the controller's workers. ---

struct StartJob {
  ActionPtr action;
};
struct SignalJob {
  ActionId id;
  std::uint32_t attempt = 1;
  Signal signal = Signal::Cancel;
};
using Job = std::variant<StartJob, SignalJob>;

// --- To the store's history. ---

struct Lookup {
  LookupId lookup = 0;
  std::vector<ActionId> ids;
  std::vector<std::string> names;
  std::vector<std::string> prefixes = {};  // of ids, in lower case
};

// The changes of the revisions from `first` to `last`.
struct ReadRevisions {
  LookupId lookup = 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

// --- To plugins and the controller's host. ---

struct AskModel {
  LookupId lookup = 0;
  std::vector<model::Question> questions;
};

// --- For figures. ---

// One thing that took time. `kind` is the action's.
struct Measurement {
  enum class What : std::uint8_t {
    Wait,       // from dispatchable to running
    Execution,  // one execution, with its result
    Retry,      // an execution that is followed by another try
  } what = What::Wait;
  std::string kind;
  Duration duration = {};
  ExecuteResult result = ExecuteResult::Ok;
};

// --- To whoever asked. ---

struct SubmitReply {
  std::vector<ActionPtr> actions;
  std::vector<ActionId> replayed;  // instead of `actions`, where an Idempotency-Key repeats
};
struct ActionReply {
  ActionPtr action;
};
struct RefreshReply {
  std::vector<AgentName> refreshed;
};
struct ModelReply {
  std::uint64_t revision = 0;  // that the model has now, or had then, where a key repeats
  ChangeSetPtr changes;        // null: a key repeats
  bool dry_run = false;        // nothing was changed
};
struct PlanReply {
  PlanRecordPtr plan;
};
struct Reply {
  RequestId request = 0;
  std::variant<SubmitReply, ActionReply, RefreshReply, ModelReply, PlanReply, Error> body;
};

struct Effects {
  std::vector<Write> writes;
  std::vector<AgentSend> sends;
  std::vector<Job> jobs;
  std::vector<Lookup> lookups;
  std::vector<ReadRevisions> revision_reads;
  std::vector<AskModel> questions;
  std::vector<Reply> replies;
  std::vector<Measurement> measurements;

  bool empty() const {
    return writes.empty() && sends.empty() && jobs.empty() && lookups.empty() &&
           revision_reads.empty() && questions.empty() && replies.empty() && measurements.empty();
  }
};

}  // namespace muster::core
