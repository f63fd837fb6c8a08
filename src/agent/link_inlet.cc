#include "agent/link_inlet.h"

#include <algorithm>
#include <utility>

#include "log/log.h"

namespace muster::agent {

using core::agent::AgentInput;

LinkInlet::LinkInlet(AgentLoop& loop, std::uint64_t highest_term,
                     std::function<core::AgentIdentity()> identify,
                     std::function<Timestamp()> clock)
    : loop_(loop),
      identify_(std::move(identify)),
      clock_(std::move(clock)),
      highest_term_(highest_term) {
  state_.since = clock_();
}

LinkState LinkInlet::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

core::AgentIdentity LinkInlet::identity() {
  core::AgentIdentity identity = identify_();
  identity.term_seen = highest_term_.load();
  return identity;
}

std::string LinkInlet::problem() {
  const JournalHealth journal = loop_.health();
  return journal.ok ? std::string()
                    : fmt::format("its journal refuses writes: {}", journal.problem);
}

void LinkInlet::on_up(const rpc::Welcome& welcome) {
  log::info("connected to a controller",
            {{"controller", welcome.controller_id}, {"term", welcome.term}});
  failures_logged_.clear();
  highest_term_ = std::max(highest_term_.load(), welcome.term);
  {
    const std::lock_guard lock(mutex_);
    state_ = {true, welcome.controller_id, welcome.term, clock_(), ""};
  }
  loop_.post(LinkEstablished{welcome});
}

void LinkInlet::on_schedule(core::agent::Schedule schedule) {
  gathered_.emplace_back(AgentInput(std::move(schedule)));
}

void LinkInlet::on_signal(core::agent::SignalFromController signal) {
  gathered_.emplace_back(AgentInput(std::move(signal)));
}

void LinkInlet::on_ack(core::agent::Ack ack) { gathered_.emplace_back(AgentInput(ack)); }

void LinkInlet::on_sync_request(core::agent::SyncRequest request) {
  gathered_.emplace_back(AgentInput(request));
}

void LinkInlet::on_log_request(rpc::LogRequest request) { gathered_.emplace_back(request); }

void LinkInlet::on_frame_end() {
  if (!gathered_.empty()) loop_.post_all(std::exchange(gathered_, {}));
}

void LinkInlet::on_down(const std::string& reason) {
  log::warn("connection to the controller ended", {{"reason", reason}});
  gathered_.clear();
  {
    const std::lock_guard lock(mutex_);
    state_.up = false;
    state_.since = clock_();
    state_.problem = reason;
  }
  loop_.post(AgentInput(core::agent::LinkDown{}));
}

void LinkInlet::on_dial_failed(const std::string& controller, const std::string& reason,
                               Duration retry_in) {
  const std::string delay = format_duration(retry_in);
  const log::Fields fields = {{"controller", controller}, {"reason", reason}, {"retry_in", delay}};
  // An absent controller is an ordinary state of the world: one line per absence and reason.
  std::string& logged = failures_logged_[controller];
  if (logged == reason) {
    log::debug("controller could not be reached", fields);
  } else {
    log::warn("controller could not be reached; trying on", fields);
  }
  logged = reason;
  const std::lock_guard lock(mutex_);
  state_.problem = reason;
}

}  // namespace muster::agent
