#pragma once

#include <grpcpp/channel.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/agent/agent_core.h"
#include "rpc/client_session.h"
#include "rpc/link_client.h"

namespace muster::bench {

// What the agents of a fleet share; outlives them.
struct FleetProgress {
  rpc::LinkCounters counters;
  std::atomic<std::size_t> up{0};
  std::atomic<std::uint64_t> acked{0};
  std::atomic<std::uint64_t> failed{0};            // acknowledged, and not a success
  std::atomic<std::uint64_t> wake_at{UINT64_MAX};  // of `acked`, for whoever waits for just that

  std::mutex mutex;
  std::condition_variable changed;
};

// An agent in the sense of the protocol: the real core, encoding and stream, but a journal that is
// only in memory, and no processes: an action has ended, well, as soon as it starts. Thousands fit
// into one process.
//
// Threading: the handler's functions are called by the session, one at a time; everything else by
// the fleet. It must not be destroyed before the session is done.
class EmulatedAgent final : public rpc::AgentLinkHandler {
 public:
  EmulatedAgent(std::string name, FleetProgress& progress);

  void dial(const std::string& controller);
  void heartbeat() { session_->send_heartbeat(); }
  bool is_done() const { return wait_done({}); }
  // Waits for the end of the session, at most so long.
  bool wait_done(Duration deadline) const;
  void close() { session_->close(); }
  void cancel() { session_->cancel("stopped"); }
  std::string reason() { return session_->reason(); }

  // From the creation of an action at the controller until its acknowledgement came, in
  // microseconds. Only while nothing is under way.
  const std::vector<std::int64_t>& latencies() const { return latencies_; }

 private:
  core::AgentIdentity identity() override;
  std::uint64_t highest_term() override { return 0; }
  void on_up(const rpc::Welcome& welcome) override;
  void on_schedule(core::agent::Schedule schedule) override;
  void on_signal(core::agent::SignalFromController signal) override;
  void on_ack(core::agent::Ack ack) override;
  void on_sync_request(core::agent::SyncRequest request) override;
  void on_log_request(rpc::LogRequest request) override;
  void on_frame_end() override { session_->flush(); }
  void on_down(const std::string& reason) override;
  void on_dial_failed(const std::string& controller, const std::string& reason,
                      Duration retry_in) override;

  void take(const core::agent::AgentInput& input);

  const std::string name_;
  FleetProgress& fleet_;
  core::agent::AgentCore core_;
  std::deque<core::agent::AgentInput> ends_;  // of runs, which the core has not seen yet
  std::vector<std::int64_t> latencies_;

  const std::shared_ptr<rpc::DialProgress> progress_ = std::make_shared<rpc::DialProgress>();
  std::shared_ptr<grpc::Channel> channel_;
  std::optional<rpc::ClientSession> session_;
};

}  // namespace muster::bench
