// Goal: what was begun and what came of it outlives the process: whatever is killed, full or
//       damaged, no answer that anybody was told of is lost, and nothing is begun twice.
// Method: the conformance suite on two stores that share a file; a hand-moved clock; processes that
//         are killed in the middle, again and again; a disk that fails at each of its steps.
//         What the writer does in trouble is tested in sqlite_counter_store_test.cc.
#include "adapter/sqlite/sqlite_record_store.h"

#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <linux/magic.h>
#include <set>
#include <sys/vfs.h>
#include <sys/wait.h>

#include "adapter/sqlite/counter_book.h"
#include "adapter/sqlite/sqlite_fixture.h"
#include "port/record_store_conformance.h"
#include "runtime/manual_clock.h"

namespace pawl {
namespace {

using idempotency::Begin;
using idempotency::Begun;
using idempotency::Completion;
using idempotency::Record;
using idempotency::Status;
using record_store_suite::Client;
using testing::AllOf;
using testing::HasSubstr;
using Verdict = Begun::Verdict;

class World {
 public:
  explicit World(std::size_t records_max = bounds::sqlite_records_max) : records_max_(records_max) {
    start();
  }

  void start() {
    auto opened = open();
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    store_ = *std::move(opened);
  }
  Result<std::unique_ptr<SqliteRecordStore>> open() {
    return SqliteRecordStore::open(
        {.path = path(), .records_max = records_max_, .busy_timeout = Duration::milliseconds(50)},
        clock);
  }
  void stop() { store_.reset(); }
  void restart() {
    stop();
    start();
  }

  Client client() { return Client(under_test()); }
  RecordStoreUnderTest under_test() {
    return {.store = *store_,
            .advance = [this](Duration by) { clock.advance(by); },
            .now = [this] { return clock.wall_now(); }};
  }
  // Begun and completed.
  std::uint64_t finished(const RecordKey& key, std::string body = "answer") {
    const std::uint64_t fence = client().begin(key).record.fence;
    EXPECT_TRUE(client().complete(key, fence, client().done(std::move(body))).has_value());
    return fence;
  }

  // The file as another program opens it.
  sqlite::Database side_door() {
    return sqlite::Database::open({.path = path(), .schema = RecordBook::schema}).value();
  }
  std::int64_t number(sqlite::Sql sql) {
    std::int64_t n = -1;
    EXPECT_TRUE(side_door().run(sql, {}, [&](const sqlite::Row& row) { n = row.number(0); }));
    return n;
  }

  std::string path() const { return folder / "records.db"; }
  SqliteRecordStore& store() { return *store_; }

  const TempFolder folder;
  ManualClock clock;

