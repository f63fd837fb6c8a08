#include "controller/event_hub.h"

#include <algorithm>

#include "controller/event_json.h"
#include "log/thread_name.h"
#include "store/record_codec.h"

namespace muster::controller {

struct EventHub::Entry {
  core::Event event;
  std::string sse;  // encoded when first needed; only the pump touches it
};

// The cursor belongs to whichever thread has the subscriber in hand; handing over goes through
// mutex_.
struct EventHub::Subscriber {
  std::uint64_t cursor = 0;       // the last event that was written or skipped
  std::uint64_t stored_last = 0;  // the newest that the store had when it was last read
  EventFilter filter;
  std::shared_ptr<http::Stream> stream;
  std::optional<Clock::time_point> paused_since;
};

namespace {

// What is pumped by whoever flushes.
constexpr std::size_t kOwnEventsMax = 8;
constexpr std::size_t kOwnSubscribersMax = 4;

bool starts_with_any(std::string_view text, const std::vector<std::string>& prefixes) {
  return std::ranges::any_of(prefixes,
                             [&](const std::string& prefix) { return text.starts_with(prefix); });
}

// Told in the stream, because its head has been sent already. It has no id, so the client still
// resumes from the last event that it got.
std::string problem_sse(const Error& error) {
  return fmt::format("event: problem\ndata: {}\n\n",
                     dump_json({{"code", name(error.code)}, {"detail", error.message}}));
}

}  // namespace

bool EventFilter::matches(const core::Event& event) const {
  return (type_prefixes.empty() || starts_with_any(event.type, type_prefixes)) &&
         (subjects.empty() || std::ranges::find(subjects, event.subject) != subjects.end());
}

Result<void> check_event_position(std::uint64_t after, const store::EventPage& page,
                                  std::uint64_t last_published) {
  const std::uint64_t last = std::max(page.last, last_published);
  if (page.first_kept > 0 && after + 1 < page.first_kept) {
    return fail(ErrorCode::Compacted,
                "events after {} are no longer kept, the oldest is {}; list what you need and go "
                "on after event {}",
                after, page.first_kept, last);
  }
  // A client can only be ahead if the store was put back to an older state.
  if (last > 0 && after > last) {
    return fail(ErrorCode::Compacted,
                "event {} does not exist, the newest is {}; list what you need and go on after it",
                after, last);
  }
  return {};
}

core::Event event_of_row(const store::EventRow& row) {
  Result<core::Event> event = store::decode_event(row.value);
  if (event) {
    event->seq = row.seq;
    return *std::move(event);
  }
  core::Event unreadable;
  unreadable.seq = row.seq;
  unreadable.at = row.at;
  unreadable.type = "unreadable";
  unreadable.reason = event.error().message;
  return unreadable;
}

EventHub::EventHub(store::Store& store, EventHubOptions options)
    : store_(store), options_(options) {
  pump_thread_ = std::thread([this] { pump(); });
  catch_up_thread_ = std::thread([this] { catch_up(); });
}

EventHub::~EventHub() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  pump_wake_.notify_all();
  catch_up_wake_.notify_all();
  pump_thread_.join();
  catch_up_thread_.join();
  for (const SubscriberPtr& subscriber : live_) subscriber->stream->close();
  for (const SubscriberPtr& subscriber : behind_) subscriber->stream->close();
}

void EventHub::publish(const core::Event& event) {
  auto entry = std::make_shared<Entry>(Entry{event, {}});
  const std::lock_guard lock(mutex_);
  // A hole in memory would be a hole for a subscriber; the store fills it instead.
  if (!recent_.empty() && event.seq != recent_.back()->event.seq + 1) recent_.clear();
  recent_.push_back(std::move(entry));
  if (recent_.size() > options_.recent_max) recent_.pop_front();
  last_published_ = event.seq;
  ++unpumped_;
}

