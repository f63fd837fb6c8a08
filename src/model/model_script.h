#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/edit.h"
#include "model/test_types.h"
#include "model/tree.h"

// Golden scripts for the model: what a person would type, and what changed. Blocks of
//
//   $ create -t node -p /deployments/d/clusters/c/nodes/n1 -o hostname=n1
//   + /deployments/d/clusters/c/nodes/n1 node Initial hostname=n1
//
// "+" made, "~" changed, "-" gone. `run` stands for a plan with one task for every item that is not
// Applied, `run --fail PATH` for one in which that item's task fails.

namespace muster::model::testing {

class ModelScript {
 public:
  ModelScript();

  std::string run(const std::string& line);

  // Every change of state that was made so far; absent states are "-".
  const std::set<std::pair<std::string, std::string>>& transitions() const { return transitions_; }

 private:
  struct Arguments {
    std::map<char, std::string> options;
    GivenProperties properties;
    std::vector<std::string> unset;
    std::vector<Path> failing;
    bool as_plugin = false;
  };

  static Arguments parse(const std::vector<std::string>& words);
  std::string edit(const Operation& operation, Actor actor);
  std::string run_plan(const std::vector<Path>& failing);
  std::string show(const Path& path) const;
  std::string describe(const EditOutcome& outcome);
  std::string describe(const ChangeSet& changes);

  SchemaPtr schema_;
  Tree tree_;
  std::set<std::pair<std::string, std::string>> transitions_;
};

}  // namespace muster::model::testing
