#include "plugin/failure.h"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace muster::plugin {
namespace {

std::string call_of(const PluginFailure& failure) {
  return failure.about.empty() ? failure.method : failure.method + " " + failure.about;
}

}  // namespace

std::string_view name(FailureKind kind) {
  switch (kind) {
    case FailureKind::NotStarted:
      return "not_started";
    case FailureKind::Incompatible:
      return "incompatible";
    case FailureKind::Crashed:
      return "crashed";
    case FailureKind::TimedOut:
      return "timed_out";
    case FailureKind::Garbage:
      return "garbage";
    case FailureKind::Flooded:
      return "flooded";
    case FailureKind::OutOfMemory:
      return "out_of_memory";
    case FailureKind::Wrong:
      return "wrong";
    case FailureKind::Refused:
      return "refused";
    case FailureKind::Stopped:
      return "stopped";
    case FailureKind::Cancelled:
      return "cancelled";
  }
  return "wrong";
}

std::string PluginFailure::headline() const {
  return fmt::format("plugin '{}', {}: {}", plugin, call_of(*this), reason);
}

std::string PluginFailure::message() const {
  std::string text = headline();
  const char* before = ": ";
  for (const std::string& problem : problems) text += std::exchange(before, "; ") + problem;
  return text;
}

Error to_error(const std::vector<PluginFailure>& failures) {
  Error error{ErrorCode::PluginFailed, failures.front().headline()};
  const auto add = [&](const PluginFailure& failure, std::string detail) {
    FieldError field{.pointer = {}, .code = ErrorCode::PluginFailed, .detail = std::move(detail)};
    field.plugin = failure.plugin;
    error.fields.push_back(std::move(field));
  };
  if (failures.size() > 1) {
    std::set<std::string_view> plugins;
    for (const PluginFailure& failure : failures) plugins.insert(failure.plugin);
    error.message = plugins.size() > 1 ? fmt::format("{} plugins failed", plugins.size())
                                       : fmt::format("plugin '{}' failed in {} calls",
                                                     failures.front().plugin, failures.size());
  }
  for (const PluginFailure& failure : failures) {
    // One failure is told by the message; without problems its field is there for programs.
    if (failures.size() > 1) {
      add(failure, fmt::format("{}: {}", call_of(failure), failure.reason));
    } else if (failure.problems.empty()) {
      add(failure, failure.reason);
    }
    for (const std::string& problem : failure.problems) add(failure, problem);
  }
  return error;
}

}  // namespace muster::plugin
