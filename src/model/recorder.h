#pragma once

#include <map>
#include <string_view>

#include "model/tree.h"

namespace muster::model {

// Changes a tree and remembers what was before, so that the changes can be told or taken back.
class Recorder {
 public:
  explicit Recorder(Tree& tree) : tree_(tree) {}

  const Node& add(const Node& parent, std::string_view id, Item item);
  void replace(const Node& node, Item item);  // nothing happens if it is the same
  void erase(const Node& node);               // and everything below it

  // By path; places that look as they did before are left out.
  ChangeSet changes() const;

 private:
  void remember(const Node& node);

  Tree& tree_;
  std::map<Path, ItemPtr> before_;  // null: it was not there
};

}  // namespace muster::model
