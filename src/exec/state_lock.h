#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "exec/fd.h"

namespace muster::exec {

// An agent's exclusive hold on its state directory. The lock is that of an open file, so it is also
// held by the spawner, which inherits it, and freed when the last of them has gone: an agent that
// gets it knows that nobody of an earlier life can still start a run.
class StateLock {
 public:
  // Makes the directory (0700) if it is missing. Waits for the lock for no longer than `deadline`;
  // then StoreLocked, with the process that took it. Blocks, and uses SIGALRM
  // meanwhile: for the start of a program.
  static Result<StateLock> acquire(const std::string& directory, Duration deadline);

  int fd() const { return fd_.get(); }

 private:
  explicit StateLock(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
};

}  // namespace muster::exec
