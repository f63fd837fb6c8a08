#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/agent_loop.h"
#include "agent/link_inlet.h"
#include "base/json.h"
#include "base/result.h"
#include "http/router.h"
#include "http/server.h"

namespace muster::agent {

struct LocalApiOptions {
  std::string unix_path;
  unsigned unix_mode = 0600;
  std::string tcp_address;  // empty: none
  bool insecure = false;
};

// What GET /v1/info tells beside what changes.
struct LocalApiInfo {
  core::AgentIdentity identity;  // facts are asked for anew
  std::vector<std::string> controllers;
  std::string state_dir;
  Timestamp started_at;
};

// The agent's own API: actions can be scheduled, listed, signalled and read here, controller or no
// controller. Handlers only decode and hand over to the loop; answers come from the loop's thread.
//
//   GET  /livez
//   GET  /v1/info, /v1/kinds
//   GET  /v1/actions?state=queue|finished&limit=&marker=    queue first, then finished, newest
//   first POST /v1/actions                {"action": {...}} GET  /v1/actions/{id} POST
//   /v1/actions/{id}/signals   {"signal", "reason"} GET
//   /v1/actions/{id}/logs?attempt=&offset=&limit=&follow=
//
// All that it borrows must outlive stop().
class LocalApi {
 public:
  LocalApi(LocalApiInfo info, AgentLoop& loop, const LinkInlet* link,
           std::function<Timestamp()> clock, std::function<std::uint64_t()> random);

  Result<void> start(const LocalApiOptions& options);
  void stop();

  std::uint16_t tcp_port() const { return server_ ? server_->tcp_port() : std::uint16_t{0}; }
  const http::Router& router() const { return router_; }

 private:
  using ResponderPtr = std::shared_ptr<http::Responder>;

  void get_info(const http::Request& request, const ResponderPtr& responder);
  void get_kinds(const ResponderPtr& responder);
  void list_actions(const http::Request& request, const ResponderPtr& responder);
  void create_action(const http::Request& request, const ResponderPtr& responder);
  void get_action(const http::Request& request, const ResponderPtr& responder);
  void signal_action(const http::Request& request, const ResponderPtr& responder);
  void get_logs(const http::Request& request, const ResponderPtr& responder);

  const LocalApiInfo info_;
  AgentLoop& loop_;
  const LinkInlet* const link_;  // null: no controller is configured
  const std::function<Timestamp()> clock_;
  const std::function<std::uint64_t()> random_;
  http::Router router_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace muster::agent
