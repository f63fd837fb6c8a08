#include "agent/agent_loop.h"

#include <algorithm>

#include "base/check.h"
#include "log/log.h"

namespace muster::agent {
namespace {

namespace io = core::agent;

// One transaction stays short, so that its answers come soon.
constexpr std::size_t kBatchMax = 512;
// Wall clocks jump; no sleep may rest on one for longer than this.
constexpr Duration kSleepMax = Duration::seconds(30);
// A deadline that stays due after its tick must not make the thread spin.
constexpr Duration kSleepMin = Duration::millis(5);

std::chrono::microseconds to_chrono(Duration duration) {
  return std::chrono::microseconds(duration.us);
}

void log_starts(const io::AgentEffects& effects) {
  for (const auto& run : effects.runs) {
    const auto* start = std::get_if<io::StartRun>(&run);
    if (start == nullptr) continue;
    log::info(start->recovered ? log::Message("action is attached to again")
                               : log::Message("action starts"),
              {{"action", start->entry->id.to_string()},
               {"attempt", start->entry->attempt},
               {"name", start->entry->name},
               {"kind", start->entry->kind}});
  }
}

// An end is journalled and reported in the same step.
void log_ends(const io::AgentEffects& effects) {
  if (effects.writes.empty()) return;
  for (const auto& message : effects.messages) {
    const auto* report = std::get_if<io::SendReport>(&message);
    if (report == nullptr || !core::is_final(report->action.status)) continue;
    log::info("action ended", {{"action", report->action.id.to_string()},
                               {"attempt", report->action.attempt},
                               {"status", core::name(report->action.status)},
                               {"reason", report->action.reason}});
  }
}

}  // namespace

AgentLoop::AgentLoop(AgentLoopOptions options, Journal& journal)
    : options_(std::move(options)),
      journal_(journal),
      inbox_(options_.inbox_max),
      core_(options_.core) {}

AgentLoop::~AgentLoop() { stop(); }

void AgentLoop::start(exec::Executor& executor, rpc::LinkClient* link) {
  MUSTER_CHECK(!thread_.joinable(), "the agent's loop was started twice");
  link_ = link;
  output_.emplace(options_.output, executor, core_);
  StepRelease::Outlets outlets;
  if (link != nullptr) {
    outlets.send = [this](const io::AgentMessage& message) { outgoing_.push_back(message); };
  }
  outlets.answer = [this](io::LocalReply& reply) { answer(reply); };
  release_.emplace(executor, *this, std::move(outlets));
  thread_ = std::thread([this] { run(); });
}

void AgentLoop::stop() {
  inbox_.close();
  if (thread_.joinable()) thread_.join();
}

void AgentLoop::request(LocalRequest request) {
  if (const auto state = health(); !state.ok) {
    request.reply(
        fail(ErrorCode::StoreUnavailable, "the journal refuses writes: {}", state.problem));
    return;
  }
  inbox_.push_or_refuse(std::move(request));
}

void AgentLoop::query(CoreQuery query) {
  if (const auto state = health(); !state.ok) {
    query.reply(fail(ErrorCode::StoreUnavailable, "the journal refuses writes: {}", state.problem));
    return;
  }
  inbox_.push_or_refuse(std::move(query));
}

void AgentLoop::read_output(OutputRequest request) { inbox_.push_or_refuse(std::move(request)); }

void AgentLoop::post(InboxItem item) { inbox_.push_wait(std::move(item)); }

void AgentLoop::post_all(std::vector<InboxItem> items) { inbox_.push_wait_all(std::move(items)); }

JournalHealth AgentLoop::health() const {
  const std::lock_guard lock(health_mutex_);
  return health_;
}

void AgentLoop::on_ended(const core::ActionId& id, std::uint32_t attempt, exec::RunResult result) {
  inbox_.push_now(io::AgentInput(io::RunEnded{.id = id,
                                              .attempt = attempt,
                                              .result = result.result,
                                              .reason = std::move(result.reason),
                                              .outputs = std::move(result.outputs)}));
  inbox_.notify_output(id);
}

void AgentLoop::on_suspended(const core::ActionId& id, std::uint32_t attempt, bool suspended) {
  inbox_.push_now(io::AgentInput(io::RunSuspended{id, attempt, suspended}));
}

void AgentLoop::on_output(const core::ActionId& id, std::uint32_t) { inbox_.notify_output(id); }

void AgentLoop::run() {
  const Error stopping{ErrorCode::Unavailable, "the agent is stopping"};
  const Timestamp now = options_.clock();
  auto entries = journal_.take_entries();
  for (const auto& entry : entries) core_.restore(entry);
  take_effects(core_.recover(now), LinkChange::None);
  if (options_.standalone) {
    for (const auto& entry : entries) {
      if (entry->is_final() && !entry->acked) step(now, io::Ack{entry->id, entry->attempt});
    }
  }
  entries.clear();
  bool going = settle();
  while (going) {
    auto taken = inbox_.take(kBatchMax, wake_time());
    if (taken.closed) {
      for (const auto& item : taken.items) refuse(item, stopping);
      break;
    }
    for (auto& item : taken.items) take_in(std::move(item));
    tick_if_due();
    going = settle();
    for (const auto& id : taken.outputs) output_->on_output(id);
    output_->on_deadline(Inbox::Clock::now());
  }
  inbox_.close();
  refuse_waiting(stopping);
  output_->refuse_all(stopping);
}

void AgentLoop::take_in(InboxItem item) {
  const Timestamp now = options_.clock();
  if (const auto* input = std::get_if<io::AgentInput>(&item)) {
    const bool down = std::holds_alternative<io::LinkDown>(*input);
    step(now, *input, down ? LinkChange::Down : LinkChange::None);
  } else if (const auto* link = std::get_if<LinkEstablished>(&item)) {
    new_term_ = std::max(new_term_.value_or(0), link->welcome.term);
    step(now, io::LinkUp{}, LinkChange::Up);
  } else if (auto* local = std::get_if<LocalRequest>(&item)) {
    const core::RequestId request = next_request_++;
    replies_.emplace(request, std::move(local->reply));
    std::visit([&](auto& one) { one.request = request; }, local->input);
    std::visit([&](const auto& one) { step(now, one); }, local->input);
  } else {
    held_.hold({.effects = {}, .deferred = std::move(item), .link = LinkChange::None});
  }
}

void AgentLoop::step(Timestamp now, const io::AgentInput& input, LinkChange link) {
  auto effects = core_.step(now, input);
  std::vector<io::Ack> own;
  for (const auto& write : effects.writes) {
    const auto* put = std::get_if<io::PutEntry>(&write);
    if (put == nullptr || !put->entry->is_final() || put->entry->acked) continue;
    own.push_back({put->entry->id, put->entry->attempt});
  }
  take_effects(std::move(effects), link);
  if (!options_.standalone) return;
  for (const auto& ack : own) take_effects(core_.step(now, ack), LinkChange::None);
}

void AgentLoop::take_effects(io::AgentEffects effects, LinkChange link) {
  writes_.insert(writes_.end(), effects.writes.begin(), effects.writes.end());
  held_.hold({.effects = std::move(effects), .deferred = std::nullopt, .link = link});
}

void AgentLoop::tick_if_due() {
  const Timestamp now = options_.clock();
  // A clock that was set back would otherwise keep deadlines away for as long as it was set back.
  const bool set_back = now < last_now_;
  last_now_ = now;
  const auto due = core_.next_deadline();
  if (due && (*due <= now || set_back)) step(now, io::AgentTick{});
}

bool AgentLoop::settle() {
  const auto ticket = held_.close_group(true);
  if (!commit()) return false;
  while (auto pending = held_.take(*ticket)) release(*pending);
  if (!outgoing_.empty()) link_->send_all(outgoing_);
  outgoing_.clear();
  return true;
}

bool AgentLoop::commit() {
  const auto started = Inbox::Clock::now();
  for (std::uint32_t attempt = 1;; ++attempt) {
    const auto done = journal_.commit(writes_, new_term_);
    if (done) {
      writes_.clear();
      new_term_.reset();
      set_health(attempt > 1 ? JournalHealth{} : std::optional<JournalHealth>());
      return true;
    }
    const Error& error = done.error();
    if (error.code == ErrorCode::Fenced) {
      log::error("another process has taken the journal over", {{"problem", error.message}});
      if (options_.on_fatal) options_.on_fatal(error);
      return false;
    }
    if (attempt == 1) {
      set_health(JournalHealth{false, error.message, options_.clock()});
    } else if (Inbox::Clock::now() - started >= to_chrono(options_.hold_max)) {
      refuse_waiting({ErrorCode::StoreUnavailable,
                      fmt::format("the journal refuses writes: {}; what was asked for may still "
                                  "happen when it takes them again",
                                  error.message)});
    }
    if (inbox_.wait_closed(to_chrono(options_.commit_backoff.delay(attempt)))) return false;
  }
}

// Logs once when the journal begins to refuse, and once when it takes writes again.
void AgentLoop::set_health(std::optional<JournalHealth> changed) {
  if (!changed) return;
  if (changed->ok) {
    log::info("journal takes writes again", {{"problem_was", health().problem}});
  } else {
    log::error("journal refuses writes; everything waits until it takes them",
               {{"problem", changed->problem}});
  }
  const std::lock_guard lock(health_mutex_);
  health_ = *std::move(changed);
}

void AgentLoop::release(Pending& pending) {
  if (pending.deferred) return read_deferred(*pending.deferred);
  if (pending.link == LinkChange::Down) {
    outgoing_.clear();
    output_->drop_link_requests();
  }
  log_ends(pending.effects);
  log_starts(pending.effects);
  release_->let_out(pending.effects, pending.link);
}

void AgentLoop::answer(io::LocalReply& reply) {
  const auto found = replies_.find(reply.request);
  if (found == replies_.end()) return;
  const auto callback = std::move(found->second);
  replies_.erase(found);
  if (auto* error = std::get_if<Error>(&reply.body)) {
    callback(fail(std::move(*error)));
  } else {
    callback(std::get<core::JournalEntryPtr>(std::move(reply.body)));
  }
}

void AgentLoop::read_deferred(InboxItem& item) {
  const auto now = Inbox::Clock::now();
  if (auto* query = std::get_if<CoreQuery>(&item)) {
    query->reply(&core_);
  } else if (auto* output = std::get_if<OutputRequest>(&item)) {
    output_->request(std::move(*output), now);
  } else if (const auto* log = std::get_if<rpc::LogRequest>(&item)) {
    const auto reply = [this, number = log->request,
                        offset = log->offset](Result<exec::OutputChunk> chunk) {
      if (!chunk) return;
      link_->send_log_chunk({.request = number,
                             .offset = offset,
                             .data = std::move(chunk->data),
                             .end = chunk->end,
                             .known = chunk->known,
                             .truncated = chunk->truncated});
    };
    output_->request({.id = log->id,
                      .attempt = log->attempt,
                      .offset = log->offset,
                      .limit = log->limit,
                      .wait = log->wait,
                      .delay = {},
                      .from_link = true,
                      .reply = reply},
                     now);
  }
}

// Whoever waits for an answer gets this one instead.
void AgentLoop::refuse_waiting(const Error& error) {
  for (const auto& [request, callback] : std::exchange(replies_, {})) callback(fail(Error(error)));
  held_.for_each([&](Pending& pending) {
    if (pending.deferred) refuse(*std::exchange(pending.deferred, std::nullopt), error);
  });
  for (const auto& item : inbox_.take_requests()) refuse(item, error);
}

Inbox::Clock::time_point AgentLoop::wake_time() const {
  const auto now = Inbox::Clock::now();
  Duration sleep = kSleepMax;
  if (const auto due = core_.next_deadline()) {
    sleep = std::clamp(*due - options_.clock(), kSleepMin, kSleepMax);
  }
  auto wake = now + to_chrono(sleep);
  if (const auto parked = output_->next_deadline()) wake = std::min(wake, *parked);
  return wake;
}

}  // namespace muster::agent
