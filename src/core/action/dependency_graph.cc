#include "core/action/dependency_graph.h"

#include <algorithm>
#include <unordered_map>

namespace muster::core {
namespace {

enum class Mark : std::uint8_t { OnPath, Done };

struct Frame {
  ActionId id;
  std::vector<ActionId> dependencies;
  std::size_t next = 0;
};

std::vector<ActionId> cycle_on(const std::vector<Frame>& path, const ActionId& closing) {
  const auto first = std::find_if(path.begin(), path.end(),
                                  [&](const Frame& frame) { return frame.id == closing; });
  std::vector<ActionId> cycle;
  for (auto frame = first; frame != path.end(); ++frame) cycle.push_back(frame->id);
  cycle.push_back(closing);
  return cycle;
}

}  // namespace

std::optional<std::vector<ActionId>> find_cycle(
    const std::vector<ActionId>& starts,
    const std::function<std::vector<ActionId>(const ActionId&)>& dependencies_of) {
  std::unordered_map<ActionId, Mark> marks;
  std::vector<Frame> path;
  for (const ActionId& start : starts) {
    if (marks.contains(start)) continue;
    marks[start] = Mark::OnPath;
    path.push_back({start, dependencies_of(start)});
    while (!path.empty()) {
      Frame& top = path.back();
      if (top.next == top.dependencies.size()) {
        marks[top.id] = Mark::Done;
        path.pop_back();
        continue;
      }
      const ActionId next = top.dependencies[top.next++];
      const auto mark = marks.find(next);
      if (mark == marks.end()) {
        marks[next] = Mark::OnPath;
        path.push_back({next, dependencies_of(next)});
      } else if (mark->second == Mark::OnPath) {
        return cycle_on(path, next);
      }
    }
  }
  return std::nullopt;
}

}  // namespace muster::core
