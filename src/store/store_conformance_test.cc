#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "store/memory_store.h"
#include "store/sqlite_store.h"
#include "store/store_test_util.h"

// What every backend must do, run against each of them.

namespace muster::store {
namespace {

using testing::finished_index;
using testing::id_of;
using testing::ids_of;
using testing::keys_of;
using testing::live_index;
using testing::put_action;
using testing::put_record;
using testing::TempFolder;

class Backend {
 public:
  virtual ~Backend() = default;
  virtual Store& store() = 0;
  // Where a backup goes, and how it becomes a store.
  virtual std::string backup_path() = 0;
  virtual std::unique_ptr<Store> open_backup() = 0;
};

class MemoryBackend final : public Backend {
 public:
  Store& store() override { return store_; }
  std::string backup_path() override { return "backup"; }
  std::unique_ptr<Store> open_backup() override {
    return std::move(store_.open_backup("backup").value());
  }

 private:
  MemoryStore store_;
};

class SqliteBackend final : public Backend {
 public:
  Store& store() override { return *store_; }
  std::string backup_path() override { return folder_.file("backup.db"); }
  std::unique_ptr<Store> open_backup() override { return testing::open_or_throw(backup_path()); }

 private:
  TempFolder folder_;
  std::unique_ptr<SqliteStore> store_ = testing::open_or_throw(folder_.file("store.db"));
};

template <typename T>
class StoreConformance : public ::testing::Test {
 protected:
  Store& store() { return backend_.store(); }

  Batch batch() {
    Batch result;
    result.term = term_;
    return result;
  }
  void commit(std::vector<RecordWrite> records, std::vector<EventRow> events = {}) {
    const auto done = store().commit({term_, std::move(records), std::move(events)});
    ASSERT_TRUE(done.has_value()) << done.error().message;
  }
  std::optional<std::string> get(Space space, const std::string& key) {
    return store().get(space, key).value();
  }

