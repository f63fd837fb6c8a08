#include "controller/job_pool.h"

#include <algorithm>
#include <chrono>

#include "base/json.h"
#include "core/kind/inputs.h"
#include "http/client.h"

namespace muster::controller {
namespace {

using core::ExecuteResult;

struct Outcome {
  ExecuteResult result = ExecuteResult::Ok;
  std::string reason;
  Json outputs = Json::object();
};

constexpr std::size_t kBodyKept = 4096;

Outcome timed_out(Duration timeout) {
  return {ExecuteResult::Timeout, fmt::format("timed out after {}", format_duration(timeout))};
}

Outcome run_sleep(const Json& inputs, Duration timeout, JobPool::Control& control,
                  const std::function<void(bool)>& on_suspend) {
  std::vector<FieldError> errors;
  const core::SleepInputs sleep = core::decode_sleep(inputs, "", errors);
  const bool too_long = sleep.duration > timeout;
  if (!control.wait(std::min(sleep.duration, timeout), on_suspend)) {
    return {ExecuteResult::Cancel, "cancelled while sleeping"};
  }
  if (too_long) return timed_out(timeout);
  return {ExecuteResult::Ok, fmt::format("slept {}", format_duration(sleep.duration))};
}

Outcome run_fail(const Json& inputs) {
  std::vector<FieldError> errors;
  const core::FailInputs fail = core::decode_fail(inputs, "", errors);
  return {core::parse_execute_result(fail.result).value_or(ExecuteResult::Error), fail.reason};
}

bool contains(const std::vector<int>& values, int value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

Outcome run_http(const Json& inputs, Duration timeout, JobPool::Control& control) {
  std::vector<FieldError> errors;
  const core::HttpInputs http = core::decode_http(inputs, "", errors);
  http::ClientRequest request;
  request.method = http.method;
  request.url = http.url;
  request.headers = http.headers;
  request.body = http.body;
  request.timeout = std::min(http.timeout, timeout);
  request.cancelled = [&control] { return control.cancelled(); };
  const auto response = http::perform(request);
  if (control.cancelled()) return {ExecuteResult::Cancel, "cancelled during the request"};
  if (!response) {
    if (response.error().code == ErrorCode::Timeout) {
      return {ExecuteResult::Timeout, fmt::format("{} {} timed out after {}", http.method, http.url,
                                                  format_duration(request.timeout))};
    }
    return {ExecuteResult::Error,
            fmt::format("{} {}: {}", http.method, http.url, response.error().message)};
  }
  Outcome outcome;
  outcome.outputs["status"] = response->status;
  outcome.outputs["body"] = response->body.substr(0, kBodyKept);
  outcome.outputs["body_bytes"] = response->body.size();
  const bool expected = http.expect_status.empty()
                            ? response->status >= 200 && response->status < 300
                            : contains(http.expect_status, response->status);
  outcome.reason = fmt::format("{} {} answered {}", http.method, http.url, response->status);
  if (contains(http.retry_status, response->status)) {
    outcome.result = ExecuteResult::Retry;
  } else if (!expected) {
    outcome.result = ExecuteResult::Error;
  }
  return outcome;
}

}  // namespace

bool JobPool::Control::wait(Duration duration, const std::function<void(bool)>& on_suspend) {
  using Clock = std::chrono::steady_clock;
  auto left = std::chrono::microseconds(duration.us);
  std::unique_lock lock(mutex_);
  while (!cancelled_) {
    if (suspended_) {
      lock.unlock();
      on_suspend(true);
      lock.lock();
      changed_.wait(lock, [this] { return cancelled_ || !suspended_; });
      if (cancelled_) break;
      lock.unlock();
      on_suspend(false);
      lock.lock();
      continue;
    }
    const auto began = Clock::now();
    const bool disturbed =
        changed_.wait_for(lock, left, [this] { return cancelled_ || suspended_; });
    if (!disturbed) return true;
    left -=
        std::min(left, std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - began));
  }
  return false;
}

bool JobPool::Control::cancelled() const {
  const std::lock_guard lock(mutex_);
  return cancelled_;
}

JobPool::JobPool(std::size_t threads, Report report) : report_(std::move(report)) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

JobPool::~JobPool() { stop(); }

void JobPool::run(const core::Job& job) {
  if (const auto* start = std::get_if<core::StartJob>(&job)) {
    auto control = std::make_shared<Control>();
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      controls_[{start->action->id(), start->action->attempt}] = control;
      queue_.push_back({start->action, std::move(control)});
    }
    work_.notify_one();
    return;
  }
  const auto& signal = std::get<core::SignalJob>(job);
  std::shared_ptr<Control> control;
  {
    const std::lock_guard lock(mutex_);
    const auto found = controls_.find({signal.id, signal.attempt});
    if (found == controls_.end()) return;
    control = found->second;
  }
  {
    const std::lock_guard lock(control->mutex_);
    switch (signal.signal) {
      case core::Signal::Cancel:
        control->cancelled_ = true;
        break;
      case core::Signal::Suspend:
        control->suspended_ = true;
        break;
      case core::Signal::Resume:
        control->suspended_ = false;
        break;
      case core::Signal::None:
        break;
    }
  }
  control->changed_.notify_all();
}

void JobPool::stop() {
  std::vector<std::shared_ptr<Control>> running;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
    for (const auto& [key, control] : controls_) running.push_back(control);
  }
  work_.notify_all();
  for (const auto& control : running) {
    {
      const std::lock_guard lock(control->mutex_);
      control->cancelled_ = true;
    }
    control->changed_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
}

void JobPool::work() {
  while (true) {
    Pending pending;
    {
      std::unique_lock lock(mutex_);
      work_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (stopping_) return;
      pending = std::move(queue_.front());
      queue_.pop_front();
    }
    execute(pending);
  }
}

void JobPool::execute(const Pending& pending) {
  const core::ActionSpec& spec = *pending.action->spec;
  const core::ActionId id = spec.id;
  const std::uint32_t attempt = pending.action->attempt;
  const auto on_suspend = [&](bool suspended) { report_(core::JobStatus{id, attempt, suspended}); };
  Outcome outcome;
  const auto inputs = parse_json(spec.inputs);
  if (!inputs) {
    outcome = {ExecuteResult::Error, fmt::format("inputs: {}", inputs.error().message)};
  } else if (spec.kind == "noop") {
    outcome.reason = "nothing to do";
  } else if (spec.kind == "sleep") {
    outcome = run_sleep(*inputs, spec.timeout, *pending.control, on_suspend);
  } else if (spec.kind == "fail") {
    outcome = run_fail(*inputs);
  } else if (spec.kind == "http") {
    outcome = run_http(*inputs, spec.timeout, *pending.control);
  } else {
    outcome = {ExecuteResult::Error,
               fmt::format("this controller cannot execute kind '{}'", spec.kind)};
  }
  {
    const std::lock_guard lock(mutex_);
    controls_.erase({id, attempt});
    if (stopping_) return;
  }
  report_(core::JobDone{id, attempt, outcome.result, outcome.reason, dump_json(outcome.outputs)});
}

}  // namespace muster::controller
