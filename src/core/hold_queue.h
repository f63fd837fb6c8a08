#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "base/planted_bug.h"

namespace muster::core {

// The rule "durable before visible", for both shells. What steps ask for is held in groups; the
// writes of a group travel to the disk under its ticket, and nothing that was held in the group
// leaves before that ticket, and so every ticket before it, is durable. A group without writes only
// waits for the groups before it. Everything leaves in the order in which it was held.
//
// Owned by the thread that steps; which ticket is durable comes in as an argument, because another
// thread may know it.
template <typename Held>
class HoldQueue {
 public:
  explicit HoldQueue(Bug bug = Bug::None) : bug_(bug) {}

  // Joins the group that is being gathered.
  void hold(Held what) { held_.push_back({ticket_ + 1, std::move(what)}); }

  // Ends the group. The answer is the ticket under which its writes must be made durable; none if
  // it has no writes.
  std::optional<std::uint64_t> close_group(bool has_writes) {
    if (has_writes) return ++ticket_;
    for (auto each = held_.rbegin(); each != held_.rend() && each->ticket > ticket_; ++each) {
      each->ticket = ticket_;
    }
    return std::nullopt;
  }

  bool can_release(std::uint64_t durable) const {
    if (held_.empty()) return false;
    return held_.front().ticket <= durable || planted(bug_, Bug::SendBeforeCommit) ||
           planted(bug_, Bug::AckBeforeJournal);
  }

  // The next that may leave. Ticket 0 is durable from the start.
  std::optional<Held> take(std::uint64_t durable) {
    if (!can_release(durable)) return std::nullopt;
    Held what = std::move(held_.front().what);
    held_.pop_front();
    return what;
  }

  // Everything that is held, in order.
  template <typename Visit>
  void for_each(Visit visit) {
    for (Entry& entry : held_) visit(entry.what);
  }

  std::size_t size() const { return held_.size(); }

 private:
  struct Entry {
    std::uint64_t ticket = 0;
    Held what;
  };

  const Bug bug_;
  std::deque<Entry> held_;
  std::uint64_t ticket_ = 0;  // of the last group with writes
};

}  // namespace muster::core