  T backend_;
  Term term_ = backend_.store().acquire_term().value();
};

using Backends = ::testing::Types<MemoryBackend, SqliteBackend>;
class BackendNames {
 public:
  template <typename T>
  static std::string GetName(int) {
    return std::is_same_v<T, MemoryBackend> ? "Memory" : "Sqlite";
  }
};
TYPED_TEST_SUITE(StoreConformance, Backends, BackendNames);

TYPED_TEST(StoreConformance, KeepsOverwritesAndDeletesRecords) {
  this->commit({put_record(Space::Agent, "a", "1"), put_record(Space::Meta, "a", "2")});
  EXPECT_EQ(this->get(Space::Agent, "a"), "1");
  EXPECT_EQ(this->get(Space::Meta, "a"), "2");
  this->commit({put_record(Space::Agent, "a", "3"),
                {Space::Meta, "a", std::nullopt, std::nullopt},
                {Space::Meta, "never there", std::nullopt, std::nullopt}});
  EXPECT_EQ(this->get(Space::Agent, "a"), "3");
  EXPECT_EQ(this->get(Space::Meta, "a"), std::nullopt);
}

TYPED_TEST(StoreConformance, KeepsAnyBytes) {
  const std::string odd("\0\xff\xfe\x00z", 5);
  ActionIndex index = live_index(1);
  index.name = odd;
  this->commit({put_record(Space::Journal, odd, odd), put_action(index, odd),
                put_record(Space::Meta, "empty", "")});
  EXPECT_EQ(this->get(Space::Journal, odd), odd);
  EXPECT_EQ(this->get(Space::Meta, "empty"), "");
  EXPECT_EQ(keys_of(this->store().find_actions_by_name(odd, 5).value()), ids_of({1}));
}

TYPED_TEST(StoreConformance, AppliesABatchInOrder) {
  this->commit({put_record(Space::Meta, "k", "first"),
                {Space::Meta, "k", std::nullopt, std::nullopt},
                put_record(Space::Meta, "k", "last")});
  EXPECT_EQ(this->get(Space::Meta, "k"), "last");
}

TYPED_TEST(StoreConformance, ApplyingABatchTwiceIsHarmless) {
  Batch batch = this->batch();
  batch.records = {put_action(live_index(1), "one"),
                   put_action(finished_index(2, Timestamp{7}), "two"),
                   put_record(Space::Agent, "a", "x")};
  batch.events = {{1, Timestamp{10}, "e1"}, {2, Timestamp{20}, "e2"}};
  ASSERT_TRUE(this->store().commit(batch).has_value());
  ASSERT_TRUE(this->store().commit(batch).has_value());
  const StoreStats stats = this->store().stats().value();
  EXPECT_EQ(stats.actions_live, 1U);
  EXPECT_EQ(stats.actions_finished, 1U);
  EXPECT_EQ(stats.events, 2U);
  EXPECT_EQ(this->store().events(0, 10).value().events.size(), 2U);
}

TYPED_TEST(StoreConformance, AWriterThatWasReplacedIsFenced) {
  this->commit({put_record(Space::Meta, "k", "old")});
  const Term newer = this->store().acquire_term().value();
  EXPECT_GT(newer, this->term_);
  const auto refused = this->store().commit(
      {this->term_, {put_record(Space::Meta, "k", "stale")}, {{1, Timestamp{1}, "e"}}});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::Fenced);
  EXPECT_EQ(this->get(Space::Meta, "k"), "old");
  EXPECT_EQ(this->store().events(0, 10).value().last, 0U);
  EXPECT_TRUE(this->store().commit({newer, {put_record(Space::Meta, "k", "new")}, {}}).has_value());
  EXPECT_EQ(this->get(Space::Meta, "k"), "new");
}

TYPED_TEST(StoreConformance, LoadsASpaceInKeyOrderPageByPage) {
  for (const char* key : {"d", "b", "a", "c", "e"}) {
    this->commit({put_record(Space::Agent, key, key), put_record(Space::Meta, key, "other")});
  }
  RecordPage page = this->store().load(Space::Agent, "", 2).value();
  EXPECT_EQ(keys_of(page.records), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(page.more);
  page = this->store().load(Space::Agent, "b", 3).value();
  EXPECT_EQ(keys_of(page.records), (std::vector<std::string>{"c", "d", "e"}));
  EXPECT_FALSE(page.more);
  EXPECT_EQ(page.records.front().value, "c");
}

TYPED_TEST(StoreConformance, LoadsLiveActionsInSeqOrder) {
  for (const std::uint64_t seq : {5U, 1U, 3U, 2U, 4U}) {
    this->commit({put_action(seq == 2 ? finished_index(2, Timestamp{9}) : live_index(seq), "v")});
  }
  RecordPage page = this->store().load(Space::Action, "", 2).value();
  EXPECT_EQ(keys_of(page.records), ids_of({1, 3}));
  EXPECT_TRUE(page.more);
  page = this->store().load(Space::Action, id_of(3), 10).value();
  EXPECT_EQ(keys_of(page.records), ids_of({4, 5}));
  EXPECT_FALSE(page.more);
  // A finished action has its place, too.
  EXPECT_EQ(keys_of(this->store().load(Space::Action, id_of(2), 1).value().records), ids_of({3}));
  EXPECT_EQ(this->store().load(Space::Action, id_of(99), 1).error().code, ErrorCode::InvalidMarker);
}

TYPED_TEST(StoreConformance, AnActionThatFinishesIsNoLongerLoadedButStillFound) {
  this->commit({put_action(live_index(1), "live")});
  this->commit({put_action(finished_index(1, Timestamp{5}), "finished")});
  EXPECT_TRUE(this->store().load(Space::Action, "", 10).value().records.empty());
  EXPECT_EQ(this->get(Space::Action, id_of(1)), "finished");
  const StoreStats stats = this->store().stats().value();
  EXPECT_EQ(stats.actions_live, 0U);
  EXPECT_EQ(stats.actions_finished, 1U);
}

TYPED_TEST(StoreConformance, AnActionMayChangeEverythingButItsId) {
  this->commit({put_action(live_index(1), "before")});
  ActionIndex changed = live_index(50);
  RecordWrite write{Space::Action, id_of(1), "after", changed};
  this->commit({write});
  EXPECT_EQ(this->get(Space::Action, id_of(1)), "after");
  EXPECT_EQ(keys_of(this->store().find_actions_by_name("name-50", 5).value()), ids_of({1}));
  EXPECT_TRUE(this->store().find_actions_by_name("name-1", 5).value().empty());
  EXPECT_EQ(this->store().stats().value().actions_live, 1U);
}

TYPED_TEST(StoreConformance, DeletesAnAction) {
  this->commit({put_action(live_index(1), "v"), put_action(live_index(2), "v")});
  this->commit({{Space::Action, id_of(1), std::nullopt, std::nullopt}});
  EXPECT_EQ(this->get(Space::Action, id_of(1)), std::nullopt);
  EXPECT_EQ(this->store().stats().value().actions_live, 1U);
}

TYPED_TEST(StoreConformance, FindsActionsByNameNewestFirst) {
  for (std::uint64_t seq = 1; seq <= 4; ++seq) {
    ActionIndex index = seq % 2 == 0 ? finished_index(seq, Timestamp{9}) : live_index(seq);
    index.name = seq == 3 ? "other" : "same";
    this->commit({put_action(index, "v")});
  }
  EXPECT_EQ(keys_of(this->store().find_actions_by_name("same", 10).value()), ids_of({4, 2, 1}));
  EXPECT_EQ(keys_of(this->store().find_actions_by_name("same", 2).value()), ids_of({4, 2}));
  EXPECT_TRUE(this->store().find_actions_by_name("none", 2).value().empty());
}

TYPED_TEST(StoreConformance, AQueryTellsTheSeqWhateverTheRecordHolds) {
  this->commit({put_action(live_index(7), "v"), put_action(finished_index(9, Timestamp{9}), "?")});
  ActionQuery query;
  query.sort = {{SortKey::Seq, true}};
  const auto records = this->store().query_actions(query).value();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].seq, 9U);
  EXPECT_EQ(records[1].seq, 7U);
}

