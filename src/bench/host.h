#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::bench {

// What a benchmark needs of the program that it is part of. All functions may be called from any
// thread.
struct Host {
  // Starts this same program with other arguments, its output appended to a file.
  std::function<Result<pid_t>(const std::vector<std::string>& arguments,
                              const std::string& log_file)>
      start;
  // A loopback address that nobody listens on.
  std::function<Result<std::string>()> free_address;
  std::function<bool()> interrupted;
  // Words about progress.
  std::function<void(std::string_view)> say;
};

// The error of a benchmark that somebody ended.
Error interrupted_error();

}  // namespace muster::bench
