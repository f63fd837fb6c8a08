#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "controller/controller.h"
#include "pack/loader.h"
#include "plan/planner.h"
#include "plugin/host.h"

namespace muster::controller {

struct PlanWish {
  std::string who;
  std::string why;
  plan::LockPolicy locks;
};

// What came of it.
struct PlanMade {
  core::PlanRecordPtr plan;  // null: there is nothing to do
  std::uint64_t model_revision = 0;
  std::size_t left_out = 0;          // of nothing to do: tasks that have succeeded before
  std::vector<std::string> notices;  // of nothing to do
};

// Makes deployment plans: lets plugins update the model, validates it, collects tasks from plugins
// and templates, plans them, and gives the plan to the engine to keep. One after the other, on a
// thread of its own, since plugins take their time. If anything is wrong nothing is kept, and all
// that is wrong is told.
//
// Threading: make() from any thread, never blocks. `done` comes once, on the maker's thread.
class PlanMaker {
 public:
  using Done = std::function<void(Result<PlanMade>)>;

  // All must outlive the maker.
  PlanMaker(Controller& controller, plugin::PluginHost& plugins, const pack::LoadedPacks& packs);
  ~PlanMaker() { stop(); }
  PlanMaker(const PlanMaker&) = delete;
  PlanMaker& operator=(const PlanMaker&) = delete;

  // Error: Overloaded.
  Result<void> make(PlanWish wish, Done done);
  // Ends what is being made; what is waiting is answered with Unavailable.
  void stop();

 private:
  struct Job {
    PlanWish wish;
    Done done;
  };

  void run();

  Controller& controller_;
  plugin::PluginHost& plugins_;
  const pack::LoadedPacks& packs_;
  std::atomic<bool> cancel_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> queue_;  // protected by mutex_
  bool stopping_ = false;  // protected by mutex_
  std::thread thread_;
};

}  // namespace muster::controller
