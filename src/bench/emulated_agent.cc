#include "bench/emulated_agent.h"

#include <grpcpp/generic/generic_stub.h>

#include "base/uuid.h"
#include "bench/stopwatch.h"
#include "rpc/agent_channel.h"

namespace muster::bench {
namespace {

namespace io = core::agent;

constexpr const char* kKind = "noop";
// Nobody asks an emulated agent for its history.
constexpr std::size_t kKeepFinished = 16;
// Acknowledgements, of the whole fleet, after which whoever waits looks again.
constexpr std::uint64_t kTellEvery = 256;

io::AgentCoreOptions core_options() {
  io::AgentCoreOptions options;
  options.kinds = {kKind};
  options.queue_max = 1'000'000;
  options.keep_finished = kKeepFinished;
  return options;
}

}  // namespace

EmulatedAgent::EmulatedAgent(std::string name, FleetProgress& progress)
    : name_(std::move(name)), fleet_(progress), core_(core_options()) {}

core::AgentIdentity EmulatedAgent::identity() {
  core::AgentIdentity identity;
  identity.name = name_;
  identity.journal_id = Uuid::v4(std::hash<std::string>()(name_), 1).to_string();
  identity.instance_id = Uuid::v4(std::hash<std::string>()(name_), 2).to_string();
  identity.labels = {{"bench", "emulated"}};
  identity.kinds = {kKind};
  identity.facts.os = "linux";
  identity.facts.hostname = name_;
  return identity;
}

void EmulatedAgent::dial(const std::string& controller) {
  channel_ = rpc::make_agent_channel(controller);
  grpc::GenericStub stub(channel_);
  session_.emplace(*this, fleet_.counters, progress_);
  session_->start(stub, rpc::encode_hello(identity()));
}

bool EmulatedAgent::wait_done(Duration deadline) const {
  std::unique_lock lock(progress_->mutex);
  return progress_->changed.wait_for(lock, std::chrono::microseconds(deadline.us),
                                     [this] { return progress_->done; });
}

void EmulatedAgent::take(const io::AgentInput& input) {
  const Timestamp now = wall_now();
  const auto step = [&](const io::AgentInput& one) {
    const io::AgentEffects effects = core_.step(now, one);
    for (const auto& message : effects.messages) {
      for (std::string& encoded : rpc::encode_agent_message(message)) {
        session_->queue(std::move(encoded));
      }
    }
    for (const auto& run : effects.runs) {
      const auto* start = std::get_if<io::StartRun>(&run);
      if (start == nullptr) continue;
      ends_.push_back(io::RunEnded{.id = start->entry->id,
                                   .attempt = start->entry->attempt,
                                   .result = core::ExecuteResult::Ok,
                                   .reason = {},
                                   .outputs = R"({"duration_ms":0})"});
    }
  };
  step(input);
  while (!ends_.empty()) {
    const io::AgentInput end = std::move(ends_.front());
    ends_.pop_front();
    step(end);
  }
}

void EmulatedAgent::on_up(const rpc::Welcome&) {
  take(io::LinkUp{});
  ++fleet_.up;
  const std::lock_guard lock(fleet_.mutex);
  fleet_.changed.notify_all();
}

void EmulatedAgent::on_schedule(io::Schedule schedule) { take(std::move(schedule)); }

void EmulatedAgent::on_signal(io::SignalFromController signal) { take(std::move(signal)); }

void EmulatedAgent::on_ack(io::Ack ack) {
  if (const auto entry = core_.find(ack.id); entry && !entry->acked) {
    latencies_.push_back((wall_now() - entry->created_at).us);
    if (entry->status != core::Status::Succeeded) ++fleet_.failed;
    const std::uint64_t acked = ++fleet_.acked;
    if (acked == fleet_.wake_at || acked % kTellEvery == 0) {
      const std::lock_guard lock(fleet_.mutex);
      fleet_.changed.notify_all();
    }
  }
  take(ack);
}

void EmulatedAgent::on_sync_request(io::SyncRequest request) { take(request); }

void EmulatedAgent::on_log_request(rpc::LogRequest request) {
  session_->send(rpc::encode_log_chunk(
      {.request = request.request, .offset = 0, .data = {}, .end = true, .known = false}));
}

void EmulatedAgent::on_down(const std::string&) {}

void EmulatedAgent::on_dial_failed(const std::string&, const std::string&, Duration) {}

}  // namespace muster::bench