TYPED_TEST(StoreConformance, FindsActionsByEveryPrefixOfTheirId) {
  std::set<std::string> all;
  std::vector<RecordWrite> writes;
  for (std::uint64_t seq = 1; seq <= 300; ++seq) {
    writes.push_back(put_action(live_index(seq), "v"));
    all.insert(id_of(seq));
  }
  this->commit(writes);
  const std::string text = Uuid::from_bytes(id_of(17)).to_string();
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const std::string prefix = text.substr(0, length);
    std::vector<std::string> expected;
    for (const std::string& id : all) {
      if (Uuid::from_bytes(id).to_string().starts_with(prefix)) expected.push_back(id);
    }
    EXPECT_EQ(keys_of(this->store().find_actions_by_prefix(prefix, 1000).value()), expected)
        << prefix;
  }
  std::string bare = text;
  std::erase(bare, '-');
  std::transform(bare.begin(), bare.end(), bare.begin(), ::toupper);
  EXPECT_EQ(keys_of(this->store().find_actions_by_prefix(bare, 5).value()), ids_of({17}));
  for (const char* wrong : {"xyz", "1234-", "0123456-", "--------"}) {
    EXPECT_TRUE(this->store().find_actions_by_prefix(wrong, 5).value().empty()) << wrong;
  }
  EXPECT_TRUE(this->store().find_actions_by_prefix(bare + "0", 5).value().empty());
  EXPECT_EQ(this->store().find_actions_by_prefix("", 7).value().size(), 7U);
}

