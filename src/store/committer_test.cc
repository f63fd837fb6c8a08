#include "store/committer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "store/memory_store.h"
#include "store/record_codec.h"
#include "store/store_test_util.h"

namespace muster::store {
namespace {

constexpr std::chrono::seconds kPatience{20};

// What the callbacks told, to be waited for.
class Witness {
 public:
  CommitterCallbacks callbacks() {
    return {
        .on_committed = [this](std::uint64_t ticket) { note([&] { tickets.push_back(ticket); }); },
        .on_problem = [this](const Error& error) { note([&] { problems.push_back(error); }); },
        .on_recovered = [this] { note([&] { ++recoveries; }); },
        .on_fatal = [this](const Error& error) { note([&] { fatals.push_back(error); }); },
        .on_purge_failed = {}};
  }

  template <typename Condition>
  bool wait_for(Condition condition) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, kPatience, condition);
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::uint64_t> tickets;
  std::vector<Error> problems;
  std::vector<Error> fatals;
  int recoveries = 0;

 private:
  template <typename Change>
  void note(Change change) {
    {
      const std::lock_guard lock(mutex);
      change();
    }
    changed.notify_all();
  }
};

core::ActionPtr make_action(std::uint64_t seq, std::uint64_t revision = 1,
                            core::Status status = core::Status::Running) {
  core::ActionSpec spec;
  spec.id = Uuid::v4(seq, seq);
  spec.seq = seq;
  core::Action action;
  action.spec = std::make_shared<const core::ActionSpec>(spec);
  action.revision = revision;
  action.status = status;
  action.status_since = Timestamp{static_cast<std::int64_t>(seq)};
  return std::make_shared<const core::Action>(action);
}

class CommitterTest : public ::testing::Test {
 protected:
  CommitterTest() {
    options_.retry = {Duration::millis(1), Duration::millis(5)};
    options_.stop_timeout = Duration::millis(50);
    options_.purge_delay = Duration::hours(1);
    options_.clock = [] { return Timestamp{1'000'000}; };
  }

  Committer& start() {
    committer_ = std::make_unique<Committer>(store_, term_, options_, witness_.callbacks());
    return *committer_;
  }
  bool wait_for_ticket(std::uint64_t ticket) {
    return witness_.wait_for(
        [&] { return !witness_.tickets.empty() && witness_.tickets.back() >= ticket; });
  }

  // The first `count` commits meet this fault; later ones pass.
  void fail_commits(CommitFault fault, int count) {
    store_.set_fault_hook([fault, left = count](const Batch&) mutable {
      return left-- > 0 ? fault : CommitFault::None;
    });
  }

  MemoryStore store_;
  Term term_ = store_.acquire_term().value();
  CommitterOptions options_;
  Witness witness_;
  std::unique_ptr<Committer> committer_;
};

TEST_F(CommitterTest, WhatIsToldDurableIsInTheStore) {
  Committer& committer = start();
  for (std::uint64_t n = 1; n <= 100; ++n) committer.submit(n, {core::PutAction{make_action(n)}});
  ASSERT_TRUE(wait_for_ticket(100));
  EXPECT_EQ(store_.stats().value().actions_live, 100U);
  EXPECT_EQ(committer.queued(), 0U);
  EXPECT_TRUE(std::is_sorted(witness_.tickets.begin(), witness_.tickets.end()));
  EXPECT_TRUE(committer.stop().has_value());
}

TEST_F(CommitterTest, SubmissionsThatWaitShareACommit) {
  // The first commit is held until everything else is queued.
  std::promise<void> entered;
  std::promise<void> gate;
  std::vector<std::size_t> sizes;
  store_.set_fault_hook([&, opened = gate.get_future().share()](const Batch& batch) {
    if (sizes.empty()) {
      entered.set_value();
      opened.wait_for(kPatience);
    }
    sizes.push_back(batch.records.size());
    return CommitFault::None;
  });
  options_.batch_records_max = 60;
  Committer& committer = start();
  committer.submit(1, {core::PutAction{make_action(1)}});
  ASSERT_EQ(entered.get_future().wait_for(kPatience), std::future_status::ready);
  for (std::uint64_t n = 2; n <= 101; ++n) committer.submit(n, {core::PutAction{make_action(n)}});
  gate.set_value();
  ASSERT_TRUE(wait_for_ticket(101));
  EXPECT_TRUE(committer.stop().has_value());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{1, 60, 40}));
}

