#include "controller/event_hub.h"

#include <gtest/gtest.h>

#include <atomic>
#include <sstream>
#include <thread>

#include "controller/api_test_util.h"

namespace muster::controller {
namespace {

using testing::FakeStream;

core::Event make_event(std::uint64_t seq) {
  core::Event event;
  event.seq = seq;
  event.at = Timestamp{static_cast<std::int64_t>(seq) * 1000};
  event.type = seq % 2 == 0 ? "action.status" : "agent.state";
  event.subject = seq % 3 == 0 ? "third" : "other";
  event.revision = seq;
  return event;
}

// The ids in a stream, in order.
std::vector<std::uint64_t> ids_in(const std::string& text) {
  std::vector<std::uint64_t> ids;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("id: ")) ids.push_back(std::stoull(line.substr(4)));
  }
  return ids;
}

std::vector<std::uint64_t> range(std::uint64_t first, std::uint64_t last) {
  std::vector<std::uint64_t> ids;
  for (std::uint64_t id = first; id <= last; ++id) ids.push_back(id);
  return ids;
}

// Only looks at the end, so that waiting for an event does not cost more the longer a stream gets.
bool has_id(const std::string& text, std::uint64_t id) {
  constexpr std::size_t kEnd = 8'000;
  return std::string_view(text)
             .substr(text.size() - std::min(text.size(), kEnd))
             .find("id: " + std::to_string(id) + "\n") != std::string::npos;
}

class EventHubTest : public ::testing::Test {
 protected:
  EventHubTest() { term_ = *store_.acquire_term(); }

  void store_only(std::uint64_t first, std::uint64_t last) {
    store::Batch batch;
    batch.term = term_;
    for (std::uint64_t seq = first; seq <= last; ++seq) {
      store::append(batch, core::Write(core::AppendEvent{make_event(seq)}));
    }
    ASSERT_TRUE(store_.commit(batch).has_value());
  }
  void commit_and_publish(EventHub& hub, std::uint64_t first, std::uint64_t last) {
    store_only(first, last);
    for (std::uint64_t seq = first; seq <= last; ++seq) hub.publish(make_event(seq));
    hub.flush();
  }
  std::shared_ptr<FakeStream> subscribe(EventHub& hub, std::optional<std::uint64_t> after,
                                        EventFilter filter = {}) {
    auto stream = std::make_shared<FakeStream>();
    const Result<void> result = hub.subscribe(after, std::move(filter), [&] { return stream; });
    EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
    return stream;
  }
  ErrorCode refusal(EventHub& hub, std::optional<std::uint64_t> after) {
    const Result<void> result = hub.subscribe(after, {}, []() -> std::shared_ptr<http::Stream> {
      ADD_FAILURE() << "a refused subscription must not start a stream";
      return std::make_shared<FakeStream>();
    });
    EXPECT_FALSE(result.has_value());
    return result ? ErrorCode::Internal : result.error().code;
  }

  store::MemoryStore store_;
  store::Term term_ = 0;
};

TEST_F(EventHubTest, SendsWhatWasMissedAndThenWhatHappens) {
  store_only(1, 10);
  EventHub hub(store_, {.page = 3});
  const auto stream = subscribe(hub, 4);
  ASSERT_TRUE(stream->wait_for([](const std::string& text) { return has_id(text, 10); }));
  commit_and_publish(hub, 11, 15);
  ASSERT_TRUE(stream->wait_for([](const std::string& text) { return has_id(text, 15); }));
  EXPECT_EQ(ids_in(stream->text()), range(5, 15));
  EXPECT_NE(stream->text().find("event: action.status\ndata: {"), std::string::npos);
  EXPECT_EQ(hub.subscribers(), 1u);
}

TEST_F(EventHubTest, StartsNowWithoutAPosition) {
  store_only(1, 10);
  EventHub hub(store_);
  const auto stream = subscribe(hub, std::nullopt);
  commit_and_publish(hub, 11, 12);
  ASSERT_TRUE(stream->wait_for([](const std::string& text) { return has_id(text, 12); }));
  EXPECT_EQ(ids_in(stream->text()), range(11, 12));
}

TEST_F(EventHubTest, FewAndManyEventsArriveAsSoonAsTheyAreFlushed) {
  EventHub hub(store_, {.heartbeat = Duration::hours(1)});
  const auto stream = subscribe(hub, 0);
  std::uint64_t last = 0;
  for (const std::uint64_t count : {1, 1, 1, 3, 1, 40, 1, 1, 200, 1}) {
    commit_and_publish(hub, last + 1, last + count);
    last += count;
    ASSERT_TRUE(stream->wait_for([&](const std::string& text) { return has_id(text, last); }));
  }
  EXPECT_EQ(ids_in(stream->text()), range(1, last));
}

TEST_F(EventHubTest, RefusesAPositionThatIsGoneOrAhead) {
  store_only(1, 20);
  store::Retention keep_five;
  keep_five.events_max = 5;
  ASSERT_TRUE(store_.purge(keep_five, Timestamp{1}, 1000).has_value());
  EventHub hub(store_);
  EXPECT_EQ(refusal(hub, 0), ErrorCode::Compacted);
  EXPECT_EQ(refusal(hub, 14), ErrorCode::Compacted);
  EXPECT_EQ(refusal(hub, 21), ErrorCode::Compacted);
  const auto stream = subscribe(hub, 15);
  ASSERT_TRUE(stream->wait_for([](const std::string& text) { return has_id(text, 20); }));
  EXPECT_EQ(ids_in(stream->text()), range(16, 20));
}

