#pragma once

#include <string_view>

// What the agent and a runner say to each other: packets whose first byte is the message.

namespace muster::exec {

// Agent to runner.
inline constexpr char kCancel = 'C';
inline constexpr char kSuspend = 'S';
inline constexpr char kResume = 'R';

// Runner to agent. A runner closes the connection only by exiting.
inline constexpr char kSuspended = 's';
inline constexpr char kResumed = 'r';
inline constexpr char kOutputGrew = 'o';
inline constexpr char kRefused = 'x';  // the reason follows; the attempt does not start
inline constexpr char kEnded = 'e';    // the encoded result follows, where it could not be written

inline constexpr unsigned kControlBytesMax = 64U << 10;

// Best effort: a peer that is gone learns nothing.
void send_control(int connection, char message, std::string_view text);
void send_refusal(int connection, std::string_view reason);

}  // namespace muster::exec
