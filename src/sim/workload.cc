#include "sim/workload.h"

#include <algorithm>

namespace muster::sim {
namespace {

constexpr Duration kAnswerTimeout = Duration::seconds(6);
constexpr std::uint32_t kSignalTries = 4;
// Requests that wait for an answer, at which nobody asks an agent for more: one whose queue is full
// would otherwise have hours to do once the faults have healed.
constexpr std::size_t kWaitingMax = 12;

// Whoever gets this asks again.
bool is_passing(const Error& error) {
  switch (error.code) {
    case ErrorCode::StoreUnavailable:
    case ErrorCode::Unavailable:
    case ErrorCode::Overloaded:
    case ErrorCode::IdempotencyInFlight:
      return true;
    default:
      return false;
  }
}

}  // namespace

Workload::Workload(Context& context, Fleet& fleet)
    : context_(context),
      fleet_(fleet),
      random_(context.random.fork()),
      maker_(context.swarm, context.random.fork()),
      model_maker_(context.random.fork()) {}

void Workload::start() {
  for (std::size_t client = 0; client < context_.swarm.clients; ++client) think(client);
}

Duration Workload::latency() {
  return random_.between(Duration::micros(100), context_.swarm.latency_max);
}

void Workload::think(std::size_t client) {
  context_.queue.after(random_.between(Duration::millis(10), context_.swarm.think_max),
                       [this, client] {
                         if (winding_down_ || context_.healed) return;
                         act(client);
                         think(client);
                       });
}

void Workload::act(std::size_t client) {
  const std::string who = fmt::format("client{}", client);
  const std::size_t agent = random_.index(fleet_.agents());
  const std::uint64_t dice = random_.below(100);
  if (dice < 15) {
    if (auto signal = maker_.make_signal(who)) return call(std::move(*signal), kSignalTries);
  } else if (dice < 30) {
    if (auto decision = maker_.make_decision()) return call(std::move(*decision), kSignalTries);
  } else if (dice < 35 && context_.swarm.has(Feature::Refreshes)) {
    return call(maker_.make_refresh(who), 1);
  } else if (dice < 55 && context_.swarm.has(Feature::LocalActions)) {
    return act_locally(agent);
  } else if (dice < 75 && context_.swarm.has(Feature::ModelEdits)) {
    return edit(model_maker_.make_edit(who));
  }
  if (actions_ >= context_.swarm.actions) return;
  submit(maker_.make_submit(who, context_.queue.now()));
}

void Workload::submit(core::Submit submit) {
  // Most clients use a key; one that does not may not ask again.
  const bool keyed = random_.chance(900'000);
  if (keyed) {
    const std::string key = fmt::format("key-{}", ++last_key_);
    submit.idempotency = core::IdempotencyKey{.key = key, .digest = key};
  }
  actions_ += submit.actions.size();
  call(std::move(submit), keyed ? 0 : 1);
}

void Workload::edit(core::EditModel edit) {
  const bool keyed = random_.chance(900'000);
  if (keyed) {
    const std::string key = fmt::format("key-{}", ++last_key_);
    edit.idempotency = core::IdempotencyKey{.key = key, .digest = key};
  }
  call(std::move(edit), keyed ? 0 : 1);
}

void Workload::signal(core::SignalRequest request) { call(std::move(request), 0); }

void Workload::refresh() { call(core::RefreshRequest{}, 1); }

void Workload::act_locally(std::size_t agent) {
  const auto call = std::make_shared<LocalCall>();
  call->agent = agent;
  auto signal = context_.swarm.has(Feature::LocalSignals) && random_.coin()
                    ? maker_.make_local_signal(agent)
                    : std::nullopt;
  if (signal) {
    call->request = std::move(*signal);
  } else {
    if (waiting_ >= kWaitingMax) return;
    auto [schedule, shared] = maker_.make_local(agent, context_.queue.now());
    call->request = std::move(schedule);
    call->owns_id = !shared;
    ++actions_;
  }
  ++waiting_;
  send_local(call);
}

void Workload::schedule_locally(std::size_t agent, core::agent::Schedule action) {
  const auto call = std::make_shared<LocalCall>();
  call->agent = agent;
  call->request = core::agent::LocalSchedule{.request = 0, .action = std::move(action)};
  ++actions_;
  ++waiting_;
  send_local(call);
}

void Workload::call(ControllerProcess::Request request, std::uint32_t tries_max) {
  const auto call = std::make_shared<Call>();
  call->request = std::move(request);
  call->tries_max = tries_max;
  ++waiting_;
  send(call);
}

void Workload::give_up(const CallPtr& call) {
  call->answered = true;
  --waiting_;
}

void Workload::send(const CallPtr& call) {
  if (call->tries_max > 0 && call->tries >= call->tries_max) return give_up(call);
  const std::uint32_t number = ++call->tries;
  const bool lost = context_.strikes(Fault::RequestLost);
  // A few still have the address of the controller that was replaced.
  const std::size_t machine =
      random_.chance(900'000) ? fleet_.active() : random_.index(Fleet::kControllers);
  if (!lost) {
    context_.queue.after(latency(), [this, call, number, machine] {
      const auto process = fleet_.controller(machine);
      if (!process || call->answered) return;
      process->request(call->request, [this, call, number](const core::Reply& reply) {
        if (context_.strikes(Fault::RequestLost)) return;
        context_.queue.after(latency(), [this, call, number, reply] {
          if (!call->answered && call->tries == number) answered(call, reply);
        });
      });
    });
  }
  context_.queue.after(kAnswerTimeout, [this, call, number] {
    if (!call->answered && call->tries == number) send(call);
  });
}

void Workload::answered(const CallPtr& call, const core::Reply& reply) {
  if (const auto* error = std::get_if<Error>(&reply.body)) {
    context_.digest.add(error->message);
    if (is_passing(*error)) {
      const std::uint32_t number = call->tries;
      context_.queue.after(random_.between(Duration::millis(100), Duration::seconds(2)),
                           [this, call, number] {
                             if (!call->answered && call->tries == number) send(call);
                           });
      return;
    }
    context_.note("cl", "-", "refused: {}", error->message);
    return give_up(call);
  }
  give_up(call);
  if (const auto* submit = std::get_if<core::Submit>(&call->request)) {
    take_submitted(*submit, std::get<core::SubmitReply>(reply.body));
  } else if (const auto* signal = std::get_if<core::SignalRequest>(&call->request)) {
    const auto& told = std::get<core::ActionReply>(reply.body).action;
    context_.digest.add(told->revision);
    context_.note("cl", "+", "{} of {} acknowledged", core::name(signal->signal),
                  signal->id.short_id());
    if (signal->signal == core::Signal::Cancel) context_.checks.on_cancelled(*told);
  } else if (const auto* edit = std::get_if<core::EditModel>(&call->request)) {
    const auto& told = std::get<core::ModelReply>(reply.body);
    context_.digest.add(told.revision);
    context_.note("cl", "+", "edit acknowledged as revision {}{}", told.revision,
                  told.dry_run ? " (dry run)" : "");
    context_.checks.on_edited(edit->idempotency ? edit->idempotency->key : "", told);
    model_maker_.remember(told.revision);
  }
}

void Workload::take_submitted(const core::Submit& submit, const core::SubmitReply& reply) {
  std::vector<core::ActionId> ids = reply.replayed;
  for (const core::ActionPtr& action : reply.actions) ids.push_back(action->id());
  for (const core::ActionId& id : ids) context_.digest.add(id.bytes());
  context_.note("cl", "+", "{} actions from {} acknowledged", ids.size(), ids.front().short_id());
  context_.checks.on_submitted(submit.idempotency ? submit.idempotency->key : "", ids);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    maker_.remember(submit.actions[i], ids[i]);
  }
}

void Workload::send_local(const LocalCallPtr& call) {
  if (fleet_.gone().contains(call->agent)) {
    call->answered = true;
    --waiting_;
    return;
  }
  const std::uint32_t number = ++call->tries;
  if (!context_.strikes(Fault::RequestLost)) {
    context_.queue.after(latency(), [this, call, number] {
      const auto process = fleet_.agent(call->agent);
      if (!process || call->answered) return;
      process->request(call->request, [this, call, number](const auto& result) {
        if (context_.strikes(Fault::RequestLost)) return;
        context_.queue.after(latency(), [this, call, number, result] {
          if (!call->answered && call->tries == number) answered_local(call, result);
        });
      });
    });
  }
  context_.queue.after(kAnswerTimeout, [this, call, number] {
    if (!call->answered && call->tries == number) send_local(call);
  });
}

void Workload::answered_local(const LocalCallPtr& call,
                              const Result<core::JournalEntryPtr>& result) {
  if (!result && is_passing(result.error())) {
    const std::uint32_t number = call->tries;
    context_.queue.after(Duration::seconds(1), [this, call, number] {
      if (!call->answered && call->tries == number) send_local(call);
    });
    return;
  }
  call->answered = true;
  --waiting_;
  const auto* schedule = std::get_if<core::agent::LocalSchedule>(&call->request);
  if (schedule == nullptr) return;
  const core::ActionId id = schedule->action.id;
  const bool own_duplicate =
      !result && result.error().code == ErrorCode::DuplicateId && call->owns_id && call->tries > 1;
  if (!result && !own_duplicate) return;
  context_.note("cl", "+", "local {} acknowledged by {}", id.short_id(), agent_name(call->agent));
  context_.digest.add(id.bytes());
  // The journal may have been lost while the answer was on its way.
  if (context_.checks.journal(call->agent).find(id)) {
    context_.checks.on_local_acknowledged(call->agent, id);
  }
  maker_.remember_local(call->agent, id);
}

void Workload::sweep() {
  for (const auto& [id, action] : context_.checks.records().all()) {
    const bool endless = !action->spec->interval.is_zero() && !action->spec->not_after.is_set();
    if (endless && !action->is_final() && endless_.insert(id).second) cancel(id);
  }
}

void Workload::cancel(const core::ActionId& id) {
  core::SignalRequest request;
  request.who = "operator";
  request.id = id;
  request.signal = core::Signal::Cancel;
  signal(std::move(request));
}

}  // namespace muster::sim
