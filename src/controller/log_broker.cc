#include "controller/log_broker.h"

#include <utility>
#include <vector>

namespace muster::controller {

LogBroker::LogBroker(Controller& controller, Send send, LogBrokerOptions options)
    : controller_(controller), send_(std::move(send)), options_(options) {}

void LogBroker::fetch(const core::AgentName& agent, rpc::LogRequest request, Callback callback) {
  bool accepted = false;
  {
    const std::lock_guard lock(mutex_);
    if (!stopped_ && pending_.size() < options_.pending_max) {
      accepted = true;
      request.request = next_++;
      Pending pending{agent, std::nullopt, 0, std::move(callback)};
      const std::uint64_t number = request.request;
      pending.timer = timers_.after(options_.deadline, [this, number, agent] {
        finish(number, fail(ErrorCode::Timeout, "agent '{}' did not send its output within {}",
                            agent, format_duration(options_.deadline)));
      });
      pending_.emplace(number, std::move(pending));
    }
  }
  if (!accepted) {
    callback(fail(ErrorCode::Overloaded,
                  "no more requests for output are taken now, at most {} may be under way",
                  options_.pending_max));
    return;
  }
  controller_.query([this, agent, request](const core::Engine& engine, Timestamp) {
    send_to_agent(request, engine.session_of(agent));
  });
}

void LogBroker::send_to_agent(const rpc::LogRequest& request,
                              std::optional<core::SessionId> session) {
  std::string agent;
  {
    const std::lock_guard lock(mutex_);
    const auto found = pending_.find(request.request);
    if (found == pending_.end()) return;
    found->second.session = session;
    agent = found->second.agent;
  }
  if (session) {
    send_(*session, request);
  } else {
    finish(request.request, fail(ErrorCode::Unavailable, "agent '{}' is not connected", agent));
  }
}

void LogBroker::on_log_chunk(core::SessionId session, rpc::LogChunk chunk) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = pending_.find(chunk.request);
    if (found == pending_.end() || found->second.session != session) return;
  }
  const std::uint64_t number = chunk.request;
  finish(number, std::move(chunk));
}

void LogBroker::on_closed(core::SessionId session) {
  std::vector<std::pair<std::uint64_t, core::AgentName>> cut;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [number, pending] : pending_) {
      if (pending.session == session) cut.emplace_back(number, pending.agent);
    }
  }
  for (const auto& [number, agent] : cut) {
    finish(number, fail(ErrorCode::Unavailable, "the connection of agent '{}' ended", agent));
  }
}

void LogBroker::stop() {
  std::map<std::uint64_t, Pending> cut;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    cut.swap(pending_);
  }
  for (auto& [number, pending] : cut) {
    pending.callback(fail(ErrorCode::Unavailable, "the controller is stopping"));
  }
  timers_.stop();
}

void LogBroker::finish(std::uint64_t request, Result<rpc::LogChunk> result) {
  std::optional<Pending> pending = take(request);
  if (!pending) return;
  timers_.cancel(pending->timer);
  pending->callback(std::move(result));
}

std::optional<LogBroker::Pending> LogBroker::take(std::uint64_t request) {
  const std::lock_guard lock(mutex_);
  const auto found = pending_.find(request);
  if (found == pending_.end()) return std::nullopt;
  Pending pending = std::move(found->second);
  pending_.erase(found);
  return pending;
}

}  // namespace muster::controller
