#include "exec/process_tree.h"

#include <signal.h>
#include <unistd.h>

#include <set>

#include "os/process_table.h"

namespace muster::exec {
namespace {

constexpr int kPassesMax = 50;

}  // namespace

void signal_tree(pid_t group, int signal) {
  if (group > 0) ::kill(-group, signal);
  for (const os::ProcessInfo& info : os::list_descendants(::getpid())) {
    if (info.is_dead() || (group > 0 && info.group == group)) continue;
    ::kill(info.pid, signal);
  }
}

void stop_tree(pid_t group) {
  std::set<pid_t> stopped;
  for (int pass = 0; pass < kPassesMax; ++pass) {
    if (group > 0) ::kill(-group, SIGSTOP);
    bool grew = false;
    for (const os::ProcessInfo& info : os::list_descendants(::getpid())) {
      if (info.is_dead() || !stopped.insert(info.pid).second) continue;
      grew = true;
      ::kill(info.pid, SIGSTOP);
    }
    if (!grew) return;
  }
}

}  // namespace muster::exec