TEST_F(CommitterTest, OneSubmissionIsNeverSplit) {
  options_.batch_records_max = 10;
  std::vector<std::size_t> sizes;
  store_.set_fault_hook([&](const Batch& batch) {
    sizes.push_back(batch.records.size());
    return CommitFault::None;
  });
  std::vector<core::Write> writes;
  for (std::uint64_t n = 1; n <= 35; ++n) writes.emplace_back(core::PutAction{make_action(n)});
  Committer& committer = start();
  committer.submit(1, writes);
  EXPECT_TRUE(committer.stop().has_value());
  EXPECT_EQ(sizes, std::vector<std::size_t>{35});
}

TEST_F(CommitterTest, OnlyTheLastWriteOfARecordIsWritten) {
  core::Event first;
  first.seq = 1;
  core::Event second;
  second.seq = 2;
  std::size_t records = 0;
  store_.set_fault_hook([&](const Batch& batch) {
    records += batch.records.size();
    return CommitFault::None;
  });
  Committer& committer = start();
  committer.submit(1, {core::PutAction{make_action(1, 1)}, core::AppendEvent{first},
                       core::PutAction{make_action(2, 1)}, core::PutAction{make_action(1, 2)},
                       core::AppendEvent{second}});
  EXPECT_TRUE(committer.stop().has_value());
  EXPECT_EQ(records, 2U);
  EXPECT_EQ(store_.events(0, 10).value().events.size(), 2U);
  const auto stored = store_.get(Space::Action, make_action(1)->id().bytes()).value();
  EXPECT_EQ((*decode_action(*stored))->revision, 2U);
}

TEST_F(CommitterTest, ASubmissionWithoutWritesIsDurableInItsTurn) {
  Committer& committer = start();
  committer.submit(1, {core::PutAction{make_action(1)}});
  committer.submit(2, {});
  ASSERT_TRUE(wait_for_ticket(2));
  EXPECT_EQ(store_.stats().value().actions_live, 1U);
  EXPECT_TRUE(committer.stop().has_value());
}

TEST_F(CommitterTest, ARefusingStoreIsTriedAgainAndReportedOnce) {
  for (const CommitFault fault :
       {CommitFault::Refuse, CommitFault::TimeoutApplied, CommitFault::TimeoutLost}) {
    fail_commits(fault, 4);
    Committer& committer = start();
    committer.submit(1, {core::PutAction{make_action(1)}});
    ASSERT_TRUE(wait_for_ticket(1));
    EXPECT_TRUE(committer.stop().has_value());
    EXPECT_EQ(witness_.problems.size(), 1U);
    EXPECT_EQ(witness_.recoveries, 1);
    EXPECT_TRUE(witness_.fatals.empty());
    EXPECT_EQ(store_.stats().value().actions_live, 1U);
    witness_.problems.clear();
    witness_.tickets.clear();
    witness_.recoveries = 0;
  }
}

TEST_F(CommitterTest, NothingIsToldDurableWhileTheStoreRefuses) {
  store_.set_fault_hook([](const Batch&) { return CommitFault::Refuse; });
  Committer& committer = start();
  for (std::uint64_t n = 1; n <= 10; ++n) committer.submit(n, {core::PutAction{make_action(n)}});
  ASSERT_TRUE(witness_.wait_for([&] { return !witness_.problems.empty(); }));
  EXPECT_TRUE(witness_.wait_for([&] { return witness_.tickets.empty(); }));
  EXPECT_EQ(committer.queued(), 10U);
  store_.set_fault_hook(nullptr);
  ASSERT_TRUE(wait_for_ticket(10));
  EXPECT_EQ(store_.stats().value().actions_live, 10U);
  EXPECT_TRUE(committer.stop().has_value());
}

TEST_F(CommitterTest, BeingFencedIsFatal) {
  Committer& committer = start();
  (void)store_.acquire_term();
  committer.submit(1, {core::PutAction{make_action(1)}});
  ASSERT_TRUE(witness_.wait_for([&] { return !witness_.fatals.empty(); }));
  committer.submit(2, {core::PutAction{make_action(2)}});
  const auto stopped = committer.stop();
  ASSERT_FALSE(stopped.has_value());
  EXPECT_EQ(stopped.error().code, ErrorCode::Fenced);
  EXPECT_EQ(witness_.fatals.size(), 1U);
  EXPECT_TRUE(witness_.tickets.empty());
  EXPECT_EQ(store_.stats().value().actions_live, 0U);
}

