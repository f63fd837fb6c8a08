#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "exec/executor.h"
#include "exec/fd.h"

// How the agent asks the spawner for a run: one frame on a stream socket, a length and then the
// encoded RunSpec, with the runner's end of a fresh socket pair attached to the first byte. That
// pair is the agent's connection to the runner from the first moment: its end tells the agent that
// the runner has ended, or never came to be, whatever happened in between.

namespace muster::exec {

inline constexpr std::size_t kRunRequestBytesMax = std::size_t{32} << 20;

struct RunOrder {
  RunSpec spec;
  std::string spare;  // a run directory that is no longer needed (run_directory.h), or empty
};

std::string encode_run_request(const RunOrder& order);
std::optional<RunOrder> decode_run_request(std::string_view body);

struct RunRequest {
  std::string body;
  UniqueFd connection;
};

// Error codes: BodyTooLarge; Unavailable if the spawner is gone or does not read.
Result<void> send_run_request(int socket, std::string_view body, UniqueFd connection);
// Blocks. Nothing at the end of the stream, also where a frame is cut off.
std::optional<RunRequest> receive_run_request(int socket);

}  // namespace muster::exec
