// Goal: a database with a WAL is entered by one connection at a time, costs one sync a commit, and
//       keeps what it acknowledged whatever fails.
// Method: guards and databases on real files; a disk that fails at each of its steps in turn; files
//         that are deleted and replaced under it.
#include "adapter/sqlite/wal_guard.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <thread>
#include <vector>

#include "adapter/sqlite/database.h"
#include "adapter/sqlite/sqlite_fixture.h"
#include "adapter/sqlite/words_fixture.h"

namespace pawl::sqlite {
namespace {

using testing::AllOf;
using testing::HasSubstr;

DatabaseOptions options(std::string path) {
  return words_options(std::move(path), Journal::wal);
}

Database opened(const std::string& path) {
  return words_opened(options(path));
}

TEST(WalGuard, LetsOneInAtATime) {
  const TempFolder folder;
  std::ofstream(folder / "a.db").flush();
  std::filesystem::create_symlink("a.db", folder / "link.db");
  const auto one = WalGuard::open(folder / "a.db").value();
  const auto two = WalGuard::open(folder / "link.db").value();
  {
    const auto hold = one->hold(Duration());
    ASSERT_TRUE(hold.has_value());
    EXPECT_TRUE(one->hold(Duration()).has_value()) << "taken again by who has it";
    const auto refused = two->hold(Duration::milliseconds(1));
    ASSERT_FALSE(refused.has_value()) << "a link is the same database";
    EXPECT_EQ(refused.error().code, Code::unavailable);
    EXPECT_THAT(refused.error().message, HasSubstr("another process keeps the database"));
  }
  EXPECT_TRUE(two->hold(Duration()).has_value());
}

TEST(WalGuard, CostsOneSyncACommit) {
  const TempFolder folder;
  Database database = opened(folder / "words.db");
  ASSERT_TRUE(add(database, 1, "a").has_value());
  const int before = Disk::syncs;
  ASSERT_TRUE(add(database, 2, "b").has_value());
  EXPECT_EQ(Disk::syncs - before, 1);
  EXPECT_TRUE(Disk::ended_synced);
  EXPECT_TRUE(database.probe().has_value());
}

TEST(WalGuard, KeepsWhatWasCommittedAcrossConnections) {
  const TempFolder folder;
  {
    Database database = opened(folder / "words.db");
    ASSERT_TRUE(add(database, 1, "a").has_value());
  }
  EXPECT_GT(std::filesystem::file_size(folder / "words.db-wal"), 0u) << "closing copies nothing";
  Database again = opened(folder / "words.db");
  EXPECT_EQ(words(again), Words{"a"});
  for (const char* part : {"", "-wal", "-shm", "-lock"}) {
    struct stat status = {};
    ASSERT_EQ(::stat(((folder / "words.db") + part).c_str(), &status), 0) << part;
    EXPECT_EQ(status.st_mode & 0777, 0600u) << part;
  }
}

TEST(WalGuard, TendsAWalThatHasGrown) {
  const TempFolder folder;
  Database database = opened(folder / "words.db");
  Database other = opened(folder / "words.db");
  const auto size = [&] { return std::filesystem::file_size(folder / "words.db-wal"); };
  const auto grow = [&] {
    for (int n = 0; n < bounds::sqlite_wal_pages_max; ++n) {
      ASSERT_TRUE(database.transact([&]() -> Result<void> {
        PAWL_TRY(database.run("DELETE FROM words"));
        return database.run("INSERT INTO words VALUES (1, ?1)", {std::int64_t{n}});
      }));
    }
  };
  grow();
  const auto full = size();
  int before = Disk::syncs;
  ASSERT_TRUE(other
                  .transact([&]() -> Result<void> {
                    before = Disk::syncs;
                    database.tend();
                    EXPECT_EQ(Disk::syncs, before) << "somebody else is in it";
                    return {};
                  })
                  .has_value());
  before = Disk::syncs;
  database.tend();
  EXPECT_GT(Disk::syncs, before);
  before = Disk::syncs;
  database.tend();
  EXPECT_EQ(Disk::syncs, before) << "once";
  grow();
  EXPECT_LE(size(), full + full / 100) << "it begins at its start again";
  EXPECT_EQ(words(other), words(database));
}

TEST(WalGuard, TellsTheTruthWhicheverStepOfTheDiskFails) {
  EXPECT_GE(fail_each_step(Journal::wal, 0), 2);
}

TEST(WalGuard, TellsTheTruthWhicheverStepOfTheDiskIsTheLast) {
  EXPECT_GE(fail_each_step(Journal::wal, 1'000), 2);
}

TEST(WalGuard, LeavesNothingInTheWalAfterTrouble) {
  const TempFolder folder;
  const std::string path = folder / "words.db";
  Database database = opened(path);
  ASSERT_TRUE(add(database, 1, "a").has_value());
  Database again = Database::reopen(options(path)).value();
  EXPECT_EQ(std::filesystem::file_size(path + "-wal"), 0u) << "a sync of it may have been lost";
  EXPECT_EQ(words(again), Words{"a"});
  EXPECT_TRUE(add(database, 2, "b").has_value()) << "the others go on";
  EXPECT_EQ(words(again), (Words{"a", "b"}));
}

TEST(WalGuard, GoesNoFurtherWhenOneOfItsFilesIsGone) {
  for (const char* part : {"", "-wal", "-shm", "-lock"}) {
    const TempFolder folder;
    const std::string path = folder / "words.db";
    Database database = opened(path);
    ASSERT_TRUE(add(database, 1, "a").has_value());
    std::filesystem::rename(path + part, folder / "elsewhere");
    for (const bool replaced : {false, true}) {
      if (replaced) std::filesystem::copy(folder / "elsewhere", path + part);
      const Result<void> added = add(database, 2, "b");
      ASSERT_FALSE(added.has_value()) << part;
      EXPECT_EQ(added.error().code, Code::unavailable);
      EXPECT_EQ(added.error().outcome, Outcome::not_applied);
      EXPECT_THAT(added.error().message, AllOf(HasSubstr(path + part), HasSubstr("while in use")));
    }
    std::filesystem::rename(folder / "elsewhere", path + part);
    EXPECT_TRUE(add(database, 2, "b").has_value()) << "put back";
  }
}

TEST(WalGuard, SetsANewFileUpOnceForAllThatOpenItAtOnce) {
  for (int round = 0; round < 50; ++round) {
    const TempFolder folder;
    DatabaseOptions patient = options(folder / "words.db");
    patient.busy_timeout = Duration::minutes(1);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        const Result<Database> database = Database::open(patient);
        EXPECT_TRUE(database.has_value()) << database.error().message;
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(WalGuard, TakesOverAFileWithARollbackJournal) {
  const TempFolder folder;
  DatabaseOptions rollback = options(folder / "words.db");
  rollback.journal = Journal::rollback;
  {
    Database before = Database::open(rollback).value();
    ASSERT_TRUE(add(before, 1, "a").has_value());
  }
  Database database = opened(folder / "words.db");
  EXPECT_EQ(words(database), Words{"a"});
  EXPECT_FALSE(Database::open(rollback).has_value()) << "not while it is in use";
}

}  // namespace
}  // namespace pawl::sqlite
