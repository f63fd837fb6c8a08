#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "bench/host.h"

namespace muster::bench {

// A process of this program that ends with the object: asked first, then killed. Not thread-safe.
class Process {
 public:
  static Result<Process> start(const Host& host, std::vector<std::string> arguments,
                               std::string log_file);
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  ~Process();

  pid_t pid() const { return pid_; }
  const std::string& log_file() const { return log_file_; }
  // Asks it to end without waiting for that; end() does.
  void ask_to_end() const;
  void end();
  // False: it has exited by itself, which no benchmark expects.
  bool is_alive() { return !wait_end({}); }
  // Waits for its end, at most so long; true: it has ended.
  bool wait_end(Duration deadline);
  // The last lines of its log, for an error message.
  std::string log_tail() const;

  // Zero where the process is gone.
  std::uint64_t rss_kib() const;
  Duration cpu_time() const;

 private:
  Process(pid_t pid, std::string log_file);

  pid_t pid_;  // 0: it has ended
  int handle_;
  std::string log_file_;
};

}  // namespace muster::bench
