#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "core/agent/journal_entry.h"
#include "core/input.h"

// Inputs and effects of the agent's core. The contract is the controller's: writes of a step and of
// all steps before it are durable before anything else of the step happens.

namespace muster::core::agent {

// --- Inputs. ---

// The link is up and welcomed; the core answers with its whole view.
struct LinkUp {};
struct LinkDown {};
struct Schedule {
  ActionId id;
  std::uint32_t attempt = 1;
  std::string name;
  std::string kind;
  JsonText inputs = "{}";
  Duration timeout;
  std::string requested_by;
  Timestamp created_at;
  Duration start_within = {};  // of its arrival; zero: no limit
};
struct SignalFromController {
  ActionId id;
  std::uint32_t attempt = 1;
  Signal signal = Signal::Cancel;
  std::string reason;
};
struct Ack {
  ActionId id;
  std::uint32_t attempt = 1;
};
struct SyncRequest {
  std::uint64_t sync = 0;
};

// The local API. Each is answered with one LocalReply.
struct LocalSchedule {
  RequestId request = 0;
  Schedule action;  // attempt is 1; the id is the caller's or a fresh one
};
struct LocalSignal {
  RequestId request = 0;
  ActionId id;
  Signal signal = Signal::Cancel;
  std::string who;
  std::string reason;
};

// From the executor.
struct RunEnded {
  ActionId id;
  std::uint32_t attempt = 1;
  ExecuteResult result = ExecuteResult::Ok;
  std::string reason;
  JsonText outputs = "{}";
};
struct RunSuspended {
  ActionId id;
  std::uint32_t attempt = 1;
  bool suspended = false;  // false: it goes on
};

struct AgentTick {};

using AgentInput = std::variant<LinkUp, LinkDown, Schedule, SignalFromController, Ack, SyncRequest,
                                LocalSchedule, LocalSignal, RunEnded, RunSuspended, AgentTick>;

// --- Effects. ---

struct PutEntry {
  JournalEntryPtr entry;
};
struct DropEntry {
  ActionId id;
  std::uint32_t attempt = 1;  // its output goes too
};
using JournalWrite = std::variant<PutEntry, DropEntry>;

struct SendReport {
  AgentAction action;
};
struct SendSyncPage {
  std::uint64_t sync = 0;
  std::vector<AgentAction> actions;
  bool last = false;
};
using AgentMessage = std::variant<SendReport, SendSyncPage>;

// The intent is in the journal; now it may start. `recovered` asks the executor to look first
// whether this (id, attempt) was started before the agent died: if so it re-attaches, or reports
// how it ended; if it provably was not, it starts it.
struct StartRun {
  JournalEntryPtr entry;
  bool recovered = false;
};
struct SignalRun {
  ActionId id;
  std::uint32_t attempt = 1;
  Signal signal = Signal::Cancel;
};
using RunCommand = std::variant<StartRun, SignalRun>;

struct LocalReply {
  RequestId request = 0;
  std::variant<JournalEntryPtr, Error> body;
};

struct AgentEffects {
  std::vector<JournalWrite> writes;
  std::vector<AgentMessage> messages;  // dropped by the shell where the link is down
  std::vector<RunCommand> runs;
  std::vector<LocalReply> replies;
};

}  // namespace muster::core::agent
