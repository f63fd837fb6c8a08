#pragma once

#include <deque>
#include <vector>

#include "core/action/action.h"
#include "core/effects.h"

namespace muster::core {

// Actions that ended while the store is being asked for its history. The store is asked while later
// steps are computed, whose writes it does not have yet: an action that ends in one of them is no
// longer live, and not in the answer either. So the answer is completed with these.
//
// Bounded by what ends between a question and its answer.
class RecentlyEnded {
 public:
  // `newest` is the last lookup that was asked before the action ended.
  void add(LookupId newest, ActionPtr action) { ended_.push_back({newest, std::move(action)}); }

  // Forgets those that every open lookup was asked after. `oldest` is of those that are open.
  void forget_before(LookupId oldest);
  void clear() { ended_.clear(); }

  // Adds what was asked for, and puts newer versions in the place of older ones.
  void complete(const Lookup& asked, std::vector<ActionPtr>& found) const;

 private:
  struct Entry {
    LookupId newest = 0;
    ActionPtr action;
  };
  std::deque<Entry> ended_;  // in the order of their ends, so that `newest` ascends
};

}  // namespace muster::core
