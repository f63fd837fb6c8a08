#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"

namespace muster::plugin {

// A living process that a plugin has started, or one that it has started in turn.
struct Relative {
  pid_t pid = -1;
  std::uint64_t started = 0;  // in the kernel's ticks; with the pid it is one process for ever
  std::string name;
};

// The processes of a plugin. A process belongs to it by descent, by its process group or session,
// or by a mark in its environment: the last finds those that left the session and whose parents
// have ended, so that nothing else leads back to the plugin. Read from /proc each time; a process
// that also replaced its environment is not found. Used by one thread at a time.
class Family {
 public:
  static constexpr const char* kMarkName = "MUSTER_PLUGIN_RUN";

  // `root` lives, and is not reaped while this is used.
  Family(pid_t root, const std::string& mark);

  // All but the root.
  std::vector<Relative> relatives() const;
  // Resident bytes of all, with the root. What they share counts once if `exact`, which is slow,
  // and for each of them if not.
  std::uint64_t resident_bytes(bool exact) const;
  // Waits until all but the root have ended; what still lives at the deadline (a time of
  // os::monotonic_now()) is the answer.
  std::vector<Relative> wait_for_end(Duration deadline) const;
  // Kills all but the root, and what they start meanwhile.
  void kill_relatives() const;

 private:
  const pid_t root_;
  const std::string mark_;  // "NAME=value"
  const std::uint64_t root_started_;
};

}  // namespace muster::plugin
