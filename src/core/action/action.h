#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/backoff.h"
#include "base/time.h"
#include "base/uuid.h"
#include "core/action/status.h"

// The durable unit of execution. An action is two values: the ActionSpec, fixed when it is created
// (but that an agent wins a conflict of ids), and the Action, its state. Both are immutable and
// shared: a transition makes a new Action that points to the same spec, so handing one to the
// store's thread, to a reply and to an event costs no copy and needs no lock.

namespace muster::core {

using ActionId = Uuid;

// JSON text that was checked when it came in; an object. The core passes it on and never reads it.
using JsonText = std::string;

enum class Misfire : std::uint8_t { Skip, RunOnce };
enum class Side : std::uint8_t { Engine, Agent };
enum class Origin : std::uint8_t { Controller, Agent };

struct ApprovalPolicy {
  std::uint32_t count = 1;       // how many different people
  bool allow_requester = false;  // may the requester be one of them
  Duration expires_in = Duration::days(7);

  bool operator==(const ApprovalPolicy&) const = default;
};

struct ApprovalDecision {
  std::string who;
  bool approved = false;
  std::string reason;
  Timestamp at;

  bool operator==(const ApprovalDecision&) const = default;
};

struct RetryPolicy {
  // Executions in all. 1 means: an ERROR is final; a RETRY answer is still tried again up to
  // kRetryAnswerAttempts times, because the execution itself asked for it.
  std::uint32_t attempts = 1;
  Backoff backoff = {};

  bool operator==(const RetryPolicy&) const = default;
};

inline constexpr std::uint32_t kRetryAnswerAttempts = 4;

struct ActionSpec {
  ActionId id;
  std::uint64_t seq = 0;  // creation order; also the order of an agent's queue
  std::string name;
  std::string kind;    // the API's `action`
  std::string target;  // agent name; for an engine action free text, mostly empty
  Side side = Side::Engine;
  Origin origin = Origin::Controller;
  Cause cause = Cause::RpcRequest;
  std::optional<ActionId> parent;  // of a derived action
  std::string requested_by;
  JsonText inputs = "{}";
  JsonText context = "{}";
  std::vector<ActionId> depends_on;
  Duration timeout;        // of one execution
  Duration queue_timeout;  // from dispatchable to running
  Duration interval;       // zero: not repeated
  Misfire misfire = Misfire::Skip;
  Timestamp not_before;  // requested start
  Timestamp not_after;   // no run starts after this
  RetryPolicy retry;
  std::optional<ApprovalPolicy> approval;
  std::string plan;  // where it came from one
  std::string task;
  Timestamp created_at;

  bool operator==(const ActionSpec&) const = default;
};

struct Action {
  std::shared_ptr<const ActionSpec> spec;
  std::uint64_t revision = 1;  // grows with every change; the API's ETag
  Status status = Status::Init;
  std::string status_reason;
  Timestamp status_since;
  Signal control = Signal::None;
  std::string control_reason;       // who asked and why
  std::string owner;                // controller instance or agent that executes it
  std::uint32_t attempt = 1;        // grows with every execution; (id, attempt) starts at most once
  std::uint32_t attempt_floor = 0;  // the last attempt of the action that this one took the id of
  std::uint32_t tries = 0;          // executions of the current run that have ended
  std::uint32_t runs = 0;           // completed runs of a repeated action
  bool sent = false;                // the current attempt may have reached the agent
  std::string sent_journal;         // the agent's journal that it was sent to
  Timestamp next_try;               // not dispatched before
  Timestamp deadline;               // when the current wait or execution ends by force
  Timestamp suspended_since;
  Timestamp start_time;  // of the last execution
  Timestamp stop_time;
  Timestamp updated_at;
  JsonText outputs = "{}";
  JsonText data = "{}";
  std::vector<ActionId> depends_on_left;  // dependencies that have not succeeded yet
  std::vector<ActionId> depended_by;
  std::vector<ApprovalDecision> decisions;

  const ActionId& id() const { return spec->id; }
  bool is_final() const { return core::is_final(status); }
  std::uint32_t next_attempt() const { return std::max(attempt, attempt_floor) + 1; }
};

using ActionPtr = std::shared_ptr<const Action>;

}  // namespace muster::core
