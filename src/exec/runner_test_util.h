#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/json.h"
#include "exec/process_executor.h"
#include "exec/state_lock.h"
#include "os/process_table.h"

// One life of an agent, as far as the executor is concerned, for tests with real processes.

namespace muster::exec {

inline constexpr auto kPatience = std::chrono::seconds(20);

// Waits for something outside of this process, which has no other way to tell: a file, or what the
// kernel says of another process. False: it did not come true in time.
bool wait_until(const std::function<bool()>& condition);

class TempDir {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "muster-exec-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  std::string path(const std::string& name = "") const {
    return name.empty() ? path_ : path_ + "/" + name;
  }

 private:
  std::string path_;
};

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// A pid that a test program has written to a file, once it is there.
inline pid_t read_pid(const std::string& path) {
  pid_t pid = 0;
  wait_until([&] {
    const std::string text = read_text(path);
    if (text.empty() || text.back() != '\n') return false;
    pid = std::stoi(text);
    return true;
  });
  return pid;
}

inline bool is_running(pid_t pid) {
  const auto info = os::read_process(pid);
  return info && !info->is_dead();
}

inline char process_state(pid_t pid) {
  const auto info = os::read_process(pid);
  return info ? info->state : '-';
}

class RecordingListener : public ExecutorListener {
 public:
  void on_ended(const core::ActionId& id, std::uint32_t attempt, RunResult result) override {
    const std::lock_guard lock(mutex_);
    ended_[{id, attempt}].push_back(std::move(result));
    changed_.notify_all();
  }
  void on_suspended(const core::ActionId& id, std::uint32_t attempt, bool suspended) override {
    const std::lock_guard lock(mutex_);
    suspended_[{id, attempt}] = suspended;
    changed_.notify_all();
  }
  void on_output(const core::ActionId& id, std::uint32_t attempt) override {
    const std::lock_guard lock(mutex_);
    ++outputs_[{id, attempt}];
    changed_.notify_all();
  }

  RunResult wait_ended(const RunKey& key) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kPatience, [&] { return !ended_[key].empty(); })) {
      ADD_FAILURE() << key.name() << " did not end";
      return {};
    }
    return ended_[key].front();
  }
  bool wait_suspended(const RunKey& key, bool suspended) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(
        lock, kPatience, [&] { return suspended_.contains(key) && suspended_[key] == suspended; });
  }
  bool wait_output(const RunKey& key) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return outputs_[key] > 0; });
  }
  std::size_t ends(const RunKey& key) {
    const std::lock_guard lock(mutex_);
    return ended_[key].size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<RunKey, std::vector<RunResult>> ended_;
  std::map<RunKey, bool> suspended_;
  std::map<RunKey, int> outputs_;
};

// Destroying it is the death of the agent: runs go on.
class TestAgent {
 public:
  explicit TestAgent(const std::string& state, bool exits_without_spawner = false)
      : lock_(take(StateLock::acquire(state, Duration::seconds(10)))), run_root_(state + "/runs") {
    Spawner spawner =
        take(Spawner::fork({.state_lock = lock_.fd(), .run_root = run_root_, .version = "1.2.3"}));
    spawner_pid_ = spawner.pid();
    ProcessExecutorOptions options{.run_root = run_root_, .on_spawner_lost = {}};
    if (exits_without_spawner) {
      options.on_spawner_lost = [this](const std::string&) { spawner_lost = true; };
    }
    executor_ = take(ProcessExecutor::create(std::move(options), std::move(spawner), listener));
  }

  ProcessExecutor& executor() { return *executor_; }
  pid_t spawner_pid() const { return spawner_pid_; }

  RunKey start(const RunSpec& spec, bool recovered = false) {
    executor_->start(spec, recovered);
    return {spec.id, spec.attempt};
  }
  RunResult run(const RunSpec& spec) { return listener.wait_ended(start(spec)); }

  pid_t runner_pid(const RunKey& key) const {
    pid_t pid = 0;
    wait_until([&] {
      std::ifstream file(run_root_ + "/" + key.name() + "/run");
      std::string word;
      return static_cast<bool>(file >> word >> pid);
    });
    return pid;
  }

  std::string output(const RunKey& key) {
    std::string text;
    for (;;) {
      const OutputChunk chunk = executor_->read_output(key.id, key.attempt, text.size(), 1000);
      EXPECT_TRUE(chunk.known);
      text += chunk.data;
      if (chunk.data.empty()) return text;
    }
  }

  RecordingListener listener;
  std::atomic<bool> spawner_lost = false;

 private:
  template <typename T>
  static T take(Result<T> result) {
    if (!result) {
      ADD_FAILURE() << result.error().message;
      ::abort();
    }
    return std::move(*result);
  }
  // Declared in the order of their making: the executor, and in it the spawner, go first.
  StateLock lock_;
  std::string run_root_;
  pid_t spawner_pid_ = -1;
  std::unique_ptr<ProcessExecutor> executor_;
};

inline RunSpec make_spec(const std::string& kind, const Json& inputs,
                         Duration timeout = Duration::seconds(60)) {
  static std::uint64_t counter = 0;
  ++counter;
  RunSpec spec;
  spec.id = core::ActionId::v4(0x1234567890abcdefULL * counter, counter);
  spec.kind = kind;
  spec.inputs = dump_json(inputs);
  spec.timeout = timeout;
  spec.name = "test";
  spec.requested_by = "tester";
  return spec;
}

inline RunSpec shell(const std::string& script, Json more = Json::object(),
                     Duration timeout = Duration::seconds(60)) {
  more["argv"] = {"/bin/sh", "-c", script};
  return make_spec("exec", more, timeout);
}

inline Json outputs_of(const RunResult& result) {
  const auto json = parse_json(result.outputs);
  return json ? *json : Json();
}

}  // namespace muster::exec
