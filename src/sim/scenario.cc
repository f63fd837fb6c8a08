#include "sim/scenario.h"

#include <algorithm>
#include <string>

#include "base/check.h"

namespace muster::sim {
namespace {

// What is asked for, as data: actions of one request, then what happens to them at which time.
struct PlannedAction {
  std::string_view name;
  std::string_view kind;
  int agent = -1;  // -1: on the controller
  std::string_view after = {};
  int takes_ms = 200;
  std::uint32_t attempts = 1;
  bool fails = false;
  int interval_ms = 0;
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
  bool asks_for_retry = false;
};
struct Plan {
  Scenario scenario;
  std::vector<PlannedAction> actions;
  std::vector<PlannedSignal> signals = {};
  std::vector<PlannedLocal> locals = {};
  std::vector<int> refreshes_ms = {};
};

std::vector<Plan> plans() {
  return {
      {.scenario = {"one", "one action on one agent"},
       .actions = {{.name = "a", .kind = "exec", .agent = 0}}},
      {.scenario = {"chain", "two agents and the controller, one after the other"},
       .actions = {{.name = "a", .kind = "exec", .agent = 0},
                   {.name = "b", .kind = "exec", .agent = 1, .after = "a"},
                   {.name = "c", .kind = "sleep", .agent = -1, .after = "b"}}},
      {.scenario = {"queue", "three actions wait for one agent, which is synced meanwhile"},
       .actions = {{.name = "a", .kind = "exec", .agent = 0},
                   {.name = "b", .kind = "exec", .agent = 0},
                   {.name = "c", .kind = "noop", .agent = 0}},
       .refreshes_ms = {100, 300}},
      {.scenario = {"retry", "an action that fails and is tried again, and what depends on it"},
       .actions = {{.name = "a",
                    .kind = "exec",
                    .agent = 0,
                    .takes_ms = 100,
                    .attempts = 3,
                    .fails = true},
                   {.name = "b", .kind = "exec", .agent = 0, .after = "a"}}},
      {.scenario = {"signals", "a run is suspended, resumed and cancelled; one that waits, too"},
       .actions = {{.name = "a", .kind = "exec", .agent = 0, .takes_ms = 60'000},
                   {.name = "b", .kind = "exec", .agent = 0}},
       .signals = {{.at_ms = 500, .action = 0, .signal = core::Signal::Suspend},
                   {.at_ms = 900, .action = 0, .signal = core::Signal::Resume},
                   {.at_ms = 1300, .action = 0, .signal = core::Signal::Cancel},
                   {.at_ms = 1500, .action = 1, .signal = core::Signal::Cancel}}},
      {.scenario = {"local", "the agent has an action of its own, and one with the same id"},
       .actions = {{.name = "a", .kind = "exec", .agent = 0},
                   {.name = "b", .kind = "exec", .agent = 0}},
       .locals = {{.at_ms = 1, .agent = 0, .takes_id = true},
                  {.at_ms = 150, .agent = 0, .takes_id = false}},
       .refreshes_ms = {400}},
      {.scenario = {"repeat",
                    "a repeated action, and then an agent's own with its id, tried again"},
       .actions = {{.name = "a", .kind = "exec", .agent = 0, .takes_ms = 100, .interval_ms = 3000}},
       .signals = {{.at_ms = 7000, .action = 0, .signal = core::Signal::Cancel}},
       .locals = {{.at_ms = 4500, .agent = 0, .takes_id = true, .asks_for_retry = true}}},
  };
}

core::ActionId id_of(std::size_t number) { return Uuid::v4(0x5ce0ULL << 48, number + 1); }

std::string inputs_of(std::size_t number, const PlannedAction& action) {
  BehaviourRange range;
  range.number = number + 1;
  range.takes_max = Duration::millis(action.takes_ms);
  range.fails = action.fails;
  return make_inputs(range, number + 1);
}

std::string inputs_of(const PlannedLocal& local) {
  BehaviourRange range;
  range.number = 201;
  range.takes_max = Duration::millis(200);
  range.asks_for_retry = local.asks_for_retry;
  return make_inputs(range, range.number);
}

void submit(World& world, const std::vector<PlannedAction>& actions) {
  core::Submit submit;
  submit.who = "scenario";
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const PlannedAction& planned = actions[i];
    core::ActionRequest request;
    request.id = id_of(i);
    request.name = planned.name;
    request.kind = planned.kind;
    if (planned.agent >= 0) request.target = agent_name(static_cast<std::size_t>(planned.agent));
    if (!planned.after.empty()) request.depends_on = {std::string(planned.after)};
    request.inputs = inputs_of(i, planned);
    request.retry.attempts = planned.attempts;
    request.interval = Duration::millis(planned.interval_ms);
    submit.actions.push_back(std::move(request));
  }
  world.workload().submit(std::move(submit));
}

void plan_all(World& world, const Plan& plan) {
  EventQueue& queue = world.context().queue;
  // Agents need a moment to register.
  const Timestamp begin = queue.now() + Duration::seconds(1);
  queue.at(begin, [&world, actions = plan.actions] { submit(world, actions); });
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
      action.inputs = inputs_of(planned);
      action.timeout = Duration::seconds(60);
      world.workload().schedule_locally(planned.agent, std::move(action));
    });
  }
  for (const int at : plan.refreshes_ms) {
    queue.at(begin + Duration::millis(at), [&world] { world.workload().refresh(); });
  }
}

}  // namespace

std::vector<Scenario> scenarios() {
  std::vector<Scenario> all;
  for (const Plan& plan : plans()) all.push_back(plan.scenario);
  return all;
}

void plan_scenario(World& world, std::string_view name) {
  const auto all = plans();
  const auto plan = std::find_if(all.begin(), all.end(),
                                 [&](const Plan& each) { return each.scenario.name == name; });
  MUSTER_CHECK(plan != all.end(), "no scenario is called '{}'", name);
  plan_all(world, *plan);
}

}  // namespace muster::sim
