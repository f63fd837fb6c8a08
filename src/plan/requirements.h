#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "plan/draft.h"
#include "plan/scope_graph.h"
#include "plan/scopes.h"

namespace muster::plan {

// Puts what tasks require into the graphs of scopes, and tells of requirements that no order of the
// plan could keep: of tasks of another group, cluster or node, and of items with tasks that come
// later.
class Requirements {
 public:
  Requirements(Draft& draft, const Slots& slots);

  // REQUIRES: the first vertices of `graph` are the tasks of the scope.
  void connect(const Scope& scope, ScopeGraph& graph);

 private:
  // An item that some task requires.
  struct Demand {
    std::uint32_t item = kNone;
    // For each scope with tasks at or below the item, the first of them.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> scopes;
    const Scope* checked = nullptr;  // a scope that may require it
    std::uint32_t stranger = kNone;  // a task of a node other than that of the item, done by node
    // In the graph of the scope at hand, for what is made and for what is removed: what stands for
    // the tasks at and below the item, and those of these tasks that require the item themselves.
    std::uint32_t vertex[2] = {kNone, kNone};
    std::vector<std::uint32_t> inside[2];
  };

  void find_demands();
  void find_scopes();
  void find_names();
  // What requires, in the scope at hand.
  struct Requirer {
    const Scope& scope;
    std::uint32_t task;
    std::uint32_t vertex;
    bool is_silent;  // of an earlier plan: nothing is told about it
  };
  void connect(const Requirer& requirer, const RequiredTask& wanted, ScopeGraph& graph);
  void connect(const Requirer& requirer, const RequiredItem& wanted, ScopeGraph& graph);
  void connect(const Requirer& requirer, const RequiredCall& wanted, ScopeGraph& graph);
  // Every other resource of a type on the requirer's node, as far as it is in the scope at hand.
  void connect_type(const Requirer& requirer, const std::string& type, ScopeGraph& graph);
  void connect_names(const Requirer& requirer, ScopeGraph& graph);
  void connect_members(const Scope& scope, ScopeGraph& graph);
  bool check_item(const Requirer& requirer, Demand& demand);
  std::string not_before(const Requirer& requirer, const Scope& other) const;
  void bind(const Requirer& requirer, std::uint32_t other, OrderKind kind, ScopeGraph& graph);
  std::vector<std::uint32_t> tasks_with(const Requirer& requirer, const Call& call);
  void refuse(const Requirer& requirer, PlanErrorKind kind, const std::string& message);

  const DraftTask& fact(std::uint32_t task) const { return draft_.facts[task]; }
  std::string group_name(std::uint32_t task) const { return draft_.group_of(fact(task)).name; }

  Draft& draft_;
  const Slots& slots_;
  std::vector<Demand> demands_;
  std::unordered_map<std::uint32_t, std::uint32_t> demand_of_item_;
  std::vector<bool> is_demanded_;       // by item
  std::vector<std::uint32_t> touched_;  // demands that have something of the scope at hand
  CallTable remembered_calls_;
  // Tasks that those of earlier plans require, by name.
  std::unordered_map<std::string, std::uint32_t> by_name_;
  // Config tasks of the scope at hand by call; made when it is asked for.
  std::unordered_map<std::string, std::vector<std::uint32_t>> by_call_;
  bool has_by_call_ = false;
  // Config tasks of the scope at hand by node, type of their call, and whether they remove; made
  // when it is asked for.
  struct TypeOnNode {
    std::vector<std::uint32_t> vertices;
    std::uint32_t gate = kNone;  // stands for them
  };
  std::unordered_map<std::string_view, std::uint32_t> types_;  // numbers
  std::unordered_map<std::uint64_t, TypeOnNode> by_type_;
  bool has_by_type_ = false;
};

}  // namespace muster::plan
