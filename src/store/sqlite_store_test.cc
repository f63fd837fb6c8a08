#include "store/sqlite_store.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "store/file_io.h"
#include "store/sqlite_schema.h"
#include "store/store_test_util.h"

namespace muster::store {
namespace {

using testing::id_of;
using testing::live_index;
using testing::put_action;
using testing::put_record;
using testing::TempFolder;

class SqliteStoreTest : public ::testing::Test {
 protected:
  std::string path() const { return folder_.file("store.db"); }
  std::unique_ptr<SqliteStore> open() const { return testing::open_or_throw(path()); }
  Error open_error(bool create = true) const {
    SqliteStoreOptions options;
    options.path = path();
    options.create = create;
    auto store = SqliteStore::open(options);
    EXPECT_FALSE(store.has_value());
    return store ? Error{ErrorCode::Internal, "opened"} : store.error();
  }
  // A closed store with some content.
  void make_store(std::uint64_t actions) const {
    auto store = open();
    Batch batch;
    batch.term = store->acquire_term().value();
    for (std::uint64_t seq = 1; seq <= actions; ++seq) {
      batch.records.push_back(put_action(live_index(seq), std::string(300, 'v')));
    }
    ASSERT_TRUE(store->commit(batch).has_value());
  }
  void run_sql(const std::string& sql) const {
    auto database = Database::open(path(), OpenMode::ReadWriteCreate);
    ASSERT_TRUE(database.has_value());
    ASSERT_TRUE(database->exec(sql).has_value());
  }

