#pragma once

#include <condition_variable>
#include <mutex>
#include <set>
#include <string>

#include "controller/controller.h"
#include "controller/log_broker.h"
#include "rpc/link_server.h"

namespace muster::controller {

// What agents and jobs say, on its way into the controller. The link listens before the controller
// is loaded; whoever speaks that early waits here.
class LinkInlet final : public rpc::LinkHandler {
 public:
  // Both must outlive the link.
  void open(Controller& controller, LogBroker& logs);
  // Lets go of whoever waits and drops what they and later ones say: the start has failed.
  void shut();
  void post(core::Input input);

  void on_hello(core::SessionId session, core::AgentIdentity identity) override;
  void on_heartbeat(core::SessionId session) override;
  void on_trouble(core::SessionId session, std::string problem) override;
  void on_refused(const core::AgentName& agent, const std::string& reason) override;
  void on_report(core::SessionId session, core::AgentAction action) override;
  void on_reports(core::SessionId session, std::vector<core::AgentAction> actions) override;
  void on_sync_page(core::SessionId session, core::AgentSyncPage page) override;
  void on_log_chunk(core::SessionId session, rpc::LogChunk chunk) override;
  void on_closed(core::SessionId session, std::string reason) override;

 private:
  bool wait_until_open();  // false: shut

  std::mutex mutex_;
  std::condition_variable opened_;
  Controller* controller_ = nullptr;
  LogBroker* logs_ = nullptr;
  bool shut_ = false;
  std::set<core::AgentName> refused_;  // those that were logged; an agent tries again and again
};

}  // namespace muster::controller
