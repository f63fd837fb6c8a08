#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/item.h"
#include "plan/plan.h"

namespace muster::core {

enum class PlanState : std::uint8_t {
  Initial,  // can be run
  Invalid,  // the model has changed since it was made
};
std::string_view name(PlanState state);

// A plan in figures.
struct PlanSummary {
  std::uint64_t add = 0;  // items
  std::uint64_t change = 0;
  std::uint64_t remove = 0;
  std::uint64_t tasks = 0;
  std::uint64_t phases = 0;
  std::uint64_t nodes = 0;
  std::uint64_t clusters = 0;
  std::uint64_t parallel = 0;  // clusters that run at the same time, at most
  std::uint64_t left_out = 0;  // tasks that have succeeded before

  bool operator==(const PlanSummary&) const = default;
};

// What there is to know of a plan without its tasks. Immutable: a change makes a new one.
struct PlanRecord {
  std::uint64_t number = 0;
  std::uint64_t revision = 1;  // of this record
  PlanState state = PlanState::Initial;
  std::string state_reason;
  Timestamp state_since;
  Timestamp created_at;
  std::string who;
  std::string why;
  std::uint64_t model_revision = 0;  // that it was made from
  std::string digest;                // of its body
  std::uint64_t body_bytes = 0;
  PlanSummary summary;

  bool operator==(const PlanRecord&) const = default;
};
using PlanRecordPtr = std::shared_ptr<const PlanRecord>;

// How a property of a task's item differs from what was applied; a secret only says so.
struct PropertyChange {
  std::string name;
  std::optional<std::string> before;
  std::optional<std::string> after;

  bool operator==(const PropertyChange&) const = default;
};

// Everything else, written once.
struct PlanBody {
  plan::Plan plan;
  // Of the item of each task, when the plan was made.
  struct About {
    model::ItemState state = model::ItemState::Initial;
    std::vector<PropertyChange> changes;
  };
  std::vector<About> about;
};

}  // namespace muster::core
