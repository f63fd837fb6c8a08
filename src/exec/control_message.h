#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "exec/fd.h"

// What the agent and a runner say to each other: packets whose first byte is the message.

namespace muster::exec {

// Agent to runner.
inline constexpr char kCancel = 'C';
inline constexpr char kSuspend = 'S';
inline constexpr char kResume = 'R';
inline constexpr char kNext = 'N';  // a run request follows; only to a runner that is idle

// Runner to agent. A runner closes the connection only by exiting.
inline constexpr char kSuspended = 's';
inline constexpr char kResumed = 'r';
inline constexpr char kOutputGrew = 'o';
inline constexpr char kRefused = 'x';  // the reason follows; the attempt does not start
inline constexpr char kEnded = 'e';    // the encoded result follows, where it could not be written
inline constexpr char kIdle = 'i';     // the encoded result follows; it is written, and the runner
                                       // has let go of the run and waits for the next

inline constexpr unsigned kControlBytesMax = 64U << 10;

// Best effort: a peer that is gone learns nothing.
void send_control(int connection, char message, std::string_view text);
void send_refusal(int connection, std::string_view reason);

// Gives an idle runner its next run, with the agent's lock on the state directory, which the packet
// keeps alive on its way. False: it does not fit, or the runner is gone; nothing was started.
bool send_next(int connection, std::string_view request, int state_lock);

struct NextRun {
  std::string request;
  UniqueFd state_lock;
};
// Blocks. Nothing once the agent has closed the connection. Skips commands for the run before.
std::optional<NextRun> receive_next(int connection);

}  // namespace muster::exec