void EventHub::flush() {
  std::unique_lock turn(pump_mutex_, std::try_to_lock);
  std::unique_lock lock(mutex_);
  if (live_.empty() || unpumped_ == 0) return;
  dirty_ = true;
  const bool is_little = unpumped_ <= kOwnEventsMax && live_.size() <= kOwnSubscribersMax;
  if (turn.owns_lock() && is_little) {
    pump_round(lock, false);
  } else {
    pump_wake_.notify_one();
  }
}

Result<void> EventHub::subscribe(std::optional<std::uint64_t> after, EventFilter filter,
                                 const Opener& open) {
  MUSTER_TRY_ASSIGN(const store::EventPage page, store_.events(after.value_or(0), 1));
  const std::uint64_t published = last_published();
  if (after) MUSTER_TRY(check_event_position(*after, page, published));
  {
    const std::lock_guard lock(mutex_);
    prune();
    const bool one_more = catching_up_ && catching_up_->stream->open();
    const std::size_t count = live_.size() + behind_.size() + (one_more ? 1 : 0);
    if (count >= options_.subscribers_max) {
      return fail(ErrorCode::Overloaded, "there are {} event subscribers, at most {} are allowed",
                  count, options_.subscribers_max);
    }
  }
  auto subscriber = std::make_shared<Subscriber>();
  subscriber->cursor = after.value_or(std::max(page.last, published));
  subscriber->filter = std::move(filter);
  subscriber->stream = open();
  // Lets the client see at once that it is connected.
  if (!subscriber->stream->write(": connected\n\n")) return {};
  {
    const std::lock_guard lock(mutex_);
    behind_.push_back(std::move(subscriber));
  }
  catch_up_wake_.notify_one();
  return {};
}

std::size_t EventHub::subscribers() const {
  const auto open = [](const SubscriberPtr& subscriber) { return subscriber->stream->open(); };
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::ranges::count_if(live_, open)) +
         static_cast<std::size_t>(std::ranges::count_if(behind_, open)) +
         (catching_up_ && open(catching_up_) ? 1 : 0);
}

std::uint64_t EventHub::last_published() const {
  const std::lock_guard lock(mutex_);
  return last_published_;
}

void EventHub::prune() {
  const auto gone = [](const SubscriberPtr& subscriber) { return !subscriber->stream->open(); };
  std::erase_if(live_, gone);
  std::erase_if(behind_, gone);
}

bool EventHub::is_recent(const Subscriber& subscriber) const {
  if (recent_.empty()) return subscriber.cursor >= subscriber.stored_last;
  return subscriber.cursor + 1 >= recent_.front()->event.seq;
}

bool EventHub::is_in_memory(const Subscriber& subscriber) const {
  const std::lock_guard lock(mutex_);
  return is_recent(subscriber);
}

void EventHub::pump() {
  log::name_thread("event-pump");
  const auto interval = std::chrono::microseconds(options_.heartbeat.us);
  auto heartbeat_at = Clock::now() + interval;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    pump_wake_.wait_until(lock, heartbeat_at, [this] { return dirty_ || stopping_; });
    if (stopping_) return;
    const bool heartbeat_due = Clock::now() >= heartbeat_at;
    if (heartbeat_due) heartbeat_at = Clock::now() + interval;
    lock.unlock();
    const std::lock_guard turn(pump_mutex_);
    lock.lock();
    pump_round(lock, heartbeat_due);
  }
}

