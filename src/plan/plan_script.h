#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/declaration.h"
#include "model/tree.h"
#include "plan/planner.h"
#include "plan/template.h"

// Golden scripts for the planner: a model, tasks, and the plan that comes of them.
//
//   $ create cluster @c1 ha_manager=vcs      an item; @c1 is /deployments/d/clusters/c1
//   $ create node @c1:n1                     and @c1:n1 is /deployments/d/clusters/c1/nodes/n1
//   $ remove PATH, set PATH NAME=VALUE       as a user would
//   $ applied [PATH]                         everything, or the item, is Applied
//   $ doubt PATH                             nobody knows what is on the host
//   $ config NAME NODE ITEM TYPE ID          a task; NAME is for this script
//   $ callback NAME ITEM METHOD
//   $ remote NAME ITEM ACTION NODE,NODE
//       with requires=NAME,/an/item,TYPE:ID,TYPE:* tag=T plugin=P args=JSON also=ITEM
//       replaces=TYPE:ID
//            transient future
//   $ no tasks                               forgets them
//   $ locks PLUGIN                           it gives lock tasks for every node it is asked for
//   $ lock NODE PLUGIN                       it gives them for this node, asked or not
//   $ nodes CLUSTER n2,n1                    the order of its nodes
//   $ plan [--no-locks] [--no-locks-in CLUSTER] [--initial-locks]
//   $ explain NAME|ID
//   $ done [NAME...]                         config tasks of the plan have succeeded, but these
//   $ order NAME                             what it comes after in its phase

namespace muster::plan::testing {

class PlanScript {
 public:
  // With templates, their tasks are planned with those of the script. They are borrowed.
  PlanScript(model::SchemaPtr schema, Ruleset ruleset, const TaskTemplates* templates = nullptr);

  std::string run(const std::string& line);
  // Makes the model what is declared. Tells what is wrong with it.
  std::string apply(const model::Declaration& wanted);

 private:
  struct Words {
    std::vector<std::string> plain;
    std::map<std::string, std::string> named;
  };

  static Words parse(const std::string& line);
  std::string change(const model::Operation& operation);
  std::string make(const Words& words);
  void set_state(const model::Node& place, model::ItemState state);
  std::string take_task(const Words& words);
  std::string plan(const Words& words);
  std::string show(const PlanOutcome& outcome) const;
  std::string show(const Plan& plan) const;
  std::string explain(const std::string& wanted) const;
  std::string remember_plan(const std::vector<std::string>& failed);
  std::optional<std::size_t> find(const std::string& wanted) const;

  model::SchemaPtr schema_;
  Ruleset ruleset_;
  const TaskTemplates* templates_;
  model::Tree tree_;
  std::vector<Task> tasks_;
  std::map<std::string, std::size_t> names_;
  std::string lock_plugin_;
  std::vector<LockPair> pairs_;
  std::vector<NodeOrder> node_orders_;
  std::vector<RememberedTask> remembered_;
  std::optional<Plan> plan_;
};

// The shape of the world in fewer letters: paths that begin with @.
std::string shorten(const std::string& text);
model::Path path_of(const std::string& text);

}  // namespace muster::plan::testing
