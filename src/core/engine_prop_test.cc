#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "core/action/dependency_graph.h"
#include "core/engine.h"

// Safety: order of dependencies, at most one start per attempt, final is final, durable records
// match. Liveness: once everything answers, everything ends.

namespace muster::core {
namespace {

ActionId number(std::size_t n) { return Uuid::v4(std::uint64_t{n + 1} << 32, n); }

// --- find_cycle against the definition. ---

using Edges = std::map<std::size_t, std::vector<std::size_t>>;

bool reaches(const Edges& edges, std::size_t from, std::size_t to) {
  std::set<std::size_t> seen;
  std::vector<std::size_t> left = {from};
  while (!left.empty()) {
    const std::size_t at = left.back();
    left.pop_back();
    const auto found = edges.find(at);
    if (found == edges.end()) continue;
    for (const std::size_t next : found->second) {
      if (next == to) return true;
      if (seen.insert(next).second) left.push_back(next);
    }
  }
  return false;
}

RC_GTEST_PROP(DependencyGraph, FindsACycleExactlyIfThereIsOne, ()) {
  const auto pairs = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 12), rc::gen::inRange(0, 12)));
  Edges edges;
  for (const auto& [from, to] : pairs) {
    edges[static_cast<std::size_t>(from)].push_back(static_cast<std::size_t>(to));
  }
  bool cyclic = false;
  std::vector<ActionId> all;
  std::map<ActionId, std::vector<ActionId>> by_id;
  for (std::size_t i = 0; i < 12; ++i) {
    cyclic = cyclic || reaches(edges, i, i);
    all.push_back(number(i));
    for (const std::size_t to : edges[i]) by_id[number(i)].push_back(number(to));
  }
  const auto cycle = find_cycle(all, [&](const ActionId& id) { return by_id[id]; });
  RC_ASSERT(cycle.has_value() == cyclic);
  if (!cycle) return;
  RC_ASSERT(cycle->front() == cycle->back());
  for (std::size_t i = 0; i + 1 < cycle->size(); ++i) {
    const auto& next = by_id[(*cycle)[i]];
    RC_ASSERT(std::count(next.begin(), next.end(), (*cycle)[i + 1]) > 0);
  }
}

TEST(DependencyGraph, WalksALongChain) {
  constexpr std::size_t kLength = 100'000;
  std::vector<ActionId> start = {number(0)};
  std::size_t asked = 0;
  const auto cycle = find_cycle(start, [&](const ActionId&) {
    ++asked;
    return asked < kLength ? std::vector<ActionId>{number(asked)} : std::vector<ActionId>{};
  });
  EXPECT_FALSE(cycle);
  EXPECT_EQ(asked, kLength);
}

// --- The whole engine under random commands. ---

class World {
 public:
  World() : engine_(options()) {
    take(engine_.start(now_));
    connect();
  }

  static EngineOptions options() {
    EngineOptions options;
    options.instance_id = "c";
    options.workers = 3;
    return options;
  }

  void submit(const std::vector<std::vector<int>>& dependencies, bool on_agent, int attempts) {
    Submit submit;
    submit.request = ++requests_;
    submit.who = "w";
    for (const auto& wanted : dependencies) {
      ActionRequest request;
      request.kind = on_agent ? "exec" : "sleep";
      request.target = on_agent ? "a" : "";
      request.retry.attempts = static_cast<std::uint32_t>(attempts);
      request.name = "n" + std::to_string(created_ + submit.actions.size());
      for (const int back : wanted) {
        const std::size_t at = created_ + submit.actions.size();
        const auto to = static_cast<std::size_t>(back) % (at + 3);
        request.depends_on.push_back("n" + std::to_string(to));
      }
      submit.fresh_ids.push_back(number(created_ + submit.actions.size()));
      submit.actions.push_back(std::move(request));
    }
    const std::size_t before = records_.size();
    step(submit);
    if (records_.size() > before) created_ += dependencies.size();
  }

  void signal(std::size_t which, Signal signal) {
    if (records_.empty()) return;
    auto at = records_.begin();
    std::advance(at, which % records_.size());
    step(SignalRequest{++requests_, "w", at->first, signal, "", false, std::nullopt});
  }

  // Answers one execution that was started.
  bool answer(std::size_t which, ExecuteResult result) {
    if (started_.empty()) return false;
    auto at = started_.begin();
    std::advance(at, which % started_.size());
    const auto [id, attempt] = *at;
    started_.erase(at);
    const bool on_agent = records_.at(id)->spec->side == Side::Agent;
    if (!on_agent) {
      step(JobDone{id, attempt, result, "", "{}"});
      return true;
    }
    AgentAction told;
    told.id = id;
    told.attempt = attempt;
    told.status = result == ExecuteResult::Ok       ? Status::Succeeded
                  : result == ExecuteResult::Cancel ? Status::Cancelled
                                                    : Status::Failed;
    told.result = result;
    step(AgentReport{session_, told});
    return true;
  }

  void pass(Duration duration) {
    now_ = now_ + duration;
    step(AgentHeartbeat{session_});
  }

  void restart() {
    Engine fresh(options());
    for (const auto& [name, agent] : agents_) fresh.restore_agent(agent);
    for (const auto& [id, action] : records_) {
      if (!action->is_final()) fresh.restore_action(action);
    }
    fresh.restore_event_seq(events_);
    fresh.restore_action_seq(created_);
    engine_ = std::move(fresh);
    // Jobs die with the controller; what agents run goes on.
    std::erase_if(started_, [&](const auto& run) {
      return records_.at(run.first)->spec->side == Side::Engine;
    });
    take(engine_.start(now_));
    connect();
  }

