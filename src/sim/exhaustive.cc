#include "sim/exhaustive.h"

#include <algorithm>
#include <string>
#include <vector>

#include "sim/scenario.h"
#include "sim/world.h"

namespace muster::sim {
namespace {

constexpr Duration kBound = Duration::hours(1);
// Long enough for the work to end where nothing goes wrong.
constexpr Duration kLength = Duration::seconds(12);
constexpr Duration kDownFor = Duration::millis(700);

Swarm calm_swarm() {
  Swarm swarm;
  swarm.agents = 2;
  swarm.clients = 0;
  swarm.latency_max = Duration::millis(2);
  swarm.disk_max = Duration::millis(2);
  // No agent may forget what it ran.
  swarm.features[static_cast<std::size_t>(Feature::IdConflicts)] = true;
  return swarm;
}

void kill(Fleet& fleet, Victim victim, std::size_t agent) {
  switch (victim) {
    case Victim::Controller:
      fleet.crash_controller(fleet.active(), false, kDownFor);
      return;
    case Victim::Agent:
      fleet.crash_agent(agent, false, kDownFor);
      return;
    case Victim::Host:
      fleet.reboot_host(agent, kDownFor);
      return;
    case Victim::Journal:
      fleet.lose_journal(agent, kDownFor);
      return;
  }
}

bool is_of_agent(Point point) {
  return point == Point::JournalWrite || point == Point::JournalWritten || point == Point::ToAgent;
}

// Makes each trouble at its point, and counts the points that are passed.
void arrange(World& world, const Course& course, PointsPassed& passed) {
  Context& context = world.context();
  context.on_point = [&](Point point, std::size_t node) {
    if (context.healed) return;
    ++passed.crash;
    for (const TroubleAt& at : course.troubles) {
      const auto* victim = std::get_if<Victim>(&at.trouble);
      // Whoever passes the point, or the agent that has most to do.
      if (victim != nullptr && at.point == passed.crash) {
        kill(world.fleet(), *victim, is_of_agent(point) ? node : 0);
      }
    }
  };
  context.decide = [&](Fault fault) {
    const std::uint64_t point = ++passed.of_fault[static_cast<std::size_t>(fault)];
    return std::any_of(course.troubles.begin(), course.troubles.end(), [&](const TroubleAt& at) {
      return at.trouble == Trouble(fault) && at.point == point;
    });
  };
}

// Goes through the runs of one scenario.
class Enumeration {
 public:
  Enumeration(const ExhaustiveOptions& options, std::string_view scenario, ExhaustiveResult& result)
      : options_(options), course_{std::string(scenario), {}}, result_(result) {}

  // False: a promise was broken.
  bool run_all() {
    const std::optional<PointsPassed> calm = run();
    return calm && try_more(*calm, 0, 0, options_.pairs ? 2 : 1);
  }

 private:
  // One more trouble, at every point of it, given what the course so far passes. Of two orders of
  // the same troubles one is enough: those before `from` had their turn, and of the same trouble
  // the points up to `after`.
  bool try_more(const PointsPassed& passed, std::size_t from, std::uint64_t after, int depth) {
    const std::vector<Trouble> all = troubles();
    for (std::size_t i = from; i < all.size(); ++i) {
      const std::uint64_t points = passed.of(all[i]);
      for (std::uint64_t point = i == from ? after + 1 : 1; point <= points; ++point) {
        course_.troubles.push_back({all[i], point});
        const std::optional<PointsPassed> then = run();
        if (!then || (depth > 1 && !try_more(*then, i, point, depth - 1))) return false;
        course_.troubles.pop_back();
      }
      const bool is_outermost = course_.troubles.empty();
      if (is_outermost && options_.progress) options_.progress(course_.scenario, all[i], points);
    }
    return true;
  }

  std::optional<PointsPassed> run() {
    const CourseOutcome outcome = run_course(course_, options_.bug, {});
    ++result_.runs;
    result_.steps += outcome.steps;
    if (!outcome.violation) return outcome.points;
    result_.failure = ExhaustiveFailure{course_, *outcome.violation};
    return std::nullopt;
  }

  const ExhaustiveOptions& options_;
  Course course_;
  ExhaustiveResult& result_;
};

}  // namespace

std::uint64_t PointsPassed::of(const Trouble& trouble) const {
  const auto* fault = std::get_if<Fault>(&trouble);
  return fault == nullptr ? crash : of_fault[static_cast<std::size_t>(*fault)];
}

CourseOutcome run_course(const Course& course, Bug bug,
                         const std::function<void(std::string_view)>& sink) {
  World world(1, calm_swarm(), bug);
  world.context().sink = sink;
  CourseOutcome outcome;
  arrange(world, course, outcome.points);
  world.start();
  plan_scenario(world, course.scenario);
  world.run_for(kLength);
  world.heal();
  world.run_until_settled(kBound);
  const Outcome end = world.finish();
  outcome.violation = end.violation;
  outcome.steps = end.steps;
  return outcome;
}

ExhaustiveResult run_exhaustive(const ExhaustiveOptions& options) {
  ExhaustiveResult result;
  for (const Scenario& scenario : scenarios()) {
    if (!Enumeration(options, scenario.name, result).run_all()) break;
  }
  return result;
}

}  // namespace muster::sim
