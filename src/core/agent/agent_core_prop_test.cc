#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <deque>
#include <map>
#include <set>

#include "core/agent/agent_core.h"

// Random inputs, duplicates and stale attempts among them, to a core over a journal and an executor
// that behave as the shell's do, with crashes before and after the commit of a step. The world
// checks the agent's promises on every effect.

namespace muster::core::agent {
namespace {

using RunKey = std::pair<ActionId, std::uint32_t>;

ActionId id_of(std::uint64_t n) { return Uuid::v4(n, n); }

// What happens to a step: it is done, or the agent dies before or after its commit.
enum class Fate : std::uint8_t { Done, DiesBeforeCommit, DiesAfterCommit };

class World {
 public:
  World() { build(); }

  void step(const AgentInput& input, Fate fate) {
    auto effects = core_->step(now_, input);
    settle(effects, fate);
  }

  void advance(Duration by) { now_ = now_ + by; }

  void crash() { build(); }

  // The oldest thing that the executor has to say; lost if the step dies.
  void deliver(Fate fate) {
    if (said_.empty()) return;
    const AgentInput input = said_.front();
    said_.pop_front();
    step(input, fate);
  }

  void end_active(ExecuteResult result) {
    if (!active_) return;
    RunEnded end{.id = active_->first,
                 .attempt = active_->second,
                 .result = result,
                 .reason = "ended",
                 .outputs = R"({"n":1})"};
    ends_[*active_] = end;
    said_.emplace_back(end);
    active_.reset();
  }

  void suspend_active(bool suspended) {
    if (active_) said_.emplace_back(RunSuspended{active_->first, active_->second, suspended});
  }

  // Everything heals: whatever runs ends, whatever was said arrives.
  void drain() {
    for (int round = 0; round < 1000 && (active_ || !said_.empty()); ++round) {
      end_active(ExecuteResult::Ok);
      deliver(Fate::Done);
    }
    RC_ASSERT(core_->queue().empty());
  }

  std::optional<RunKey> known(std::uint64_t n) const {
    const auto found = journal_.find(id_of(n));
    if (found == journal_.end()) return std::nullopt;
    return RunKey{found->second->id, found->second->attempt};
  }

 private:
  void build() {
    core_ = std::make_unique<AgentCore>(AgentCoreOptions{.kinds = {"exec"},
                                                         .queue_max = 4,
                                                         .sync_page_max = 2,
                                                         .keep_finished = 2,
                                                         .keep_finished_for = Duration::hours(1),
                                                         .overrun_grace = Duration::seconds(10)});
    said_.clear();
    for (const auto& [id, entry] : journal_) core_->restore(entry);
    settle(core_->recover(now_), Fate::Done);
  }

  void settle(const AgentEffects& effects, Fate fate) {
    if (fate == Fate::DiesBeforeCommit) return build();
    commit(effects);
    if (fate == Fate::DiesAfterCommit) return build();
    for (const auto& message : effects.messages) check(message);
    check_view(effects);
    for (const auto& run : effects.runs) perform(run);
    RC_ASSERT(core_->queue().size() <= 4U);
  }

  void commit(const AgentEffects& effects) {
    for (std::size_t i = 0; i < effects.writes.size(); ++i) {
      if (const auto* put = std::get_if<PutEntry>(&effects.writes[i])) {
        check_put(*put->entry);
        journal_[put->entry->id] = put->entry;
        continue;
      }
      const auto& drop = std::get<DropEntry>(effects.writes[i]);
      const auto found = journal_.find(drop.id);
      RC_ASSERT(found != journal_.end());
      const auto& entry = *found->second;
      RC_ASSERT(entry.attempt == drop.attempt);
      RC_ASSERT(entry.is_final());
      RC_ASSERT((!active_ || *active_ != RunKey{drop.id, drop.attempt}));
      if (!entry.acked) {
        // Only a newer attempt may take its place, in the same transaction.
        RC_ASSERT(i + 1 < effects.writes.size());
        const auto* successor = std::get_if<PutEntry>(&effects.writes[i + 1]);
        RC_ASSERT(successor != nullptr);
        RC_ASSERT(successor->entry->id == drop.id);
        RC_ASSERT(successor->entry->attempt > drop.attempt);
      }
      journal_.erase(found);
      traces_.erase({drop.id, drop.attempt});
    }
  }

