#include "model/recorder.h"

#include <utility>

namespace muster::model {

const Node& Recorder::add(const Node& parent, std::string_view id, Item item) {
  before_.try_emplace(parent.path().child(id), nullptr);
  return tree_.add(parent, id, std::make_shared<const Item>(std::move(item)));
}

void Recorder::replace(const Node& node, Item item) {
  if (item == node.item()) return;
  remember(node);
  tree_.replace(node, std::make_shared<const Item>(std::move(item)));
}

void Recorder::erase(const Node& node) {
  while (!node.children().empty()) erase(*node.children().back());
  remember(node);
  tree_.erase(node);
}

ChangeSet Recorder::changes() const {
  ChangeSet changes;
  for (const auto& [path, before] : before_) {
    const Node* node = tree_.find(path);
    const ItemPtr after = node ? node->item_ptr() : nullptr;
    if (before == after || (before && after && *before == *after)) continue;
    changes.push_back({path, before, after});
  }
  return changes;
}

void Recorder::remember(const Node& node) { before_.try_emplace(node.path(), node.item_ptr()); }

}  // namespace muster::model
