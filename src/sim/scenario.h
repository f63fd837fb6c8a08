#pragma once

#include <string_view>
#include <vector>

#include "sim/world.h"

// Small pieces of work, always the same, for worlds in which nothing is left to chance.

namespace muster::sim {

struct Scenario {
  std::string_view name;
  std::string_view about;
};
std::vector<Scenario> scenarios();

// Puts the work of a scenario on the world's queue. REQUIRES: the world has started, has two agents
// and no clients, and `name` is of a scenario.
void plan_scenario(World& world, std::string_view name);

}  // namespace muster::sim
