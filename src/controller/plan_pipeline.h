#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "controller/plan_maker.h"
#include "model/tree.h"

namespace muster::controller {

// One plan on its way: the steps of making it, in their order. Blocks; lives for one plan.
class PlanPipeline {
 public:
  PlanPipeline(Controller& controller, plugin::PluginHost& plugins, const pack::LoadedPacks& packs,
               const PlanWish& wish, const std::atomic<bool>* cancel)
      : controller_(controller), plugins_(plugins), packs_(packs), wish_(wish), cancel_(cancel) {}

  Result<PlanMade> run();

 private:
  Result<void> look();
  Result<void> update_model();
  Result<void> validate();
  Result<std::vector<plan::Task>> collect_tasks();
  Result<std::vector<plan::NodeOrder>> node_orders(const std::vector<model::Path>& nodes);
  Result<std::vector<plan::LockPair>> lock_tasks(const std::vector<model::Path>& nodes);
  Result<PlanMade> keep(plan::Plan plan);

  Controller& controller_;
  plugin::PluginHost& plugins_;
  const pack::LoadedPacks& packs_;
  const PlanWish& wish_;
  const std::atomic<bool>* cancel_;
  plugin::SnapshotPtr snapshot_;
  std::unique_ptr<model::Tree> tree_;
};

// What a plan does to the model's items, and its size. Pure.
core::PlanSummary summarise(const plan::Plan& plan, const model::Tree& tree);
// The items of its tasks, with what differs from what was applied. Pure.
std::vector<core::PlanBody::About> describe_items(const plan::Plan& plan, const model::Tree& tree);

}  // namespace muster::controller
