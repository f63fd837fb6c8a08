#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/time.h"

namespace muster::core {

// At most one deadline per key. Due keys come out in the order of their deadlines, ties by key, so
// that a step is deterministic.
template <typename Key>
class Timers {
 public:
  void set(const Key& key, Timestamp at) {
    clear(key);
    if (!at.is_set()) return;
    by_key_.emplace(key, at);
    by_time_.emplace(at, key);
  }

  void clear(const Key& key) {
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return;
    by_time_.erase({found->second, key});
    by_key_.erase(found);
  }

  std::optional<Timestamp> next() const {
    if (by_time_.empty()) return std::nullopt;
    return by_time_.begin()->first;
  }

  // Removes and answers one key that is due.
  std::optional<Key> take_due(Timestamp now) {
    if (by_time_.empty() || by_time_.begin()->first > now) return std::nullopt;
    Key key = by_time_.begin()->second;
    clear(key);
    return key;
  }

 private:
  std::map<Key, Timestamp> by_key_;
  std::set<std::pair<Timestamp, Key>> by_time_;
};

}  // namespace muster::core
