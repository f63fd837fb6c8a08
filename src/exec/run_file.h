#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "exec/executor.h"

// The text of the file `run` of a run directory: one fact in a line, each behind its word. A line
// counts once its newline is there, and of two with one word the first counts. Pure.
//
//   runner <pid> <start time> <boot>    the process that holds the lock
//   control <name>                      the abstract socket on which it takes commands
//   child <pid> <start time> <boot>     the process that does the work, which leads its group
//   result <JSON>                       how it ended

namespace muster::exec {

// One process of one boot, safe against reuse of the pid.
struct ProcessRecord {
  pid_t pid = 0;
  std::uint64_t start_time = 0;
  std::string boot_id;
};

std::string runner_line(const ProcessRecord& runner);
std::string control_line(std::string_view socket);
std::string child_line(const ProcessRecord& child);
std::string result_line(const RunResult& result);

std::optional<ProcessRecord> find_runner(std::string_view text);
std::optional<std::string> find_control(std::string_view text);
std::optional<ProcessRecord> find_child(std::string_view text);
std::optional<RunResult> find_result(std::string_view text);

// With its newline. Nothing if it is damaged, or names a process that is no run's: those up to 1
// are not.
std::string encode_process_record(const ProcessRecord& record);
std::optional<ProcessRecord> decode_process_record(std::string_view text);

std::string encode_result(const RunResult& result);
std::optional<RunResult> decode_result(std::string_view text);

}  // namespace muster::exec
