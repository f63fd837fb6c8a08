#include "sim/fault_injector.h"

namespace muster::sim {
namespace {

constexpr Duration kJumpMax = Duration::minutes(4);

}  // namespace

void FaultInjector::start() {
  for (std::size_t i = 0; i < kFaults; ++i) plan(static_cast<Fault>(i));
}

void FaultInjector::plan(Fault fault) {
  const Duration every = context_.swarm.every_of(fault);
  if (every.is_zero()) return;
  context_.queue.after(some({every.us / 4}, {every.us * 7 / 4}), [this, fault] {
    if (context_.healed) return;
    inject(fault);
    plan(fault);
  });
}

Duration FaultInjector::down_time() {
  return context_.random.chance(700'000) ? some(Duration::millis(50), Duration::seconds(3))
                                         : some(Duration::seconds(3), Duration::seconds(40));
}

void FaultInjector::on_point(Point point, std::size_t node) {
  switch (point) {
    case Point::StoreWrite:
    case Point::StoreWritten:
    case Point::ToController:
      if (fleet_.controller(node) && context_.strikes(Fault::ControllerCrashAt)) {
        fleet_.crash_controller(node, context_.random.chance(200'000), down_time());
      }
      return;
    case Point::JournalWrite:
    case Point::JournalWritten:
    case Point::ToAgent:
      if (fleet_.is_agent_up(node) && context_.strikes(Fault::AgentCrashAt)) {
        fleet_.crash_agent(node, context_.random.chance(200'000), down_time());
      }
      return;
  }
}

void FaultInjector::inject(Fault fault) {
  const std::size_t agent = context_.random.index(fleet_.agents());
  switch (fault) {
    case Fault::ControllerCrash:
      fleet_.crash_controller(fleet_.active(), context_.random.chance(200'000), down_time());
      break;
    case Fault::ControllerReplaced: {
      const std::size_t old = fleet_.active();
      const Duration length = some(Duration::seconds(2), Duration::seconds(60));
      fleet_.replace_controller(length);
      // Half the time the old one is cut off from its agents, and goes on believing.
      if (!context_.random.coin()) break;
      for (std::size_t i = 0; i < fleet_.agents(); ++i) {
        for (const Toward toward : {Toward::Controller, Toward::Agent}) {
          fleet_.network().block(i, old, toward);
          context_.queue.after(
              length, [this, i, old, toward] { fleet_.network().unblock(i, old, toward); });
        }
      }
      break;
    }
    case Fault::StoreFull:
      fleet_.set_store_full(true);
      context_.queue.after(some(Duration::millis(200), Duration::seconds(20)),
                           [this] { fleet_.set_store_full(false); });
      break;
    case Fault::StoreSlow:
      context_.store_extra = some(Duration::millis(50), Duration::seconds(3));
      context_.queue.after(some(Duration::seconds(1), Duration::seconds(20)),
                           [this] { context_.store_extra = {}; });
      break;
    case Fault::ControllerClockJump:
      fleet_.set_controller_clock(fleet_.active(), some({-kJumpMax.us}, kJumpMax));
      break;
    default:
      inject_into_agent(fault, agent);
      return;
  }
  context_.faults.add(fault);
}

void FaultInjector::inject_into_agent(Fault fault, std::size_t agent) {
  if (fleet_.gone().contains(agent)) return;
  switch (fault) {
    case Fault::AgentCrash:
      fleet_.crash_agent(agent, context_.random.chance(200'000), down_time());
      break;
    case Fault::HostReboot:
      fleet_.reboot_host(agent, down_time());
      break;
    case Fault::HostGone:
      // One at most, and never the last.
      if (fleet_.agents() < 2 || !fleet_.gone().empty()) return;
      fleet_.lose_host(agent);
      break;
    case Fault::JournalLost:
      fleet_.lose_journal(agent, down_time());
      break;
    case Fault::RunnerKilled:
      if (!fleet_.kill_runner(agent)) return;
      break;
    case Fault::Partition:
    case Fault::PartitionOneWay:
      partition(fault, agent);
      break;
    case Fault::Disconnect:
      if (!fleet_.network().disconnect(agent)) return;
      break;
    case Fault::JournalFull:
      fleet_.set_journal_full(agent, true);
      context_.queue.after(some(Duration::millis(200), Duration::seconds(20)),
                           [this, agent] { fleet_.set_journal_full(agent, false); });
      break;
    case Fault::AgentClockJump:
      fleet_.set_agent_clock(agent, some({-kJumpMax.us}, kJumpMax));
      break;
    default:
      return;
  }
  context_.faults.add(fault);
}

void FaultInjector::partition(Fault fault, std::size_t agent) {
  const std::size_t controller = fleet_.active();
  const bool both = fault == Fault::Partition;
  const Toward one = context_.random.coin() ? Toward::Controller : Toward::Agent;
  const Duration length = some(Duration::seconds(1), Duration::seconds(60));
  context_.note(agent_name(agent), "%", "cut off from c{} for {}{}", controller + 1,
                format_duration(length), both ? "" : ", one way");
  for (const Toward toward : {Toward::Controller, Toward::Agent}) {
    if (!both && toward != one) continue;
    fleet_.network().block(agent, controller, toward);
    context_.queue.after(length, [this, agent, controller, toward] {
      fleet_.network().unblock(agent, controller, toward);
    });
  }
}

}  // namespace muster::sim
