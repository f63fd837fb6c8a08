#include "core/idempotency.h"

#include "base/check.h"

namespace muster::core {

const IdempotencyTable::Entry* IdempotencyTable::find(const std::string& key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second;
}

void IdempotencyTable::begin(const IdempotencyKey& key, Timestamp expires_at) {
  const auto [place, inserted] = entries_.emplace(
      key.key,
      Entry{.digest = key.digest, .actions = {}, .in_flight = true, .expires_at = expires_at});
  MUSTER_CHECK(inserted, "idempotency key '{}' begun twice", key.key);
}

void IdempotencyTable::abandon(const std::string& key) { erase(key); }

void IdempotencyTable::put(const PutIdempotency& record) {
  erase(record.key);
  entries_[record.key] = Entry{.digest = record.digest,
                               .actions = record.actions,
                               .in_flight = false,
                               .expires_at = record.expires_at,
                               .revision = record.revision};
  by_expiry_.emplace(record.expires_at, record.key);
}

std::optional<std::string> IdempotencyTable::take_expired(Timestamp now, std::size_t limit) {
  if (by_expiry_.empty()) return std::nullopt;
  if (by_expiry_.begin()->first > now && by_expiry_.size() <= limit) return std::nullopt;
  std::string key = by_expiry_.begin()->second;
  erase(key);
  return key;
}

std::optional<Timestamp> IdempotencyTable::next_expiry() const {
  if (by_expiry_.empty()) return std::nullopt;
  return by_expiry_.begin()->first;
}

void IdempotencyTable::erase(const std::string& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  by_expiry_.erase({found->second.expires_at, key});
  entries_.erase(found);
}

}  // namespace muster::core