TYPED_TEST(StoreConformance, AMarkerThatNamesNoActionIsAnError) {
  this->commit({put_action(live_index(1), "v")});
  ActionQuery query;
  query.marker = id_of(2);
  EXPECT_EQ(this->store().query_actions(query).error().code, ErrorCode::InvalidMarker);
  query.marker = "not an id";
  EXPECT_EQ(this->store().query_actions(query).error().code, ErrorCode::InvalidMarker);
}

TYPED_TEST(StoreConformance, AFilterHasABoundOnItsValues) {
  ActionQuery query;
  query.filter.names = std::vector<std::string>(1001, "n");
  EXPECT_EQ(this->store().query_actions(query).error().code, ErrorCode::InvalidValue);
}

// Few different values, so that ties and matches are common.
std::string any_word() {
  return *rc::gen::elementOf(std::vector<std::string>{"", "a", "aa", "b", "\xc3\xa4"});
}

ActionIndex any_index(std::uint64_t seq) {
  const bool live = *rc::gen::arbitrary<bool>();
  const auto small_time = [] { return Timestamp{*rc::gen::inRange<std::int64_t>(1, 5)}; };
  return {.seq = seq,
          .live = live,
          .name = any_word(),
          .target = any_word(),
          .action = any_word(),
          .status = any_word(),
          .created_at = small_time(),
          .updated_at = small_time(),
          .finished_at = live ? Timestamp{} : small_time()};
}

std::vector<std::string> any_values() {
  std::vector<std::string> values(*rc::gen::weightedElement<std::size_t>({{4, 0}, {2, 1}, {1, 2}}));
  for (std::string& value : values) value = any_word();
  return values;
}

ActionQuery any_query() {
  ActionQuery query;
  query.filter = {any_values(), any_values(), any_values(), any_values(), std::nullopt};
  if (*rc::gen::inRange(0, 3) == 0) query.filter.live = *rc::gen::arbitrary<bool>();
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    query.sort.push_back(
        {static_cast<SortKey>(*rc::gen::inRange(0, static_cast<int>(SortKey::FinishedAt) + 1)),
         *rc::gen::arbitrary<bool>()});
  }
  query.limit = *rc::gen::inRange<std::size_t>(1, 8);
  return query;
}

// A model of its own: no code is shared with the backends.
std::string model_key(const ActionIndex& index, SortKey key) {
  const auto number = [](std::uint64_t n) {
    std::string text = std::to_string(n);
    return std::string(20 - text.size(), '0') + text;
  };
  const auto time = [&](Timestamp at) { return number(static_cast<std::uint64_t>(at.us)); };
  switch (key) {
    case SortKey::Seq:
      return number(index.seq);
    case SortKey::Name:
      return index.name;
    case SortKey::Target:
      return index.target;
    case SortKey::Action:
      return index.action;
    case SortKey::Status:
      return index.status;
    case SortKey::CreatedAt:
      return time(index.created_at);
    case SortKey::UpdatedAt:
      return time(index.updated_at);
    case SortKey::FinishedAt:
      return time(index.finished_at);
  }
  return {};
}

std::vector<std::string> model_list(const std::map<std::uint64_t, ActionIndex>& actions,
                                    const ActionQuery& query) {
  const auto allows = [](const std::vector<std::string>& values, const std::string& value) {
    return values.empty() || std::count(values.begin(), values.end(), value) > 0;
  };
  std::vector<ActionIndex> rows;
  for (const auto& [seq, index] : actions) {
    if (allows(query.filter.names, index.name) && allows(query.filter.targets, index.target) &&
        allows(query.filter.actions, index.action) && allows(query.filter.statuses, index.status) &&
        query.filter.live.value_or(index.live) == index.live) {
      rows.push_back(index);
    }
  }
  // Sorting stably by one key after the other, the least significant first. Ties go by seq, in the
  // direction of the last term.
  std::vector<SortTerm> terms = query.sort;
  terms.push_back({SortKey::Seq, !query.sort.empty() && query.sort.back().descending});
  // The first mention of a key is the one that counts, as sorting by it again comes later here.
  for (auto term = terms.rbegin(); term != terms.rend(); ++term) {
    std::stable_sort(rows.begin(), rows.end(), [&](const ActionIndex& a, const ActionIndex& b) {
      const std::string left = model_key(a, term->key);
      const std::string right = model_key(b, term->key);
      return term->descending ? right < left : left < right;
    });
  }
  std::vector<std::string> ids;
  for (const ActionIndex& row : rows) ids.push_back(id_of(row.seq));
  return ids;
}

