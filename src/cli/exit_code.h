#pragma once

#include <cstddef>

// The exit codes of the client commands. They are a contract (docs/cli.md): scripts branch on them,
// so a number is never given another meaning.

namespace muster::cli {

enum class ExitCode : int {
  Ok = 0,
  Error = 1,
  Changes = 2,        // with --detailed-exitcode: there is something to change
  Failed = 3,         // an awaited action ended as FAILED or LOST
  Partial = 4,        // some awaited actions succeeded and some did not
  Cancelled = 5,      // what did not succeed was cancelled
  WaitTimeout = 6,    // the wait ended before the actions did
  Conflict = 7,       // 409 or 412: the thing is not, or no longer, in the state that was assumed
  NeedsApproval = 8,  // nothing goes on until somebody approves
  Usage = 64,
  Unreachable = 69,  // no answer from the controller
  Forbidden = 77,
  Interrupted = 130,  // Ctrl-C; what was submitted goes on
};

// Closed accounting: every awaited action is counted once, so the parts sum up to what was asked.
struct Tally {
  std::size_t succeeded = 0;
  std::size_t failed = 0;
  std::size_t lost = 0;
  std::size_t cancelled = 0;
  std::size_t unknown = 0;  // the controller no longer knows it
  std::size_t unfinished = 0;

  std::size_t total() const { return succeeded + failed + lost + cancelled + unknown + unfinished; }
  bool operator==(const Tally&) const = default;
};

// Of a finished wait. Unfinished actions count as a wait that timed out.
ExitCode exit_code_of(const Tally& tally);
// Of an answer with an error status (400 or above).
ExitCode exit_code_of_http(int status);

}  // namespace muster::cli
