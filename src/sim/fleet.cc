#include "sim/fleet.h"

#include "sim/model_maker.h"

#include "base/check.h"

namespace muster::sim {
namespace {

// Short enough that a run of some minutes sees every deadline pass.
core::EngineOptions engine_options(Context& context) {
  Random& random = context.random;
  core::EngineOptions options;
  options.schema = sim_schema();
  options.model_revisions_max = 20;
  options.default_timeout = Duration::seconds(60);
  options.default_queue_timeout = Duration::minutes(5);
  options.overrun_grace = Duration::seconds(90);
  options.suspend_max = Duration::minutes(3);
  options.unknown_deadline = Duration::seconds(20);
  options.sync_interval = random.between(Duration::seconds(10), Duration::seconds(90));
  // Longer than any run with all its jumps of the clock: a client that asks again must find its
  // key.
  options.idempotency_for = Duration::hours(12);
  options.workers = static_cast<std::size_t>(random.between(1, 4));
  options.bug = context.bug;
  return options;
}

core::agent::AgentCoreOptions agent_options(Context& context) {
  Random& random = context.random;
  core::agent::AgentCoreOptions options;
  options.kinds = {"exec", "noop", "sleep"};
  options.queue_max = static_cast<std::size_t>(random.between(2, 20));
  options.sync_page_max = static_cast<std::size_t>(random.between(1, 20));
  // Whoever uses an id again must be told so: then nothing may be forgotten.
  const bool forgets = !context.swarm.has(Feature::IdConflicts) &&
                       !context.swarm.has(Feature::LocalActions) && random.coin();
  options.keep_finished = forgets ? static_cast<std::size_t>(random.between(0, 3)) : 1000;
  options.overrun_grace = Duration::seconds(20);
  options.suspend_max = Duration::minutes(10);
  options.bug = context.bug;
  return options;
}

}  // namespace

Fleet::Fleet(Context& context)
    : context_(context),
      network_(context),
      store_(context.bug),
      engine_options_(engine_options(context)),
      controllers_(kControllers),
      agents_(context.swarm.agents) {
  context_.checks.set_agents(agents_.size());
  store_.set_fault_hook([this](const store::Batch&) { return store_fault(); });
  store_.set_applied_hook([this](const store::Batch& batch, store::Term highest) {
    for (const auto& record : batch.records) context_.digest.add(record.value.value_or(""));
    context_.checks.on_batch(batch, highest);
  });
  for (std::size_t i = 0; i < kControllers; ++i) {
    network_.listen(i, [this, i](const StreamPtr& stream) -> std::shared_ptr<StreamEnd> {
      const auto process = controllers_[i].process;
      return process ? process->accept(stream) : nullptr;
    });
  }
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    agents_[i].runners = std::make_shared<Runners>(context_, i);
    agents_[i].options = agent_options(context_);
    make_disk(i);
  }
}

store::CommitFault Fleet::store_fault() {
  using store::CommitFault;
  if (store_full_ || context_.strikes(Fault::StoreRefuses)) return CommitFault::Refuse;
  if (context_.strikes(Fault::StoreTimeoutApplied)) return CommitFault::TimeoutApplied;
  if (context_.strikes(Fault::StoreTimeoutLost)) return CommitFault::TimeoutLost;
  if (context_.strikes(Fault::StoreAppliesLate)) {
    const bool applied = context_.random.coin();
    context_.queue.after(context_.random.between(Duration::millis(1), Duration::seconds(3)),
                         [this, applied] { store_.settle_late(applied); });
    return CommitFault::ApplyLate;
  }
  return CommitFault::None;
}

store::CommitFault Fleet::journal_fault(std::size_t agent) {
  using store::CommitFault;
  if (agents_[agent].full || context_.strikes(Fault::JournalRefuses)) return CommitFault::Refuse;
  if (context_.strikes(Fault::JournalTimeoutApplied)) return CommitFault::TimeoutApplied;
  return CommitFault::None;
}

void Fleet::make_disk(std::size_t agent) {
  agents_[agent].disk = std::make_unique<store::MemoryStore>();
  agents_[agent].disk->set_fault_hook(
      [this, agent](const store::Batch&) { return journal_fault(agent); });
  agents_[agent].disk->set_applied_hook([this, agent](const store::Batch& batch, store::Term) {
    for (const auto& record : batch.records) context_.digest.add(record.value.value_or(""));
    context_.checks.on_journal(agent, batch);
  });
}

void Fleet::start_all() {
  start_controller(0);
  for (std::size_t i = 0; i < agents_.size(); ++i) start_agent(i);
}

std::shared_ptr<ControllerProcess> Fleet::controller(std::size_t index) const {
  return controllers_[index].process;
}

