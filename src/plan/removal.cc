#include "plan/removal.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

#include "plan/resolve.h"

namespace muster::plan {
namespace {

// Nothing is done for it on the node; it only replaces what was there.
constexpr std::string_view kNotifyCall = "notify";
constexpr std::string_view kCleanupMethod = "cleanup";

class RemovalPlanner {
 public:
  explicit RemovalPlanner(Draft& draft) : draft_(draft) {}

  void run() {
    find_tasks();
    find_remembered();
    for (const model::Node* place : draft_.index.for_removal()) {
      if (has_task_[place]) continue;
      const auto found = remembered_.find(place);
      const bool is_replaced = found != remembered_.end() && replace(*place, found->second);
      if (!is_replaced) clean_up(*place);
    }
  }

 private:
  void find_tasks() {
    for (const model::Node* place : draft_.index.for_removal()) has_task_[place] = false;
    for (const DraftTask& fact : draft_.facts) {
      if (fact.item == kNone || fact.left_out != LeftOut::No) continue;
      const auto found = has_task_.find(draft_.index.item(fact.item).place);
      if (found != has_task_.end()) found->second = true;
    }
  }

  void find_remembered() {
    if (has_task_.empty()) return;
    for (const RememberedTask& remembered : draft_.request.remembered) {
      const std::uint32_t item = draft_.index.find(remembered.task.item);
      if (item == kNone) continue;
      const model::Node* place = draft_.index.item(item).place;
      if (has_task_.contains(place)) remembered_[place].push_back(&remembered);
    }
  }

  void clean_up(const model::Node& place) {
    Task task;
    task.plugin = kCorePlugin;
    task.item = place.path();
    task.description = fmt::format("Remove {} from the model", task.item.text());
    task.work = CallbackWork{.method = std::string(kCleanupMethod)};
    const std::uint32_t added = draft_.add_task(std::move(task));
    draft_.facts[added].role = TaskRole::Cleanup;
    draft_.cleanups.push_back(added);
  }

  // False: there is nothing to be replaced on any node that stays.
  bool replace(const model::Node& place, const std::vector<const RememberedTask*>& remembered) {
    std::map<std::uint32_t, std::vector<Call>> calls;  // by node
    for (const RememberedTask* task : remembered) {
      const auto& work = std::get<ConfigWork>(task->task.work);
      const std::uint32_t item = draft_.index.find(work.node);
      const std::uint32_t node = item == kNone ? kNone : draft_.index.as_node(item);
      if (node == kNone || draft_.index.nodes()[node].place->item().is_for_removal()) continue;
      if (find_call(draft_, node, work.call) == kNone) calls[node].push_back(work.call);
    }
    for (auto& [node, replaced] : calls) {
      std::sort(replaced.begin(), replaced.end());
      const model::Path item = place.path();
      const model::Path on = draft_.index.nodes()[node].place->path();
      Task task;
      task.plugin = kCorePlugin;
      task.item = item;
      task.description =
          fmt::format("Take what was configured for {} out of {}", item.text(), on.text());
      task.work = ConfigWork{.node = on,
                             .call = {std::string(kNotifyCall), item.text()},
                             .attributes = "{}",
                             .replaces = std::move(replaced),
                             .persist = false};
      resolve_task(draft_, draft_.add_task(std::move(task)));
    }
    return !calls.empty();
  }

  Draft& draft_;
  std::unordered_map<const model::Node*, bool> has_task_;  // of items for removal
  std::unordered_map<const model::Node*, std::vector<const RememberedTask*>> remembered_;
};

}  // namespace

void add_removal_tasks(Draft& draft) { RemovalPlanner(draft).run(); }

}  // namespace muster::plan
