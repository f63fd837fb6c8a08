#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "controller/api_timers.h"
#include "core/plan/plan_record.h"
#include "store/store.h"

namespace muster::controller {

// Reads the bodies of plans. Whoever pages through the tasks of a plan asks for the same body again
// and again, and a large one takes seconds to decode: the last one is kept for a while.
//
// Threading: read() from any thread that may block.
class PlanBodies {
 public:
  // Both must outlive it.
  PlanBodies(store::Store& store, ApiTimers& timers) : store_(store), timers_(timers) {}

  // Null: the plan has been removed meanwhile.
  Result<std::shared_ptr<const core::PlanBody>> read(const core::PlanRecord& plan);

 private:
  struct Kept {
    std::uint64_t number = 0;
    std::string digest;
    std::shared_ptr<const core::PlanBody> body;
    ApiTimers::TimerId end = 0;
  };

  void keep(Kept kept);

  store::Store& store_;
  ApiTimers& timers_;
  std::mutex mutex_;
  std::optional<Kept> kept_;  // protected by mutex_
};

}  // namespace muster::controller
