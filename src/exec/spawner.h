#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "exec/fd.h"

namespace muster::exec {

struct SpawnerOptions {
  int state_lock = -1;   // the agent's lock on its state directory; borrowed for as long as the
                         // Spawner is there
  std::string run_root;  // <state>/runs; made if it is missing
  std::string version;   // of the program, for facts
};

// The agent's handle on its spawner: a single-threaded process that forks runners on request.
//
// The spawner keeps the agent's lock on the state directory open, and so does each runner until its
// directory, lock and socket are in place. Whoever gets the lock next therefore finds every start
// that was asked for, or can be sure that it will never happen. When the agent's end of the socket
// closes, the spawner carries out the requests that have reached it completely and exits; the
// runners go on. Signals that end ordinary programs do not end it, because a stop of the agent is
// announced by the socket alone.
//
// The destructor closes the socket and waits for the spawner to exit.
class Spawner {
 public:
  // REQUIRES: the process has a single thread.
  static Result<Spawner> fork(const SpawnerOptions& options);

  Spawner(Spawner&&) noexcept;
  Spawner& operator=(Spawner&&) = delete;
  ~Spawner();

  // A stream for send_run_request(); its end means that the spawner is gone.
  int socket() const { return socket_.get(); }
  pid_t pid() const { return pid_; }
  // What the options named, for runners that are asked without the spawner.
  int state_lock() const { return state_lock_; }

 private:
  Spawner(UniqueFd socket, pid_t pid, int state_lock)
      : socket_(std::move(socket)), pid_(pid), state_lock_(state_lock) {}

  UniqueFd socket_;
  pid_t pid_ = -1;
  int state_lock_ = -1;
};

}  // namespace muster::exec
