#include "controller/engine_loop.h"

#include <algorithm>
#include <chrono>

#include "log/log.h"
#include "log/thread_name.h"
#include "store/engine_loader.h"
#include "store/model_loader.h"

namespace muster::controller {
namespace {

constexpr std::size_t kGroupMax = 2000;
// Steps that may wait for the store. Beyond it the loop waits too, and the inbox fills.
constexpr std::size_t kHeldMax = 50'000;
// A group that is small, and that nothing else waits behind, is committed by the loop itself: the
// change to the committer's thread and back would take about as long as the commit.
constexpr std::size_t kOwnCommitMax = 16;

}  // namespace

EngineLoop::EngineLoop(ControllerOptions options, store::Store& store, Outlets& outlets,
                       core::Engine engine)
    : options_(std::move(options)), store_(store), outlets_(outlets), engine_(std::move(engine)) {}

EngineLoop::~EngineLoop() { stop(); }

void EngineLoop::begin(store::Term term, core::Effects first) {
  store::CommitterOptions committer_options;
  committer_options.retention = options_.retention;
  committer_options.clock = options_.clock;
  committer_ = std::make_unique<store::Committer>(
      store_, term, committer_options,
      store::CommitterCallbacks{
          .on_committed = [this](std::uint64_t ticket) { committed(ticket); },
          .on_problem = [this](const Error& error) { store_problem(error); },
          .on_recovered = [this] { store_recovered(); },
          .on_fatal = [this](const Error& error) { fatal(error); },
          .on_commit_took = [this](Duration duration) { outlets_.commit_took(duration); },
          .on_purge_failed =
              [](const Error& error) {
                log::warn("old history could not be removed", {{"problem", error.message}});
              }});
  std::vector<core::Write> writes;
  hold(std::move(first), writes);
  commit(std::move(writes));
  thread_ = std::thread([this] { run(); });
}

core::Submit EngineLoop::prepare(core::Submit submit) {
  submit.fresh_ids.clear();
  submit.fresh_ids.reserve(submit.actions.size());
  for (std::size_t i = 0; i < submit.actions.size(); ++i) {
    submit.fresh_ids.push_back(Uuid::v4(options_.random(), options_.random()));
  }
  return submit;
}

void EngineLoop::request(Request request, ReplyCallback callback) {
  if (auto* submit = std::get_if<core::Submit>(&request)) *submit = prepare(std::move(*submit));
  std::optional<Error> refused;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || fatal_) {
      refused = Error{ErrorCode::Unavailable, "the controller is stopping"};
    } else if (!health_.store_ok) {
      refused = Error{ErrorCode::StoreUnavailable,
                      fmt::format("the store refuses writes: {}; new work is refused until it "
                                  "recovers",
                                  health_.store_problem)};
    } else if (inbox_.size() >= options_.inbox_max / 2) {
      refused = Error{ErrorCode::Overloaded,
                      fmt::format("{} inputs are waiting, which is the limit", inbox_.size())};
    } else {
      const core::RequestId id = ++last_request_;
      std::visit([id](auto& each) { each.request = id; }, request);
      callbacks_.emplace(id, std::move(callback));
      std::visit([this](auto& each) { inbox_.push_back(core::Input(std::move(each))); }, request);
    }
  }
  if (refused) {
    callback(core::Reply{0, std::move(*refused)});
    return;
  }
  work_.notify_one();
}

void EngineLoop::post(core::Input input) {
  {
    std::unique_lock lock(mutex_);
    has_room_.wait(lock, [this] { return inbox_.size() < options_.inbox_max || stopping_; });
    if (stopping_) return;
    inbox_.push_back(std::move(input));
  }
  work_.notify_one();
}

void EngineLoop::post_all(std::vector<core::Input> inputs) {
  {
    std::unique_lock lock(mutex_);
    has_room_.wait(lock, [this] { return inbox_.size() < options_.inbox_max || stopping_; });
    if (stopping_) return;
    for (core::Input& input : inputs) inbox_.push_back(std::move(input));
  }
  work_.notify_one();
}

