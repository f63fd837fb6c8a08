#include "plan/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "base/nearest.h"
#include "plan/task_id.h"

namespace muster::plan {
namespace {

// "; did you mean '/a/b'?" for a path of which all but the last part is right.
std::string suggest_path(const Draft& draft, const model::Path& wrong) {
  if (wrong.is_root()) return {};
  const model::Node* parent = draft.request.model.find(wrong.parent());
  if (parent == nullptr) return {};
  std::vector<std::string_view> known;
  for (const auto& child : parent->children()) known.push_back(child->id());
  return did_you_mean(wrong.id(), known);
}

// kNone: told.
std::uint32_t find_node(Draft& draft, std::uint32_t task, const model::Path& path) {
  const std::uint32_t item = draft.index.find(path);
  if (item == kNone) {
    draft.refuse(task, PlanErrorKind::NotANode,
                 fmt::format("is for node {}, which is not there{}", path.text(),
                             suggest_path(draft, path)));
    return kNone;
  }
  const std::uint32_t node = draft.index.as_node(item);
  if (node == kNone) {
    const model::Item& found = draft.index.item(item).place->item();
    draft.refuse(
        task, PlanErrorKind::NotANode,
        fmt::format("is for node {}, which is {} {}, not a node or the management server",
                    path.text(), found.is_collection() ? "a collection of" : "a", found.type->id));
  }
  return node;
}

void find_items(Draft& draft, std::uint32_t i) {
  const Task& task = draft.tasks[i];
  DraftTask& fact = draft.facts[i];
  fact.item = draft.index.find(task.item);
  if (fact.item == kNone) {
    draft.refuse(i, PlanErrorKind::UnknownItem,
                 fmt::format("is for an item that is not there{}", suggest_path(draft, task.item)));
  }
  for (const model::Path& path : task.model_items) {
    if (draft.request.model.find(path) != nullptr) continue;
    draft.refuse(i, PlanErrorKind::UnknownItem,
                 fmt::format("names {} among its model items, which is not there{}", path.text(),
                             suggest_path(draft, path)));
  }
}

void find_nodes(Draft& draft, std::uint32_t i) {
  const Task& task = draft.tasks[i];
  DraftTask& fact = draft.facts[i];
  if (const auto* config = std::get_if<ConfigWork>(&task.work)) {
    fact.node = find_node(draft, i, config->node);
    if (fact.node == kNone) return;
    const NodeFacts& node = draft.index.nodes()[fact.node];
    if (node.place->item().is_for_removal()) fact.left_out = LeftOut::NodeForRemoval;
    return;
  }
  if (const auto* remote = std::get_if<RemoteWork>(&task.work)) {
    if (remote->nodes.empty()) {
      draft.refuse(i, PlanErrorKind::NotANode, "names no node to run on");
    }
    for (const model::Path& path : remote->nodes) {
      const std::uint32_t node = find_node(draft, i, path);
      if (remote->nodes.size() == 1) fact.node = node;
    }
    return;
  }
  if (fact.item != kNone) fact.node = draft.index.item(fact.item).node;
}

// Tasks that want the same thing: for each that came first, the others.
using Clashes = std::map<std::uint32_t, std::vector<std::uint32_t>>;

// The clash with its tasks in an order of their own, so that what is told does not depend on which
// came first: the first of them, and the descriptions of the others.
std::pair<std::uint32_t, std::string> in_words(const Draft& draft, std::uint32_t first,
                                               std::vector<std::uint32_t> others) {
  others.push_back(first);
  std::sort(others.begin(), others.end(), [&](std::uint32_t x, std::uint32_t y) {
    const Task& a = draft.tasks[x];
    const Task& b = draft.tasks[y];
    return std::tie(a.plugin, a.item, a.description) < std::tie(b.plugin, b.item, b.description);
  });
  others.erase(std::unique(others.begin(), others.end()), others.end());
  std::string words;
  for (std::size_t i = 1; i < others.size(); ++i) {
    if (i > 1) words += i + 1 == others.size() ? " and " : ", ";
    words += describe(draft.tasks[others[i]]);
  }
  return {others.front(), words};
}

void take_call(Draft& draft, std::uint32_t i, Clashes& clashes) {
  const auto* config = std::get_if<ConfigWork>(&draft.tasks[i].work);
  const DraftTask& fact = draft.facts[i];
  if (config == nullptr || fact.node == kNone) return;
  const std::uint32_t other = find_call(draft, fact.node, config->call);
  if (other == kNone) {
    draft.calls.add(fact.node, config->call, i);
  } else {
    clashes[other].push_back(i);
  }
}

void tell_duplicates(Draft& draft, const Clashes& clashes) {
  for (const auto& [first, others] : clashes) {
    const auto [told, words] = in_words(draft, first, others);
    draft.refuse(
        told, PlanErrorKind::DuplicateTask,
        fmt::format("has the same node and call as {}; a resource of a node has one config "
                    "task",
                    words));
    draft.facts[first].is_refused = true;
    for (const std::uint32_t other : others) draft.facts[other].is_refused = true;
  }
}

// A call that some task replaces.
struct Replaced {
  std::uint32_t task;
  const Call* call;
};

void check_replaces(Draft& draft) {
  CallTable table;
  std::vector<Replaced> entries;
  Clashes clashes;  // entries
  const auto node_of = [&](std::uint32_t entry) { return draft.facts[entries[entry].task].node; };
  const auto call_of = [&](std::uint32_t entry) -> const Call& { return *entries[entry].call; };
  for (std::uint32_t i = 0; i < draft.tasks.size(); ++i) {
    const auto* config = std::get_if<ConfigWork>(&draft.tasks[i].work);
    const std::uint32_t node = draft.facts[i].node;
    if (config == nullptr || node == kNone) continue;
    for (const Call& call : config->replaces) {
      if (call == config->call) continue;
      if (const std::uint32_t other = find_call(draft, node, call); other != kNone) {
        draft.refuse(i, PlanErrorKind::ReplacesClash,
                     fmt::format("replaces {} '{}', which {} asks for in the same plan", call.type,
                                 call.id, describe(draft.tasks[other])));
      }
      const std::uint32_t entry = table.find(node, call, node_of, call_of);
      if (entry == kNone) {
        table.add(node, call, static_cast<std::uint32_t>(entries.size()));
        entries.push_back({i, &call});
      } else if (entries[entry].task != i) {
        clashes[entry].push_back(i);
      }
    }
  }
  for (const auto& [entry, others] : clashes) {
    const auto [told, words] = in_words(draft, entries[entry].task, others);
    const Call& call = *entries[entry].call;
    draft.refuse(told, PlanErrorKind::ReplacesClash,
                 fmt::format("replaces {} '{}', as {} would do too", call.type, call.id, words));
  }
}

}  // namespace

void set_anchor(Draft& draft, const Task& task, DraftTask& fact) {
  ModelIndex& index = draft.index;
  fact.anchor = fact.item;
  if (task.kind() != TaskKind::Config || index.item(fact.item).node == fact.node) return;
  const std::uint32_t node = index.item_of_node(fact.node);
  // The element that the item is in, of the nearest item that the node is in too.
  std::uint32_t below = fact.item;
  while (index.item(below).parent != kNone &&
         !index.is_at_or_below(node, index.item(below).parent)) {
    below = index.item(below).parent;
  }
  if (below == 0 || index.item(below).element == ItemFacts::kNoElement) return;
  const std::uint32_t anchor = index.child(node, index.item(below).place->id());
  if (anchor == kNone) return;
  fact.anchor = anchor;
  fact.as_in_node = true;
}

void resolve_task(Draft& draft, std::uint32_t task) {
  find_items(draft, task);
  find_nodes(draft, task);
  DraftTask& fact = draft.facts[task];
  if (fact.item == kNone) return;
  fact.is_removal = draft.index.item(fact.item).place->item().is_for_removal();
  const auto* config = std::get_if<ConfigWork>(&draft.tasks[task].work);
  fact.is_reversed = fact.is_removal || (config != nullptr && !config->persist);
  if (config == nullptr || fact.node != kNone) set_anchor(draft, draft.tasks[task], fact);
}

void resolve_tasks(Draft& draft) {
  draft.calls.reserve(draft.tasks.size());
  Clashes clashes;
  for (std::uint32_t i = 0; i < draft.tasks.size(); ++i) {
    resolve_task(draft, i);
    take_call(draft, i, clashes);
  }
  tell_duplicates(draft, clashes);
  check_replaces(draft);
}

void resolve_places(Draft& draft) {
  Clashes untold;
  for (std::uint32_t i = 0; i < draft.tasks.size(); ++i) {
    resolve_task(draft, i);
    // Only what is removed is looked up by its call.
    if (!draft.index.for_removal().empty()) take_call(draft, i, untold);
  }
}

std::uint32_t find_call(const Draft& draft, std::uint32_t node, const Call& call) {
  return draft.calls.find(
      node, call, [&](std::uint32_t task) { return draft.facts[task].node; },
      [&](std::uint32_t task) -> const Call& {
        return std::get<ConfigWork>(draft.tasks[task].work).call;
      });
}

}  // namespace muster::plan