  TempFolder folder_;
};

void expect_says(const Error& error, std::string_view text) {
  EXPECT_NE(error.message.find(text), std::string::npos) << error.message;
}

TEST_F(SqliteStoreTest, WhatWasCommittedIsThereAfterReopening) {
  {
    auto store = open();
    const Term term = store->acquire_term().value();
    ASSERT_TRUE(store
                    ->commit({term,
                              {put_action(live_index(1), "v"), put_record(Space::Agent, "a", "b")},
                              {{1, Timestamp{5}, "e"}}})
                    .has_value());
  }
  EXPECT_FALSE(file_exists(path() + "-wal"));
  auto store = open();
  EXPECT_EQ(store->get(Space::Action, id_of(1)).value(), "v");
  const StoreStats stats = store->stats().value();
  EXPECT_EQ(stats.actions_live, 1U);
  EXPECT_EQ(stats.events, 1U);
  EXPECT_GT(stats.bytes, 4096U);
  EXPECT_EQ(store->acquire_term().value(), 2U);
}

TEST_F(SqliteStoreTest, ACommitSurvivesTheDeathOfTheProcess) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto store = testing::open_or_throw(path());
    const Term term = store->acquire_term().value();
    const bool done = store->commit({term, {put_action(live_index(1), "v")}, {}}).has_value();
    ::_exit(done ? 0 : 1);  // no destructor runs
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_GT(file_size(path() + "-wal"), 0U);
  EXPECT_EQ(open()->get(Space::Action, id_of(1)).value(), "v");
}

TEST_F(SqliteStoreTest, AMissingStoreIsOnlyMadeWhenAllowed) {
  EXPECT_EQ(open_error(false).code, ErrorCode::NotFound);
  EXPECT_FALSE(file_exists(path()));
  open();
  EXPECT_TRUE(file_exists(path()));
}

TEST_F(SqliteStoreTest, ACrashWhileAStoreIsMadeLeavesNoHalfStore) {
  testing::write_whole(path() + ".new", "half");
  auto store = open();
  EXPECT_FALSE(file_exists(path() + ".new"));
  EXPECT_EQ(store->stats().value().actions_live, 0U);
}

TEST_F(SqliteStoreTest, ItsFilesAreForTheirOwnerOnly) {
  const auto mode = [](const std::string& file) {
    struct stat info{};
    return ::stat(file.c_str(), &info) == 0 ? info.st_mode & 0777U : 01U;
  };
  const mode_t before = ::umask(022);
  for (int round = 0; round < 2; ++round) {
    const auto store = SqliteStore::open({.path = path()});
    ASSERT_TRUE(store) << store.error().message;
    EXPECT_TRUE((*store)->acquire_term());
    EXPECT_EQ(mode(path()), 0600U);
    EXPECT_EQ(mode(path() + "-wal"), 0600U);
    ::chmod(path().c_str(), 0644);  // as an older version left it
  }
  ::umask(before);
}

TEST_F(SqliteStoreTest, ASecondOpenIsRefusedAndNamesTheProcess) {
  auto store = open();
  const Error error = open_error();
  EXPECT_EQ(error.code, ErrorCode::StoreLocked);
  expect_says(error, std::to_string(::getpid()));
  expect_says(error, "stop that process");
  store.reset();
  EXPECT_NE(open(), nullptr);
}

TEST_F(SqliteStoreTest, AFileOfGarbageIsRefused) {
  testing::write_whole(path(), std::string(10'000, 'g'));
  const Error error = open_error();
  EXPECT_EQ(error.code, ErrorCode::StoreCorrupt);
  expect_says(error, path());
  expect_says(error, "muster restore FILE");
}

TEST_F(SqliteStoreTest, AnEmptyFileIsRefused) {
  testing::write_whole(path(), "");
  const Error error = open_error();
  EXPECT_EQ(error.code, ErrorCode::StoreCorrupt);
  expect_says(error, "muster restore FILE");
}

TEST_F(SqliteStoreTest, ATruncatedFileIsRefused) {
  make_store(500);
  const std::string whole = testing::read_whole(path());
  ASSERT_GT(whole.size(), 100'000U);
  for (const std::size_t size : {whole.size() / 2, whole.size() - 4096, std::size_t{5000}}) {
    testing::write_whole(path(), std::string_view(whole).substr(0, size));
    const Error error = open_error();
    EXPECT_EQ(error.code, ErrorCode::StoreCorrupt) << size << ": " << error.message;
    expect_says(error, "muster restore FILE");
  }
}

TEST_F(SqliteStoreTest, ADamagedPageIsRefused) {
  make_store(500);
  std::string bytes = testing::read_whole(path());
  std::fill(bytes.begin() + 8 * 4096, bytes.begin() + 12 * 4096, '\x5a');
  testing::write_whole(path(), bytes);
  const Error error = open_error();
  EXPECT_EQ(error.code, ErrorCode::StoreCorrupt) << error.message;
}

TEST_F(SqliteStoreTest, ADatabaseOfAnotherProgramIsRefused) {
  run_sql("CREATE TABLE theirs(a)");
  const Error error = open_error();
  EXPECT_EQ(error.code, ErrorCode::StoreCorrupt);
  expect_says(error, "not a store of muster");
}

TEST_F(SqliteStoreTest, ANewerStoreIsRefusedWithBothVersions) {
  make_store(1);
  run_sql("PRAGMA user_version = 7");
  const Error error = open_error();
  EXPECT_EQ(error.code, ErrorCode::StoreNewer);
  expect_says(error, "version 7");
  expect_says(error, "version 1");
  expect_says(error, "newer muster");
}

TEST_F(SqliteStoreTest, ALogWithoutItsStoreIsRefused) {
  testing::write_whole(path() + "-wal", "log");
  const Error error = open_error();
  EXPECT_EQ(error.code, ErrorCode::StoreCorrupt);
  expect_says(error, "-wal");
}

Batch large_batch(Term term, std::uint64_t first, std::uint64_t count) {
  Batch batch;
  batch.term = term;
  for (std::uint64_t seq = first; seq < first + count; ++seq) {
    batch.records.push_back(put_action(live_index(seq), std::string(4000, 'v')));
  }
  return batch;
}

TEST_F(SqliteStoreTest, AFullDiskRefusesWholeBatchesAndHealsWhenThereIsRoom) {
  auto store = open();
  const Term term = store->acquire_term().value();
  ASSERT_TRUE(store->commit(large_batch(term, 1, 10)).has_value());
  ASSERT_TRUE(store->limit_pages(80).has_value());

  for (int i = 0; i < 3; ++i) {
    const auto refused = store->commit(large_batch(term, 100, 200));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::StoreUnavailable) << refused.error().message;
  }
  // Fill what is left, so that even a small write finds no room.
  for (std::uint64_t seq = 1000; store->commit(large_batch(term, seq, 1)).has_value(); ++seq) {
    ASSERT_LT(seq, 1100U);
  }
  EXPECT_EQ(store->probe().error().code, ErrorCode::StoreUnavailable);
  EXPECT_EQ(store->get(Space::Action, id_of(100)).value(), std::nullopt);
  EXPECT_NE(store->get(Space::Action, id_of(1)).value(), std::nullopt);

  ASSERT_TRUE(store->limit_pages(0).has_value());
  EXPECT_TRUE(store->probe().has_value());
  EXPECT_TRUE(store->commit(large_batch(term, 100, 200)).has_value());
  EXPECT_NE(store->get(Space::Action, id_of(299)).value(), std::nullopt);
}

TEST_F(SqliteStoreTest, ALogThatCannotGrowRefusesAndHeals) {
  auto store = open();
  const Term term = store->acquire_term().value();
  ASSERT_TRUE(store->commit(large_batch(term, 1, 10)).has_value());

  struct rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = before;
  small.rlim_cur = rlim_t{256} << 10U;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto refused = store->commit(large_batch(term, 100, 500));
  const auto stats = store->stats();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old_handler);

  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::StoreUnavailable) << refused.error().message;
  EXPECT_EQ(stats.value().actions_live, 10U);
  EXPECT_TRUE(store->commit(large_batch(term, 100, 500)).has_value());
  EXPECT_EQ(store->stats().value().actions_live, 510U);
}

TEST_F(SqliteStoreTest, AForeignLockIsAPassingTrouble) {
  auto store = open();
  const Term term = store->acquire_term().value();
  auto foreign = Database::open(path(), OpenMode::ReadWrite);
  ASSERT_TRUE(foreign.has_value());
  {
    auto transaction = Transaction::begin_write(*foreign);
    ASSERT_TRUE(transaction.has_value());
    const auto refused = store->commit(large_batch(term, 1, 1));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::StoreUnavailable);
  }
  EXPECT_TRUE(store->commit(large_batch(term, 1, 1)).has_value());
}