  void check_put(const JournalEntry& entry) {
    const auto found = journal_.find(entry.id);
    if (found == journal_.end() || found->second->attempt != entry.attempt) {
      RC_ASSERT(arrivals_.emplace(RunKey{entry.id, entry.attempt}, arrivals_.size() + 1).second);
      return;
    }
    if (!found->second->is_final()) return;
    JournalEntry before = *found->second;
    JournalEntry after = entry;
    before.acked = after.acked;
    before.control = after.control;
    RC_ASSERT(before == after);
    RC_ASSERT((!found->second->acked || entry.acked));
  }

  void check(const AgentMessage& message) {
    const auto backed = [&](const AgentAction& action) {
      const auto found = journal_.find(action.id);
      RC_ASSERT(found != journal_.end());
      const auto& entry = *found->second;
      RC_ASSERT(entry.attempt == action.attempt);
      RC_ASSERT(entry.status == action.status);
      RC_ASSERT(entry.result == action.result);
      RC_ASSERT(entry.outputs == action.outputs);
      RC_ASSERT(entry.stop_time == action.stop_time);
    };
    if (const auto* report = std::get_if<SendReport>(&message)) {
      backed(report->action);
    } else {
      for (const auto& action : std::get<SendSyncPage>(message).actions) backed(action);
    }
  }

  // A view has everything that is unfinished or not acknowledged, once, and nothing else.
  void check_view(const AgentEffects& effects) {
    std::set<ActionId> listed;
    bool any = false;
    bool last = false;
    for (const auto& message : effects.messages) {
      const auto* page = std::get_if<SendSyncPage>(&message);
      if (page == nullptr) continue;
      RC_ASSERT(!last);
      any = true;
      last = page->last;
      for (const auto& action : page->actions) RC_ASSERT(listed.insert(action.id).second);
    }
    if (!any) return;
    RC_ASSERT(last);
    std::set<ActionId> expected;
    for (const auto& [id, entry] : journal_) {
      if (!entry->is_final() || !entry->acked) expected.insert(id);
    }
    RC_ASSERT(listed == expected);
  }

  void perform(const RunCommand& command) {
    if (const auto* signal = std::get_if<SignalRun>(&command)) {
      RC_ASSERT(traces_.contains({signal->id, signal->attempt}) ||
                ends_.contains({signal->id, signal->attempt}) || journal_.contains(signal->id));
      return;
    }
    const auto& start = std::get<StartRun>(command);
    const RunKey key{start.entry->id, start.entry->attempt};
    const auto journalled = journal_.find(start.entry->id);
    RC_ASSERT(journalled != journal_.end());
    RC_ASSERT(*journalled->second == *start.entry);
    if (traces_.contains(key)) {
      RC_ASSERT(start.recovered);
      if (const auto end = ends_.find(key); end != ends_.end()) said_.emplace_back(end->second);
      return;
    }
    if (start.entry->is_final()) {
      said_.emplace_back(RunEnded{key.first, key.second, ExecuteResult::Ok, "", "{}"});
      return;
    }
    RC_ASSERT(!active_);
    RC_ASSERT(start.entry->status == Status::Running || start.recovered);
    RC_ASSERT(traces_.insert(key).second);
    RC_ASSERT(ever_started_.insert(key).second);
    RC_ASSERT(arrivals_.at(key) > last_started_);
    last_started_ = arrivals_.at(key);
    active_ = key;
  }

