#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/event.h"
#include "http/server.h"
#include "store/store.h"

namespace muster::controller {

// Which events a client wants. Values within a field are alternatives; both fields must match;
// empty: no constraint.
struct EventFilter {
  std::vector<std::string> type_prefixes;
  std::vector<std::string> subjects;

  bool matches(const core::Event& event) const;
};

struct EventHubOptions {
  std::size_t recent_max = 16'384;  // events kept in memory for subscribers that are up to date
  std::size_t page = 500;           // events read from the store at a time
  std::size_t subscribers_max = 2'000;
  std::size_t pause_bytes = std::size_t{1} << 20;  // unsent bytes at which catching up pauses
  Duration stall_max = Duration::seconds(30);      // pause after which a subscriber is cut
  Duration heartbeat = Duration::seconds(15);
};

// Fans the event log out to streams. Every subscriber gets each event after the one it named, once
// and in order: first what it missed from the store, then what is published.
//
// A subscriber is in one of two hands. The catch-up thread reads pages from the store for those
// that are behind, no faster than they read. As soon as the next event that one needs is among the
// recent ones in memory (or is still to come), it goes to the pump, which writes what is published;
// if a burst pushes that event out of memory first, it goes back. The pump is a thread too, but a
// few events for a few subscribers are pumped by whoever flushes, to spare the change of thread.
// Since events are published after their commit, the store is never behind what is published, so
// nothing can fall between the two; and since both hands skip what a subscriber's cursor has
// passed, nothing comes twice.
//
// Memory is bounded: recent events by count, unsent bytes by the stream, which cuts a client that
// does not keep up. A client that was cut resumes with the id of the last event that it got.
class EventHub {
 public:
  // `store` must outlive the hub.
  explicit EventHub(store::Store& store, EventHubOptions options = {});
  ~EventHub();  // closes every stream and joins
  EventHub(const EventHub&) = delete;
  EventHub& operator=(const EventHub&) = delete;

  // A committed event; in the order of seq. Any thread, one at a time; never waits for a client or
  // the store. It may stay here until flush().
  void publish(const core::Event& event);
  // Sends what was published on its way. Does not wait either.
  void flush();

  // Subscribes from after event `after`; none: from now on. `open` starts the stream and is called
  // only if the subscription is accepted. Reads the store. Errors: Compacted (events after `after`
  // are gone, or `after` is ahead of the log), Overloaded, and those of the store.
  using Opener = std::function<std::shared_ptr<http::Stream>()>;
  Result<void> subscribe(std::optional<std::uint64_t> after, EventFilter filter,
                         const Opener& open);

  std::size_t subscribers() const;
  std::uint64_t last_published() const;  // 0: none since the start

 private:
  struct Entry;
  struct Subscriber;
  using SubscriberPtr = std::shared_ptr<Subscriber>;
  using Clock = std::chrono::steady_clock;

  void pump();
  // REQUIRES: pump_mutex_ and mutex_ held; gives the second up meanwhile.
  void pump_round(std::unique_lock<std::mutex>& lock, bool heartbeat_due);
  void catch_up();
  bool catch_up_one(Subscriber& subscriber);
  bool is_paused(Subscriber& subscriber) const;
  bool is_in_memory(const Subscriber& subscriber) const;  // takes mutex_
  bool is_recent(const Subscriber& subscriber) const;     // REQUIRES: mutex_ held
  void prune();                                           // REQUIRES: mutex_ held

  store::Store& store_;
  const EventHubOptions options_;

  std::mutex pump_mutex_;  // held by whoever pumps; taken before mutex_
  mutable std::mutex mutex_;
  std::condition_variable pump_wake_;
  std::condition_variable catch_up_wake_;
  // Protected by mutex_. Streams are written to without it.
  std::deque<std::shared_ptr<Entry>> recent_;  // consecutive seq
  std::uint64_t last_published_ = 0;
  std::vector<SubscriberPtr> live_;
  std::deque<SubscriberPtr> behind_;
  SubscriberPtr catching_up_;  // taken from behind_ by the catch-up thread
  bool dirty_ = false;         // there is something for the pump
  std::size_t unpumped_ = 0;   // events published since the pump's last round
  bool stopping_ = false;

  std::thread pump_thread_;
  std::thread catch_up_thread_;
};

// Whether events after `after` can still be had, given a page read from the store. Errors:
// Compacted.
Result<void> check_event_position(std::uint64_t after, const store::EventPage& page,
                                  std::uint64_t last_published);

// The event of a stored row. One that cannot be decoded keeps its place in the sequence, as type
// "unreadable".
core::Event event_of_row(const store::EventRow& row);

}  // namespace muster::controller
