#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "bench/host.h"
#include "bench/process.h"

namespace muster::bench {

// A `muster server` of the benchmark's own, with a store in `directory`, reached as users reach it:
// by HTTP over its socket, and by agents over loopback. Requests may come from any thread; the
// calls of one thread share a connection.
class ControllerProcess {
 public:
  // Returns when it is ready. The directory may hold a store already.
  static Result<ControllerProcess> start(const Host& host, const std::string& directory);

  const std::string& agent_address() const { return agent_address_; }
  const std::string& socket() const { return socket_; }
  Process& process() { return process_; }
  // From the start of the process until it said that it is ready.
  Duration start_time() const { return start_time_; }

  // The body of an answer with a status below 300; any other answer is an error that quotes it.
  Result<std::string> get(const std::string& path) const;
  Result<std::string> post(const std::string& path, std::string body) const;

  // Submits no-ops or other actions in one request, all or none.
  Result<void> submit(std::string body) const;
  // Waits until this many actions have ended and are stored so, of all that there ever were.
  Result<void> wait_finished(std::uint64_t count, Duration deadline, const Host& host);
  // The number of the newest event.
  Result<std::uint64_t> last_event() const;
  // One value of /metrics; 0 where there is none.
  Result<double> metric(std::string_view name) const;

 private:
  ControllerProcess(Process process, std::string socket, std::string agent_address)
      : process_(std::move(process)),
        socket_(std::move(socket)),
        agent_address_(std::move(agent_address)) {}

  Result<void> wait_until_ready(const Host& host);

  Process process_;
  std::string socket_;
  std::string agent_address_;
  Duration start_time_;
};

}  // namespace muster::bench
