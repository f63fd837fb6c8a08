#include "sim/controller_process.h"

#include <algorithm>

#include "base/backoff.h"
#include "store/engine_loader.h"
#include "store/model_loader.h"

namespace muster::sim {
namespace {

constexpr std::size_t kGroupMax = 8;
constexpr Duration kSleepMax = Duration::seconds(60);
constexpr Backoff kRetry{Duration::millis(100), Duration::seconds(5)};

Uuid random_uuid(Random& random) {
  const std::uint64_t high = random.next();
  return Uuid::v4(high, random.next());
}

}  // namespace

ServerEnd::ServerEnd(Context& context, Network& network, core::SessionId session,
                     std::weak_ptr<ControllerProcess> owner)
    : LinkEnd(context, network, Toward::Agent), session_(session), owner_(std::move(owner)) {}

Result<void> ServerEnd::take(std::string_view bytes) {
  MUSTER_TRY_ASSIGN(rpc::AgentFrame frame, rpc::decode_agent_frame(bytes));
  MUSTER_TRY_ASSIGN(const bool fresh, accept(frame.seq));
  const auto owner = owner_.lock();
  if (!fresh || !owner) return {};
  for (rpc::FromAgent& message : frame.messages) {
    MUSTER_TRY(take_message(std::move(message), *owner));
  }
  return {};
}

Result<void> ServerEnd::take_message(rpc::FromAgent message, ControllerProcess& owner) {
  if (auto* identity = std::get_if<core::AgentIdentity>(&message)) {
    if (!agent_.empty()) return fail(ErrorCode::DecodeFailed, "a second hello on one stream");
    agent_ = identity->name;
    send(rpc::encode_welcome(owner.welcome()));
    owner.post(core::AgentConnected{session_, std::move(*identity)});
    return {};
  }
  if (agent_.empty()) return fail(ErrorCode::DecodeFailed, "the first message must be a hello");
  if (auto* page = std::get_if<core::AgentSyncPage>(&message)) {
    page->session = session_;
    owner.post(std::move(*page));
  } else if (auto* action = std::get_if<core::AgentAction>(&message)) {
    owner.post(core::AgentReport{session_, std::move(*action)});
  } else if (std::holds_alternative<rpc::Heartbeat>(message)) {
    owner.post(core::AgentHeartbeat{session_});
  }
  return {};
}

void ServerEnd::ended(const std::string& reason) {
  const auto owner = owner_.lock();
  if (!owner) return;
  if (!agent_.empty()) owner->post(core::AgentDisconnected{session_, reason});
  owner->forget_session(session_);
}

ControllerProcess::ControllerProcess(Context& context, Network& network, store::MemoryStore& store,
                                     std::size_t machine, Clock clock)
    : context_(context),
      network_(network),
      store_(store),
      machine_(machine),
      clock_(std::move(clock)),
      held_(context.bug == Bug::SendBeforeCommit ? context.bug : Bug::None) {}

Result<void> ControllerProcess::start(const core::EngineOptions& options) {
  MUSTER_TRY_ASSIGN(welcome_.term, store_.acquire_term());
  welcome_.controller_id = fmt::format("{}.{}", name(), welcome_.term);
  core::EngineOptions own = options;
  own.instance_id = welcome_.controller_id;
  engine_.emplace(std::move(own));
  jobs_ = std::make_shared<JobBench>(context_, [weak = weak_from_this()](core::Input input) {
    if (const auto self = weak.lock()) self->post(std::move(input));
  });
  MUSTER_TRY(store::load_engine(store_, *engine_, clock_(),
                                [](store::Space, std::string_view, const Error&) {}));
  context_.note(name(), "^", "starts with term {}", welcome_.term);
  std::vector<core::Write> writes;
  hold(engine_->start(tell_time()), writes);
  commit(std::move(writes));
  wake({});
  return {};
}

void ControllerProcess::die(bool silent) {
  dead_ = true;
  for (const auto& [session, end] : std::map(sessions_)) end->close("connection lost", silent);
  sessions_.clear();
  jobs_->stop();
}

void ControllerProcess::request(Request request, Reply reply) {
  if (dead_) return;
  if (!store_ok_) {
    reply({0, Error{ErrorCode::StoreUnavailable, "the store refuses writes"}});
    return;
  }
  if (auto* submit = std::get_if<core::Submit>(&request)) {
    submit->fresh_ids.clear();
    for (std::size_t i = 0; i < submit->actions.size(); ++i) {
      submit->fresh_ids.push_back(random_uuid(context_.random));
    }
  }
  const core::RequestId id = ++last_request_;
  std::visit([id](auto& each) { each.request = id; }, request);
  replies_.emplace(id, std::move(reply));
  std::visit([this](auto& each) { post(core::Input(std::move(each))); }, request);
}

void ControllerProcess::post(core::Input input) {
  if (dead_) return;
  inbox_.push_back(std::move(input));
  wake(Duration::micros(context_.random.between(1, 500)));
}

std::shared_ptr<StreamEnd> ControllerProcess::accept(const StreamPtr& stream) {
  if (dead_) return nullptr;
  const core::SessionId session = (welcome_.term << 32) + ++last_session_;
  auto end = std::make_shared<ServerEnd>(context_, network_, session, weak_from_this());
  end->accept_stream(stream);
  sessions_.emplace(session, end);
  return end;
}

void ControllerProcess::wake(Duration delay) {
  if (awake_) return;
  awake_ = true;
  context_.queue.after(delay, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->work();
  });
}

Timestamp ControllerProcess::tell_time() {
  last_now_ = std::max(last_now_, clock_());
  return last_now_;
}

