#include "bench/emulated_fleet.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "bench/stopwatch.h"

namespace muster::bench {
namespace {

constexpr Duration kDialWithin = Duration::minutes(2);
constexpr auto kFleetLook = std::chrono::milliseconds(50);
// Dials under way at a time: as many hosts that boot together would be.
constexpr std::size_t kDialsMax = 200;
constexpr Duration kHeartbeatEvery = Duration::seconds(5);
// The fleet's heartbeats are spread over this many parts of the interval.
constexpr std::size_t kHeartbeatSlices = 50;
constexpr Duration kCloseWithin = Duration::seconds(3);
constexpr Duration kCancelWithin = Duration::seconds(10);
constexpr std::size_t kSpareFiles = 200;

Result<void> allow_files(std::size_t agents) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t wanted = agents + kSpareFiles;
  if (limit.rlim_cur >= wanted) return {};
  if (limit.rlim_max < wanted) {
    return fail(ErrorCode::InvalidValue,
                "{} agents need {} open files, the limit of this process is {}; raise it with "
                "ulimit -n",
                agents, wanted, limit.rlim_max);
  }
  limit.rlim_cur = wanted;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return {};
}

}  // namespace

Result<std::unique_ptr<EmulatedFleet>> EmulatedFleet::connect(std::size_t agents,
                                                              const std::string& controller,
                                                              const Host& host) {
  MUSTER_TRY(allow_files(agents));
  std::unique_ptr<EmulatedFleet> fleet(new EmulatedFleet(host));
  MUSTER_TRY(fleet->dial(agents, controller));
  return fleet;
}

std::string EmulatedFleet::name(std::size_t index) { return fmt::format("bench-{}", index + 1); }

Result<void> EmulatedFleet::dial(std::size_t agents, const std::string& controller) {
  heartbeats_ = std::thread([this] { run_heartbeats(); });
  const Stopwatch watch;
  while (progress_.up < agents) {
    std::size_t known = 0;
    {
      const std::lock_guard lock(progress_.mutex);
      known = agents_.size();
    }
    if (known < agents && known - progress_.up < kDialsMax) {
      auto agent = std::make_unique<EmulatedAgent>(name(known), progress_);
      agent->dial(controller);
      const std::lock_guard lock(progress_.mutex);
      agents_.push_back(std::move(agent));
      continue;
    }
    if (host_.interrupted()) return fail(interrupted_error());
    if (watch.elapsed() > kDialWithin) {
      return fail(ErrorCode::Timeout, "{} of {} agents were connected within {}",
                  progress_.up.load(), agents, format_duration(kDialWithin));
    }
    MUSTER_TRY(check());
    std::unique_lock lock(progress_.mutex);
    const std::size_t seen = progress_.up;
    progress_.changed.wait_for(lock, kFleetLook, [&] { return progress_.up != seen; });
  }
  return {};
}

Result<void> EmulatedFleet::check() const {
  for (const auto& agent : agents_) {
    if (agent->is_done()) {
      return fail(ErrorCode::Unavailable, "the controller ended the session of an agent: {}",
                  agent->reason());
    }
  }
  return {};
}

Result<void> EmulatedFleet::wait_acked(std::uint64_t count, Duration deadline) {
  progress_.wake_at = count;
  return wait_room(count, deadline);
}

Result<void> EmulatedFleet::wait_room(std::uint64_t count, Duration deadline) {
  const Stopwatch watch;
  while (progress_.acked < count) {
    if (host_.interrupted()) return fail(interrupted_error());
    MUSTER_TRY(check());
    if (watch.elapsed() > deadline) {
      return fail(ErrorCode::Timeout, "{} of {} results were acknowledged within {}",
                  progress_.acked.load(), count, format_duration(deadline));
    }
    std::unique_lock lock(progress_.mutex);
    progress_.changed.wait_for(lock, kFleetLook, [&] { return progress_.acked >= count; });
  }
  return {};
}

Samples EmulatedFleet::latencies() const {
  Samples samples;
  for (const auto& agent : agents_) samples.add_all(agent->latencies());
  return samples;
}

void EmulatedFleet::run_heartbeats() {
  const auto pause = std::chrono::microseconds(kHeartbeatEvery.us) / kHeartbeatSlices;
  std::unique_lock lock(progress_.mutex);
  for (std::size_t slice = 0; !stopping_; slice = (slice + 1) % kHeartbeatSlices) {
    std::vector<EmulatedAgent*> due;
    for (std::size_t i = slice; i < agents_.size(); i += kHeartbeatSlices) {
      due.push_back(agents_[i].get());
    }
    lock.unlock();
    for (EmulatedAgent* agent : due) agent->heartbeat();
    lock.lock();
    progress_.changed.wait_for(lock, pause, [this] { return stopping_; });
  }
}

EmulatedFleet::~EmulatedFleet() {
  {
    const std::lock_guard lock(progress_.mutex);
    stopping_ = true;
    progress_.changed.notify_all();
  }
  if (heartbeats_.joinable()) heartbeats_.join();
  const auto wait_done = [this](Duration deadline) {
    const Stopwatch watch;
    for (const auto& agent : agents_) {
      (void)agent->wait_done(std::max(Duration(), deadline - watch.elapsed()));
    }
  };
  for (const auto& agent : agents_) agent->close();
  wait_done(kCloseWithin);
  for (const auto& agent : agents_) {
    if (!agent->is_done()) agent->cancel();
  }
  wait_done(kCancelWithin);
  for (auto& agent : agents_) {
    // gRPC still has it; leaving it alone is the lesser evil at the end of a process.
    if (!agent->is_done()) (void)agent.release();
  }
}

}  // namespace muster::bench
