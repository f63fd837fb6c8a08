#include "controller/link_inlet.h"

#include "log/log.h"

namespace muster::controller {
namespace {

constexpr std::size_t kRefusedMax = 1000;

}  // namespace

void LinkInlet::open(Controller& controller, LogBroker& logs) {
  {
    const std::lock_guard lock(mutex_);
    controller_ = &controller;
    logs_ = &logs;
  }
  opened_.notify_all();
}

void LinkInlet::shut() {
  {
    const std::lock_guard lock(mutex_);
    shut_ = true;
  }
  opened_.notify_all();
}

bool LinkInlet::wait_until_open() {
  std::unique_lock lock(mutex_);
  opened_.wait(lock, [this] { return controller_ != nullptr || shut_; });
  return !shut_;
}

void LinkInlet::post(core::Input input) {
  if (wait_until_open()) controller_->post(std::move(input));
}

void LinkInlet::on_hello(core::SessionId session, core::AgentIdentity identity) {
  post(core::AgentConnected{session, std::move(identity)});
}

void LinkInlet::on_heartbeat(core::SessionId session) { post(core::AgentHeartbeat{session}); }

void LinkInlet::on_trouble(core::SessionId session, std::string problem) {
  post(core::AgentHeartbeat{session, std::move(problem)});
}

void LinkInlet::on_refused(const core::AgentName& agent, const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (refused_.size() >= kRefusedMax || !refused_.insert(agent).second) return;
  }
  log::warn("an agent was refused", {{"agent", agent}, {"reason", reason}});
}

void LinkInlet::on_report(core::SessionId session, core::AgentAction action) {
  post(core::AgentReport{session, std::move(action)});
}

void LinkInlet::on_reports(core::SessionId session, std::vector<core::AgentAction> actions) {
  if (!wait_until_open()) return;
  std::vector<core::Input> inputs;
  inputs.reserve(actions.size());
  for (core::AgentAction& action : actions) {
    inputs.emplace_back(core::AgentReport{session, std::move(action)});
  }
  controller_->post_all(std::move(inputs));
}

void LinkInlet::on_sync_page(core::SessionId session, core::AgentSyncPage page) {
  page.session = session;
  post(std::move(page));
}

void LinkInlet::on_log_chunk(core::SessionId session, rpc::LogChunk chunk) {
  if (wait_until_open()) logs_->on_log_chunk(session, std::move(chunk));
}

void LinkInlet::on_closed(core::SessionId session, std::string reason) {
  if (!wait_until_open()) return;
  logs_->on_closed(session);
  controller_->post(core::AgentDisconnected{session, std::move(reason)});
}

}  // namespace muster::controller
