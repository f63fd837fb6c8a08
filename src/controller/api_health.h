#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "controller/controller.h"

namespace muster::controller {

class ApiTimers;
class ApiWorkers;

// Whether the controller can take new work. The store is asked with a real write, at most once a
// second however many ask, and only by one thread at a time: a disk that hangs must not take all
// workers with it.
class Readiness {
 public:
  // Empty: ready.
  using Reasons = std::vector<std::string>;
  using Done = std::function<void(const Reasons&)>;

  explicit Readiness(Controller& controller) : controller_(controller) {}

  // Any thread. `done` comes once, at the latest after a few seconds, on any thread.
  void check(ApiWorkers& workers, ApiTimers& timers, Done done);

 private:
  struct Waiter;
  void probe();

  Controller& controller_;
  std::mutex mutex_;
  // Protected by mutex_.
  bool probing_ = false;
  std::optional<std::chrono::steady_clock::time_point> probed_at_;
  Reasons reasons_;
  std::vector<std::shared_ptr<Waiter>> waiters_;
};

// Why the engine does not answer: mostly because the store refuses writes.
Error engine_silent(const Controller& controller);
// A request that was accepted but not answered in time.
Error outcome_unknown();

}  // namespace muster::controller
