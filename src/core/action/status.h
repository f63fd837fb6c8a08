#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace muster::core {

// One status set for engine actions and agent actions (design: "Actions").
enum class Status : std::uint8_t {
  Init,             // held: being built, never dispatched
  PendingApprove,   // needs approval
  Waiting,          // a dependency has not succeeded yet
  Ready,            // engine action: a worker may take it
  PendingSchedule,  // agent action: may or may not have reached the agent
  New,              // the agent has journalled it
  Running,
  Suspended,
  WaitingLifecycleCompletion,  // a node deletion that waits for its lifecycle hook
  Succeeded,
  Failed,
  Cancelled,
  Lost,  // a reachable agent no longer knows it
};

// "SUCCEEDED", "PENDING_SCHEDULE", ...
std::string_view name(Status status);
// Also accepts DONE, the agents' word for SUCCEEDED.
std::optional<Status> parse_status(std::string_view text);

constexpr bool is_final(Status status) {
  return status == Status::Succeeded || status == Status::Failed || status == Status::Cancelled ||
         status == Status::Lost;
}

// On the agent, or possibly so.
constexpr bool is_on_agent(Status status) {
  return status == Status::New || status == Status::Running || status == Status::Suspended;
}

enum class Signal : std::uint8_t { None, Cancel, Suspend, Resume };

std::string_view name(Signal signal);  // "CANCEL"; None is the empty string
std::optional<Signal> parse_signal(std::string_view text);

// What an execution answers.
enum class ExecuteResult : std::uint8_t { Ok, Error, Retry, Cancel, Timeout };

std::string_view name(ExecuteResult result);
std::optional<ExecuteResult> parse_execute_result(std::string_view text);

// The status of an action whose last execution answered this.
Status final_status(ExecuteResult result);

enum class Cause : std::uint8_t { RpcRequest, DerivedAction };

std::string_view name(Cause cause);  // "RPC Request", "Derived Action"

}  // namespace muster::core