TEST_F(CommitterTest, WhoFindsTheStoreFreeCommitsItself) {
  std::thread::id by;
  store_.set_fault_hook([&](const Batch&) {
    by = std::this_thread::get_id();
    return CommitFault::None;
  });
  Committer& committer = start();
  EXPECT_TRUE(committer.commit_or_submit(1, {core::PutAction{make_action(1)}}));
  EXPECT_EQ(by, std::this_thread::get_id());
  EXPECT_EQ(store_.stats().value().actions_live, 1U);
  EXPECT_EQ(committer.stats().commits, 1U);
  EXPECT_EQ(committer.queued(), 0U);
  EXPECT_TRUE(committer.commit_or_submit(2, {core::PutAction{make_action(2)}}));
  committer.submit(3, {core::PutAction{make_action(3)}});
  ASSERT_TRUE(wait_for_ticket(3));
  EXPECT_TRUE(committer.stop().has_value());
  EXPECT_EQ(witness_.tickets, std::vector<std::uint64_t>{3});
  EXPECT_FALSE(committer.commit_or_submit(4, {core::PutAction{make_action(4)}}));
  EXPECT_EQ(store_.stats().value().actions_live, 3U);
}

TEST_F(CommitterTest, WhoFindsTheStoreTakenSubmits) {
  std::promise<void> entered;
  std::promise<void> gate;
  store_.set_fault_hook(
      [&, opened = gate.get_future().share(), first = true](const Batch&) mutable {
        if (std::exchange(first, false)) {
          entered.set_value();
          opened.wait_for(kPatience);
        }
        return CommitFault::None;
      });
  Committer& committer = start();
  committer.submit(1, {core::PutAction{make_action(1)}});
  ASSERT_EQ(entered.get_future().wait_for(kPatience), std::future_status::ready);
  EXPECT_FALSE(committer.commit_or_submit(2, {core::PutAction{make_action(2)}}));
  EXPECT_EQ(committer.queued(), 2U);
  gate.set_value();
  ASSERT_TRUE(wait_for_ticket(2));
  EXPECT_TRUE(committer.stop().has_value());
  EXPECT_EQ(store_.stats().value().actions_live, 2U);
}

TEST_F(CommitterTest, WhatTheStoreRefusesAtOnceIsTriedAgainByTheThread) {
  fail_commits(CommitFault::Refuse, 3);
  Committer& committer = start();
  EXPECT_FALSE(committer.commit_or_submit(1, {core::PutAction{make_action(1)}}));
  ASSERT_TRUE(wait_for_ticket(1));
  EXPECT_EQ(witness_.problems.size(), 1U);
  EXPECT_EQ(witness_.recoveries, 1);
  EXPECT_EQ(store_.stats().value().actions_live, 1U);
  (void)store_.acquire_term();
  EXPECT_FALSE(committer.commit_or_submit(2, {core::PutAction{make_action(2)}}));
  ASSERT_TRUE(witness_.wait_for([&] { return !witness_.fatals.empty(); }));
  EXPECT_FALSE(committer.commit_or_submit(3, {core::PutAction{make_action(3)}}));
  EXPECT_FALSE(committer.stop().has_value());
  EXPECT_EQ(store_.stats().value().actions_live, 1U);
}

TEST_F(CommitterTest, StopCommitsWhatIsQueued) {
  Committer& committer = start();
  for (std::uint64_t n = 1; n <= 500; ++n) committer.submit(n, {core::PutAction{make_action(n)}});
  EXPECT_TRUE(committer.stop().has_value());
  EXPECT_EQ(store_.stats().value().actions_live, 500U);
  EXPECT_EQ(witness_.tickets.back(), 500U);
  committer.submit(501, {core::PutAction{make_action(501)}});
  EXPECT_TRUE(committer.stop().has_value());
  EXPECT_EQ(store_.stats().value().actions_live, 500U);
}

