// Goal: what transact() acknowledged is on the disk, what it reported lost is not, and every way in
//       which a file can be unusable is told apart, with what to do.
// Method: real files; a disk that fails at each of its steps in turn; files that are locked, moved,
//         damaged, somebody else's, or not writable.
#include "adapter/sqlite/database.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <vector>

#include "adapter/sqlite/sqlite_fixture.h"
#include "adapter/sqlite/words_fixture.h"

extern "C" ssize_t pwrite64(int fd, const void* data, size_t size, off64_t offset) {
  if (pawl::Disk::failing(++pawl::Disk::steps)) {
    errno = ENOSPC;
    return -1;
  }
  pawl::Disk::ended_synced = false;
  return ::syscall(SYS_pwrite64, fd, data, size, offset);
}

// Nobody cuts the power here, so nothing needs to be synced in earnest.
extern "C" int fdatasync(int) {
  ++pawl::Disk::syncs;
  if (pawl::Disk::failing(++pawl::Disk::steps)) {
    errno = EIO;
    return -1;
  }
  pawl::Disk::ended_synced = true;
  return 0;
}

namespace pawl::sqlite {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::array<Sql, 2> two_steps = {one_step[0], "ALTER TABLE words ADD COLUMN more BLOB"};

DatabaseOptions options(std::string path, std::span<const Sql> steps = one_step) {
  DatabaseOptions made = words_options(std::move(path), Journal::rollback);
  made.schema.steps = steps;
  return made;
}

Database opened(const std::string& path) {
  return words_opened(options(path));
}

template <class T>
Error error_of(const Result<T>& result) {
  EXPECT_FALSE(result.has_value());
  return result.has_value() ? Error(Code::internal, Outcome::unknown, "none") : result.error();
}

TEST(Database, MakesTheFoldersAndAFileForItsOwnerAlone) {
  const TempFolder folder;
  const std::string path = folder / "some/where/words.db";
  Database database = opened(path);
  ASSERT_TRUE(add(database, 1, "a").has_value());
  for (const std::string& file : {path, path + "-journal"}) {
    struct stat status = {};
    ASSERT_EQ(::stat(file.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u) << file;
  }
}

TEST(Database, KeepsWhatWasCommittedAndNothingElse) {
  const TempFolder folder;
  {
    Database database = opened(folder / "words.db");
    ASSERT_TRUE(add(database, 1, "kept").has_value());
    const auto refused = database.transact([&]() -> Result<void> {
      PAWL_TRY(database.run("INSERT INTO words (n, word) VALUES (2, 'not')"));
      return failure(Code::refused, "changed my mind");
    });
    EXPECT_EQ(error_of(refused).message, "changed my mind");
    EXPECT_EQ(words(database), Words{"kept"});
  }
  Database again = opened(folder / "words.db");
  EXPECT_EQ(words(again), Words{"kept"});
}

TEST(Database, TakesEveryKindOfValueAndGivesItBack) {
  const TempFolder folder;
  Database database = *Database::open(options(folder / "words.db", two_steps));
  const std::string with_nul("a\0b", 3);
  const auto bytes = std::as_bytes(std::span(with_nul));
  ASSERT_TRUE(database
                  .transact([&]() -> Result<void> {
                    PAWL_TRY(database.run("INSERT INTO words VALUES (?1, ?2, ?3)",
                                          {std::int64_t{-5}, std::string_view(with_nul), bytes}));
                    return database.run("INSERT INTO words VALUES (?1, ?2, ?3)",
                                        {std::int64_t{7}, std::string_view(), Bytes()});
                  })
                  .has_value());
  int rows = 0;
  ASSERT_TRUE(database
                  .run("SELECT n, word, more, word IS NULL, more IS NULL FROM words ORDER BY n", {},
                       [&](const Row& row) {
                         const bool first = rows++ == 0;
                         EXPECT_EQ(row.number(0), first ? -5 : 7);
                         EXPECT_EQ(row.text(1), first ? with_nul : "");
                         EXPECT_EQ(row.bytes(2).size(), first ? 3u : 0u);
                         EXPECT_EQ(row.number(3) + row.number(4), 0);
                       })
                  .has_value());
  EXPECT_EQ(rows, 2);
}

TEST(Database, EndsACommitWithASync) {
  const TempFolder folder;
  Database database = opened(folder / "words.db");
  const int before = Disk::syncs;
  ASSERT_TRUE(add(database, 1, "a").has_value());
  EXPECT_GE(Disk::syncs - before, 3);  // the journal, the file, the end of the journal
  EXPECT_TRUE(Disk::ended_synced);
}

TEST(Database, TellsTheTruthWhicheverStepOfTheDiskFails) {
  EXPECT_GE(fail_each_step(Journal::rollback, 0), 5);
}

TEST(Database, TellsTheTruthWhicheverStepOfTheDiskIsTheLast) {
  EXPECT_GE(fail_each_step(Journal::rollback, 1'000), 5);
}

TEST(Database, SaysThatTheDiskIsFullAndGoesOnWhenItIsNot) {
  const TempFolder folder;
  Database database = opened(folder / "words.db");
  Disk::fail(1, 1'000);
  const Error full = error_of(add(database, 1, "a"));
  Disk::heal();
  EXPECT_EQ(full.code, Code::unavailable);
  EXPECT_EQ(full.outcome, Outcome::not_applied);
  EXPECT_THAT(full.message, AllOf(HasSubstr(folder / "words.db"), HasSubstr("full"),
                                  HasSubstr("make room on its disk")));
  EXPECT_TRUE(add(database, 2, "b").has_value());
  EXPECT_EQ(words(database), Words{"b"});
}

TEST(Database, SaysThatAnotherHoldsTheLock) {
  const TempFolder folder;
  Database holder = opened(folder / "words.db");
  Database waiting = opened(folder / "words.db");
  ASSERT_TRUE(holder
                  .transact([&]() -> Result<void> {
                    const Error locked = error_of(add(waiting, 1, "a"));
                    EXPECT_EQ(locked.code, Code::unavailable);
                    EXPECT_EQ(locked.outcome, Outcome::not_applied);
                    EXPECT_THAT(locked.message, HasSubstr("another process keeps it locked"));
                    return {};
                  })
                  .has_value());
  EXPECT_TRUE(add(waiting, 1, "a").has_value());
}

// A reader in the way is met only by the commit.
TEST(Database, TakesEverythingBackWhenAReaderBlocksTheCommit) {
  const TempFolder folder;
  Database reader = opened(folder / "words.db");
  Database writer = opened(folder / "words.db");
  ASSERT_TRUE(add(writer, 1, "a").has_value());
  ASSERT_TRUE(reader.run("BEGIN").has_value());
  EXPECT_EQ(words(reader), Words{"a"});
  const Error blocked = error_of(add(writer, 2, "b"));
  EXPECT_EQ(blocked.outcome, Outcome::not_applied);
  EXPECT_THAT(blocked.message, HasSubstr("another process keeps it locked"));
  ASSERT_TRUE(reader.run("COMMIT").has_value());
  EXPECT_EQ(words(writer), Words{"a"});
  EXPECT_TRUE(add(writer, 2, "b").has_value());
}

TEST(Database, WaitsForALockThatIsLetGoInTime) {
  const TempFolder folder;
  DatabaseOptions patient = options(folder / "words.db");
  patient.busy_timeout = Duration::seconds(60);
  Database holder = opened(folder / "words.db");
  Database waiting = *Database::open(patient);
  std::thread thread;
  ASSERT_TRUE(holder
                  .transact([&]() -> Result<void> {
                    thread = std::thread([&] { EXPECT_TRUE(add(waiting, 1, "a").has_value()); });
                    return {};
                  })
                  .has_value());
  thread.join();
  EXPECT_EQ(words(holder), Words{"a"});
}

TEST(Database, RefusesAFileThatIsNoDatabase) {
  const TempFolder folder;
  const std::string path = folder / "words.db";
  std::ofstream(path) << std::string(8'192, 'x');
  const Error error = error_of(Database::open(options(path)));
  EXPECT_EQ(error.code, Code::invalid);
  EXPECT_THAT(error.message, AllOf(HasSubstr("not a database"), HasSubstr("name another path")));
}

TEST(Database, RefusesTheFileOfSomebodyElse) {
  const TempFolder folder;
  (void)opened(folder / "words.db");
  DatabaseOptions other = options(folder / "words.db");
  other.schema.application_id = 78;
  const Error error = error_of(Database::open(other));
  EXPECT_EQ(error.code, Code::invalid);
  EXPECT_THAT(error.message, HasSubstr("does not hold words but something else"));
}

TEST(Database, RefusesAFileOfANewerVersion) {
  const TempFolder folder;
  (void)Database::open(options(folder / "words.db", two_steps)).value();
  const Error error = error_of(Database::open(options(folder / "words.db", one_step)));
  EXPECT_EQ(error.code, Code::invalid);
  EXPECT_THAT(error.message,
              AllOf(HasSubstr("newer pawl"), HasSubstr("version 2"), HasSubstr("knows up to 1")));
}

TEST(Database, BringsAnOlderFileUpToDateAndKeepsItsRows) {
  const TempFolder folder;
  {
    Database old = opened(folder / "words.db");
    ASSERT_TRUE(add(old, 1, "a").has_value());
  }
  Database newer = Database::open(options(folder / "words.db", two_steps)).value();
  EXPECT_TRUE(newer.run("SELECT more FROM words").has_value());
  EXPECT_EQ(words(newer), Words{"a"});
}

TEST(Database, SaysThatAFileIsDamaged) {
  const TempFolder folder;
  const std::string path = folder / "words.db";
  {
    Database database = opened(path);
    ASSERT_TRUE(add(database, 1, "a").has_value());
  }
  // The second page holds the table.
  std::fstream(path, std::ios::in | std::ios::out).seekp(4'096) << std::string(4'096, '\xff');
  Database database = opened(path);
  const Error error = error_of(add(database, 2, "b"));
  EXPECT_EQ(error.code, Code::invalid);
  EXPECT_EQ(error.outcome, Outcome::not_applied);
  EXPECT_THAT(error.message, AllOf(HasSubstr("malformed"), HasSubstr("put back a copy")));
}

TEST(Database, NoticesThatItsFileWasMovedAwayAndMakesNoNewOne) {
  const TempFolder folder;
  const std::string path = folder / "words.db";
  Database database = opened(path);
  ASSERT_TRUE(add(database, 1, "a").has_value());
  std::filesystem::rename(path, folder / "elsewhere.db");
  const Error moved = error_of(add(database, 2, "b"));
  EXPECT_EQ(moved.outcome, Outcome::not_applied);
  EXPECT_THAT(moved.message, HasSubstr("moved or deleted while in use: put it back"));
  EXPECT_THAT(error_of(Database::reopen(options(path))).message, HasSubstr("see that it exists"));
  EXPECT_FALSE(std::filesystem::exists(path));
  std::ofstream(path).flush();
  EXPECT_THAT(error_of(Database::reopen(options(path))).message, HasSubstr("is empty"));
  std::filesystem::rename(folder / "elsewhere.db", path);
  Database again = Database::reopen(options(path)).value();
  EXPECT_EQ(words(again), Words{"a"});
}

TEST(Database, NoticesThatAnotherFileTookThePlaceOfItsOwn) {
  const TempFolder folder;
  const std::string path = folder / "words.db";
  Database database = opened(path);
  ASSERT_TRUE(add(database, 1, "a").has_value());
  std::filesystem::copy(path, folder / "copy.db");
  std::filesystem::rename(folder / "copy.db", path);
  const Error moved = error_of(add(database, 2, "b"));
  EXPECT_EQ(moved.outcome, Outcome::not_applied);
  EXPECT_THAT(moved.message, HasSubstr("moved or deleted while in use: put it back"));
}

TEST(Database, SaysThatItMayNotWrite) {
  const TempFolder folder;
  const std::string path = folder / "words.db";
  (void)opened(path);
  ::chmod(folder.path().c_str(), 0777);
  ::chmod(path.c_str(), 0444);
  ::chmod((path + "-journal").c_str(), 0444);
  const WithoutPrivilege nobody;
  Result<Database> database = Database::open(options(path));
  const Error error = database ? error_of(add(*database, 1, "a")) : error_of(database);
  EXPECT_EQ(error.code, Code::unavailable);
  EXPECT_EQ(error.outcome, Outcome::not_applied);
  EXPECT_THAT(error.message, HasSubstr("write to"));
}

TEST(Database, SaysThatItsFolderCannotBeMade) {
  const TempFolder folder;
  ::chmod(folder.path().c_str(), 0755);
  std::ofstream(folder / "file").flush();
  EXPECT_THAT(error_of(Database::open(options(folder / "file/words.db"))).message,
              HasSubstr("cannot make"));
  const WithoutPrivilege nobody;
  const Error error = error_of(Database::open(options(folder / "sub/words.db")));
  EXPECT_EQ(error.code, Code::unavailable);
  EXPECT_THAT(error.message, AllOf(HasSubstr(folder / "sub"), HasSubstr("make it by hand")));
}

TEST(Database, RefusesSettingsThatWouldLoseWhatItAcknowledged) {
  const TempFolder folder;
  Database database = opened(folder / "words.db");
  EXPECT_TRUE(database.probe().has_value());
  ASSERT_TRUE(database.run("PRAGMA synchronous = NORMAL").has_value());
  EXPECT_THAT(error_of(database.probe()).message, HasSubstr("found persist and 1"));
  ASSERT_TRUE(database.run("PRAGMA synchronous = FULL").has_value());
  ASSERT_TRUE(database.run("PRAGMA journal_mode = MEMORY").has_value());
  EXPECT_THAT(error_of(database.probe()).message, HasSubstr("found memory and 2"));
}

TEST(Database, TakesAFileOutOfWalUnlessSomebodyElseUsesItSo) {
  const TempFolder folder;
  {
    Database other = opened(folder / "words.db");
    ASSERT_TRUE(other.run("PRAGMA journal_mode = WAL").has_value());
    EXPECT_EQ(words(other), Words());
    EXPECT_FALSE(Database::open(options(folder / "words.db")).has_value());
  }
  Database database = opened(folder / "words.db");
  EXPECT_TRUE(database.probe().has_value());
}

// ---- unsynced

DatabaseOptions unsynced(std::string path) {
  DatabaseOptions asked = options(std::move(path));
  asked.journal = Journal::unsynced;
  return asked;
}

TEST(Database, SyncsNothingWhereThatWasAskedFor) {
  const TempFolder folder;
  Database database = Database::open(unsynced(folder / "words.db")).value();
  const int before = Disk::syncs;
  ASSERT_TRUE(add(database, 1, "a").has_value());
  EXPECT_EQ(Disk::syncs, before);
  EXPECT_TRUE(database.probe().has_value());
}

TEST(Database, SurvivesAKillUnsynced) {
  const TempFolder folder;
  const std::string path = folder / "words.db";
  std::int64_t told = 0;
  for (int round = 0; round < 50; ++round) {
    int pipe[2] = {};
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::alarm(60);  // should the parent die
      Database database = Database::open(unsynced(path)).value();
      for (std::int64_t n = told + 1;; ++n) {
        // The last one of the process before this may have been kept and not told.
        const auto kept = database.transact([&] {
          return database.run("INSERT OR REPLACE INTO words (n, word) VALUES (?1, 'x')", {n});
        });
        if (!kept || ::write(pipe[1], &n, sizeof n) != sizeof n) ::_exit(1);
      }
    }
    ::close(pipe[1]);
    for (int i = 0; i < 1 + round % 5; ++i) {
      ASSERT_EQ(::read(pipe[0], &told, sizeof told), ssize_t{sizeof told});
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    while (::read(pipe[0], &told, sizeof told) == sizeof told) {
    }
    ::close(pipe[0]);
    Database database = Database::open(unsynced(path)).value();
    EXPECT_GE(words(database).size(), static_cast<std::size_t>(told));
  }
  EXPECT_FALSE(std::filesystem::exists(path + ".damaged"));
}

TEST(Database, SetsADamagedFileAsideThatIsNoLoss) {
  for (const int page : {0, 1}) {
    const TempFolder folder;
    const std::string path = folder / "words.db";
    {
      Database database = Database::open(unsynced(path)).value();
      ASSERT_TRUE(add(database, 1, "a").has_value());
    }
    std::fstream(path, std::ios::in | std::ios::out).seekp(4'096 * page)
        << std::string(4'096, '\xff');
    Database anew = Database::open(unsynced(path)).value();
    EXPECT_EQ(words(anew), Words());
    EXPECT_TRUE(std::filesystem::exists(path + ".damaged"));
    EXPECT_TRUE(add(anew, 1, "b").has_value());
    std::filesystem::remove(path);
    EXPECT_FALSE(add(anew, 2, "c").has_value());
    EXPECT_TRUE(Database::reopen(unsynced(path)).has_value()) << "also when it is gone";
  }
}

TEST(Database, SetsNoFileOfSomebodyElseAside) {
  const TempFolder folder;
  const std::string path = folder / "words.db";
  (void)opened(path);
  DatabaseOptions other = unsynced(path);
  other.schema.application_id = 78;
  EXPECT_THAT(error_of(Database::open(other)).message, HasSubstr("but something else"));
  EXPECT_FALSE(std::filesystem::exists(path + ".damaged"));
}

TEST(Database, TakesEveryPathForTheNameOfAFile) {
  const TempFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  for (const std::string name : {":memory:", "file:words?mode=memory"}) {
    {
      Database database = opened(name);
      EXPECT_TRUE(add(database, 1, "a").has_value());
    }
    Database again = opened(name);
    EXPECT_EQ(words(again), Words{"a"}) << name;
  }
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace pawl::sqlite