void EventHub::pump_round(std::unique_lock<std::mutex>& lock, bool heartbeat_due) {
  dirty_ = false;
  unpumped_ = 0;
  std::erase_if(live_, [this](const SubscriberPtr& subscriber) {
    if (!subscriber->stream->open()) return true;
    if (is_recent(*subscriber)) return false;
    behind_.push_back(subscriber);
    return true;
  });
  if (!behind_.empty()) catch_up_wake_.notify_one();
  if (live_.empty()) return;

  std::uint64_t from = last_published_;
  for (const SubscriberPtr& subscriber : live_) from = std::min(from, subscriber->cursor);
  std::vector<std::shared_ptr<Entry>> fresh;
  if (!recent_.empty() && from < last_published_) {
    const std::uint64_t first = recent_.front()->event.seq;
    const std::uint64_t skip = from + 1 > first ? from + 1 - first : 0;
    fresh.assign(recent_.begin() + static_cast<std::ptrdiff_t>(skip), recent_.end());
  }
  const std::vector<SubscriberPtr> subscribers = live_;
  lock.unlock();
  for (const std::shared_ptr<Entry>& entry : fresh) {
    if (entry->sse.empty()) entry->sse = event_sse(entry->event);
  }
  for (const SubscriberPtr& subscriber : subscribers) {
    std::string text;
    for (const std::shared_ptr<Entry>& entry : fresh) {
      if (entry->event.seq <= subscriber->cursor) continue;
      subscriber->cursor = entry->event.seq;
      if (subscriber->filter.matches(entry->event)) text += entry->sse;
    }
    if (heartbeat_due) text += ": heartbeat\n\n";
    // A refused write ends the stream, and the next round drops it.
    if (!text.empty()) subscriber->stream->write(std::move(text));
  }
  lock.lock();
}

bool EventHub::is_paused(Subscriber& subscriber) const {
  if (subscriber.stream->queued() <= options_.pause_bytes) {
    subscriber.paused_since.reset();
    return false;
  }
  const auto now = Clock::now();
  if (!subscriber.paused_since) subscriber.paused_since = now;
  if (now - *subscriber.paused_since > std::chrono::microseconds(options_.stall_max.us)) {
    subscriber.stream->close();
  }
  return true;
}

void EventHub::catch_up() {
  log::name_thread("event-catch-up");
  constexpr auto kPausePoll = std::chrono::milliseconds(20);
  std::size_t paused_in_a_row = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    catch_up_wake_.wait(lock, [this] { return stopping_ || !behind_.empty(); });
    if (stopping_) return;
    // Nobody tells when a client has read something, so a round of nothing but slow ones waits.
    if (paused_in_a_row >= behind_.size()) {
      catch_up_wake_.wait_for(lock, kPausePoll, [this] { return stopping_; });
      paused_in_a_row = 0;
      if (behind_.empty()) continue;
    }
    catching_up_ = behind_.front();
    behind_.pop_front();
    lock.unlock();
    const bool paused = is_paused(*catching_up_);
    const bool goes_on = catching_up_->stream->open() && (paused || catch_up_one(*catching_up_));
    lock.lock();
    const SubscriberPtr subscriber = std::exchange(catching_up_, nullptr);
    paused_in_a_row = paused ? paused_in_a_row + 1 : 0;
    if (!goes_on) continue;
    if (!paused && is_recent(*subscriber)) {
      live_.push_back(subscriber);
      dirty_ = true;
      pump_wake_.notify_one();
    } else {
      behind_.push_back(subscriber);
    }
  }
}

bool EventHub::catch_up_one(Subscriber& subscriber) {
  // What was published before the read is in the store, unless it was removed; nothing can be said
  // of what is published meanwhile.
  const std::uint64_t published = last_published();
  const Result<store::EventPage> page = store_.events(subscriber.cursor, options_.page);
  const auto end = [&](const Error& error) {
    subscriber.stream->write(problem_sse(error));
    subscriber.stream->close();
    return false;
  };
  if (!page) return end(page.error());
  subscriber.stored_last = page->last;
  if (const auto position = check_event_position(subscriber.cursor, *page, published); !position) {
    return end(position.error());
  }
  // The whole log was removed while this subscriber still needed some of it.
  if (page->first_kept == 0 && published > subscriber.cursor && !is_in_memory(subscriber)) {
    return end(Error{ErrorCode::Compacted,
                     fmt::format("events after {} are no longer kept", subscriber.cursor)});
  }
  std::string text;
  for (const store::EventRow& row : page->events) {
    const core::Event event = event_of_row(row);
    subscriber.cursor = row.seq;
    if (subscriber.filter.matches(event)) text += event_sse(event);
  }
  return text.empty() || subscriber.stream->write(std::move(text));
}

}  // namespace muster::controller
