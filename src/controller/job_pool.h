#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/effects.h"
#include "core/input.h"

namespace muster::controller {

// Executes engine actions on threads of the controller. The engine decides what runs and how much
// at once; the pool only runs it, enforces the timeout, and obeys signals.
//
// Threading: run() from any thread, never blocks. `report` is called on pool threads and may block.
class JobPool {
 public:
  using Report = std::function<void(core::Input)>;

  JobPool(std::size_t threads, Report report);
  ~JobPool();

  void run(const core::Job& job);
  // Tells every job to end and joins; what did not end by itself is not reported, so that the next
  // controller finds it as it was.
  void stop();

  // What a running job looks at.
  class Control {
   public:
    // Waits until `duration` of unsuspended time has passed. False: cancelled or stopping.
    bool wait(Duration duration, const std::function<void(bool)>& on_suspend);
    bool cancelled() const;

   private:
    friend class JobPool;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool cancelled_ = false;
    bool suspended_ = false;
  };

 private:
  using Key = std::pair<core::ActionId, std::uint32_t>;
  struct Pending {
    core::ActionPtr action;
    std::shared_ptr<Control> control;
  };

  void work();
  void execute(const Pending& pending);

  const Report report_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::deque<Pending> queue_;
  std::map<Key, std::shared_ptr<Control>> controls_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace muster::controller
