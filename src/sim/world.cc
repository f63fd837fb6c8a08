#include "sim/world.h"

namespace muster::sim {
namespace {

constexpr Timestamp kBegin{1'800'000'000'000'000};
// Far beyond the sum of all deadlines in a run and its jumps of the clock.
constexpr Duration kSettleBound = Duration::hours(1);
constexpr Duration kLookEvery = Duration::seconds(2);
constexpr std::uint64_t kStepsMax = 5'000'000;

}  // namespace

World::World(std::uint64_t seed, Swarm swarm, Bug bug)
    : context_(seed, std::move(swarm), bug, kBegin),
      fleet_(context_),
      workload_(context_, fleet_),
      injector_(context_, fleet_) {
  context_.on_point = [](Point, std::size_t) {};
}

void World::run_for(Duration length) {
  const Timestamp end = context_.queue.now() + length;
  EventQueue& queue = context_.queue;
  while (queue.has_before(end) && !context_.checks.violation() && queue.steps() < kStepsMax) {
    queue.run_next();
  }
  queue.advance_to(end);
}

void World::heal() {
  context_.note("--", "~", "the faults heal");
  context_.healed = true;
  fleet_.heal();
  workload_.wind_down();
}

std::vector<std::string> World::unsettled() const {
  auto left = context_.checks.unsettled(fleet_.gone());
  for (std::string& each : fleet_.busy()) left.push_back(std::move(each));
  if (!workload_.is_done()) left.push_back("a client waits for an answer");
  return left;
}

void World::run_until_settled(Duration bound) {
  const Timestamp began = context_.queue.now();
  while (!context_.checks.violation()) {
    run_for(kLookEvery);
    const auto left = unsettled();
    if (left.empty()) return;
    workload_.sweep();
    const Duration waited = context_.queue.now() - began;
    if (waited >= bound || context_.queue.steps() >= kStepsMax) {
      context_.checks.never_settled(left, waited);
    }
  }
}

Outcome World::finish() {
  if (!context_.checks.violation()) context_.checks.at_end(fleet_.gone());
  Outcome outcome;
  outcome.seed = context_.seed;
  outcome.violation = context_.checks.violation();
  context_.digest.add(context_.random.next());
  context_.digest.add(context_.queue.steps());
  outcome.digest = context_.digest.value();
  outcome.steps = context_.queue.steps();
  outcome.actions = context_.checks.records().all().size();
  outcome.simulated = context_.queue.now() - context_.began;
  outcome.faults = context_.faults;
  return outcome;
}

Outcome run_seed(const SeedOptions& options) {
  Random random(options.seed);
  World world(options.seed, draw_swarm(random), options.bug);
  Context& context = world.context();
  context.sink = options.sink;
  context.on_point = [&world](Point point, std::size_t node) {
    world.injector().on_point(point, node);
  };
  world.start();
  world.workload().start();
  world.injector().start();
  world.run_for(context.swarm.length);
  world.heal();
  world.run_until_settled(kSettleBound);
  return world.finish();
}

}  // namespace muster::sim
