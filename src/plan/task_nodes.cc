#include "plan/task_nodes.h"

#include <algorithm>

namespace muster::plan {

bool share_node(const Draft& draft, std::uint32_t a, std::uint32_t b) {
  const DraftTask& x = draft.facts[a];
  const DraftTask& y = draft.facts[b];
  if (x.node != kNone && y.node != kNone) return x.node == y.node;
  const auto runs_on = [&](std::uint32_t task, std::uint32_t node) {
    const auto* remote = std::get_if<RemoteWork>(&draft.tasks[task].work);
    if (remote == nullptr || node == kNone) return false;
    return std::binary_search(remote->nodes.begin(), remote->nodes.end(),
                              draft.index.nodes()[node].place->path());
  };
  if (x.node != kNone) return runs_on(b, x.node);
  if (y.node != kNone) return runs_on(a, y.node);
  const auto* nodes = std::get_if<RemoteWork>(&draft.tasks[a].work);
  const auto* others = std::get_if<RemoteWork>(&draft.tasks[b].work);
  if (nodes == nullptr || others == nullptr) return false;
  return std::any_of(nodes->nodes.begin(), nodes->nodes.end(), [&](const model::Path& path) {
    return std::binary_search(others->nodes.begin(), others->nodes.end(), path);
  });
}

std::vector<std::uint32_t> required_tasks(const Draft& draft, std::uint32_t task,
                                          const RequiredTask& required) {
  const auto index = static_cast<std::uint32_t>(required.index);
  const auto found = draft.parts.find(index);
  if (found == draft.parts.end()) return {index};
  std::vector<std::uint32_t> shared;
  for (const std::uint32_t part : found->second) {
    if (share_node(draft, task, part)) shared.push_back(part);
  }
  return shared.empty() ? found->second : shared;
}

}  // namespace muster::plan
