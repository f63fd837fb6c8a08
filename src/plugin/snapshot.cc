#include "plugin/snapshot.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace muster::plugin {
namespace {

using RowNumbers = std::unordered_map<const model::Node*, std::int32_t>;

}  // namespace

Snapshot::Snapshot(const model::Tree& tree, model::SchemaPtr schema, std::uint64_t revision)
    : schema_(std::move(schema)), revision_(revision) {
  rows_.reserve(tree.size());
  children_.reserve(tree.size());
  RowNumbers sources;
  std::vector<std::pair<std::int32_t, const model::Node*>> inherited;

  struct Open {
    const model::Node* node;
    std::int32_t number;
    std::size_t next_child;
  };
  std::vector<Open> open;
  const auto enter = [&](const model::Node& node, std::int32_t parent) {
    const auto number = static_cast<std::int32_t>(rows_.size());
    Row row;
    row.parent = parent;
    row.children = static_cast<std::uint32_t>(children_.size());
    row.child_count = static_cast<std::uint32_t>(node.children().size());
    row.id = node.id();
    row.item = node.item_ptr();
    row.properties = node.merged();
    rows_.push_back(std::move(row));
    children_.resize(children_.size() + node.children().size());
    if (!node.inheritors().empty()) sources.emplace(&node, number);
    if (node.source() != nullptr) inherited.emplace_back(number, node.source());
    open.push_back({&node, number, 0});
  };

  enter(tree.root(), kNone);
  while (!open.empty()) {
    Open& top = open.back();
    Row& row = rows_[static_cast<std::size_t>(top.number)];
    if (top.next_child == top.node->children().size()) {
      row.end = static_cast<std::int32_t>(rows_.size());
      open.pop_back();
      continue;
    }
    children_[row.children + top.next_child] = static_cast<std::int32_t>(rows_.size());
    const model::Node& child = *top.node->children()[top.next_child];
    ++top.next_child;
    enter(child, top.number);
  }
  for (const auto& [number, source] : inherited) {
    rows_[static_cast<std::size_t>(number)].source = sources.at(source);
  }
}

std::int32_t Snapshot::find_child(std::int32_t parent, std::string_view id) const {
  const Row& above = row(parent);
  const auto begin = children_.begin() + above.children;
  const auto end = begin + above.child_count;
  const auto found = std::lower_bound(
      begin, end, id,
      [&](std::int32_t number, std::string_view wanted) { return row(number).id < wanted; });
  return found != end && row(*found).id == id ? *found : kNone;
}

std::int32_t Snapshot::find(const model::Path& path) const {
  std::int32_t at = 0;
  std::string_view rest = path.text();
  rest.remove_prefix(1);
  while (!rest.empty() && at != kNone) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    at = find_child(at, rest.substr(0, slash));
    rest.remove_prefix(std::min(slash + 1, rest.size()));
  }
  return at;
}

std::vector<std::int32_t> Snapshot::children(std::int32_t parent) const {
  const Row& above = row(parent);
  const auto begin = children_.begin() + above.children;
  return {begin, begin + above.child_count};
}

model::Path Snapshot::path(std::int32_t number) const {
  std::vector<const std::string*> ids;
  for (std::int32_t at = number; row(at).parent != kNone; at = row(at).parent) {
    ids.push_back(&row(at).id);
  }
  model::Path path;
  for (auto id = ids.rbegin(); id != ids.rend(); ++id) path = path.child(**id);
  return path;
}

std::int32_t Snapshot::ancestor(std::int32_t number, std::string_view type) const {
  for (std::int32_t at = number; at != kNone; at = row(at).parent) {
    if (!row(at).item->is_collection() && row(at).item->type->is_a(type)) return at;
  }
  return kNone;
}

}  // namespace muster::plugin
