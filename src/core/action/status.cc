#include "core/action/status.h"

#include <array>
#include <utility>

namespace muster::core {
namespace {

template <typename Enum, std::size_t N>
using Names = std::array<std::pair<Enum, std::string_view>, N>;

constexpr Names<Status, 13> kStatusNames = {{
    {Status::Init, "INIT"},
    {Status::PendingApprove, "PENDING_APPROVE"},
    {Status::Waiting, "WAITING"},
    {Status::Ready, "READY"},
    {Status::PendingSchedule, "PENDING_SCHEDULE"},
    {Status::New, "NEW"},
    {Status::Running, "RUNNING"},
    {Status::Suspended, "SUSPENDED"},
    {Status::WaitingLifecycleCompletion, "WAITING_LIFECYCLE_COMPLETION"},
    {Status::Succeeded, "SUCCEEDED"},
    {Status::Failed, "FAILED"},
    {Status::Cancelled, "CANCELLED"},
    {Status::Lost, "LOST"},
}};

constexpr Names<Signal, 4> kSignalNames = {{
    {Signal::None, ""},
    {Signal::Cancel, "CANCEL"},
    {Signal::Suspend, "SUSPEND"},
    {Signal::Resume, "RESUME"},
}};

constexpr Names<ExecuteResult, 5> kResultNames = {{
    {ExecuteResult::Ok, "OK"},
    {ExecuteResult::Error, "ERROR"},
    {ExecuteResult::Retry, "RETRY"},
    {ExecuteResult::Cancel, "CANCEL"},
    {ExecuteResult::Timeout, "TIMEOUT"},
}};

template <typename Enum, std::size_t N>
std::string_view find_name(const Names<Enum, N>& names, Enum value) {
  for (const auto& [candidate, text] : names) {
    if (candidate == value) return text;
  }
  return "?";
}

template <typename Enum, std::size_t N>
std::optional<Enum> find_value(const Names<Enum, N>& names, std::string_view text) {
  for (const auto& [candidate, name] : names) {
    if (!name.empty() && name == text) return candidate;
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(Status status) { return find_name(kStatusNames, status); }

std::optional<Status> parse_status(std::string_view text) {
  if (text == "DONE") return Status::Succeeded;
  return find_value(kStatusNames, text);
}

std::string_view name(Signal signal) { return find_name(kSignalNames, signal); }

std::optional<Signal> parse_signal(std::string_view text) { return find_value(kSignalNames, text); }

std::string_view name(ExecuteResult result) { return find_name(kResultNames, result); }

std::optional<ExecuteResult> parse_execute_result(std::string_view text) {
  return find_value(kResultNames, text);
}

Status final_status(ExecuteResult result) {
  switch (result) {
    case ExecuteResult::Ok:
      return Status::Succeeded;
    case ExecuteResult::Cancel:
      return Status::Cancelled;
    case ExecuteResult::Error:
    case ExecuteResult::Retry:
    case ExecuteResult::Timeout:
      return Status::Failed;
  }
  return Status::Failed;
}

std::string_view name(Cause cause) {
  return cause == Cause::RpcRequest ? "RPC Request" : "Derived Action";
}

}  // namespace muster::core
