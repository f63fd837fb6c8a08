#pragma once

#include <cstdint>
#include <string>

#include "exec/fd.h"

namespace muster::exec {

inline constexpr std::size_t kOutputTailBytes = 4096;

// Copies what the child writes from a pipe to the file `output` of the run directory. Beyond the
// limit it goes on reading, so that the child never blocks, but only counts. A full disk ends the
// copying the same way: losing output is better than losing the run.
class OutputCapture {
 public:
  // REQUIRES: `pipe` does not block. `run_directory` is borrowed.
  OutputCapture(UniqueFd pipe, int run_directory, std::uint64_t limit);

  // Invalid after the end of the pipe.
  int pipe() const { return pipe_.get(); }
  // Takes what is there now, but no more than a bounded amount, since a process in the background
  // may write for ever. True if anything came.
  bool read_available();
  // Gives up what was kept, to make room on a full disk.
  void discard();

  std::uint64_t bytes() const { return bytes_; }
  bool truncated() const { return truncated_; }
  // The last bytes of all that was written, also beyond the limit; starts at a character.
  std::string tail() const;

 private:
  void keep(std::string_view data);
  void mark_truncated();

  UniqueFd pipe_;
  int run_directory_;
  std::uint64_t limit_;
  UniqueFd file_;
  std::uint64_t bytes_ = 0;
  std::uint64_t kept_ = 0;
  bool truncated_ = false;
  std::string tail_;
};

}  // namespace muster::exec
