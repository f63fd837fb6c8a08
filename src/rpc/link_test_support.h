#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "rpc/link_client.h"
#include "rpc/link_server.h"

// Handlers that write down what they were told, and peers that misbehave, for the tests of the
// link.

namespace muster::rpc::testing {

inline constexpr auto kDeadline = std::chrono::seconds(30);

// A value that threads change and a test waits for.
template <typename State>
class Watched {
 public:
  template <typename Change>
  void change(Change change) {
    const std::lock_guard lock(mutex_);
    change(state_);
    changed_.notify_all();
  }
  // False after the deadline.
  template <typename Condition>
  bool wait(Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kDeadline, [&] { return condition(state_); });
  }
  State get() const {
    const std::lock_guard lock(mutex_);
    return state_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  State state_;
};

struct ControllerSaw {
  std::vector<core::SessionId> sessions;  // in the order of their hellos
  std::vector<core::AgentIdentity> identities;
  std::vector<std::uint32_t> reports;  // attempts
  std::vector<core::AgentSyncPage> pages;
  std::vector<LogChunk> chunks;
  int heartbeats = 0;
  std::vector<std::string> troubles;
  std::vector<std::pair<core::AgentName, std::string>> refused;
  std::vector<std::pair<core::SessionId, std::string>> closed;
  bool called_after_close = false;
};

class RecordingController final : public LinkHandler {
 public:
  Watched<ControllerSaw> saw;

  void on_hello(core::SessionId session, core::AgentIdentity identity) override;
  void on_heartbeat(core::SessionId session) override;
  void on_trouble(core::SessionId session, std::string problem) override;
  void on_refused(const core::AgentName& agent, const std::string& reason) override;
  void on_report(core::SessionId session, core::AgentAction action) override;
  void on_sync_page(core::SessionId session, core::AgentSyncPage page) override;
  void on_log_chunk(core::SessionId session, LogChunk chunk) override;
  void on_closed(core::SessionId session, std::string reason) override;

  // The session of the nth hello, counted from 0; waits for it. 0: it did not come.
  core::SessionId session(std::size_t n);
  // Why a session was closed; waits for it.
  std::string close_reason(core::SessionId session);

 private:
  void note(core::SessionId session, const std::function<void(ControllerSaw&)>& change);
};

struct AgentSaw {
  std::vector<Welcome> ups;
  std::vector<core::agent::Schedule> schedules;
  std::vector<core::agent::SignalFromController> signals;
  std::vector<std::uint32_t> acks;  // attempts
  std::vector<std::uint64_t> syncs;
  std::vector<LogRequest> log_requests;
  std::vector<std::string> downs;
  std::vector<std::pair<std::string, std::string>> dial_failures;  // controller, reason
};

class RecordingAgent final : public AgentLinkHandler {
 public:
  explicit RecordingAgent(std::string name) { identity_.name = std::move(name); }

  Watched<AgentSaw> saw;
  std::atomic<std::uint64_t> term{0};
  std::function<void()> on_schedule_hook;  // set before the link starts
  std::uint64_t term_told = 0;             // set before the link starts
  std::string trouble;                     // set before the link starts

  core::AgentIdentity identity() override;
  std::uint64_t highest_term() override { return term; }
  std::string problem() override { return trouble; }
  void on_up(const Welcome& welcome) override;
  void on_schedule(core::agent::Schedule schedule) override;
  void on_signal(core::agent::SignalFromController signal) override;
  void on_ack(core::agent::Ack ack) override;
  void on_sync_request(core::agent::SyncRequest request) override;
  void on_log_request(LogRequest request) override;
  void on_down(const std::string& reason) override;
  void on_dial_failed(const std::string& controller, const std::string& reason,
                      Duration retry_in) override;

  bool wait_ups(std::size_t count);

 private:
  core::AgentIdentity identity_;
};

// A port of the loopback that connects and never says a word. With `port` 0 a free one is taken.
class SilentPort {
 public:
  SilentPort();
  ~SilentPort();
  std::uint16_t port() const { return port_; }

 private:
  int fd_ = -1;
  std::uint16_t port_ = 0;
};

// A port on which nobody listens.
std::uint16_t closed_port();

// Carries connections to a port, until it is told to swallow everything or to cut them.
class Proxy {
 public:
  explicit Proxy(std::uint16_t target);
  ~Proxy();
  std::uint16_t port() const { return port_; }
  void swallow() { swallowing_ = true; }
  void cut() { cut_ = true; }

 private:
  void run();

  const std::uint16_t target_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> swallowing_{false};
  std::atomic<bool> cut_{false};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// A stream to a controller that sends the bytes it is told to.
class RawAgent {
 public:
  explicit RawAgent(std::uint16_t port);
  ~RawAgent();
  bool write(const std::string& frame);
  // Reads until the controller ends the stream; the message of the final status.
  std::string wait_end();

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

std::string loopback(std::uint16_t port);

}  // namespace muster::rpc::testing
