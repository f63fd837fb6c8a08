#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "agent/agent_loop.h"
#include "core/fleet/agent.h"
#include "rpc/link_client.h"

namespace muster::agent {

struct LinkState {
  bool up = false;
  std::string controller_id;
  std::uint64_t term = 0;
  Timestamp since;      // of being up or down
  std::string problem;  // why it is down; empty if it never was up
};

// What controllers say, on its way into the agent's loop; and what is known of the link.
class LinkInlet final : public rpc::AgentLinkHandler {
 public:
  // `identify` is asked before each dial. `loop` is borrowed.
  LinkInlet(AgentLoop& loop, std::uint64_t highest_term,
            std::function<core::AgentIdentity()> identify, std::function<Timestamp()> clock);

  LinkState state() const;  // any thread

  core::AgentIdentity identity() override;
  std::uint64_t highest_term() override { return highest_term_.load(); }
  std::string problem() override;
  void on_up(const rpc::Welcome& welcome) override;
  void on_schedule(core::agent::Schedule schedule) override;
  void on_signal(core::agent::SignalFromController signal) override;
  void on_ack(core::agent::Ack ack) override;
  void on_sync_request(core::agent::SyncRequest request) override;
  void on_log_request(rpc::LogRequest request) override;
  void on_frame_end() override;
  void on_down(const std::string& reason) override;
  void on_dial_failed(const std::string& controller, const std::string& reason,
                      Duration retry_in) override;

 private:
  AgentLoop& loop_;
  const std::function<core::AgentIdentity()> identify_;
  const std::function<Timestamp()> clock_;
  std::atomic<std::uint64_t> highest_term_;
  // Of the handler's thread.
  std::map<std::string, std::string> failures_logged_;  // by controller
  std::vector<InboxItem> gathered_;                     // of the frame that is being read

  mutable std::mutex mutex_;
  LinkState state_;  // protected by mutex_
};

}  // namespace muster::agent