void ControllerProcess::work() {
  awake_ = false;
  if (dead_) return;
  release();
  std::vector<core::Write> writes;
  const std::size_t count =
      std::min(inbox_.size(), static_cast<std::size_t>(context_.random.between(1, kGroupMax)));
  for (std::size_t i = 0; i < count; ++i) {
    const core::Input input = std::move(inbox_.front());
    inbox_.pop_front();
    hold(engine_->step(tell_time(), input), writes);
  }
  if (const auto due = engine_->next_deadline(); due && *due <= tell_time()) {
    hold(engine_->step(last_now_, core::Tick{}), writes);
  }
  commit(std::move(writes));
  release();
  if (dead_) return;
  if (!inbox_.empty()) wake(Duration::micros(context_.random.between(1, 200)));
  arm_timer();
}

void ControllerProcess::arm_timer() {
  const auto due = engine_->next_deadline();
  if (!due) return;
  const Duration wait = std::clamp(*due - clock_(), Duration::micros(1), kSleepMax);
  const Timestamp at = context_.queue.now() + wait;
  if (timer_at_ > context_.queue.now() && timer_at_ <= at) return;
  timer_at_ = at;
  context_.queue.at(at, [weak = weak_from_this(), at] {
    const auto self = weak.lock();
    if (!self || self->timer_at_ != at) return;
    self->timer_at_ = {};
    self->wake({});
  });
}

void ControllerProcess::hold(core::Effects effects, std::vector<core::Write>& writes) {
  if (effects.empty()) return;
  for (const core::Write& write : effects.writes) writes.push_back(write);
  held_.hold(std::move(effects));
}

void ControllerProcess::commit(std::vector<core::Write> writes) {
  const auto ticket = held_.close_group(!writes.empty());
  if (!ticket) return;
  submissions_.push_back({*ticket, std::move(writes)});
  start_commit();
}

void ControllerProcess::start_commit() {
  if (committing_ || submissions_.empty()) return;
  committing_ = true;
  batch_ = store::encode_group(welcome_.term, submissions_);
  batch_ticket_ = submissions_.back().ticket;
  batch_attempt_ = 0;
  submissions_.clear();
  context_.queue.after(context_.disk_time() + context_.store_extra, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->write_batch();
  });
}

void ControllerProcess::write_batch() {
  if (dead_) return;
  ++batch_attempt_;
  context_.on_point(Point::StoreWrite, machine_);
  if (dead_) return;
  const Result<void> result = store_.commit(batch_);
  context_.note(name(), "w", "{} records, {} events: {}", batch_.records.size(),
                batch_.events.size(), result ? "ok" : result.error().message);
  context_.on_point(Point::StoreWritten, machine_);
  if (dead_) return;
  context_.queue.after(context_.disk_time(), [weak = weak_from_this(), result] {
    if (const auto self = weak.lock()) self->written(result);
  });
}

void ControllerProcess::written(const Result<void>& result) {
  if (dead_) return;
  if (result) {
    durable_ = batch_ticket_;
    committing_ = false;
    store_ok_ = true;
    start_commit();
    wake({});
    return;
  }
  if (!store::can_be_retried(result.error())) {
    const auto self = shared_from_this();
    context_.note(name(), "x", "ends: {}", result.error().message);
    if (on_end_) on_end_(result.error());
    return;
  }
  if (store_ok_) store_problem(result.error());
  context_.queue.after(kRetry.delay(batch_attempt_), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->write_batch();
  });
}

void ControllerProcess::store_problem(const Error& error) {
  store_ok_ = false;
  for (const auto& [id, reply] : std::exchange(replies_, {})) {
    reply({id, Error{ErrorCode::StoreUnavailable, error.message}});
  }
}

void ControllerProcess::release() {
  while (auto effects = held_.take(durable_)) {
    let_out(*effects);
    if (dead_) return;
  }
}

void ControllerProcess::let_out(core::Effects& effects) {
  for (const core::AgentSend& send : effects.sends) let_out(send);
  for (const core::Job& job : effects.jobs) {
    if (const auto* start = std::get_if<core::StartJob>(&job)) {
      context_.note(name(), "j", "job {} #{}", start->action->id().short_id(),
                    start->action->attempt);
      context_.checks.on_job(*start);
    }
    jobs_->run(job);
  }
  for (const core::Write& write : effects.writes) {
    const auto* append = std::get_if<core::AppendEvent>(&write);
    if (append == nullptr) continue;
    context_.checks.on_event(append->event);
    context_.note(name(), "e", "{} {} {} {}", append->event.type,
                  append->event.subject.substr(0, 8), append->event.status, append->event.reason);
  }
  for (const core::Reply& reply : effects.replies) {
    const auto found = replies_.find(reply.request);
    if (found == replies_.end()) continue;
    const Reply answer = std::move(found->second);
    replies_.erase(found);
    context_.checks.on_reply(reply);
    answer(reply);
  }
  for (const core::Lookup& lookup : effects.lookups) {
    inbox_.push_front(store::answer_lookup(store_, lookup));
    wake({});
  }
  for (const core::ReadRevisions& read : effects.revision_reads) {
    inbox_.push_front(store::answer_revisions(store_, engine_->model()->schema, read));
    wake({});
  }
}

void ControllerProcess::let_out(const core::AgentSend& send) {
  const auto found = sessions_.find(send.session);
  if (found == sessions_.end()) return;
  const auto end = found->second;
  if (const auto* close = std::get_if<core::CloseSession>(&send.message)) {
    end->close(close->reason);
    return;
  }
  context_.checks.on_send(end->agent(), send);
  if (auto message = rpc::encode_send(send)) end->send(std::move(*message));
}

}  // namespace muster::sim