 private:
  std::size_t records_max_;
  std::unique_ptr<SqliteRecordStore> store_;
};

RecordKey key(std::string name) {
  return {.scope = "acme", .key = std::move(name)};
}

// ---- the contract

TEST(SqliteRecordStore, Conforms) {
  World world;
  const auto beside = world.open().value();
  RecordStoreUnderTest test = world.under_test();
  test.beside = beside.get();
  expect_record_store_conforms(test);
}

TEST(SqliteRecordStore, AnswersWhenTheDiskHasIt) {
  World world;
  const auto synced = [](const auto& call) {
    const int before = Disk::syncs;
    call();
    return Disk::syncs - before >= 3 && Disk::ended_synced;
  };
  std::uint64_t fence = 0;
  EXPECT_TRUE(synced([&] { fence = world.client().begin(key("a")).record.fence; }));
  EXPECT_TRUE(synced([&] {
    EXPECT_TRUE(world.client().complete(key("a"), fence, world.client().done("b")).has_value());
  }));
}

TEST(SqliteRecordStore, ReplaysLooksAndRefusesWithoutTouchingTheDisk) {
  World world;
  world.finished(key("a"));
  const int before = Disk::steps;
  for (int i = 0; i < 10; ++i) {
    const Begun replay = world.client().begin(key("a"));
    EXPECT_EQ(replay.verdict, Verdict::replay);
    EXPECT_EQ(replay.record.replays, static_cast<std::uint64_t>(i + 1));
    EXPECT_EQ(world.client().list("acme", 1)[0].record.replays, replay.record.replays);
    EXPECT_FALSE(world.client().complete(key("a"), 99, world.client().done("b")).has_value());
  }
  EXPECT_EQ(Disk::steps, before);
}

TEST(SqliteRecordStore, CommitsCallsThatWaitTogether) {
  World world;
  int before = Disk::syncs;
  (void)world.client().begin(key("one"));
  const int syncs_a_commit = Disk::syncs - before;
  std::promise<void> holding;
  std::promise<void> let_go;
  world.store().begin(key("held"), world.client().terms(), [&](const Result<Begun>&) {
    holding.set_value();
    let_go.get_future().wait();
  });
  holding.get_future().wait();
  before = Disk::syncs;
  std::atomic<int> started = 0;
  for (int i = 0; i < 100; ++i) {
    world.store().begin(
        key(std::to_string(i)), world.client().terms(),
        [&](const Result<Begun>& begun) { started += begun->verdict == Verdict::started; });
  }
  let_go.set_value();
  world.restart();
  EXPECT_EQ(started, 100);
  EXPECT_EQ(Disk::syncs - before, syncs_a_commit);
}

TEST(SqliteRecordStore, LooksWithoutWaitingForTheDiskAndSeesNothingThatIsNotOnIt) {
  for (const bool disk_fails : {false, true}) {
    World world;
    (void)world.finished(key("there"));
    std::promise<void> holding;
    std::promise<void> let_go;
    world.store().get(key("there"), [&](const Result<Record>&) {
      holding.set_value();
      let_go.get_future().wait();
    });
    holding.get_future().wait();
    const int before = Disk::syncs;
    std::vector<std::string> answers;  // the writer's alone until it ends
    world.store().begin(key("new"), world.client().terms(), [&](const Result<Begun>& begun) {
      answers.push_back(begun ? "begun" : "failed");
    });
    for (const char* name : {"new", "there"}) {
      world.store().get(key(name), [&, name](const Result<Record>& found) {
        answers.push_back(std::string(name) + (found ? " found" : " not found") +
                          (Disk::syncs == before ? "" : " after a sync"));
      });
    }
    if (disk_fails) Disk::fail(1, 1'000'000);
    let_go.set_value();
    world.stop();
    Disk::heal();
    EXPECT_THAT(answers, testing::ElementsAre("new not found", "there found",
                                              disk_fails ? "failed" : "begun"));
  }
}

TEST(SqliteRecordStore, TellsADiskFromMemory) {
  const auto is_in_memory = [](const std::string& path) {
    struct statfs found = {};
    EXPECT_EQ(::statfs(path.c_str(), &found), 0);
    return found.f_type == TMPFS_MAGIC;
  };
  World world;
  EXPECT_EQ(world.store().durability(),
            is_in_memory(world.path()) ? Durability::process : Durability::fsync);
  const std::string shared = "/dev/shm/pawl-test-" + std::to_string(::getpid()) + ".db";
  ASSERT_TRUE(is_in_memory("/dev/shm")) << "mount a tmpfs there";
  const auto store = SqliteRecordStore::open({.path = shared}, world.clock).value();
  EXPECT_EQ(store->durability(), Durability::process);
  for (const char* part : {"", "-journal"}) std::filesystem::remove(shared + part);
}

// ---- what stays

TEST(SqliteRecordStore, RemembersEverythingAfterARestart) {
  World world;
  const RecordKey done = key("done");
  const RecordKey busy = key("busy");
  world.finished(done, std::string("a\0b", 3));
  const std::uint64_t owner = world.client().begin(busy).record.fence;
  EXPECT_EQ(world.client().begin(done).verdict, Verdict::replay);
  const Record before[] = {world.client().get(done).value(), world.client().get(busy).value()};
  world.restart();
  EXPECT_EQ(world.client().get(done).value(), before[0]) << "the replays too";
  EXPECT_EQ(world.client().get(busy).value(), before[1]);
  EXPECT_EQ(world.client().begin(busy).verdict, Verdict::in_flight);
  EXPECT_TRUE(world.client().complete(busy, owner, world.client().done("late")).has_value());
  EXPECT_EQ(world.client().begin(busy).record.response.body, "late");
}

TEST(SqliteRecordStore, GivesNoFenceTwice) {
  World world;
  std::uint64_t last = 0;
  const auto next = [&] {
    const std::uint64_t fence = world.finished(key("a"));
    EXPECT_GT(fence, last);
    last = fence;
  };
  next();
  EXPECT_TRUE(world.client().clear(key("a")).has_value());
  world.restart();
  next();
  world.clock.advance(Duration::days(1));
  (void)world.client().begin(key("another, which has the expired one forgotten"));
  EXPECT_EQ(world.number("SELECT count(*) FROM records"), 1);
  EXPECT_TRUE(world.client().clear(key("another, which has the expired one forgotten"), true));
  EXPECT_EQ(world.number("SELECT count(*) FROM records"), 0);
  world.restart();
  next();
}

TEST(SqliteRecordStore, ForgetsExpiredOnesLittleByLittle) {
  World world;
  for (int i = 0; i < 10; ++i) world.finished(key("old " + std::to_string(i)));
  world.clock.advance(Duration::days(1));
  EXPECT_TRUE(world.client().list("", 100).empty());
  EXPECT_EQ(world.number("SELECT records FROM totals"), 10) << "a look writes nothing";
  for (int i = 0; i < 5; ++i) {
    const Begun begun = world.client().begin(key("new " + std::to_string(i)));
    EXPECT_EQ(begun.verdict, Verdict::started);
    EXPECT_EQ(world.number("SELECT records FROM totals"), 10 - i - 1);
    EXPECT_EQ(world.number("SELECT count(*) FROM records"), 10 - i - 1);
  }
}

TEST(SqliteRecordStore, ForgetsNothingForAClockThatLeaptAhead) {
  World world;
  world.finished(key("a"));
  const Instant before = world.clock.wall_now();
  world.clock.set_wall(before + Duration::days(300));
  for (int i = 0; i < 10; ++i) (void)world.client().begin(key(std::to_string(i)));
  world.clock.set_wall(before);
  EXPECT_EQ(world.client().begin(key("a")).verdict, Verdict::replay);
}

TEST(SqliteRecordStore, TakesNoNewKeyWhenItIsFull) {
  World world(2);
  world.finished(key("a"));
  world.finished(key("b"));
  const Result<Begun> full = world.client().try_begin(key("c"), world.client().terms());
  ASSERT_FALSE(full.has_value());
  EXPECT_EQ(full.error().code, Code::unavailable);
  EXPECT_EQ(full.error().outcome, Outcome::not_applied);
  EXPECT_THAT(full.error().message, HasSubstr("all 2 records are in use"));
  EXPECT_EQ(world.client().begin(key("a")).verdict, Verdict::replay);
  EXPECT_TRUE(world.client().clear(key("a")).has_value());
  EXPECT_EQ(world.client().begin(key("c")).verdict, Verdict::started);
  world.clock.advance(Duration::days(1));
  EXPECT_EQ(world.client().begin(key("d")).verdict, Verdict::started);
}

TEST(SqliteRecordStore, WritesManyReplaysBeforeTheyPileUp) {
  World world;
  const auto records = static_cast<int>(bounds::sqlite_replays_max) + 1;
  for (int i = 0; i < records; ++i) world.finished(key(std::to_string(i)));
  for (int i = 0; i < records; ++i) {
    EXPECT_EQ(world.number("SELECT sum(replays) FROM records"), 0);
    (void)world.client().begin(key(std::to_string(i)));
  }
  EXPECT_EQ(world.number("SELECT sum(replays) FROM records"), records);
}

// ---- files that are not as they should be

TEST(SqliteRecordStore, RefusesTheFileOfTheLimits) {
  World world;
  const std::string path = world.folder / "counters.db";
  (void)sqlite::Database::open({.path = path, .schema = CounterBook::schema}).value();
  const auto opened = SqliteRecordStore::open({.path = path}, world.clock);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, Code::invalid);
  EXPECT_THAT(opened.error().message,
              AllOf(HasSubstr(path), HasSubstr("does not hold idempotency records"),
                    HasSubstr("each of pawl's stores has a file of its own")));
}

TEST(SqliteRecordStore, RefusesAFileOfANewerVersion) {
  World world;
  EXPECT_TRUE(world.side_door().run("PRAGMA user_version = 3").has_value());
  const auto opened = world.open();
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, Code::invalid);
  EXPECT_THAT(opened.error().message, HasSubstr("made by a newer pawl"));
}