TEST_F(CommitterTest, StopGivesUpOnAStoreThatKeepsRefusing) {
  store_.set_fault_hook([](const Batch&) { return CommitFault::Refuse; });
  // Being told to stop must cut even a long wait short.
  options_.retry = {Duration::hours(1), Duration::hours(1)};
  Committer& committer = start();
  for (std::uint64_t n = 1; n <= 3; ++n) committer.submit(n, {core::PutAction{make_action(n)}});
  ASSERT_TRUE(witness_.wait_for([&] { return !witness_.problems.empty(); }));
  const auto stopped = committer.stop();
  ASSERT_FALSE(stopped.has_value());
  EXPECT_EQ(stopped.error().code, ErrorCode::StoreUnavailable);
  EXPECT_NE(stopped.error().message.find("3 submissions"), std::string::npos);
  EXPECT_TRUE(witness_.tickets.empty());
}

TEST_F(CommitterTest, PurgesTheHistoryInChunksWhenIdle) {
  Batch batch;
  batch.term = term_;
  for (std::uint64_t seq = 1; seq <= 95; ++seq) {
    batch.records.push_back(
        testing::put_action(testing::finished_index(seq, Timestamp{std::int64_t(seq)}), "v"));
  }
  ASSERT_TRUE(store_.commit(batch).has_value());
  options_.purge_delay = Duration::millis(1);
  options_.purge_interval = Duration::hours(1);
  options_.purge_chunk = 10;
  options_.retention = {Duration::days(1), 5, 100};
  Committer& committer = start();
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (committer.stats().purged < 90 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_TRUE(committer.stop().has_value());
  EXPECT_EQ(committer.stats().purged, 90U);
  EXPECT_EQ(store_.stats().value().actions_finished, 5U);
}

TEST_F(CommitterTest, SteadyLoadDoesNotKeepThePurgeAway) {
  Batch batch;
  batch.term = term_;
  batch.records.push_back(testing::put_action(testing::finished_index(1, Timestamp{1}), "v"));
  ASSERT_TRUE(store_.commit(batch).has_value());
  options_.purge_delay = Duration::millis(1);
  options_.purge_interval = Duration::millis(1);
  options_.retention = {Duration::days(1), 0, 100};
  Committer& committer = start();
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  std::uint64_t ticket = 0;
  while (committer.stats().purged < 1 && std::chrono::steady_clock::now() < deadline) {
    if (committer.queued() < 100) {
      ++ticket;
      committer.submit(ticket, {core::PutAction{make_action(1 + ticket)}});
    }
  }
  EXPECT_EQ(committer.stats().purged, 1U);
  EXPECT_TRUE(committer.stop().has_value());
}

class CommitterOnSqlite : public ::testing::Test {
 protected:
  CommitterOnSqlite() {
    options_.clock = [] { return Timestamp{1}; };
  }

  const testing::TempFolder folder_;
  std::unique_ptr<Store> store_ = testing::open_or_throw(folder_.file("store.db"));
  const Term term_ = store_->acquire_term().value();
  Witness witness_;
  CommitterOptions options_;
};

TEST_F(CommitterOnSqlite, OneThreadCommitsAndAnotherPurges) {
  options_.purge_delay = Duration::millis(1);
  options_.purge_interval = Duration::millis(1);
  Committer committer(*store_, term_, options_, witness_.callbacks());
  std::uint64_t own = 0;
  for (std::uint64_t n = 1; n <= 500; ++n) {
    own += committer.commit_or_submit(n, {core::PutAction{make_action(n)}}) ? 1 : 0;
    if (n % 7 != 0) continue;
    ++n;
    committer.submit(n, {core::PutAction{make_action(n)}});
  }
  EXPECT_TRUE(committer.stop().has_value());
  EXPECT_TRUE(witness_.problems.empty());
  EXPECT_EQ(store_->stats().value().actions_live, committer.stats().records);
  EXPECT_GE(committer.stats().records, 500U);
  EXPECT_GT(own, 0U);
}

TEST_F(CommitterOnSqlite, ManyThreadsSubmitAndReadAndNothingIsLost) {
  Committer committer(*store_, term_, options_, witness_.callbacks());
  std::mutex order;  // tickets must ascend
  std::uint64_t ticket = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 250; ++i) {
        {
          const std::lock_guard lock(order);
          ++ticket;
          committer.submit(ticket, {core::PutAction{make_action(ticket)}});
        }
        if (i % 50 == 0) {
          ASSERT_TRUE(store_->load(Space::Action, "", 10).has_value());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(committer.stop().has_value());
  EXPECT_EQ(witness_.tickets.back(), 1000U);
  EXPECT_EQ(store_->stats().value().actions_live, 1000U);
  EXPECT_LT(committer.stats().commits, 1000U);
}

}  // namespace
}  // namespace muster::store
