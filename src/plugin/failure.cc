#include "plugin/failure.h"

#include <fmt/format.h>

namespace muster::plugin {

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

std::string PluginFailure::message() const {
  std::string text = fmt::format("plugin '{}', {}: {}", plugin, method, reason);
  for (const std::string& problem : problems) text += "\n  " + problem;
  return text;
}

}  // namespace muster::plugin