void EngineLoop::query(Read read) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    inbox_.push_back(std::move(read));
  }
  work_.notify_one();
}

ControllerHealth EngineLoop::health() const {
  const std::lock_guard lock(mutex_);
  ControllerHealth health = health_;
  health.inbox = inbox_.size();
  return health;
}

void EngineLoop::on_fatal(std::function<void(Error)> callback) {
  std::optional<Error> already;
  {
    const std::lock_guard lock(mutex_);
    on_fatal_ = callback;
    already = fatal_;
  }
  if (already) callback(*already);
}

void EngineLoop::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
  }
  work_.notify_all();
  has_room_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (!committer_) return;
  if (const auto stopped = committer_->stop(); !stopped) {
    log::error("stopped with writes that are not durable", {{"problem", stopped.error().message}});
  }
}

Timestamp EngineLoop::tell_time() {
  // The engine's time never goes back, whatever the clock of the machine does.
  last_now_ = std::max(last_now_, options_.clock());
  return last_now_;
}

bool EngineLoop::wait_for_work(std::vector<Item>& taken) {
  std::unique_lock lock(mutex_);
  const auto deadline = engine_.next_deadline();
  const auto ready = [this] {
    const bool can_release = held_.can_release(durable_);
    const bool can_take = !inbox_.empty() && held_.size() < kHeldMax;
    return stopping_ || fatal_.has_value() || can_release || can_take;
  };
  if (!deadline) {
    work_.wait(lock, ready);
  } else if (*deadline > last_now_) {
    const auto wait = std::min(*deadline - options_.clock(), Duration::seconds(60));
    if (wait.us > 0) work_.wait_for(lock, std::chrono::microseconds(wait.us), ready);
  }
  if (stopping_ || fatal_) return false;
  if (held_.size() < kHeldMax) {
    const std::size_t count = std::min(inbox_.size(), kGroupMax);
    taken.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      taken.push_back(std::move(inbox_.front()));
      inbox_.pop_front();
    }
  }
  health_.uncommitted = held_.size();
  lock.unlock();
  if (!taken.empty()) has_room_.notify_all();
  return true;
}

void EngineLoop::run() {
  log::name_thread("engine");
  std::vector<Item> taken;
  while (wait_for_work(taken)) {
    release();
    work(std::move(taken));
    taken = {};
    release();
  }
  // What was computed but not yet handed out is dropped: whoever waited for it was not answered,
  // and the store has, or will not have, what it depended on.
}

void EngineLoop::work(std::vector<Item> items) {
  std::vector<core::Write> writes;
  std::uint64_t steps = 0;
  for (Item& item : items) {
    if (auto* input = std::get_if<core::Input>(&item)) {
      hold(engine_.step(tell_time(), *input), writes);
      ++steps;
    } else {
      held_.hold(std::move(std::get<Read>(item)));
    }
  }
  if (const auto deadline = engine_.next_deadline(); deadline && *deadline <= tell_time()) {
    hold(engine_.step(last_now_, core::Tick{}), writes);
    ++steps;
  }
  commit(std::move(writes));
  const std::lock_guard lock(mutex_);
  health_.steps += steps;
}

void EngineLoop::hold(core::Effects effects, std::vector<core::Write>& writes) {
  if (effects.empty()) return;
  for (const core::Write& write : effects.writes) writes.push_back(write);
  held_.hold(std::move(effects));
}

void EngineLoop::commit(std::vector<core::Write> writes) {
  const auto ticket = held_.close_group(!writes.empty());
  if (!ticket) return;
  bool is_idle = false;
  if (writes.size() <= kOwnCommitMax) {
    const std::lock_guard lock(mutex_);
    is_idle = inbox_.empty();
  }
  if (!is_idle) {
    committer_->submit(*ticket, std::move(writes));
  } else if (committer_->commit_or_submit(*ticket, std::move(writes))) {
    note_durable(*ticket);
  }
}

