#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

namespace muster::plugin {

struct LaunchRequest {
  std::string program;
  std::vector<std::string> arguments = {};
  std::string directory;
  std::vector<std::string> environment;  // "NAME=value"; nothing but the mark is added
  std::uint64_t address_space_max = 0;   // bytes; 0: no limit
};

// A started program. Its descriptors do not block.
struct Launched {
  pid_t pid = -1;
  std::string mark;     // in its environment, by which its descendants are known (family.h)
  os::UniqueFd handle;  // a pidfd
  os::UniqueFd input;   // a socket, so that a write to a dead program is an error and no signal
  os::UniqueFd output;
  os::UniqueFd errors;
};

// Starts programs, each as the leader of a process group that dies with this process: the kernel
// ties the death of a child to the *thread* that forked it, so all are forked by one thread that
// lives as long as the launcher. Safe from any thread.
class Launcher {
 public:
  Launcher();
  ~Launcher();
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  // Waits until the program is running, or could not be started. Error: IoError.
  Result<Launched> launch(const LaunchRequest& request);

 private:
  struct Job {
    const LaunchRequest* request = nullptr;
    Result<Launched>* answer = nullptr;
    bool done = false;
  };

  void run();

  std::mutex mutex_;
  std::condition_variable asked_;
  std::condition_variable answered_;
  std::deque<Job*> jobs_;       // protected by mutex_
  bool stopping_ = false;       // protected by mutex_
  std::uint64_t launches_ = 0;  // used by the thread only
  std::thread thread_;
};

}  // namespace muster::plugin
