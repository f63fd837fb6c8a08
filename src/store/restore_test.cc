#include "store/restore.h"

#include <gtest/gtest.h>

#include "store/file_io.h"
#include "store/sqlite.h"
#include "store/store_test_util.h"

namespace muster::store {
namespace {

using testing::put_record;
using testing::TempFolder;

constexpr Timestamp kNow{2'500'000};  // second 2

class RestoreTest : public ::testing::Test {
 protected:
  RestoreTest() {
    auto store = testing::open_or_throw(path_);
    put(*store, "then");
    EXPECT_TRUE(store->backup(backup_).has_value());
    put(*store, "later");
  }

  static void put(SqliteStore& store, const std::string& value) {
    const Term term = store.acquire_term().value();
    ASSERT_TRUE(store.commit({term, {put_record(Space::Meta, "k", value)}, {}}).has_value());
  }
  static std::string value_in(const std::string& path) {
    return testing::open_or_throw(path)->get(Space::Meta, "k").value().value_or("none");
  }
  void damage_backup(const std::string& sql) const {
    auto database = Database::open(backup_, OpenMode::ReadWrite);
    ASSERT_TRUE(database.has_value());
    ASSERT_TRUE(database->exec(sql).has_value());
  }
  void expect_untouched() const {
    EXPECT_EQ(value_in(path_), "later");
    EXPECT_FALSE(file_exists(path_ + ".restoring"));
    EXPECT_FALSE(file_exists(path_ + ".before-restore-1"));
  }

  TempFolder folder_;
  std::string path_ = folder_.file("store.db");
  std::string backup_ = folder_.file("backup.db");
};

TEST_F(RestoreTest, PutsTheBackupInPlaceAndKeepsTheOldStore) {
  const std::string backup_bytes = testing::read_whole(backup_);
  const auto done = restore_store(backup_, path_, kNow);
  ASSERT_TRUE(done.has_value()) << done.error().message;
  EXPECT_EQ(value_in(path_), "then");
  EXPECT_EQ(value_in(path_ + ".before-restore-1"), "later");
  EXPECT_EQ(testing::read_whole(backup_), backup_bytes);
  EXPECT_FALSE(file_exists(path_ + ".restoring"));

  ASSERT_TRUE(restore_store(backup_, path_, kNow).has_value());
  EXPECT_EQ(value_in(path_ + ".before-restore-2"), "then");
}

TEST_F(RestoreTest, FencesTheWritersOfBefore) {
  // The store was at term 2, the backup at 1.
  ASSERT_TRUE(restore_store(backup_, path_, kNow).has_value());
  auto store = testing::open_or_throw(path_);
  for (const Term old : {1U, 2U}) {
    EXPECT_EQ(store->commit({old, {}, {}}).error().code, ErrorCode::Fenced);
  }
  EXPECT_EQ(store->acquire_term().value(), 4U);
}

TEST_F(RestoreTest, IntoNothingTheTermIsBeyondWhatAgentsMayHaveSeen) {
  // The backup knows nothing of the controllers that came after it; the clock does.
  const std::string fresh = folder_.file("fresh.db");
  ASSERT_TRUE(restore_store(backup_, fresh, Timestamp{1'800'000'000'000'000}).has_value());
  EXPECT_EQ(testing::open_or_throw(fresh)->acquire_term().value(), 1'800'000'001U);
  // A later restore of the same backup is beyond the starts of the first.
  ASSERT_TRUE(restore_store(backup_, fresh, Timestamp{1'800'000'000'000'000}).has_value());
  EXPECT_EQ(testing::open_or_throw(fresh)->acquire_term().value(), 1'800'000'003U);
}

TEST_F(RestoreTest, IntoNothingMakesAStore) {
  const std::string fresh = folder_.file("fresh.db");
  ASSERT_TRUE(restore_store(backup_, fresh, kNow).has_value());
  EXPECT_EQ(value_in(fresh), "then");
  EXPECT_FALSE(file_exists(fresh + ".before-restore-1"));
}

TEST_F(RestoreTest, ReplacesADamagedStoreAndKeepsItsLogBesideIt) {
  testing::write_whole(path_, std::string(5000, 'g'));
  testing::write_whole(path_ + "-wal", "its log");
  ASSERT_TRUE(restore_store(backup_, path_, kNow).has_value());
  EXPECT_EQ(value_in(path_), "then");
  EXPECT_EQ(testing::read_whole(path_ + ".before-restore-1"), std::string(5000, 'g'));
  EXPECT_EQ(testing::read_whole(path_ + ".before-restore-1-wal"), "its log");
}

TEST_F(RestoreTest, TheLogOfAKilledServerGoesWithTheOldStore) {
  {
    auto store = testing::open_or_throw(path_);
    put(*store, "in the log");
    // As a kill leaves them.
    testing::write_whole(folder_.file("copy.db"), testing::read_whole(path_));
    testing::write_whole(folder_.file("copy.db-wal"), testing::read_whole(path_ + "-wal"));
  }
  const std::string copy = folder_.file("copy.db");
  ASSERT_TRUE(restore_store(backup_, copy, kNow).has_value());
  EXPECT_EQ(value_in(copy), "then");
  EXPECT_EQ(value_in(copy + ".before-restore-1"), "in the log");
}

TEST_F(RestoreTest, RefusesWhileAServerHasTheStore) {
  {
    auto store = testing::open_or_throw(path_);
    EXPECT_EQ(restore_store(backup_, path_, kNow).error().code, ErrorCode::StoreLocked);
  }
  expect_untouched();
}

TEST_F(RestoreTest, RefusesAMissingBackup) {
  EXPECT_EQ(restore_store(folder_.file("none"), path_, kNow).error().code, ErrorCode::NotFound);
  expect_untouched();
}

TEST_F(RestoreTest, RefusesGarbage) {
  testing::write_whole(backup_, std::string(9000, 'x'));
  const Error error = restore_store(backup_, path_, kNow).error();
  EXPECT_EQ(error.code, ErrorCode::StoreCorrupt);
  EXPECT_NE(error.message.find("take another one"), std::string::npos) << error.message;
  expect_untouched();
}

TEST_F(RestoreTest, RefusesATruncatedBackup) {
  const std::string bytes = testing::read_whole(backup_);
  testing::write_whole(backup_, std::string_view(bytes).substr(0, bytes.size() / 2));
  EXPECT_EQ(restore_store(backup_, path_, kNow).error().code, ErrorCode::StoreCorrupt);
  expect_untouched();
}

TEST_F(RestoreTest, RefusesABackupOfANewerVersion) {
  damage_backup("PRAGMA user_version = 9");
  EXPECT_EQ(restore_store(backup_, path_, kNow).error().code, ErrorCode::StoreNewer);
  expect_untouched();
}

TEST_F(RestoreTest, RefusesTheDatabaseOfAnotherProgram) {
  damage_backup("PRAGMA application_id = 1");
  EXPECT_EQ(restore_store(backup_, path_, kNow).error().code, ErrorCode::StoreCorrupt);
  expect_untouched();
}

}  // namespace
}  // namespace muster::store
