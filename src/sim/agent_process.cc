#include "sim/agent_process.h"

#include <algorithm>

#include "base/backoff.h"

namespace muster::sim {
namespace {

namespace io = core::agent;

constexpr std::int64_t kBatchMax = 8;
constexpr Duration kSleepMin = Duration::millis(5);
constexpr Duration kSleepMax = Duration::seconds(30);
constexpr Duration kDialTimeout = Duration::seconds(10);
constexpr Duration kStableSession = Duration::seconds(30);
constexpr Duration kHoldMax = Duration::seconds(5);
constexpr Backoff kDialBackoff{Duration::millis(200), Duration::seconds(15)};
constexpr Backoff kWriteBackoff{Duration::millis(100), Duration::seconds(5)};

}  // namespace

ClientEnd::ClientEnd(Context& context, Network& network, std::weak_ptr<AgentProcess> owner)
    : LinkEnd(context, network, Toward::Controller), owner_(std::move(owner)) {}

void ClientEnd::dial(const StreamPtr& stream, const core::AgentIdentity& identity) {
  began_ = context_.queue.now();
  begin(stream);
  send(rpc::encode_hello(identity));
  context_.queue.after(kDialTimeout, [weak = weak_from_this()] {
    const auto self = std::static_pointer_cast<ClientEnd>(weak.lock());
    if (self && !self->up_) self->close("no welcome");
  });
}

Result<void> ClientEnd::take(std::string_view bytes) {
  MUSTER_TRY_ASSIGN(rpc::ControllerFrame frame, rpc::decode_controller_frame(bytes));
  MUSTER_TRY_ASSIGN(const bool fresh, accept(frame.seq));
  const auto owner = owner_.lock();
  if (!fresh || !owner) return {};
  for (rpc::FromController& message : frame.messages) {
    MUSTER_TRY(take_message(std::move(message), *owner));
  }
  return {};
}

Result<void> ClientEnd::take_message(rpc::FromController message, AgentProcess& owner) {
  if (!up_) {
    const auto* welcome = std::get_if<rpc::Welcome>(&message);
    if (welcome == nullptr) return fail(ErrorCode::DecodeFailed, "the first is not a welcome");
    if (welcome->term < owner.highest_term()) {
      return fail(ErrorCode::Fenced, "a controller with a higher term has taken over");
    }
    up_ = true;
    owner.on_up(*welcome);
    return {};
  }
  if (auto* schedule = std::get_if<io::Schedule>(&message)) {
    owner.post(std::move(*schedule));
  } else if (auto* signal = std::get_if<io::SignalFromController>(&message)) {
    owner.post(std::move(*signal));
  } else if (auto* ack = std::get_if<io::Ack>(&message)) {
    owner.post(*ack);
  } else if (auto* sync = std::get_if<io::SyncRequest>(&message)) {
    owner.post(*sync);
  }
  return {};
}

void ClientEnd::ended(const std::string& reason) {
  if (const auto owner = owner_.lock()) owner->on_stream_ended(*this, reason);
}

AgentProcess::AgentProcess(Context& context, Network& network, Runners& runners, std::size_t agent,
                           std::size_t controllers, Clock clock)
    : context_(context),
      network_(network),
      runners_(runners),
      agent_(agent),
      controllers_(controllers),
      clock_(std::move(clock)),
      held_(context.bug == Bug::AckBeforeJournal ? context.bug : Bug::None) {}

Result<void> AgentProcess::start(store::MemoryStore& disk, io::AgentCoreOptions options) {
  MUSTER_TRY_ASSIGN(agent::Journal journal, agent::Journal::open(disk, clock_(), [this] {
                      return context_.random.next();
                    }));
  journal_.emplace(std::move(journal));
  highest_term_ = journal_->controller_term();
  identity_.name = name();
  identity_.journal_id = journal_->id();
  identity_.instance_id = fmt::format("{}.{}", name(), context_.random.below(1'000'000));
  identity_.kinds = options.kinds;
  context_.note(name(), "^", "starts with {} entries, journal {}", journal_->entries().size(),
                journal_->id().substr(0, 8));
  core_.emplace(std::move(options));
  runners_.listen(this);
  release_.emplace(runners_, *this,
                   agent::StepRelease::Outlets{
                       .send = [this](const io::AgentMessage& message) { send(message); },
                       .answer = [this](io::LocalReply& reply) { answer(reply); }});
  std::set<std::pair<core::ActionId, std::uint32_t>> journalled;
  for (auto& entry : journal_->take_entries()) {
    journalled.emplace(entry->id, entry->attempt);
    core_->restore(std::move(entry));
  }
  runners_.forget_unknown(journalled);
  take_effects(core_->recover(clock_()), agent::LinkChange::None);
  settle();
  dial();
  return {};
}

void AgentProcess::die(bool silent) {
  dead_ = true;
  runners_.listen(nullptr);
  if (const auto end = std::exchange(end_, nullptr)) end->close("connection lost", silent);
}

void AgentProcess::request(LocalRequest request, LocalAnswer answer) {
  if (dead_) return;
  if (busy_ && write_attempt_ > 1) {
    answer(fail(ErrorCode::StoreUnavailable, "the journal refuses writes"));
    return;
  }
  const core::RequestId id = next_request_++;
  answers_.emplace(id, std::move(answer));
  std::visit([id](auto& each) { each.request = id; }, request);
  std::visit([this](auto& each) { post(std::move(each)); }, request);
}

void AgentProcess::on_up(const rpc::Welcome& welcome) {
  context_.note(name(), "=", "connected to {}", welcome.controller_id);
  highest_term_ = std::max(highest_term_, welcome.term);
  inbox_.push_back({io::LinkUp{}, welcome});
  wake(Duration::micros(context_.random.between(1, 500)));
}

void AgentProcess::post(io::AgentInput input) {
  if (dead_) return;
  inbox_.push_back({std::move(input), std::nullopt});
  wake(Duration::micros(context_.random.between(1, 500)));
}

void AgentProcess::on_stream_ended(const ClientEnd& end, const std::string& reason) {
  if (dead_) return;
  if (end.was_up()) {
    context_.note(name(), "/", "disconnected: {}", reason);
    if (context_.queue.now() - end.began() > kStableSession) dials_ = 0;
    post(io::LinkDown{});
  } else {
    next_controller_ = (next_controller_ + 1) % controllers_;
  }
  if (end_.get() == &end) end_.reset();
  const Duration delay = kDialBackoff.jittered(++dials_, context_.random.next());
  context_.queue.after(delay, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->dial();
  });
}

