#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "bench/emulated_agent.h"
#include "bench/host.h"
#include "bench/samples.h"

namespace muster::bench {

// Agents bench-1 to bench-N in this process, each with a connection and a stream of its own. One
// thread sends the heartbeats of all. Owned by one thread; waits may be called from any.
class EmulatedFleet {
 public:
  // Returns when every agent is welcome and has told its view.
  static Result<std::unique_ptr<EmulatedFleet>> connect(std::size_t agents,
                                                        const std::string& controller,
                                                        const Host& host);
  ~EmulatedFleet();  // ends every session
  EmulatedFleet(const EmulatedFleet&) = delete;
  EmulatedFleet& operator=(const EmulatedFleet&) = delete;

  static std::string name(std::size_t index);  // from 0

  // Acknowledged results, which are durable at the controller.
  std::uint64_t acked() const { return progress_.acked; }
  std::uint64_t failed() const { return progress_.failed; }
  // By one thread at a time: wakes as soon as the count is reached.
  Result<void> wait_acked(std::uint64_t count, Duration deadline);
  // By any thread, for back-pressure: wakes a little after the count is reached.
  Result<void> wait_room(std::uint64_t count, Duration deadline);
  rpc::LinkStats stats() const { return progress_.counters.read(agents_.size()); }
  // Of every action that was acknowledged. Only while nothing is under way.
  Samples latencies() const;

 private:
  explicit EmulatedFleet(const Host& host) : host_(host) {}

  Result<void> dial(std::size_t agents, const std::string& controller);
  Result<void> check() const;
  void run_heartbeats();

  const Host& host_;
  FleetProgress progress_;
  std::vector<std::unique_ptr<EmulatedAgent>> agents_;
  std::thread heartbeats_;
  bool stopping_ = false;  // protected by progress_.mutex
};

}  // namespace muster::bench
