#include "store/sqlite_wal_file.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>

#include "store/sqlite.h"
#include "store/store_test_util.h"

namespace muster::store {
namespace {

class SqliteWalFileTest : public ::testing::Test {
 protected:
  Database open() {
    auto database = Database::open(folder_.file("test.db"), OpenMode::ReadWriteCreate);
    EXPECT_TRUE(database) << database.error().message;
    EXPECT_TRUE(database->exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"));
    return std::move(*database);
  }
  static std::int64_t count(Database& database) {
    return database.scalar("SELECT count(*) FROM numbers").value_or(-1);
  }
  static void fill(Database& database, int rows) {
    ASSERT_TRUE(database.exec(
        fmt::format("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) "
                    "INSERT INTO numbers(value) SELECT randomblob(4000) FROM n",
                    rows)));
  }

  testing::TempFolder folder_;
};

TEST_F(SqliteWalFileTest, ItIsWhatDatabasesUse) {
  const auto database = open();
  ASSERT_STREQ(gathering_file_system(), "muster");
  EXPECT_NE(sqlite3_vfs_find("muster"), nullptr);
}

TEST_F(SqliteWalFileTest, AnotherConnectionSeesWhatWasCommitted) {
  auto writer = open();
  auto reader = open();
  ASSERT_TRUE(writer.exec("CREATE TABLE numbers(id INTEGER PRIMARY KEY, value BLOB)"));
  for (int i = 1; i <= 50; ++i) {
    fill(writer, 3);
    ASSERT_EQ(count(reader), 3 * i);
  }
  // Whoever opens the file after a crash has the log alone.
  const std::string copy = folder_.file("copy.db");
  std::filesystem::copy_file(folder_.file("test.db"), copy);
  std::filesystem::copy_file(folder_.file("test.db-wal"), copy + "-wal");
  auto opened = Database::open(copy, OpenMode::ReadWrite);
  ASSERT_TRUE(opened);
  EXPECT_EQ(count(*opened), 150);
}

TEST_F(SqliteWalFileTest, ATransactionThatDoesNotFitMemoryIsReadBackAndUndone) {
  auto writer = open();
  auto reader = open();
  ASSERT_TRUE(writer.exec("CREATE TABLE numbers(id INTEGER PRIMARY KEY, value BLOB)"));
  fill(writer, 10);
  // So small a cache makes SQLite write pages to the log, and read them, before the commit.
  ASSERT_TRUE(writer.exec("PRAGMA cache_size = 5; BEGIN"));
  fill(writer, 3000);  // more than is gathered at a time
  EXPECT_EQ(count(writer), 3010);
  EXPECT_EQ(count(reader), 10);
  ASSERT_TRUE(writer.exec("ROLLBACK"));
  EXPECT_EQ(count(writer), 10);
  fill(writer, 3000);
  EXPECT_EQ(count(reader), 3010);
  auto check = reader.prepare("PRAGMA integrity_check");
  ASSERT_TRUE(check && check->step());
  EXPECT_EQ(check->column_bytes(0), "ok");
}

}  // namespace
}  // namespace muster::store
