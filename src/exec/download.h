#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

// The one place that uses libcurl in this folder.

namespace muster::exec {

enum class DownloadEnd : std::uint8_t {
  Complete,
  Interrupted,   // worth going on later: network trouble, a busy server
  CannotResume,  // the server does not serve from the middle, or has less than is asked for
  Refused,       // trying again would give the same
  SinkFailed,
};

struct DownloadResult {
  DownloadEnd end = DownloadEnd::Complete;
  std::string reason;
};

// Fetches `url` (http, https or file) from byte `offset` on and hands the bytes to `sink` in order,
// until it answers false. Blocks; a transfer that stands still for a minute ends.
DownloadResult download(const std::string& url, std::uint64_t offset,
                        const std::function<bool(std::string_view)>& sink);

}  // namespace muster::exec
