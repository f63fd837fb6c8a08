#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "base/error.h"

namespace muster::plugin {

enum class FailureKind : std::uint8_t {
  NotStarted,    // the program could not be started
  Incompatible,  // it does not speak this protocol, or lacks what its pack promises
  Crashed,       // it ended in the middle of a call
  TimedOut,      // it did not answer in time
  Garbage,       // it sent what is no message, or an answer of the wrong shape
  Flooded,       // it sent more than it may
  OutOfMemory,   // it used more memory than it may
  Wrong,         // a mistake of the plugin: it answered with an error that is none of the agreed
  Refused,       // it answered that it cannot, with a reason for people
  Stopped,       // it gave up because the plan is being stopped
  Cancelled,     // the caller did not want the answer any more
};

std::string_view name(FailureKind kind);

// Why a call of a plugin has no answer. The process that caused it is gone, unless the kind is
// Wrong, Refused or Stopped.
struct PluginFailure {
  FailureKind kind = FailureKind::Wrong;
  std::string plugin;
  std::string method;
  std::string reason;
  // Of an answer with several mistakes, all of them.
  std::vector<std::string> problems = {};
  int code = 0;  // of the JSON-RPC error that it answered with; 0: it did not
  // What the method was called for, where that is one of many: "for /ms", "'url' of /ms".
  std::string about = {};

  // "plugin 'dns-client', create_configuration: was killed by signal 11 (Segmentation fault)".
  std::string headline() const;
  // With all problems, in one line.
  std::string message() const;
};

// All of them as one error: the message says what failed, and the fields say what is wrong with it,
// each told once and with the plugin as its pointer. REQUIRES: there is one.
Error to_error(const std::vector<PluginFailure>& failures);

template <typename T>
using PluginResult = tl::expected<T, PluginFailure>;

}  // namespace muster::plugin