std::shared_ptr<AgentProcess> Fleet::agent(std::size_t index) const {
  return agents_[index].process;
}

void Fleet::start_controller(std::size_t index) {
  ControllerMachine& machine = controllers_[index];
  if (machine.process) return;
  ++machine.life;
  machine.process = std::make_shared<ControllerProcess>(
      context_, network_, store_, index,
      [this, index] { return context_.queue.now() + controllers_[index].offset; });
  machine.process->on_end([this, index](const Error&) {
    stop_controller(index, false);
    // A supervisor starts the active one again; the one that was replaced stays down.
    if (index == active_) crash_controller(index, false, Duration::seconds(1));
  });
  const auto started = machine.process->start(engine_options_);
  MUSTER_CHECK(started, "a controller cannot start: {}", started.error().message);
}

void Fleet::stop_controller(std::size_t index, bool silent) {
  if (const auto process = std::exchange(controllers_[index].process, nullptr)) {
    process->die(silent);
  }
}

void Fleet::crash_controller(std::size_t index, bool silent, Duration down_for) {
  context_.note(fmt::format("c{}", index + 1), "!", "crashes for {}", format_duration(down_for));
  stop_controller(index, silent);
  context_.queue.after(down_for, [this, index] {
    if (index == active_) start_controller(index);
  });
}

void Fleet::replace_controller(Duration stop_after) {
  const std::size_t old = active_;
  active_ = (active_ + 1) % kControllers;
  context_.note(fmt::format("c{}", active_ + 1), "*", "takes over from c{}", old + 1);
  stop_controller(active_, false);
  start_controller(active_);
  const std::uint64_t life = controllers_[old].life;
  context_.queue.after(stop_after, [this, old, life] {
    if (old != active_ && controllers_[old].life == life) stop_controller(old, false);
  });
}

void Fleet::set_controller_clock(std::size_t index, Duration offset) {
  controllers_[index].offset = offset;
}

void Fleet::start_agent(std::size_t index) {
  AgentMachine& machine = agents_[index];
  if (machine.process || gone_.contains(index)) return;
  ++machine.life;
  machine.process = std::make_shared<AgentProcess>(
      context_, network_, *machine.runners, index, kControllers,
      [this, index] { return context_.queue.now() + agents_[index].offset; });
  if (machine.process->start(*machine.disk, machine.options)) return;
  machine.process.reset();
  restart_agent(index, Duration::seconds(2));
}

void Fleet::restart_agent(std::size_t index, Duration after) {
  context_.queue.after(after, [this, index] { start_agent(index); });
}

void Fleet::crash_agent(std::size_t index, bool silent, Duration down_for) {
  context_.note(agent_name(index), "!", "crashes for {}", format_duration(down_for));
  if (const auto process = std::exchange(agents_[index].process, nullptr)) process->die(silent);
  restart_agent(index, down_for);
}

void Fleet::reboot_host(std::size_t index, Duration down_for) {
  crash_agent(index, true, down_for);
  agents_[index].runners->reboot();
}

void Fleet::lose_journal(std::size_t index, Duration down_for) {
  crash_agent(index, false, down_for);
  context_.note(agent_name(index), "0", "its journal is lost");
  make_disk(index);
  context_.checks.on_journal_lost(index);
}

void Fleet::lose_host(std::size_t index) {
  gone_.insert(index);
  reboot_host(index, Duration::seconds(1));
  context_.note(agent_name(index), "0", "its host is gone for good");
}

void Fleet::heal() {
  network_.unblock_all();
  store_full_ = false;
  context_.store_extra = {};
  for (std::size_t i = 0; i < kControllers; ++i) {
    controllers_[i].offset = {};
    if (i != active_) stop_controller(i, false);
  }
  start_controller(active_);
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    agents_[i].offset = {};
    agents_[i].full = false;
    start_agent(i);
  }
}

std::vector<std::string> Fleet::busy() const {
  std::vector<std::string> left;
  const auto controller = controllers_[active_].process;
  if (!controller) left.push_back("the controller is down");
  if (controller && !controller->is_idle()) left.push_back("the controller has work to do");
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    if (gone_.contains(i)) continue;
    const AgentMachine& machine = agents_[i];
    const std::string name = agent_name(i);
    if (!machine.process) {
      left.push_back(fmt::format("agent {} is down", name));
    } else if (!machine.process->is_connected()) {
      left.push_back(fmt::format("agent {} is not connected", name));
    } else if (!machine.process->is_idle()) {
      left.push_back(fmt::format("agent {} has work to do", name));
    }
    if (machine.runners->any_live()) left.push_back(fmt::format("a run lives on {}", name));
  }
  return left;
}

}  // namespace muster::sim