// The direction of ties is that of the last term that is not a repetition.
void drop_repetitions(ActionQuery& query) {
  std::vector<SortTerm> kept;
  for (const SortTerm& term : query.sort) {
    const bool repeated =
        std::any_of(kept.begin(), kept.end(), [&](const SortTerm& k) { return k.key == term.key; });
    if (!repeated) kept.push_back(term);
  }
  query.sort = kept;
}

template <typename T>
void pages_agree_with_the_model() {
  T backend;
  const Term term = backend.store().acquire_term().value();
  std::map<std::uint64_t, ActionIndex> model;
  const auto count = *rc::gen::inRange<std::uint64_t>(0, 30);
  // Each action is written twice, so that updates are part of it.
  for (int round = 0; round < 2; ++round) {
    Batch batch;
    batch.term = term;
    for (std::uint64_t seq = 1; seq <= count; ++seq) {
      model[seq] = any_index(seq);
      batch.records.push_back(put_action(model[seq], std::to_string(seq)));
    }
    RC_ASSERT(backend.store().commit(batch).has_value());
  }
  for (int i = 0; i < 10; ++i) {
    ActionQuery query = any_query();
    const ActionQuery asked = query;
    drop_repetitions(query);
    const std::vector<std::string> expected = model_list(model, query);
    std::vector<std::string> seen;
    ActionQuery page_query = asked;
    while (true) {
      const auto page = backend.store().query_actions(page_query);
      RC_ASSERT(page.has_value());
      RC_ASSERT(page->size() <= asked.limit);
      for (const Record& record : *page) {
        seen.push_back(record.key);
        page_query.marker = record.key;
      }
      if (page->size() < asked.limit) break;
      RC_ASSERT(seen.size() <= model.size());
    }
    RC_ASSERT(seen == expected);
  }
}

RC_GTEST_PROP(StorePaging, MemoryAgreesWithTheModel, ()) {
  pages_agree_with_the_model<MemoryBackend>();
}

RC_GTEST_PROP(StorePaging, SqliteAgreesWithTheModel, ()) {
  pages_agree_with_the_model<SqliteBackend>();
}

TYPED_TEST(StoreConformance, AMarkerNeedNotMatchTheFilter) {
  for (std::uint64_t seq = 1; seq <= 4; ++seq) {
    ActionIndex index = live_index(seq);
    index.target = seq == 2 ? "x" : "y";
    this->commit({put_action(index, "v")});
  }
  ActionQuery query;
  query.filter.targets = {"y"};
  query.marker = id_of(2);
  EXPECT_EQ(keys_of(this->store().query_actions(query).value()), ids_of({3, 4}));
}

TYPED_TEST(StoreConformance, ReadsEventsInOrder) {
  EXPECT_EQ(this->store().events(0, 10).value().last, 0U);
  this->commit({}, {{1, Timestamp{10}, "a"}, {2, Timestamp{20}, "b"}});
  this->commit({}, {{3, Timestamp{30}, "c"}});
  const EventPage page = this->store().events(1, 10).value();
  ASSERT_EQ(page.events.size(), 2U);
  EXPECT_EQ(page.events[0].seq, 2U);
  EXPECT_EQ(page.events[0].at, Timestamp{20});
  EXPECT_EQ(page.events[1].value, "c");
  EXPECT_EQ(page.first_kept, 1U);
  EXPECT_EQ(page.last, 3U);
  EXPECT_EQ(this->store().events(0, 2).value().events.size(), 2U);
  EXPECT_TRUE(this->store().events(3, 2).value().events.empty());
  EXPECT_TRUE(this->store().events(~std::uint64_t{0}, 2).value().events.empty());
}

