#pragma once

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/effects.h"
#include "core/input.h"

namespace muster::core {

// Answers of requests that carried an Idempotency-Key, kept for a while so that a client which lost
// the answer can ask again. Bounded: beyond the limit the ones that expire first go.
class IdempotencyTable {
 public:
  struct Entry {
    std::string digest;
    std::vector<ActionId> actions;
    bool in_flight = false;
    Timestamp expires_at;
    std::uint64_t revision = 0;  // of the model, where the request was an edit
  };

  const Entry* find(const std::string& key) const;
  // Marks the key as being worked on. REQUIRES: it is not there.
  void begin(const IdempotencyKey& key, Timestamp expires_at);
  void abandon(const std::string& key);
  void put(const PutIdempotency& record);
  // Removes and answers one key that has expired, or, above `limit`, the next to expire.
  std::optional<std::string> take_expired(Timestamp now, std::size_t limit);
  std::optional<Timestamp> next_expiry() const;

 private:
  void erase(const std::string& key);

  std::unordered_map<std::string, Entry> entries_;
  std::set<std::pair<Timestamp, std::string>> by_expiry_;  // without those in flight
};

}  // namespace muster::core
