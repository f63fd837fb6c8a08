#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "rpc/outbox.h"
#include "rpc/wire_codec.h"
#include "sim/context.h"

namespace muster::sim {

enum class Toward : std::uint8_t { Controller, Agent };

// What a process has of a stream. Held by its process alone, so that it dies with it.
class StreamEnd {
 public:
  virtual ~StreamEnd() = default;
  virtual void on_frame(std::string_view bytes) = 0;
  virtual void on_closed(const std::string& reason) = 0;
};

// One stream that an agent dialled. Within it bytes keep their order and arrive or end it, as TCP
// has it; the faults that break frames on top of that are what the numbering of frames must notice.
struct Stream {
  struct Parcel {
    Timestamp due;
    std::string bytes;
    bool fin = false;  // bytes is the reason
  };
  struct Direction {
    std::deque<Parcel> parcels;
    bool pumping = false;
    bool open = true;  // its sender has not closed it
  };

  std::uint64_t number = 0;
  std::size_t agent = 0;
  std::size_t controller = 0;
  bool accepted = false;
  std::weak_ptr<StreamEnd> agent_end;
  std::weak_ptr<StreamEnd> controller_end;
  Direction up;
  Direction down;
};
using StreamPtr = std::shared_ptr<Stream>;

// The network between agents and controllers.
class Network {
 public:
  // The process that listens on a controller's machine takes the stream, or null: nobody does.
  using Accept = std::function<std::shared_ptr<StreamEnd>(const StreamPtr&)>;

  explicit Network(Context& context) : context_(context) {}

  void listen(std::size_t controller, Accept accept);
  StreamPtr dial(std::size_t agent, std::size_t controller, const std::shared_ptr<StreamEnd>& end);
  void send(const StreamPtr& stream, Toward toward, std::string bytes);
  // The sender's side ends; the peer hears of it when the word gets through. With `silent` it
  // never does, as when a machine loses its power.
  void close(const StreamPtr& stream, Toward toward, const std::string& reason,
             bool silent = false);

  void block(std::size_t agent, std::size_t controller, Toward toward);
  void unblock(std::size_t agent, std::size_t controller, Toward toward);
  void unblock_all() { blocked_.clear(); }
  bool is_blocked(std::size_t agent, std::size_t controller, Toward toward) const;
  // Breaks the newest stream of an agent for both sides. False: it has none.
  bool disconnect(std::size_t agent);

 private:
  void put(const StreamPtr& stream, Toward toward, Stream::Parcel parcel);
  void pump(const StreamPtr& stream, Toward toward);
  void deliver(const StreamPtr& stream, Toward toward, const Stream::Parcel& parcel);
  Duration latency();

  Context& context_;
  std::map<std::size_t, Accept> listeners_;
  std::multiset<std::tuple<std::size_t, std::size_t, Toward>> blocked_;
  std::map<std::size_t, std::weak_ptr<Stream>> newest_;  // by agent
  std::uint64_t last_stream_ = 0;
};

// One side's real framing: the outbox that batches, the numbering, heartbeats and silence. What the
// messages mean is for the two sides.
class LinkEnd : public StreamEnd, public std::enable_shared_from_this<LinkEnd> {
 public:
  LinkEnd(Context& context, Network& network, Toward toward);

  void send(std::string message);
  void close(const std::string& reason, bool silent = false);
  bool is_open() const { return open_; }

  void on_frame(std::string_view bytes) final;
  void on_closed(const std::string& reason) final;

 protected:
  // Starts the heartbeats.
  void begin(StreamPtr stream);
  // Takes what a frame carries; an error ends the stream.
  virtual Result<void> take(std::string_view bytes) = 0;
  virtual std::string heartbeat() const = 0;
  // The stream has ended, from whichever side.
  virtual void ended(const std::string& reason) = 0;
  Result<bool> accept(std::uint64_t seq) { return sequence_.accept(seq); }

  Context& context_;

 private:
  void advance();
  void beat();

  Network& network_;
  const Toward toward_;
  StreamPtr stream_;
  rpc::Outbox outbox_;
  rpc::FrameSequence sequence_;
  bool writing_ = false;
  bool open_ = true;
  Timestamp heard_at_;
};

}  // namespace muster::sim