void AgentProcess::dial() {
  if (dead_ || end_) return;
  end_ = std::make_shared<ClientEnd>(context_, network_, weak_from_this());
  end_->dial(network_.dial(agent_, next_controller_, end_), identity_);
}

void AgentProcess::on_ended(const core::ActionId& id, std::uint32_t attempt,
                            exec::RunResult result) {
  post(io::RunEnded{id, attempt, result.result, std::move(result.reason),
                    std::move(result.outputs)});
}

void AgentProcess::on_suspended(const core::ActionId& id, std::uint32_t attempt, bool suspended) {
  post(io::RunSuspended{id, attempt, suspended});
}

void AgentProcess::wake(Duration delay) {
  if (awake_ || busy_) return;
  awake_ = true;
  context_.queue.after(delay, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->work();
  });
}

void AgentProcess::work() {
  awake_ = false;
  if (dead_ || busy_) return;
  const std::size_t count =
      std::min(inbox_.size(), static_cast<std::size_t>(context_.random.between(1, kBatchMax)));
  for (std::size_t i = 0; i < count; ++i) {
    const Item item = std::move(inbox_.front());
    inbox_.pop_front();
    take_in(item);
  }
  tick_if_due();
  settle();
}

void AgentProcess::take_in(const Item& item) {
  auto link = agent::LinkChange::None;
  if (item.welcome) {
    new_term_ = std::max(new_term_.value_or(0), item.welcome->term);
    link = agent::LinkChange::Up;
  } else if (std::holds_alternative<io::LinkDown>(item.input)) {
    link = agent::LinkChange::Down;
  }
  take_effects(core_->step(clock_(), item.input), link);
}

