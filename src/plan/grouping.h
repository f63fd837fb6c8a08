#pragma once

#include <cstdint>
#include <vector>

#include "plan/draft.h"

namespace muster::plan {

// Says to which group of the ruleset a task belongs, and whether it may.
class Grouping {
 public:
  explicit Grouping(const Draft& draft);

  // The group of the task; sets its cluster too. Tells of an unknown tag, of constraints of the
  // group that the task does not meet, and of a task of no cluster in a group per cluster. False:
  // something was told. REQUIRES: its item and nodes were found.
  bool assign(Draft& draft, std::uint32_t task) const;
  // The same for a task of an earlier plan, about which nothing is told.
  bool assign_remembered(const Draft& draft, const Task& task, DraftTask& fact) const;

 private:
  struct Rule {  // a Condition, made ready for many tasks
    const Condition* condition;
    std::uint8_t kinds;  // a bit for each kind of task that it is about
    std::uint64_t below;
    std::uint64_t not_below;
    bool has_below;
  };
  struct GroupRules {
    std::vector<Rule> criteria;
    std::vector<Rule> constraints;
  };

  static Rule make_rule(const ModelIndex& index, const Condition& condition);
  // Null: no group has the tag.
  const std::size_t* find_group(const Draft& draft, const Task& task, const DraftTask& fact) const;
  // Empty: the rule holds.
  std::string broken_by(const Draft& draft, const Rule& rule, const Task& task,
                        const DraftTask& fact) const;
  bool holds(const Draft& draft, const Rule& rule, const Task& task, const DraftTask& fact) const;

  std::vector<GroupRules> rules_;     // of each group
  std::vector<std::size_t> numbers_;  // 0, 1, 2, ...: what find_group() points to
  bool initial_locks_;
};

void assign_groups(Draft& draft);

}  // namespace muster::plan