TEST_F(SqliteStoreTest, TwoActionsWithOneSeqAreAnErrorAndChangeNothing) {
  auto store = open();
  const Term term = store->acquire_term().value();
  ASSERT_TRUE(store->commit({term, {put_action(live_index(1), "v")}, {}}).has_value());
  const auto refused = store->commit(
      {term,
       {put_record(Space::Meta, "k", "v"), {Space::Action, id_of(2), "w", live_index(1)}},
       {}});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::Internal);
  EXPECT_EQ(store->get(Space::Meta, "k").value(), std::nullopt);
}

TEST_F(SqliteStoreTest, ReadsGoOnWhileCommitsDo) {
  auto store = open();
  const Term term = store->acquire_term().value();
  std::atomic<bool> done = false;
  std::atomic<std::uint64_t> reads = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 6; ++i) {
    readers.emplace_back([&] {
      while (!done || reads < 20) {
        // A batch has ten actions: a reader sees all or none of each.
        const auto page = store->load(Space::Action, "", 10'000);
        ASSERT_TRUE(page.has_value()) << page.error().message;
        ASSERT_EQ(page->records.size() % 10, 0U);
        ASSERT_TRUE(store->stats().has_value());
        ++reads;
      }
    });
  }
  for (std::uint64_t n = 0; n < 40; ++n) {
    ASSERT_TRUE(store->commit(large_batch(term, 1 + n * 10, 10)).has_value());
    ASSERT_EQ(store->load(Space::Action, "", 10'000).value().records.size(), (n + 1) * 10);
    if (n % 10 == 0) {
      ASSERT_TRUE(store->probe().has_value());
    }
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
}

TEST_F(SqliteStoreTest, ABackupIsOnePlainFileAndLeavesNothingBeside) {
  auto store = open();
  const Term term = store->acquire_term().value();
  ASSERT_TRUE(store->commit(large_batch(term, 1, 50)).has_value());
  const std::string backup = folder_.file("backup.db");
  ASSERT_TRUE(store->backup(backup).has_value());
  for (const char* suffix : {"-wal", "-shm", "-journal", ".partial", ".partial-wal"}) {
    EXPECT_FALSE(file_exists(backup + suffix)) << suffix;
  }
  // Bytes 18 and 19 of the header: 1 is a rollback journal, 2 a write-ahead log.
  const std::string bytes = testing::read_whole(backup);
  EXPECT_EQ(bytes[18], 1);
  EXPECT_EQ(bytes[19], 1);
}

TEST_F(SqliteStoreTest, ABackupIntoAMissingFolderFailsCleanly) {
  auto store = open();
  const auto refused = store->backup(folder_.file("none/backup.db"));
  ASSERT_FALSE(refused.has_value());
  expect_says(refused.error(), "none/backup.db");
}

}  // namespace
}  // namespace muster::store
