#include "store/sqlite_query.h"

#include <gtest/gtest.h>

#include "store/sqlite_schema.h"
#include "store/store_test_util.h"

namespace muster::store {
namespace {

using testing::TempFolder;

constexpr std::uint64_t kActions = 30'000;

// One store for all tests here: filling it is what takes time.
class SqliteQuery : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TempFolder();
    auto store = testing::open_or_throw(folder_->file("store.db"));
    const Term term = store->acquire_term().value();
    Batch batch;
    batch.term = term;
    for (std::uint64_t seq = 1; seq <= kActions; ++seq) {
      ActionIndex index = testing::finished_index(seq, Timestamp{5000 + std::int64_t(seq)});
      if (seq % 1000 == 0) index = testing::live_index(seq);
      index.target = seq % 500 == 0 ? "rare" : "common";
      batch.records.push_back(testing::put_action(index, "v"));
    }
    ASSERT_TRUE(store->commit(batch).has_value());
    store.reset();
    auto database = Database::open(folder_->file("store.db"), OpenMode::ReadWrite);
    ASSERT_TRUE(database.has_value());
    database_ = new Database(std::move(*database));
  }
  static void TearDownTestSuite() {
    delete database_;
    delete folder_;
  }

  // The plans of all slices, one below the other.
  static std::string plan_of(const ActionQuery& query, const std::optional<ActionIndex>& marker) {
    std::string plan;
    for (const QuerySlice& slice : slice_query(query, marker)) {
      const std::string index = choose_index(*database_, slice).value();
      auto statement =
          database_->prepare("EXPLAIN QUERY PLAN " + build_slice_sql(slice, index, 10).text)
              .value();
      while (statement.step().value()) plan += std::string(statement.column_bytes(3)) + "\n";
    }
    return plan;
  }
  static std::string index_for(const ActionQuery& query) {
    return choose_index(*database_, slice_query(query, std::nullopt).front()).value();
  }

  static inline TempFolder* folder_ = nullptr;
  static inline Database* database_ = nullptr;
};

constexpr SortKey kAllKeys[] = {SortKey::Name,       SortKey::Target,    SortKey::Action,
                                SortKey::Status,     SortKey::CreatedAt, SortKey::UpdatedAt,
                                SortKey::FinishedAt, SortKey::Seq};

TEST_F(SqliteQuery, APageByOneKeyNeverSortsAndStartsAtTheMarker) {
  for (const SortKey key : kAllKeys) {
    for (const bool descending : {false, true}) {
      ActionQuery query;
      query.sort = {{key, descending}};
      EXPECT_EQ(plan_of(query, std::nullopt).find("TEMP B-TREE"), std::string::npos);
      const std::string plan = plan_of(query, testing::live_index(1000));
      EXPECT_EQ(plan.find("TEMP B-TREE"), std::string::npos) << plan;
      EXPECT_EQ(plan.find("SCAN"), std::string::npos) << plan;
      EXPECT_NE(plan.find("SEARCH"), std::string::npos) << plan;
      // The slice of the marker's own value begins at its seq, not at the first of that value.
      if (key != SortKey::Seq) {
        EXPECT_NE(plan.find("=? AND rowid"), std::string::npos) << plan;
      }
    }
  }
}

TEST_F(SqliteQuery, MixedDirectionsStillStartAtTheMarker) {
  ActionQuery query;
  query.sort = {{SortKey::CreatedAt, true}, {SortKey::Name, false}};
  const std::string plan = plan_of(query, testing::live_index(1000));
  EXPECT_EQ(plan.find("SCAN"), std::string::npos) << plan;
  EXPECT_NE(plan.find("actions_by_created_at (created_at<?)"), std::string::npos) << plan;
}

TEST_F(SqliteQuery, ARareFilterUsesItsOwnIndex) {
  ActionQuery query;
  query.sort = {{SortKey::CreatedAt, true}};
  query.filter.targets = {"rare"};
  EXPECT_EQ(index_for(query), "actions_by_target");
  query.filter.names = {"name-17", "name-18"};
  EXPECT_EQ(index_for(query), "actions_by_name");
  EXPECT_NE(plan_of(query, std::nullopt).find("SEARCH actions USING INDEX actions_by_name"),
            std::string::npos);
}

TEST_F(SqliteQuery, ABroadFilterIsAppliedWhileWalkingTheOrder) {
  ActionQuery query;
  query.sort = {{SortKey::CreatedAt, true}};
  query.filter.targets = {"common"};
  EXPECT_EQ(index_for(query), "actions_by_created_at");
  EXPECT_EQ(plan_of(query, std::nullopt).find("TEMP B-TREE"), std::string::npos);
}

TEST_F(SqliteQuery, ABroadFilterInSeqOrderNeedsNoSort) {
  ActionQuery query;
  query.sort = {{SortKey::Seq, true}};
  query.filter.targets = {"common"};
  EXPECT_EQ(index_for(query), "actions_by_target");
  const std::string plan = plan_of(query, testing::live_index(1000));
  EXPECT_EQ(plan.find("TEMP B-TREE"), std::string::npos) << plan;
}

TEST_F(SqliteQuery, LiveActionsAreFoundWithoutTheHistory) {
  ActionQuery query;
  query.sort = {{SortKey::UpdatedAt, true}};
  query.filter.live = true;
  EXPECT_EQ(index_for(query), "actions_live");
  EXPECT_NE(plan_of(query, std::nullopt).find("actions_live"), std::string::npos);
}

}  // namespace
}  // namespace muster::store
