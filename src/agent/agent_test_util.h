#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "exec/executor.h"
#include "rpc/link_client.h"

// An executor and a link that only remember what they were told, for tests of the agent's shell.

namespace muster::agent {

// Waits for conditions on shared state, with a deadline.
class Watched {
 public:
  template <typename Condition>
  bool wait(Condition condition, std::chrono::milliseconds timeout = std::chrono::seconds(10)) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, timeout, condition);
  }
  template <typename Change>
  void change(Change change) {
    const std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

class FakeExecutor final : public exec::Executor {
 public:
  struct Started {
    exec::RunSpec spec;
    bool recovered = false;
  };

  void start(const exec::RunSpec& spec, bool recovered) override {
    if (on_start) on_start(spec);
    state.change([&] { started.push_back({spec, recovered}); });
  }
  void signal(const core::ActionId& id, std::uint32_t, core::Signal signal) override {
    state.change([&] { signals.emplace_back(id, signal); });
  }
  exec::OutputChunk read_output(const core::ActionId& id, std::uint32_t, std::uint64_t offset,
                                std::size_t limit) override {
    exec::OutputChunk chunk;
    state.change([&] {
      const auto found = outputs.find(id);
      if (found == outputs.end()) return;
      chunk = found->second;
      const bool all = offset + limit >= chunk.data.size();
      chunk.data = offset < chunk.data.size() ? chunk.data.substr(offset, limit) : "";
      chunk.end = chunk.end && all;
    });
    return chunk;
  }
  void forget(const core::ActionId& id, std::uint32_t attempt) override {
    state.change([&] { forgotten.emplace_back(id, attempt); });
  }

  bool wait_started(std::size_t count) {
    return state.wait([&] { return started.size() >= count; });
  }

  std::function<void(const exec::RunSpec&)> on_start;
  Watched state;
  // Protected by state.
  std::vector<Started> started;
  std::vector<std::pair<core::ActionId, core::Signal>> signals;
  std::vector<std::pair<core::ActionId, std::uint32_t>> forgotten;
  std::map<core::ActionId, exec::OutputChunk> outputs;  // the whole output
};

class FakeLink final : public rpc::LinkClient {
 public:
  void send_all(std::span<const core::agent::AgentMessage> sent) override {
    state.change([&] { messages.insert(messages.end(), sent.begin(), sent.end()); });
  }
  void send_log_chunk(rpc::LogChunk chunk) override {
    state.change([&] { chunks.push_back(std::move(chunk)); });
  }
  void stop() override {}

  Watched state;
  // Protected by state.
  std::vector<core::agent::AgentMessage> messages;
  std::vector<rpc::LogChunk> chunks;
};

}  // namespace muster::agent
