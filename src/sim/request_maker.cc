#include "sim/request_maker.h"

#include <fmt/format.h>

#include "sim/behaviour.h"
#include "sim/checks.h"

namespace muster::sim {

core::ActionId RequestMaker::fresh_id() {
  const std::uint64_t high = random_.next();
  return Uuid::v4(high, random_.next());
}

std::string RequestMaker::inputs(bool may_take_long) {
  BehaviourRange range;
  range.number = ++last_number_;
  range.takes_max =
      may_take_long && random_.chance(300'000) ? Duration::seconds(40) : Duration::seconds(3);
  range.fails = sometimes(Feature::FailingRuns, 40);
  range.asks_for_retry = sometimes(Feature::RetryAnswers, 30);
  range.stubborn = sometimes(Feature::StubbornRuns, 30);
  return make_inputs(range, random_.next() >> 1 | 1);
}

core::ActionRequest RequestMaker::make_action(Timestamp now) {
  core::ActionRequest request;
  request.name = fmt::format("n{}", last_number_ + 1);
  request.inputs = inputs(true);
  if (sometimes(Feature::EngineKinds, 40)) {
    constexpr std::string_view kKinds[] = {"noop", "sleep", "sleep", "http"};
    request.kind = kKinds[random_.index(4)];
  } else {
    constexpr std::string_view kKinds[] = {"noop", "sleep", "exec", "exec", "exec"};
    request.kind = kKinds[random_.index(5)];
    request.target = agent_name(random_.index(swarm_.agents));
  }
  add_timing(request, now);
  add_gates(request);
  if (sometimes(Feature::IdConflicts, 15) && !local_.empty()) {
    const auto& [agent, id] = local_[random_.index(local_.size())];
    request.id = id;
    request.kind = "exec";
    request.target = agent_name(agent);
  } else if (random_.chance(100'000)) {
    request.id = fresh_id();
  }
  return request;
}

void RequestMaker::add_timing(core::ActionRequest& request, Timestamp now) {
  const auto seconds = [&](std::int64_t low, std::int64_t high) {
    return random_.between(Duration::seconds(low), Duration::seconds(high));
  };
  if (sometimes(Feature::ShortTimeouts, 30)) request.timeout = seconds(1, 20);
  if (sometimes(Feature::ShortTimeouts, 20)) request.queue_timeout = seconds(2, 60);
  if (sometimes(Feature::StartTimes, 30)) request.not_before = now + seconds(-5, 60);
  if (sometimes(Feature::StartTimes, 15)) request.not_after = now + seconds(5, 120);
  if (sometimes(Feature::Repeats, 15)) {
    request.interval = seconds(2, 30);
    request.misfire = random_.coin() ? core::Misfire::Skip : core::Misfire::RunOnce;
    if (random_.chance(700'000)) request.not_after = now + seconds(20, 200);
  }
  if (sometimes(Feature::Retries, 40)) {
    request.retry.attempts = static_cast<std::uint32_t>(random_.between(2, 4));
    request.retry.backoff = {Duration::millis(500), Duration::seconds(5)};
  }
}

void RequestMaker::add_gates(core::ActionRequest& request) {
  if (sometimes(Feature::Approvals, 25)) {
    request.approval = core::ApprovalPolicy{.count = random_.coin() ? 1U : 2U,
                                            .allow_requester = false,
                                            .expires_in = Duration::minutes(3)};
  }
  request.hold = sometimes(Feature::Holds, 10);
  if (sometimes(Feature::Derived, 15) && !known_.empty()) {
    request.parent = known_[random_.index(known_.size())].id;
  }
}

core::Submit RequestMaker::make_submit(const std::string& who, Timestamp now) {
  core::Submit submit;
  submit.who = who;
  const std::size_t count = static_cast<std::size_t>(random_.between(1, 5));
  for (std::size_t i = 0; i < count; ++i) {
    core::ActionRequest request = make_action(now);
    for (std::size_t before = 0; before < i; ++before) {
      if (!sometimes(Feature::Dependencies, 40)) continue;
      request.depends_on.push_back(submit.actions[before].name);
    }
    if (sometimes(Feature::Dependencies, 20) && !known_.empty()) {
      request.depends_on.push_back(known_[random_.index(known_.size())].id.to_string());
    }
    if (sometimes(Feature::Dependencies, 10) && !known_.empty()) {
      request.depended_by.push_back(known_[random_.index(known_.size())].id.to_string());
    }
    submit.actions.push_back(std::move(request));
  }
  return submit;
}

std::optional<core::SignalRequest> RequestMaker::make_signal(const std::string& who) {
  if (known_.empty() || !swarm_.has(Feature::Signals)) return std::nullopt;
  // Newer ones are likelier to be alive.
  const std::size_t recent = std::min<std::size_t>(known_.size(), 12);
  core::SignalRequest request;
  request.who = who;
  request.id = known_[known_.size() - 1 - random_.index(recent)].id;
  constexpr core::Signal kSignals[] = {core::Signal::Cancel, core::Signal::Suspend,
                                       core::Signal::Suspend, core::Signal::Resume,
                                       core::Signal::Resume};
  request.signal = kSignals[random_.index(5)];
  request.force = request.signal == core::Signal::Cancel && sometimes(Feature::ForcedCancels, 50);
  return request;
}

std::optional<core::DecideRequest> RequestMaker::make_decision() {
  for (std::size_t i = known_.size(); i > 0 && known_.size() - i < 20; --i) {
    const Known& known = known_[i - 1];
    if (!known.needs_approval || !random_.coin()) continue;
    core::DecideRequest request;
    request.who = fmt::format("chief{}", random_.below(3));
    request.id = known.id;
    request.approve = random_.chance(850'000);
    return request;
  }
  return std::nullopt;
}

core::RefreshRequest RequestMaker::make_refresh(const std::string& who) {
  core::RefreshRequest request;
  request.who = who;
  if (random_.coin()) request.agent = agent_name(random_.index(swarm_.agents));
  return request;
}

std::pair<core::agent::LocalSchedule, bool> RequestMaker::make_local(std::size_t agent,
                                                                     Timestamp now) {
  core::agent::LocalSchedule local;
  local.action.id = fresh_id();
  bool shared = false;
  if (sometimes(Feature::IdConflicts, 40)) {
    for (std::size_t i = known_.size(); i > 0 && known_.size() - i < 8; --i) {
      if (known_[i - 1].target != agent_name(agent) && !random_.chance(100'000)) continue;
      local.action.id = known_[i - 1].id;
      shared = true;
      break;
    }
  }
  local.action.name = fmt::format("local{}", last_number_ + 1);
  local.action.kind = random_.chance(800'000) ? "exec" : "sleep";
  local.action.inputs = inputs(true);
  local.action.timeout = Duration::seconds(60);
  local.action.requested_by = "operator";
  local.action.created_at = now;
  return {std::move(local), shared};
}

std::optional<core::agent::LocalSignal> RequestMaker::make_local_signal(std::size_t agent) {
  for (std::size_t i = local_.size(); i > 0 && local_.size() - i < 8; --i) {
    if (local_[i - 1].first != agent || !random_.coin()) continue;
    core::agent::LocalSignal signal;
    signal.id = local_[i - 1].second;
    signal.who = "operator";
    constexpr core::Signal kSignals[] = {core::Signal::Cancel, core::Signal::Suspend,
                                         core::Signal::Resume};
    signal.signal = kSignals[random_.index(3)];
    return signal;
  }
  return std::nullopt;
}

void RequestMaker::remember(const core::ActionRequest& request, const core::ActionId& id) {
  known_.push_back({id, request.target, request.approval.has_value()});
}

void RequestMaker::remember_local(std::size_t agent, const core::ActionId& id) {
  local_.emplace_back(agent, id);
}

}  // namespace muster::sim
