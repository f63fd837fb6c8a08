#include "sim/network.h"

namespace muster::sim {
namespace {

constexpr Duration kHeartbeat = Duration::seconds(5);
constexpr std::int64_t kSilentBeats = 3;
constexpr std::size_t kOutboxMax = std::size_t{64} << 20;
constexpr Duration kLookAgain = Duration::millis(250);

Stream::Direction& direction(Stream& stream, Toward toward) {
  return toward == Toward::Controller ? stream.up : stream.down;
}

}  // namespace

void Network::listen(std::size_t controller, Accept accept) {
  listeners_[controller] = std::move(accept);
}

StreamPtr Network::dial(std::size_t agent, std::size_t controller,
                        const std::shared_ptr<StreamEnd>& end) {
  auto stream = std::make_shared<Stream>();
  stream->number = ++last_stream_;
  stream->agent = agent;
  stream->controller = controller;
  stream->agent_end = end;
  newest_[agent] = stream;
  return stream;
}

Duration Network::latency() {
  return context_.random.between(Duration::micros(100), context_.swarm.latency_max);
}

void Network::send(const StreamPtr& stream, Toward toward, std::string bytes) {
  if (!direction(*stream, toward).open) return;
  Stream::Parcel parcel{context_.queue.now() + latency(), std::move(bytes), false};
  if (context_.strikes(Fault::MessageLost)) {
    context_.note(agent_name(stream->agent), "-f", "stream {} loses a frame", stream->number);
    return;
  }
  if (context_.strikes(Fault::MessageDelayed)) {
    parcel.due = parcel.due + context_.random.between(Duration::millis(100), Duration::seconds(8));
  }
  if (context_.strikes(Fault::MessageDuplicated)) put(stream, toward, parcel);
  auto& parcels = direction(*stream, toward).parcels;
  const bool swaps = !parcels.empty() && context_.strikes(Fault::MessageReordered);
  put(stream, toward, std::move(parcel));
  if (swaps) std::swap(parcels[parcels.size() - 1].bytes, parcels[parcels.size() - 2].bytes);
}

void Network::close(const StreamPtr& stream, Toward toward, const std::string& reason,
                    bool silent) {
  auto& way = direction(*stream, toward);
  if (!way.open) return;
  way.open = false;
  if (!silent) put(stream, toward, {context_.queue.now() + latency(), reason, true});
}

void Network::put(const StreamPtr& stream, Toward toward, Stream::Parcel parcel) {
  auto& way = direction(*stream, toward);
  way.parcels.push_back(std::move(parcel));
  if (way.pumping) return;
  way.pumping = true;
  context_.queue.at(way.parcels.front().due, [this, stream, toward] { pump(stream, toward); });
}

void Network::pump(const StreamPtr& stream, Toward toward) {
  auto& way = direction(*stream, toward);
  if (way.parcels.empty()) {
    way.pumping = false;
    return;
  }
  if (is_blocked(stream->agent, stream->controller, toward)) {
    // As TCP does: it is sent again until it gets through, or its sender has given up.
    context_.queue.after(kLookAgain, [this, stream, toward] { pump(stream, toward); });
    return;
  }
  const Stream::Parcel parcel = std::move(way.parcels.front());
  way.parcels.pop_front();
  deliver(stream, toward, parcel);
  if (way.parcels.empty()) {
    way.pumping = false;
    return;
  }
  context_.queue.at(way.parcels.front().due, [this, stream, toward] { pump(stream, toward); });
}

void Network::deliver(const StreamPtr& stream, Toward toward, const Stream::Parcel& parcel) {
  context_.digest.add(parcel.bytes);
  if (toward == Toward::Controller && !stream->accepted && !parcel.fin) {
    stream->accepted = true;
    auto end = listeners_.at(stream->controller)(stream);
    stream->controller_end = end;
    if (!end) {
      close(stream, Toward::Agent, "connection refused");
      return;
    }
  }
  const auto point = toward == Toward::Controller ? Point::ToController : Point::ToAgent;
  const auto node = toward == Toward::Controller ? stream->controller : stream->agent;
  if (context_.on_point) context_.on_point(point, node);
  const auto end =
      (toward == Toward::Controller ? stream->controller_end : stream->agent_end).lock();
  if (!end) return;
  if (parcel.fin) {
    end->on_closed(parcel.bytes);
  } else {
    end->on_frame(parcel.bytes);
  }
}

void Network::block(std::size_t agent, std::size_t controller, Toward toward) {
  blocked_.emplace(agent, controller, toward);
}

void Network::unblock(std::size_t agent, std::size_t controller, Toward toward) {
  const auto found = blocked_.find({agent, controller, toward});
  if (found != blocked_.end()) blocked_.erase(found);
}

bool Network::is_blocked(std::size_t agent, std::size_t controller, Toward toward) const {
  return blocked_.contains({agent, controller, toward});
}

bool Network::disconnect(std::size_t agent) {
  const auto stream = newest_[agent].lock();
  if (!stream || (!stream->up.open && !stream->down.open)) return false;
  for (const Toward toward : {Toward::Controller, Toward::Agent}) {
    auto& way = direction(*stream, toward);
    way.open = false;
    way.parcels.clear();
    put(stream, toward, {context_.queue.now() + latency(), "connection lost", true});
  }
  return true;
}

LinkEnd::LinkEnd(Context& context, Network& network, Toward toward)
    : context_(context), network_(network), toward_(toward), outbox_(kOutboxMax) {}

void LinkEnd::begin(StreamPtr stream) {
  stream_ = std::move(stream);
  heard_at_ = context_.queue.now();
  context_.queue.after(kHeartbeat, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->beat();
  });
}

void LinkEnd::send(std::string message) {
  if (!open_) return;
  if (const auto pushed = outbox_.push(std::move(message)); !pushed) {
    on_closed(pushed.error().message);
    return;
  }
  advance();
}

// While one frame is being written, messages gather for the next.
void LinkEnd::advance() {
  if (writing_ || outbox_.empty() || !open_) return;
  writing_ = true;
  network_.send(stream_, toward_, outbox_.take_frame().bytes);
  context_.queue.after(Duration::micros(context_.random.between(10, 300)),
                       [weak = weak_from_this()] {
                         const auto self = weak.lock();
                         if (!self) return;
                         self->writing_ = false;
                         self->advance();
                       });
}

void LinkEnd::beat() {
  if (!open_) return;
  if (context_.queue.now() - heard_at_ >= kHeartbeat * kSilentBeats) {
    close(fmt::format("nothing heard for {}", format_duration(kHeartbeat * kSilentBeats)));
    return;
  }
  if (outbox_.empty()) send(heartbeat());
  context_.queue.after(kHeartbeat, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->beat();
  });
}

void LinkEnd::close(const std::string& reason, bool silent) {
  if (!open_) return;
  open_ = false;
  const auto self = shared_from_this();
  network_.close(stream_, toward_, reason, silent);
  ended(reason);
}

void LinkEnd::on_frame(std::string_view bytes) {
  if (!open_) return;
  heard_at_ = context_.queue.now();
  const auto self = shared_from_this();
  if (const auto taken = take(bytes); !taken) close(taken.error().message);
}

void LinkEnd::on_closed(const std::string& reason) { close(reason); }

}  // namespace muster::sim
