#include "plan/planner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/edit.h"
#include "plan/test_world.h"

// What golden scripts cannot show: limits, and what a plan takes.

namespace muster::plan {
namespace {

class Planner : public ::testing::Test {
 protected:
  Planner() {
    create("/deployments/d", "deployment");
    create("/deployments/d/clusters/c", "cluster", {{"ha_manager", "vcs"}});
    create("/deployments/d/clusters/c/nodes/n", "node");
  }

  static model::Path path(const std::string& text) { return *model::Path::parse(text); }

  void create(const std::string& at, const std::string& type,
              model::GivenProperties properties = {}) {
    const model::Path item = path(at);
    const auto outcome = model::edit(
        tree_, *schema_,
        {model::CreateItem{item.parent(), std::string(item.id()), type, std::move(properties)}},
        model::Actor::User);
    ASSERT_TRUE(outcome.ok()) << outcome.errors.front().message;
  }

  void apply(const model::Node& place) {
    model::Item item = place.item();
    item.set_state(model::ItemState::Applied, place.merged());
    tree_.replace(place, std::make_shared<const model::Item>(item));
    for (const auto& child : place.children()) apply(*child);
  }

  static Task callback(const std::string& item, const std::string& method) {
    Task task;
    task.plugin = "p";
    task.item = path(item);
    task.work = CallbackWork{method};
    return task;
  }

  PlanRequest request() const { return {tree_, *schema_, ruleset_, {}, {}, remembered_}; }

  model::SchemaPtr schema_ = testing::test_schema();
  Ruleset ruleset_ = testing::test_ruleset(*schema_);
  model::Tree tree_ = model::empty_model(*schema_);
  std::vector<RememberedTask> remembered_;
};

TEST_F(Planner, TellsOfAsManyErrorsAsItMayAndCountsTheRest) {
  constexpr std::size_t kMore = 1234;
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < kPlanErrorsMax + kMore; ++i) {
    tasks.push_back(callback(fmt::format("/software/items/none{:05}", i), "go"));
  }
  // Which of them are told does not depend on which come first.
  std::reverse(tasks.begin(), tasks.end());
  const PlanOutcome outcome = make_plan(request(), tasks, {});
  const auto& errors = std::get<PlanErrors>(outcome);
  ASSERT_EQ(errors.errors.size(), kPlanErrorsMax);
  EXPECT_EQ(errors.unnamed, kMore);
  for (std::size_t i = 0; i < errors.errors.size(); ++i) {
    EXPECT_EQ(errors.errors[i].item.text(), fmt::format("/software/items/none{:05}", i));
  }
}

TEST_F(Planner, TellsOfAllErrorsUpToTheLimit) {
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < kPlanErrorsMax; ++i) {
    tasks.push_back(callback(fmt::format("/software/items/none{}", i), "go"));
  }
  const PlanOutcome outcome = make_plan(request(), tasks, {});
  const auto& errors = std::get<PlanErrors>(outcome);
  EXPECT_EQ(errors.errors.size(), kPlanErrorsMax);
  EXPECT_EQ(errors.unnamed, 0U);
}

TEST_F(Planner, APlanHasNoMoreRoomThanItsTasksNeed) {
  apply(tree_.root());
  const std::string node = "/deployments/d/clusters/c/nodes/n";
  std::vector<Task> tasks;
  tasks.reserve(5000);
  for (int i = 0; i < 1000; ++i) tasks.push_back(callback(node, fmt::format("m{}", i)));
  ASSERT_EQ(nodes_to_lock(request(), tasks), std::vector<model::Path>{path(node)});
  std::vector<LockPair> locks = {{path(node), callback(node, "lock"), callback(node, "unlock")}};
  const PlanOutcome outcome = make_plan(request(), std::move(tasks), std::move(locks));
  const auto& plan = std::get<Plan>(outcome);
  EXPECT_EQ(plan.tasks.size(), 1002U);
  EXPECT_LE(plan.tasks.capacity(), 1100U);
}

}  // namespace
}  // namespace muster::plan
