#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "core/action/status.h"

// What a child tells its runner through a pipe that closes when it executes a program: that this
// was not possible, or, for a kind that is a function inside the child, how it ended.

namespace muster::exec {

struct ChildReport {
  core::ExecuteResult result = core::ExecuteResult::Ok;
  std::string reason;
  Json outputs = Json::object();

  static ChildReport error(std::string reason) {
    return {core::ExecuteResult::Error, std::move(reason)};
  }
};

// Fits into a pipe that nobody reads before the child has ended: too much is cut.
void send_report(int pipe, const ChildReport& report);
// The program could not be executed. Allocates nothing, because the memory limit is set by then.
void send_exec_failure(int pipe, int error);
// `program` is what was to be executed. Nothing if the child sent nothing.
std::optional<ChildReport> read_report(int pipe, std::string_view program);
// What was read, whole. Nothing if it is none or damaged.
std::optional<ChildReport> decode_report(std::string_view text, std::string_view program);

}  // namespace muster::exec