void EngineLoop::release() {
  std::uint64_t durable = 0;
  {
    const std::lock_guard lock(mutex_);
    durable = durable_;
  }
  if (!held_.can_release(durable)) return;
  std::vector<core::Reply> replies;
  while (auto held = held_.take(durable)) {
    if (auto* effects = std::get_if<core::Effects>(&*held)) {
      release_effects(*effects);
      for (core::Reply& reply : effects->replies) replies.push_back(std::move(reply));
    } else {
      std::get<Read> (*held)(engine_, tell_time());
    }
  }
  // Agents before clients: an agent begins to work, a client only learns that it will.
  outlets_.flush();
  for (const core::Reply& reply : replies) answer(reply);
}

void EngineLoop::release_effects(const core::Effects& effects) {
  for (const core::AgentSend& send : effects.sends) outlets_.send_to_agent(send);
  for (const core::Job& job : effects.jobs) outlets_.run_job(job);
  for (const core::Measurement& measurement : effects.measurements) outlets_.measured(measurement);
  for (const core::Write& write : effects.writes) {
    if (const auto* append = std::get_if<core::AppendEvent>(&write))
      outlets_.publish(append->event);
  }
  for (const core::Lookup& lookup : effects.lookups) {
    post_first(store::answer_lookup(store_, lookup));
  }
  for (const core::ReadRevisions& read : effects.revision_reads) {
    post_first(store::answer_revisions(store_, *options_.engine.schema, read));
  }
  for (const core::AskModel& ask : effects.questions) outlets_.ask_model(ask);
}

void EngineLoop::answer(const core::Reply& reply) {
  ReplyCallback callback;
  {
    const std::lock_guard lock(mutex_);
    const auto found = callbacks_.find(reply.request);
    if (found == callbacks_.end()) return;
    callback = std::move(found->second);
    callbacks_.erase(found);
  }
  callback(reply);
}

void EngineLoop::post_first(core::Input answer) {
  const std::lock_guard lock(mutex_);
  inbox_.push_front(std::move(answer));
}

void EngineLoop::note_durable(std::uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  durable_ = std::max(durable_, ticket);
  ++health_.commits;
}

void EngineLoop::committed(std::uint64_t ticket) {
  note_durable(ticket);
  work_.notify_one();
}

void EngineLoop::store_problem(const Error& error) {
  log::error("the store refuses writes", {{"problem", error.message}});
  std::map<core::RequestId, ReplyCallback> waiting;
  {
    const std::lock_guard lock(mutex_);
    health_.store_ok = false;
    health_.store_problem = error.message;
    health_.store_problem_since = options_.clock();
    waiting.swap(callbacks_);
  }
  // These requests are computed but not durable. They will be once the store recovers, unless the
  // controller dies before; whoever asked is told so instead of being left to wait.
  for (auto& [id, callback] : waiting) {
    callback(core::Reply{
        id, Error{ErrorCode::StoreUnavailable,
                  fmt::format("the store refuses writes: {}; the outcome of this request is not "
                              "known yet, repeat it with the same Idempotency-Key",
                              error.message)}});
  }
}

void EngineLoop::store_recovered() {
  log::info("the store accepts writes again", {});
  {
    const std::lock_guard lock(mutex_);
    health_.store_ok = true;
    health_.store_problem.clear();
    health_.store_problem_since = {};
  }
  work_.notify_one();
}

void EngineLoop::fatal(const Error& error) {
  std::function<void(Error)> callback;
  {
    const std::lock_guard lock(mutex_);
    fatal_ = error;
    callback = on_fatal_;
  }
  work_.notify_all();
  has_room_.notify_all();
  if (callback) callback(error);
}

}  // namespace muster::controller