TEST_F(EventHubTest, FiltersByTypeAndSubject) {
  store_only(1, 12);
  EventHub hub(store_);
  const auto stream =
      subscribe(hub, 0, {.type_prefixes = {"action."}, .subjects = {"third", "nobody"}});
  ASSERT_TRUE(stream->wait_for([](const std::string& text) { return has_id(text, 12); }));
  commit_and_publish(hub, 13, 18);
  ASSERT_TRUE(stream->wait_for([](const std::string& text) { return has_id(text, 18); }));
  EXPECT_EQ(ids_in(stream->text()), (std::vector<std::uint64_t>{6, 12, 18}));
}

TEST_F(EventHubTest, CutsASlowConsumerAndServesTheOthers) {
  EventHub hub(store_);
  const auto slow = subscribe(hub, 0);
  slow->set_limit(1000);
  const auto quick = subscribe(hub, 0);
  commit_and_publish(hub, 1, 50);
  ASSERT_TRUE(quick->wait_for([](const std::string& text) { return has_id(text, 50); }));
  EXPECT_TRUE(slow->wait_closed());
  EXPECT_EQ(ids_in(quick->text()), range(1, 50));
}

TEST_F(EventHubTest, WaitsForAConsumerThatCatchesUpSlowly) {
  store_only(1, 100);
  EventHub hub(store_, {.page = 10, .pause_bytes = 100});
  const auto stream = std::make_shared<FakeStream>();
  stream->set_queued(1000);
  ASSERT_TRUE(hub.subscribe(0, {}, [&] { return stream; }).has_value());
  const auto other = subscribe(hub, 0);
  ASSERT_TRUE(other->wait_for([](const std::string& text) { return has_id(text, 100); }));
  EXPECT_EQ(ids_in(stream->text()), range(1, 0));
  stream->set_queued(0);
  ASSERT_TRUE(stream->wait_for([](const std::string& text) { return has_id(text, 100); }));
  EXPECT_EQ(ids_in(stream->text()), range(1, 100));
}

TEST_F(EventHubTest, CutsAConsumerThatDoesNotReadAtAll) {
  store_only(1, 100);
  EventHub hub(store_, {.pause_bytes = 100, .stall_max = Duration::millis(30)});
  const auto stream = std::make_shared<FakeStream>();
  stream->set_queued(1000);
  ASSERT_TRUE(hub.subscribe(0, {}, [&] { return stream; }).has_value());
  EXPECT_TRUE(stream->wait_closed());
}

TEST_F(EventHubTest, SendsHeartbeats) {
  EventHub hub(store_, {.heartbeat = Duration::millis(20)});
  const auto stream = subscribe(hub, std::nullopt);
  EXPECT_TRUE(stream->wait_for([](const std::string& text) {
    const std::size_t first = text.find(": heartbeat\n\n");
    return first != std::string::npos &&
           text.find(": heartbeat\n\n", first + 1) != std::string::npos;
  }));
}

TEST_F(EventHubTest, LimitsSubscribersAndForgetsThoseThatLeft) {
  EventHub hub(store_, {.subscribers_max = 2});
  const auto first = subscribe(hub, std::nullopt);
  const auto second = subscribe(hub, std::nullopt);
  EXPECT_EQ(refusal(hub, std::nullopt), ErrorCode::Overloaded);
  first->close();
  const auto third = subscribe(hub, std::nullopt);
  EXPECT_EQ(hub.subscribers(), 2u);
}

TEST_F(EventHubTest, KeepsTheNumberOfAnEventThatCannotBeRead) {
  store_only(1, 1);
  store::Batch batch;
  batch.term = term_;
  batch.events.push_back({2, Timestamp{5}, "\xff garbage"});
  ASSERT_TRUE(store_.commit(batch).has_value());
  EventHub hub(store_);
  const auto stream = subscribe(hub, 0);
  ASSERT_TRUE(stream->wait_for([](const std::string& text) { return has_id(text, 2); }));
  EXPECT_NE(stream->text().find("id: 2\nevent: unreadable\n"), std::string::npos);
}

TEST_F(EventHubTest, EndsStreamsWhenItGoes) {
  std::shared_ptr<FakeStream> stream;
  {
    EventHub hub(store_);
    stream = subscribe(hub, std::nullopt);
  }
  EXPECT_FALSE(stream->open());
}

// Subscribers that come at any moment, while a memory of only a few events forces them back and
// forth between the store and what is published.
TEST_F(EventHubTest, HasNoGapAndNoDuplicateUnderConcurrentPublishing) {
  constexpr std::uint64_t kEvents = 600;
  EventHub hub(store_, {.recent_max = 16, .page = 7});
  std::atomic<std::uint64_t> published = 0;
  std::thread publisher([&] {
    for (std::uint64_t seq = 1; seq <= kEvents; seq += 3) {
      commit_and_publish(hub, seq, seq + 2);
      published = seq + 2;
    }
  });
  struct Watcher {
    std::uint64_t after;
    std::shared_ptr<FakeStream> stream;
  };
  std::vector<Watcher> watchers;
  for (int i = 0; i < 12; ++i) {
    const std::uint64_t after = published.load() * static_cast<std::uint64_t>(i % 5) / 4;
    watchers.push_back({after, subscribe(hub, after)});
    std::this_thread::yield();
  }
  publisher.join();
  // Also those that came when all was published have something to wait for.
  commit_and_publish(hub, kEvents + 1, kEvents + 1);
  for (const Watcher& watcher : watchers) {
    ASSERT_TRUE(watcher.stream->wait_for([](const std::string& text) {
      return has_id(text, kEvents + 1);
    })) << "after "
        << watcher.after;
    EXPECT_EQ(ids_in(watcher.stream->text()), range(watcher.after + 1, kEvents + 1));
  }
}

}  // namespace
}  // namespace muster::controller
