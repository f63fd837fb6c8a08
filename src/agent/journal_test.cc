#include "agent/journal.h"

#include <gtest/gtest.h>

#include "base/uuid.h"
#include "store/memory_store.h"
#include "store/record_codec.h"

namespace muster::agent {
namespace {

using core::agent::DropEntry;
using core::agent::PutEntry;

constexpr Timestamp kNow{5'000'000};

std::uint64_t next_random() {
  static std::uint64_t number = 0;
  return ++number;
}

core::JournalEntryPtr entry(std::uint64_t n, std::uint32_t attempt = 1,
                            core::Status status = core::Status::New) {
  auto made = std::make_shared<core::JournalEntry>();
  made->id = Uuid::v4(n, n);
  made->attempt = attempt;
  made->seq = n;
  made->kind = "exec";
  made->status = status;
  return made;
}

Journal open(store::Store& store) {
  auto journal = Journal::open(store, kNow, next_random);
  EXPECT_TRUE(journal) << journal.error().message;
  return *std::move(journal);
}

void put_raw(store::Store& store, const std::string& key, const std::string& value) {
  const auto term = store.acquire_term();
  store::Batch batch{*term, {{store::Space::Journal, key, value, std::nullopt}}, {}};
  ASSERT_TRUE(store.commit(batch));
}

TEST(Journal, IdIsMadeOnceAndKept) {
  store::MemoryStore store;
  const std::string id = open(store).id();
  EXPECT_TRUE(Uuid::parse(id));
  EXPECT_EQ(open(store).id(), id);
  store::MemoryStore another;
  EXPECT_NE(open(another).id(), id);
}

TEST(Journal, EntriesComeBackAsTheyWere) {
  store::MemoryStore store;
  auto journal = open(store);
  ASSERT_TRUE(journal.commit({PutEntry{entry(1)}, PutEntry{entry(2)}}, std::nullopt));
  ASSERT_TRUE(journal.commit({DropEntry{entry(2)->id, 1}}, std::nullopt));
  auto entries = open(store).take_entries();
  ASSERT_EQ(entries.size(), 1);
  EXPECT_EQ(*entries[0], *entry(1));
}

TEST(Journal, DropOfAnOldAttemptLeavesTheNewOneOfTheSameTransaction) {
  store::MemoryStore store;
  auto journal = open(store);
  ASSERT_TRUE(journal.commit({PutEntry{entry(1)}}, std::nullopt));
  ASSERT_TRUE(journal.commit({DropEntry{entry(1)->id, 1}, PutEntry{entry(1, 2)}}, std::nullopt));
  auto entries = open(store).take_entries();
  ASSERT_EQ(entries.size(), 1);
  EXPECT_EQ(entries[0]->attempt, 2);
}

TEST(Journal, HighestControllerTermIsKept) {
  store::MemoryStore store;
  auto journal = open(store);
  EXPECT_EQ(journal.controller_term(), 0);
  ASSERT_TRUE(journal.commit({}, 7));
  ASSERT_TRUE(journal.commit({}, 3));
  EXPECT_EQ(open(store).controller_term(), 7);
}

TEST(Journal, RecordThatCannotBeReadIsSetAside) {
  store::MemoryStore store;
  put_raw(store, std::string(16, 'x'), "garbage");
  put_raw(store, std::string(16, 'y'), store::encode(*entry(1)));
  put_raw(store, std::string(entry(2)->id.bytes()),
          store::encode(*entry(2, 1, core::Status::Lost)));
  put_raw(store, std::string(entry(3)->id.bytes()), store::encode(*entry(3)));
  auto journal = open(store);
  EXPECT_EQ(journal.quarantined(), 3);
  ASSERT_EQ(journal.take_entries().size(), 1);
  EXPECT_EQ(store.quarantined(10)->size(), 3);
  EXPECT_EQ(open(store).quarantined(), 0) << "they are out of the way";
}

TEST(Journal, WriterThatWasReplacedIsRefused) {
  store::MemoryStore store;
  auto first = open(store);
  auto second = open(store);
  EXPECT_EQ(first.commit({PutEntry{entry(1)}}, std::nullopt).error().code, ErrorCode::Fenced);
  EXPECT_TRUE(second.commit({PutEntry{entry(1)}}, std::nullopt));
}

TEST(Journal, LoadsMoreThanOnePage) {
  store::MemoryStore store;
  auto journal = open(store);
  std::vector<core::agent::JournalWrite> writes;
  for (std::uint64_t n = 1; n <= 2500; ++n) writes.emplace_back(PutEntry{entry(n)});
  ASSERT_TRUE(journal.commit(writes, std::nullopt));
  EXPECT_EQ(open(store).take_entries().size(), 2500);
}

}  // namespace
}  // namespace muster::agent