TEST(SqliteRecordStore, BringsAFileOfTheFirstVersionUpToDate) {
  World world;
  (void)world.client().begin(key("a"));
  world.stop();
  {
    sqlite::Database old = world.side_door();
    EXPECT_TRUE(old.run("DROP INDEX records_open").has_value());
    EXPECT_TRUE(old.run("PRAGMA user_version = 1").has_value());
  }
  world.start();
  const auto found = world.client().list({.status = idempotency::Status::in_flight});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].key, key("a"));
}

TEST(SqliteRecordStore, SaysThatItsFileIsDamaged) {
  World world;
  world.finished(key("a"));
  world.stop();
  {
    std::fstream file(world.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4'096);
    file << std::string(20 * 4'096, '\xff');
  }
  world.start();
  const Result<Begun> begun = world.client().try_begin(key("a"), world.client().terms());
  ASSERT_FALSE(begun.has_value());
  EXPECT_EQ(begun.error().code, Code::invalid);
  EXPECT_THAT(begun.error().message, HasSubstr("put back a copy"));
}

TEST(SqliteRecordStore, ClearsByForceARecordItCannotRead) {
  World world;
  world.finished(key("a"));
  EXPECT_TRUE(world.side_door().run("UPDATE records SET status = 'odd'").has_value());
  const Result<Begun> begun = world.client().try_begin(key("a"), world.client().terms());
  ASSERT_FALSE(begun.has_value());
  EXPECT_EQ(begun.error().code, Code::invalid);
  EXPECT_THAT(begun.error().message, HasSubstr("not as pawl wrote it"));
  EXPECT_EQ(world.client().clear(key("a")).error().code, Code::invalid);
  EXPECT_TRUE(world.client().clear(key("a"), true).has_value());
  EXPECT_EQ(world.client().begin(key("a")).verdict, Verdict::started);
}

TEST(SqliteRecordStore, StartsNoOtherRecordUnderAFenceThatWasPutBack) {
  World world;
  const std::uint64_t fence = world.finished(key("a"));
  EXPECT_TRUE(world.side_door().run("UPDATE totals SET fence = 0").has_value());
  EXPECT_GT(world.client().begin(key("b")).record.fence, fence);
  EXPECT_EQ(world.client().begin(key("a")).verdict, Verdict::replay);
}

// ---- trouble

TEST(SqliteRecordStore, GoesOnWhenTheDiskHasRoomAgain) {
  World world;
  const std::uint64_t owner = world.client().begin(key("busy")).record.fence;
  Disk::fail(1, 1'000'000);
  for (int i = 0; i < 2; ++i) {
    const Result<Begun> begun = world.client().try_begin(key("a"), world.client().terms());
    ASSERT_FALSE(begun.has_value());
    EXPECT_EQ(begun.error().outcome, Outcome::not_applied);
    EXPECT_THAT(begun.error().message, HasSubstr("make room on its disk"));
    EXPECT_FALSE(world.client().complete(key("busy"), owner, world.client().done("x")));
  }
  // Each try writes, or a disk without room would look well.
  const int before = Disk::steps;
  while (Disk::steps == before) ASSERT_FALSE(world.store().health().has_value());
  Disk::heal();
  while (!world.store().health()) std::this_thread::yield();
  EXPECT_EQ(world.client().begin(key("a")).verdict, Verdict::started);
  EXPECT_TRUE(world.client().complete(key("busy"), owner, world.client().done("x")).has_value());
}

TEST(SqliteRecordStore, TellsTheOutcomeWhicheverStepOfTheDiskFails) {
  int unknown = 0;
  int not_applied = 0;
  bool passed = false;
  for (int step = 1; !passed; ++step) {
    World world;
    const Client client = world.client();
    world.finished(key("before"));
    const std::uint64_t owner = client.begin(key("busy")).record.fence;
    const bool completes = step % 2 == 0;  // else it begins
    Disk::fail((step + 1) / 2);
    Result<void> done;
    if (completes) {
      done = client.complete(key("busy"), owner, client.done("x"));
    } else if (Result<Begun> begun = client.try_begin(key("a"), client.terms()); !begun) {
      done = std::unexpected(begun.error());
    }
    passed = Disk::steps < Disk::fail_from;
    Disk::heal();
    const bool is_there = completes ? client.get(key("busy"))->status == Status::done
                                    : client.get(key("a")).has_value();
    EXPECT_EQ(client.begin(key("before")).verdict, Verdict::replay);
    if (done) {
      EXPECT_TRUE(is_there) << step;
    } else if (done.error().outcome == Outcome::not_applied) {
      ++not_applied;
      EXPECT_FALSE(is_there) << step << done.error().message;
    } else {
      ++unknown;
    }
    // Whoever has it may say so again, whatever became of the first time.
    if (completes) {
      EXPECT_TRUE(client.complete(key("busy"), owner, client.done("x")).has_value());
    }
  }
  EXPECT_GT(not_applied, 0);
  EXPECT_GT(unknown, 0);
}

// ---- several processes, and kill -9

// What a child tells its parent: that a step was answered.
struct Told {
  enum class What : std::uint8_t { began, completed };
  What what;
  int key;
  std::uint64_t fence;
};

constexpr Duration lease = Duration::seconds(20);

RecordKey numbered(int n) {
  return key("key " + std::to_string(n));
}

std::string body_of(int n, std::uint64_t fence) {
  return std::to_string(n) + " under " + std::to_string(fence);
}

std::unique_ptr<SqliteRecordStore> patient_store(const std::string& path, Clock& clock) {
  auto opened =
      SqliteRecordStore::open({.path = path, .busy_timeout = Duration::minutes(5)}, clock);
  EXPECT_TRUE(opened.has_value()) << opened.error().message;
  return *std::move(opened);
}

// Begins and completes key after key until it is killed. Those that another process left in the
// middle are taken over: by the clock, their leases are over.
[[noreturn]] void work_until_killed(const std::string& path, Instant time, int first, int told) {
  ManualClock clock(time);
  const auto store = patient_store(path, clock);
  const Client client({.store = *store, .advance = {}});
  const auto tell = [told](Told message) {
    if (::write(told, &message, sizeof message) != sizeof message) ::_exit(1);
  };
  const Begin for_long{
      .fingerprint = "print", .lease = lease, .ttl = Duration::days(1), .take_over = true};
  const auto work = [&] {
    for (int n = first;; ++n) {
      const Begun begun = client.begin(numbered(n), for_long);
      if (begun.verdict != Verdict::started && begun.verdict != Verdict::took_over) continue;
      const std::uint64_t fence = begun.record.fence;
      tell({Told::What::began, n, fence});
      const Completion how{.response = {.body = body_of(n, fence)}, .ttl = Duration::days(1)};
      if (!client.complete(numbered(n), fence, how)) ::_exit(1);
      tell({Told::What::completed, n, fence});
    }
  };
  std::thread beside(work);
  work();
  ::_exit(0);
}

// What the children were told, over all rounds.
class Ledger {
 public:
  // False: all ends of the pipe are closed.
  bool read_one(int pipe) {
    Told told = {};
    if (::read(pipe, &told, sizeof told) != sizeof told) return false;
    Entry& entry = entries_[told.key];
    if (told.what == Told::What::began) {
      EXPECT_TRUE(fences_.insert(told.fence).second) << "begun twice under " << told.fence;
      EXPECT_FALSE(entry.completed) << told.key << " was begun after its end";
      EXPECT_GT(told.fence, entry.fence);
      entry.fence = told.fence;
    } else {
      EXPECT_EQ(told.fence, entry.fence);
      entry.completed = true;
    }
    return true;
  }
  int first_open() const {
    for (const auto& [n, entry] : entries_) {
      if (!entry.completed) return n;
    }
    return static_cast<int>(entries_.size());
  }
  // What was completed and not told any more is known from here on.
  void expect_kept(const Client& client, int first) {
    for (auto at = entries_.lower_bound(first); at != entries_.end(); ++at) {
      auto& [n, entry] = *at;
      const Result<Record> found = client.get(numbered(n));
      ASSERT_TRUE(found.has_value()) << n << found.error().message;
      EXPECT_GE(found->fence, entry.fence);
      if (found->status == Status::done) {
        EXPECT_EQ(found->response.body, body_of(n, found->fence));
      }
      if (entry.completed) {
        EXPECT_EQ(found->status, Status::done) << n;
        EXPECT_EQ(found->fence, entry.fence);
      }
      entry = {.fence = found->fence, .completed = found->status == Status::done};
    }
  }
  std::size_t begun() const { return fences_.size(); }

 private:
  struct Entry {
    std::uint64_t fence = 0;
    bool completed = false;
  };
  std::map<int, Entry> entries_;
  std::set<std::uint64_t> fences_;
};

// In every fourth round two processes, else one, work until some steps were told, and are killed.
void work_and_kill(const std::string& path, Instant time, Ledger& ledger, int round) {
  int steps = 1 + round % 7;
  int pipe[2] = {};
  ASSERT_EQ(::pipe(pipe), 0);
  const int first = ledger.first_open();
  std::vector<pid_t> children(round % 4 == 0 ? 2 : 1);
  for (pid_t& child : children) {
    child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::alarm(60);  // should the parent die
      ::close(pipe[0]);
      work_until_killed(path, time, first, pipe[1]);
    }
  }
  ::close(pipe[1]);
  while (steps > 0 && ledger.read_one(pipe[0])) --steps;
  EXPECT_EQ(steps, 0);
  for (const pid_t child : children) ::kill(child, SIGKILL);
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  while (ledger.read_one(pipe[0])) {
  }
  ::close(pipe[0]);
}

TEST(SqliteRecordStore, LosesNothingItAnsweredAndBeginsNothingTwiceWhenItIsKilled) {
  const TempFolder folder;
  const std::string path = folder / "records.db";
  ManualClock clock;
  Ledger ledger;
  for (int round = 0; round < 500; ++round) {
    const int first = ledger.first_open();
    work_and_kill(path, clock.wall_now(), ledger, round);
    const auto store = patient_store(path, clock);
    ledger.expect_kept(Client({.store = *store, .advance = {}}), first);
    if (HasFailure()) return;
    clock.advance(lease);
  }
  const auto store = patient_store(path, clock);
  ledger.expect_kept(Client({.store = *store, .advance = {}}), 0);
  EXPECT_GE(ledger.begun(), 500u);
}

}  // namespace
}  // namespace pawl