  // Everything answers now: everything must end.
  void drain() {
    for (int round = 0; round < 2000; ++round) {
      for (const auto& [id, action] : records_) {
        if (action->status == Status::Suspended) {
          step(SignalRequest{++requests_, "w", id, Signal::Resume, "", false, std::nullopt});
        }
      }
      if (!answer(0, ExecuteResult::Ok)) pass(Duration::seconds(61));
      bool left = false;
      for (const auto& [id, action] : records_) left = left || !action->is_final();
      if (!left) return;
    }
    RC_FAIL("something never ends");
  }

 private:
  void connect() {
    AgentIdentity identity;
    identity.name = "a";
    identity.journal_id = "j";
    identity.kinds = {"exec"};
    session_ = ++sessions_;
    step(AgentConnected{session_, identity});
    AgentSyncPage page{.session = session_, .sync = 0, .actions = {}, .last = true};
    for (const auto& [id, attempt] : started_) {
      if (records_.at(id)->spec->side != Side::Agent) continue;
      AgentAction running;
      running.id = id;
      running.attempt = attempt;
      running.status = Status::Running;
      page.actions.push_back(std::move(running));
    }
    step(page);
  }

  void step(const Input& input) { take(engine_.step(now_, input)); }

  void take(const Effects& effects) {
    for (const Write& write : effects.writes) {
      if (const auto* put = std::get_if<PutAction>(&write)) check(put->action);
      if (const auto* put = std::get_if<PutAgent>(&write)) {
        agents_[put->agent->identity.name] = put->agent;
      }
      if (const auto* append = std::get_if<AppendEvent>(&write)) {
        RC_ASSERT(append->event.seq == ++events_);
      }
    }
    for (const Job& job : effects.jobs) {
      if (const auto* start = std::get_if<StartJob>(&job)) begin(start->action);
    }
    for (const AgentSend& send : effects.sends) {
      if (const auto* schedule = std::get_if<SendSchedule>(&send.message)) begin(schedule->action);
      if (const auto* signal = std::get_if<SendSignal>(&send.message)) {
        if (signal->signal == Signal::Cancel) cancelled_.insert({signal->id, signal->attempt});
      }
    }
    for (const Lookup& lookup : effects.lookups) {
      LookupDone done{.lookup = lookup.lookup, .found = {}};
      for (const auto& [id, action] : records_) {
        const bool wanted =
            std::count(lookup.ids.begin(), lookup.ids.end(), id) > 0 ||
            std::count(lookup.names.begin(), lookup.names.end(), action->spec->name) > 0;
        if (wanted && action->is_final()) done.found.push_back(action);
      }
      take(engine_.step(now_, done));
    }
    const EngineStats stats = engine_.stats();
    RC_ASSERT(stats.jobs_running <= options().workers);
  }

  void check(const ActionPtr& action) {
    const auto old = records_.find(action->id());
    if (old != records_.end()) {
      RC_ASSERT(!old->second->is_final());
      RC_ASSERT(action->revision > old->second->revision);
      RC_ASSERT(action->attempt >= old->second->attempt);
    }
    RC_ASSERT(action->is_final() || action->status == Status::Waiting || action->deadline.is_set());
    records_[action->id()] = action;
  }

  void begin(const ActionPtr& action) {
    for (const ActionId& dependency : action->spec->depends_on) {
      RC_ASSERT(records_.at(dependency)->status == Status::Succeeded);
    }
    const auto run = std::make_pair(action->id(), action->attempt);
    // A message to an agent may be repeated; a job may not.
    if (action->spec->side == Side::Engine) RC_ASSERT(ever_started_.insert(run).second);
    if (records_.at(action->id())->attempt == action->attempt) started_.insert(run);
  }

  Timestamp now_{1'000'000'000'000'000};
  Engine engine_;
  std::map<ActionId, ActionPtr> records_;
  std::map<AgentName, AgentPtr> agents_;
  std::set<std::pair<ActionId, std::uint32_t>> started_;
  std::set<std::pair<ActionId, std::uint32_t>> ever_started_;
  std::set<std::pair<ActionId, std::uint32_t>> cancelled_;
  std::uint64_t events_ = 0;
  std::size_t created_ = 0;
  RequestId requests_ = 0;
  SessionId session_ = 0;
  SessionId sessions_ = 0;
};

RC_GTEST_PROP(Engine, KeepsItsPromisesUnderRandomCommands, ()) {
  World world;
  const int commands = *rc::gen::inRange(1, 40);
  for (int i = 0; i < commands; ++i) {
    const auto which = *rc::gen::inRange<std::size_t>(0, 1000);
    switch (*rc::gen::inRange(0, 7)) {
      case 0:
      case 1: {
        const auto dependencies = *rc::gen::resize(
            4, rc::gen::nonEmpty(rc::gen::container<std::vector<std::vector<int>>>(
                   rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 40)))));
        world.submit(dependencies, which % 2 == 0, 1 + static_cast<int>(which % 3));
        break;
      }
      case 2:
        world.signal(which, Signal::Cancel);
        break;
      case 3:
        world.signal(which, which % 2 == 0 ? Signal::Suspend : Signal::Resume);
        break;
      case 4:
        world.answer(which, *rc::gen::element(ExecuteResult::Ok, ExecuteResult::Ok,
                                              ExecuteResult::Error, ExecuteResult::Retry,
                                              ExecuteResult::Timeout, ExecuteResult::Cancel));
        break;
      case 5:
        world.pass(Duration::seconds(static_cast<std::int64_t>(which % 30)));
        break;
      case 6:
        world.restart();
        break;
    }
  }
  world.drain();
}

}  // namespace
}  // namespace muster::core
