#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/check_durable.h"
#include "sim/views.h"

namespace muster::sim {

// Promise 1: an acknowledged request is never lost. What was acknowledged stays in the store, a
// repeated Idempotency-Key gives the same actions, a CANCEL that was acknowledged is the end of
// what comes after it, and an action that an agent acknowledged reaches the controller.
class CheckAcknowledged {
 public:
  Wrong on_submitted(const std::string& key, const std::vector<core::ActionId>& ids);
  // The store has the answer to a key: the request was carried out, whether or not its client
  // knows.
  Wrong on_key(const std::string& key, const std::vector<core::ActionId>& ids);
  void on_cancelled(const core::ActionId& id, std::uint32_t attempt);
  void on_local(std::size_t agent, const core::ActionId& id);
  void on_journal_lost(std::size_t agent);

  Wrong on_change(const RecordView::Change& change) const;
  Wrong on_start(const core::ActionId& id, std::uint32_t attempt) const;
  // When everything has settled. Agents in `gone` never came back.
  Wrong at_end(const RecordView& records, const std::set<std::size_t>& gone) const;

 private:
  std::map<std::string, std::vector<core::ActionId>> by_key_;
  std::set<core::ActionId> acknowledged_;
  std::map<core::ActionId, std::uint32_t> cancelled_;  // and at which attempt
  std::set<std::pair<std::size_t, core::ActionId>> local_;
};

}  // namespace muster::sim
