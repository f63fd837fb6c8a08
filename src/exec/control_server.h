#pragma once

#include <poll.h>

#include <string>
#include <vector>

#include "exec/fd.h"

namespace muster::exec {

// A runner's side of the talk with agents: the connection it was born with, and whichever agents
// connect later. Notifications carry no history: what was not yet sent is merged, so a slow or
// stopped agent costs no memory and loses nothing that matters.
class ControlServer {
 public:
  ControlServer(UniqueFd listener, UniqueFd first);

  // What to poll for. Pass the same entries back to handle().
  void add_poll_entries(std::vector<pollfd>& entries) const;
  // Accepts, reads and writes; answers with the commands that came, in order.
  std::string handle(const std::vector<pollfd>& entries, bool suspended);

  void notify_state(bool suspended);
  void notify_output();
  // The connection it was born with, if that agent is the only one that has ever come and owes
  // nothing; invalid otherwise.
  UniqueFd take_agent();
  // The result, for the case that it could not be written to the run directory.
  void send_result(const std::string& encoded);

 private:
  struct Connection {
    UniqueFd fd;
    bool first = false;
    char state_due = '\0';  // kSuspended or kResumed
    bool output_due = false;
  };

  void accept_new(bool suspended);
  // False: the peer is gone.
  static bool receive(Connection& connection, std::string& commands);
  static void flush(Connection& connection);

  UniqueFd listener_;
  std::vector<Connection> connections_;
};

}  // namespace muster::exec