  std::unique_ptr<AgentCore> core_;
  Timestamp now_{1'000'000'000'000};
  std::map<ActionId, JournalEntryPtr> journal_;  // durable
  std::map<RunKey, std::size_t> arrivals_;       // first journalled as the n-th
  std::deque<AgentInput> said_;  // by the executor, not yet heard by the core; dies with the agent
  // The executor's run directories survive the agent.
  std::optional<RunKey> active_;
  std::set<RunKey> traces_;
  std::map<RunKey, RunEnded> ends_;
  std::set<RunKey> ever_started_;
  std::size_t last_started_ = 0;
};

// The controller's side: it sends a new attempt only of what it was told had ended, and anything it
// ever sent may arrive again later.
class Driver {
 public:
  explicit Driver(World& world) : world_(world) {}

  void one() {
    const auto n = *rc::gen::inRange<std::uint64_t>(1, 7);
    const auto fate = *rc::gen::weightedElement<Fate>(
        {{8, Fate::Done}, {1, Fate::DiesBeforeCommit}, {1, Fate::DiesAfterCommit}});
    const auto known = world_.known(n);
    const std::uint32_t attempt = known ? known->second : 1;
    switch (*rc::gen::inRange(0, 12)) {
      case 0:
      case 1:
        return schedule(n, *rc::gen::inRange<std::uint32_t>(0, 3), fate);
      case 2:
        return world_.step(
            SignalFromController{id_of(n), *rc::gen::element(attempt, attempt + 1, 1U),
                                 any_signal(), "why"},
            fate);
      case 3:
        return world_.step(LocalSignal{1, id_of(n), any_signal(), "bob", "why"}, fate);
      case 4:
        return world_.step(Ack{id_of(n), *rc::gen::element(attempt, 1U)}, fate);
      case 5:
        return world_.step(*rc::gen::element<AgentInput>(LinkUp{}, SyncRequest{3}, LinkDown{}),
                           fate);
      case 6:
        return world_.end_active(*rc::gen::element(ExecuteResult::Ok, ExecuteResult::Error,
                                                   ExecuteResult::Retry, ExecuteResult::Cancel,
                                                   ExecuteResult::Timeout));
      case 7:
        return world_.suspend_active(*rc::gen::arbitrary<bool>());
      case 8:
      case 9:
        return world_.deliver(fate);
      case 10:
        // Backwards too.
        world_.advance(Duration::seconds(*rc::gen::inRange(-30, 60)));
        return world_.step(AgentTick{}, fate);
      default:
        return world_.crash();
    }
  }

 private:
  static Signal any_signal() {
    return *rc::gen::element(Signal::Cancel, Signal::Suspend, Signal::Resume);
  }

  void schedule(std::uint64_t n, std::uint32_t how, Fate fate) {
    const auto known = world_.known(n);
    auto& sent = sent_[n];
    // An attempt that the agent had and has forgotten was acknowledged; no controller sends it.
    const std::uint32_t highest = std::max(sent, known ? known->second : 0U);
    const bool fresh = how == 0 || highest == 0 || (!known && highest > 0);
    const std::uint32_t attempt = fresh ? highest + 1 : *rc::gen::inRange(1U, highest + 1);
    sent = std::max(sent, attempt);
    Schedule schedule{.id = id_of(n),
                      .attempt = attempt,
                      .name = "a",
                      .kind = *rc::gen::weightedElement<std::string>({{9, "exec"}, {1, "dance"}}),
                      .inputs = "{}",
                      .timeout = Duration::seconds(20),
                      .requested_by = "alice",
                      .created_at = {}};
    if (attempt == 1 && how == 2) {
      world_.step(LocalSchedule{.request = 1, .action = schedule}, fate);
    } else {
      world_.step(schedule, fate);
    }
  }

  World& world_;
  std::map<std::uint64_t, std::uint32_t> sent_;
};

RC_GTEST_PROP(AgentCoreProp, KeepsItsPromisesThroughCrashes, ()) {
  World world;
  Driver driver(world);
  const int steps = *rc::gen::inRange(1, 300);
  for (int i = 0; i < steps; ++i) driver.one();
  world.drain();
}

}  // namespace
}  // namespace muster::core::agent
