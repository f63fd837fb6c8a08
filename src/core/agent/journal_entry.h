#pragma once

#include <memory>
#include <string>

#include "base/time.h"
#include "core/action/action.h"

// What an agent remembers of one action. Immutable and shared, like core::Action.

namespace muster::core {

struct JournalEntry {
  ActionId id;
  std::uint32_t attempt = 1;
  std::uint64_t seq = 0;  // order of arrival
  Origin origin = Origin::Controller;
  std::string name;
  std::string kind;
  JsonText inputs = "{}";
  Duration timeout;
  std::string requested_by;
  Timestamp created_at;
  Timestamp start_before;  // by this machine's clock; unset: no limit

  Status status = Status::New;  // New, Running, Suspended or final (never Lost)
  ExecuteResult result = ExecuteResult::Ok;
  std::string reason;
  Signal control = Signal::None;  // asked for, not yet answered by the runner
  std::string control_reason;
  Timestamp start_time;  // the intent to start was journalled
  Timestamp stop_time;
  JsonText outputs = "{}";
  bool acked = false;  // the controller has the final state; it may be forgotten

  bool is_final() const { return core::is_final(status); }
  bool operator==(const JournalEntry&) const = default;
};

using JournalEntryPtr = std::shared_ptr<const JournalEntry>;

}  // namespace muster::core