void AgentProcess::take_effects(io::AgentEffects effects, agent::LinkChange link) {
  writes_.insert(writes_.end(), effects.writes.begin(), effects.writes.end());
  held_.hold({std::move(effects), link});
}

void AgentProcess::tick_if_due() {
  const Timestamp now = clock_();
  const bool set_back = now < last_now_;
  last_now_ = now;
  const auto due = core_->next_deadline();
  if (due && (*due <= now || set_back)) {
    take_effects(core_->step(now, io::AgentTick{}), agent::LinkChange::None);
  }
}

void AgentProcess::settle() {
  ticket_ = *held_.close_group(true);
  busy_ = true;
  busy_since_ = context_.queue.now();
  write_attempt_ = 0;
  release();
  // A batch without writes costs no visit to the disk.
  const Duration delay = writes_.empty() && !new_term_ ? Duration{} : context_.disk_time();
  context_.queue.after(delay, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->write_journal();
  });
}

void AgentProcess::write_journal() {
  if (dead_) return;
  ++write_attempt_;
  const bool visits_disk = !writes_.empty() || new_term_;
  if (visits_disk) context_.on_point(Point::JournalWrite, agent_);
  if (dead_) return;
  const Result<void> result = journal_->commit(writes_, new_term_);
  if (visits_disk) {
    context_.note(name(), "w", "{} entries: {}", writes_.size(),
                  result ? "ok" : result.error().message);
    context_.on_point(Point::JournalWritten, agent_);
  }
  if (dead_) return;
  const Duration delay = visits_disk ? context_.disk_time() : Duration{};
  context_.queue.after(delay, [weak = weak_from_this(), result] {
    if (const auto self = weak.lock()) self->written(result);
  });
}

void AgentProcess::written(const Result<void>& result) {
  if (dead_) return;
  if (!result) {
    if (context_.queue.now() - busy_since_ >= kHoldMax) refuse_waiting(result.error());
    context_.queue.after(kWriteBackoff.delay(write_attempt_), [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->write_journal();
    });
    return;
  }
  writes_.clear();
  new_term_.reset();
  busy_ = false;
  durable_ = ticket_;
  release();
  if (dead_) return;
  if (!inbox_.empty()) wake(Duration::micros(context_.random.between(1, 200)));
  arm_timer();
}

void AgentProcess::release() {
  while (auto held = held_.take(durable_)) {
    release_->let_out(held->effects, held->link);
    if (dead_) return;
  }
}

void AgentProcess::send(const io::AgentMessage& message) {
  if (!is_connected()) return;
  context_.checks.on_message(agent_, message);
  for (std::string& bytes : rpc::encode_agent_message(message)) {
    if (end_) end_->send(std::move(bytes));
  }
}

void AgentProcess::answer(io::LocalReply& reply) {
  const auto found = answers_.find(reply.request);
  if (found == answers_.end()) return;
  const LocalAnswer callback = std::move(found->second);
  answers_.erase(found);
  context_.checks.on_local_reply(agent_, reply);
  if (auto* error = std::get_if<Error>(&reply.body)) {
    callback(fail(std::move(*error)));
  } else {
    callback(std::get<core::JournalEntryPtr>(std::move(reply.body)));
  }
}

void AgentProcess::refuse_waiting(const Error& error) {
  for (const auto& [id, callback] : std::exchange(answers_, {})) {
    callback(fail(ErrorCode::StoreUnavailable, "the journal refuses writes: {}", error.message));
  }
}

void AgentProcess::arm_timer() {
  Duration sleep = kSleepMax;
  if (const auto due = core_->next_deadline()) {
    sleep = std::clamp(*due - clock_(), kSleepMin, kSleepMax);
  } else if (inbox_.empty()) {
    return;
  }
  const Timestamp at = context_.queue.now() + sleep;
  if (timer_at_ > context_.queue.now() && timer_at_ <= at) return;
  timer_at_ = at;
  context_.queue.at(at, [weak = weak_from_this(), at] {
    const auto self = weak.lock();
    if (!self || self->timer_at_ != at) return;
    self->timer_at_ = {};
    self->wake({});
  });
}

}  // namespace muster::sim