constexpr Retention kKeepAll = {Duration::days(10'000), 1'000'000, 1'000'000};

TYPED_TEST(StoreConformance, PurgesFinishedActionsByAgeOldestFirst) {
  for (std::uint64_t seq = 1; seq <= 5; ++seq) {
    // The later ones finished earlier.
    this->commit(
        {put_action(finished_index(seq, Timestamp{100 - static_cast<std::int64_t>(seq)}), "v")});
  }
  this->commit({put_action(live_index(6), "v")});
  Retention retention = kKeepAll;
  retention.age_max = Duration::micros(100);
  const Timestamp now{100 + 97};  // keeps those that finished at 97 or later: 1, 2, 3
  EXPECT_EQ(this->store().purge(retention, now, 1).value(), 1U);
  EXPECT_EQ(this->get(Space::Action, id_of(5)), std::nullopt);
  EXPECT_NE(this->get(Space::Action, id_of(4)), std::nullopt);
  EXPECT_EQ(this->store().purge(retention, now, 10).value(), 1U);
  EXPECT_EQ(this->store().purge(retention, now, 10).value(), 0U);
  const StoreStats stats = this->store().stats().value();
  EXPECT_EQ(stats.actions_finished, 3U);
  EXPECT_EQ(stats.actions_live, 1U);
}

TYPED_TEST(StoreConformance, PurgesFinishedActionsByCountAndNeverLiveOnes) {
  for (std::uint64_t seq = 1; seq <= 6; ++seq) {
    this->commit({put_action(
        seq <= 2 ? live_index(seq) : finished_index(seq, Timestamp{std::int64_t(seq)}), "v")});
  }
  Retention retention = kKeepAll;
  retention.count_max = 1;
  EXPECT_EQ(this->store().purge(retention, Timestamp{100}, 2).value(), 2U);
  EXPECT_EQ(this->store().purge(retention, Timestamp{100}, 2).value(), 1U);
  EXPECT_EQ(this->store().purge(retention, Timestamp{100}, 2).value(), 0U);
  EXPECT_NE(this->get(Space::Action, id_of(6)), std::nullopt);
  retention.count_max = 0;
  EXPECT_EQ(this->store().purge(retention, Timestamp{100}, 10).value(), 1U);
  EXPECT_EQ(this->store().stats().value().actions_live, 2U);
}

TYPED_TEST(StoreConformance, PurgesEventsFromTheOldEndAndKeepsTheNewest) {
  for (std::uint64_t seq = 1; seq <= 6; ++seq) {
    this->commit({}, {{seq, Timestamp{std::int64_t(seq) * 10}, "e"}});
  }
  Retention retention = kKeepAll;
  retention.events_max = 4;
  EXPECT_EQ(this->store().purge(retention, Timestamp{100}, 1).value(), 1U);
  EXPECT_EQ(this->store().purge(retention, Timestamp{100}, 9).value(), 1U);
  EventPage page = this->store().events(0, 10).value();
  EXPECT_EQ(page.first_kept, 3U);
  EXPECT_EQ(page.last, 6U);

  retention = kKeepAll;
  retention.age_max = Duration::micros(50);
  EXPECT_EQ(this->store().purge(retention, Timestamp{100}, 9).value(), 2U);  // 30 and 40
  EXPECT_EQ(this->store().events(0, 10).value().first_kept, 5U);

  retention.events_max = 0;
  EXPECT_EQ(this->store().purge(retention, Timestamp{10'000}, 9).value(), 1U);
  page = this->store().events(0, 10).value();
  EXPECT_EQ(page.first_kept, 6U);
  EXPECT_EQ(page.last, 6U);
  EXPECT_EQ(this->store().stats().value().events, 1U);
}

TYPED_TEST(StoreConformance, EventsKeepNoGapWhenTheClockWentBack) {
  this->commit({}, {{1, Timestamp{10}, "e"},
                    {2, Timestamp{90}, "e"},
                    {3, Timestamp{20}, "e"},
                    {4, Timestamp{95}, "e"}});
  Retention retention = kKeepAll;
  retention.age_max = Duration::micros(50);
  EXPECT_EQ(this->store().purge(retention, Timestamp{100}, 9).value(), 1U);
  const EventPage page = this->store().events(0, 10).value();
  EXPECT_EQ(page.first_kept, 2U);
  EXPECT_EQ(page.events.size(), 3U);
}

TYPED_TEST(StoreConformance, QuarantineKeepsTheBytesAndTheReason) {
  this->commit({put_action(live_index(1), "a"), put_action(live_index(2), "broken"),
                put_action(live_index(3), "c"), put_record(Space::Agent, "host", "bad")});
  ASSERT_TRUE(
      this->store().quarantine(Space::Action, id_of(2), "no good", Timestamp{42}).has_value());
  ASSERT_TRUE(
      this->store().quarantine(Space::Agent, "host", "also bad", Timestamp{43}).has_value());
  EXPECT_EQ(this->get(Space::Action, id_of(2)), std::nullopt);
  EXPECT_EQ(this->get(Space::Agent, "host"), std::nullopt);
  // Loading goes on after a record that was quarantined on the way.
  EXPECT_EQ(keys_of(this->store().load(Space::Action, id_of(2), 9).value().records), ids_of({3}));

  const auto entries = this->store().quarantined(10).value();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].space, Space::Action);
  EXPECT_EQ(entries[0].key, id_of(2));
  EXPECT_EQ(entries[0].value, "broken");
  EXPECT_EQ(entries[0].problem, "no good");
  EXPECT_EQ(entries[0].at, Timestamp{42});
  EXPECT_EQ(entries[1].space, Space::Agent);
  EXPECT_EQ(this->store().quarantined(1).value().size(), 1U);
  const StoreStats stats = this->store().stats().value();
  EXPECT_EQ(stats.quarantined, 2U);
  EXPECT_EQ(stats.actions_live, 2U);
  EXPECT_EQ(this->store().quarantine(Space::Agent, "host", "again", Timestamp{1}).error().code,
            ErrorCode::NotFound);
}

TYPED_TEST(StoreConformance, ProbeSucceedsAndChangesNothing) {
  this->commit({put_action(live_index(1), "v")});
  EXPECT_TRUE(this->store().probe().has_value());
  EXPECT_TRUE(this->store().probe().has_value());
  EXPECT_EQ(this->store().stats().value().actions_live, 1U);
}

TYPED_TEST(StoreConformance, ABackupIsTheStoreOfThatMoment) {
  this->commit({put_action(live_index(1), "v"), put_record(Space::Meta, "k", "then")},
               {{1, Timestamp{1}, "e"}});
  const std::string path = this->backend_.backup_path();
  ASSERT_TRUE(this->store().backup(path).has_value());
  this->commit({put_record(Space::Meta, "k", "later"), put_action(live_index(2), "w")});
  EXPECT_EQ(this->store().backup(path).error().code, ErrorCode::Conflict);

  const auto copy = this->backend_.open_backup();
  EXPECT_EQ(copy->get(Space::Meta, "k").value(), "then");
  EXPECT_EQ(keys_of(copy->load(Space::Action, "", 9).value().records), ids_of({1}));
  EXPECT_EQ(copy->events(0, 9).value().last, 1U);
  EXPECT_EQ(copy->acquire_term().value(), this->term_ + 1);
  EXPECT_EQ(this->get(Space::Meta, "k"), "later");
}

}  // namespace
}  // namespace muster::store
