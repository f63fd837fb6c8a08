#include "sim/exhaustive.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "sim/world.h"

namespace muster::sim {
namespace {

constexpr Duration kBound = Duration::hours(1);
// Long enough for the work to end where nobody dies.
constexpr Duration kLength = Duration::seconds(12);
constexpr Duration kDownFor = Duration::millis(700);

// What is asked for, as data: actions of one request, then what happens to them at which time.
struct PlannedAction {
  std::string_view name;
  std::string_view kind;
  int agent = -1;  // -1: on the controller
  std::string_view after;
  int takes_ms = 200;
  std::uint32_t attempts = 1;
  bool fails = false;
};
struct PlannedSignal {
  int at_ms = 0;
  std::size_t action = 0;  // of the request
  core::Signal signal = core::Signal::Cancel;
};
struct PlannedLocal {
  int at_ms = 0;
  std::size_t agent = 0;
  bool takes_id = false;  // of the first action of the request
};
struct Plan {
  Scenario scenario;
  std::vector<PlannedAction> actions;
  std::vector<PlannedSignal> signals;
  std::vector<PlannedLocal> locals;
  std::vector<int> refreshes_ms;
};

std::vector<Plan> plans() {
  return {
      {.scenario = {"one", "one action on one agent"},
       .actions = {{.name = "a", .kind = "exec", .agent = 0, .after = ""}},
       .signals = {},
       .locals = {},
       .refreshes_ms = {}},
      {.scenario = {"chain", "two agents and the controller, one after the other"},
       .actions = {{.name = "a", .kind = "exec", .agent = 0, .after = ""},
                   {.name = "b", .kind = "exec", .agent = 1, .after = "a"},
                   {.name = "c", .kind = "sleep", .agent = -1, .after = "b"}},
       .signals = {},
       .locals = {},
       .refreshes_ms = {}},
      {.scenario = {"queue", "three actions wait for one agent, which is synced meanwhile"},
       .actions = {{.name = "a", .kind = "exec", .agent = 0, .after = ""},
                   {.name = "b", .kind = "exec", .agent = 0, .after = ""},
                   {.name = "c", .kind = "noop", .agent = 0, .after = ""}},
       .signals = {},
       .locals = {},
       .refreshes_ms = {100, 300}},
      {.scenario = {"retry", "an action that fails and is tried again, and what depends on it"},
       .actions = {{.name = "a",
                    .kind = "exec",
                    .agent = 0,
                    .after = "",
                    .takes_ms = 100,
                    .attempts = 3,
                    .fails = true},
                   {.name = "b", .kind = "exec", .agent = 0, .after = "a"}},
       .signals = {},
       .locals = {},
       .refreshes_ms = {}},
      {.scenario = {"signals", "a run is suspended, resumed and cancelled; one that waits, too"},
       .actions = {{.name = "a", .kind = "exec", .agent = 0, .after = "", .takes_ms = 60'000},
                   {.name = "b", .kind = "exec", .agent = 0, .after = ""}},
       .signals = {{.at_ms = 500, .action = 0, .signal = core::Signal::Suspend},
                   {.at_ms = 900, .action = 0, .signal = core::Signal::Resume},
                   {.at_ms = 1300, .action = 0, .signal = core::Signal::Cancel},
                   {.at_ms = 1500, .action = 1, .signal = core::Signal::Cancel}},
       .locals = {},
       .refreshes_ms = {}},
      {.scenario = {"local", "the agent has an action of its own, and one with the same id"},
       .actions = {{.name = "a", .kind = "exec", .agent = 0, .after = ""},
                   {.name = "b", .kind = "exec", .agent = 0, .after = ""}},
       .signals = {},
       .locals = {{.at_ms = 1, .agent = 0, .takes_id = true},
                  {.at_ms = 150, .agent = 0, .takes_id = false}},
       .refreshes_ms = {400}},
  };
}

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

core::ActionId id_of(std::size_t number) { return Uuid::v4(0x5ce0ULL << 48, number + 1); }

std::string inputs_of(std::size_t number, const PlannedAction& action) {
  BehaviourRange range;
  range.number = number + 1;
  range.takes_max = Duration::millis(action.takes_ms);
  range.fails = action.fails;
  return make_inputs(range, number + 1);
}

void submit(World& world, const Plan& plan) {
  core::Submit submit;
  submit.who = "scenario";
  for (std::size_t i = 0; i < plan.actions.size(); ++i) {
    const PlannedAction& planned = plan.actions[i];
    core::ActionRequest request;
    request.id = id_of(i);
    request.name = planned.name;
    request.kind = planned.kind;
    if (planned.agent >= 0) request.target = agent_name(static_cast<std::size_t>(planned.agent));
    if (!planned.after.empty()) request.depends_on = {std::string(planned.after)};
    request.inputs = inputs_of(i, planned);
    request.retry.attempts = planned.attempts;
    submit.actions.push_back(std::move(request));
  }
  world.workload().submit(std::move(submit));
}

void plan_all(World& world, const Plan& plan) {
  EventQueue& queue = world.context().queue;
  // Agents need a moment to register.
  const Timestamp begin = queue.now() + Duration::seconds(1);
  queue.at(begin, [&world, &plan] { submit(world, plan); });
  for (const PlannedSignal& planned : plan.signals) {
    queue.at(begin + Duration::millis(planned.at_ms), [&world, planned] {
      core::SignalRequest request;
      request.who = "scenario";
      request.id = id_of(planned.action);
      request.signal = planned.signal;
      world.workload().signal(std::move(request));
    });
  }
  for (const PlannedLocal& planned : plan.locals) {
    queue.at(begin + Duration::millis(planned.at_ms), [&world, planned] {
      core::agent::Schedule action;
      action.id = id_of(planned.takes_id ? 0 : 100 + planned.agent);
      action.kind = "exec";
      action.name = "own";
      action.inputs = inputs_of(200, {.name = "", .kind = "", .agent = 0, .after = ""});
      action.timeout = Duration::seconds(60);
      world.workload().schedule_locally(planned.agent, std::move(action));
    });
  }
  for (const int at : plan.refreshes_ms) {
    queue.at(begin + Duration::millis(at), [&world] { world.workload().refresh(); });
  }
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
  }
}

bool is_of_agent(Point point) {
  return point == Point::JournalWrite || point == Point::JournalWritten || point == Point::ToAgent;
}

}  // namespace

std::string_view name(Victim victim) {
  switch (victim) {
    case Victim::Controller:
      return "controller";
    case Victim::Agent:
      return "agent";
    case Victim::Host:
      return "host";
  }
  return "?";
}

std::vector<Scenario> scenarios() {
  std::vector<Scenario> all;
  for (const Plan& plan : plans()) all.push_back(plan.scenario);
  return all;
}

CrashOutcome run_scenario(const CrashAt& at, Bug bug,
                          const std::function<void(std::string_view)>& sink) {
  const auto all = plans();
  const auto plan = std::find_if(
      all.begin(), all.end(), [&](const Plan& each) { return each.scenario.name == at.scenario; });
  MUSTER_CHECK(plan != all.end(), "no scenario is called '{}'", at.scenario);
  World world(1, calm_swarm(), bug);
  world.context().sink = sink;
  CrashOutcome outcome;
  world.context().on_point = [&](Point point, std::size_t node) {
    if (world.context().healed || ++outcome.points != at.point) return;
    // Whoever passes the point, or the agent that has most to do.
    kill(world.fleet(), at.victim, is_of_agent(point) ? node : 0);
  };
  world.start();
  plan_all(world, *plan);
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
  for (const Plan& plan : plans()) {
    const std::string scenario(plan.scenario.name);
    for (const Victim victim : {Victim::Controller, Victim::Agent, Victim::Host}) {
      const std::uint64_t points = run_scenario({scenario, victim, 0}, options.bug, {}).points;
      for (std::uint64_t point = 0; point <= points; ++point) {
        const CrashAt at{scenario, victim, point};
        const CrashOutcome outcome = run_scenario(at, options.bug, {});
        ++result.points;
        result.steps += outcome.steps;
        if (outcome.violation) {
          result.failure = ExhaustiveFailure{at, *outcome.violation};
          return result;
        }
      }
      if (options.progress) options.progress(scenario, victim, points);
    }
  }
  return result;
}

}  // namespace muster::sim
