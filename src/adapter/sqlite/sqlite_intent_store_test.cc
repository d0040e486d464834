// Goal: intents, slots and the order history outlive the process: whatever is killed, full, taken
//       away or damaged, no answer that anybody was told of is lost, no slot is given twice, and no
//       two processes work on one intent.
// Method: the conformance suite on two stores that share a file; the file read through a side door;
//         processes that are killed in the middle, again and again; a disk that fails at each of
//         its steps. What the writer does in trouble is tested in sqlite_counter_store_test.cc.
#include "adapter/sqlite/sqlite_intent_store.h"

#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <map>
#include <sys/wait.h>

#include "adapter/sqlite/sqlite_fixture.h"
#include "base/calendar.h"
#include "port/intent_store_conformance.h"
#include "runtime/manual_clock.h"

namespace pawl {
namespace {

using intent_store_suite::Client;
using intent_store_suite::start;
using order::Intent;
using order::Life;
using order::Status;
using testing::AllOf;
using testing::HasSubstr;
using Lines = std::vector<std::string>;

std::unique_ptr<SqliteIntentStore> opened_store(const std::string& path, Clock& clock,
                                                Duration patience = Duration::minutes(5)) {
  auto opened = SqliteIntentStore::open({.path = path, .busy_timeout = patience}, clock);
  EXPECT_TRUE(opened.has_value()) << opened.error().message;
  return *std::move(opened);
}

// The file as another program opens it.
sqlite::Database side_door(const std::string& path) {
  return sqlite::Database::open(
             {.path = path, .schema = IntentBook::schema, .journal = sqlite::Journal::wal})
      .value();
}

class World {
 public:
  World() { start_store(); }

  void start_store() { store_ = opened_store(path(), clock, Duration::milliseconds(50)); }
  void stop() { store_.reset(); }
  void restart() {
    stop();
    start_store();
  }
  Client client() { return Client(*store_); }
  SqliteIntentStore& store() { return *store_; }
  std::string path() const { return folder / "orders.db"; }

  void remove_files() const {
    for (const char* more : {"", "-wal", "-shm", "-lock", "-work"}) {
      std::filesystem::remove(path() + more);
    }
  }

  // Every row of the statement, its first columns between bars.
  Lines lines(sqlite::Sql sql, int columns = 1) {
    Lines all;
    EXPECT_TRUE(side_door(path()).run(sql, {}, [&](const sqlite::Row& row) {
      std::string line(row.text(0));
      for (int i = 1; i < columns; ++i) line.append("|").append(row.text(i));
      all.push_back(line);
    }));
    return all;
  }
  void change(sqlite::Sql sql) {
    sqlite::Database database = side_door(path());
    EXPECT_TRUE(database.transact([&] { return database.run(sql); }).has_value());
  }

  const TempFolder folder;
  ManualClock clock;

 private:
  std::unique_ptr<SqliteIntentStore> store_;
};

// ---- the contract

TEST(SqliteIntentStore, Conforms) {
  expect_intent_store_conforms([](const auto& part) {
    World world;
    auto beside = opened_store(world.path(), world.clock);
    part({.store = world.store(), .beside = *beside, .end_beside = [&] { beside.reset(); }});
  });
}

TEST(SqliteIntentStore, AnswersWhenTheDiskHasItWithOneSync) {
  World world;
  (void)world.client().opened("first");
  const auto syncs_of = [](const auto& call) {
    const int before = Disk::syncs;
    call();
    EXPECT_TRUE(Disk::ended_synced);
    return Disk::syncs - before;
  };
  Intent intent;
  EXPECT_EQ(syncs_of([&] { intent = world.client().opened("a"); }), 1);
  EXPECT_EQ(syncs_of([&] { world.client().save(intent.id, Client::confirmed("1")); }), 1);
}

TEST(SqliteIntentStore, LooksAndRefusesWithoutTouchingTheDisk) {
  World world;
  for (const char* name : {"a", "b", "c", "d", "e"}) (void)world.client().opened(name);
  const int before = Disk::steps;
  EXPECT_TRUE(world.client().is_denied(Client::fresh("f")));
  EXPECT_TRUE(world.client().get("a").has_value());
  EXPECT_EQ(world.client().list({}).size(), 5u);
  EXPECT_FALSE(world.client().takes("a"));
  EXPECT_EQ(world.client().used(), 5);
  EXPECT_EQ(Disk::steps, before);
}

TEST(SqliteIntentStore, RemembersEverythingAfterARestart) {
  World world;
  const Intent open = world.client().opened("open");
  const Intent done = world.client().ended(Client::fresh("done"), Client::confirmed("1"));
  world.restart();
  EXPECT_EQ(world.client().get("open").value(), open);
  EXPECT_EQ(world.client().get("done").value(), done);
  EXPECT_EQ(world.client().used(), 2);
  EXPECT_TRUE(world.client().takes("open"));
  EXPECT_GT(world.client().opened("next").id, done.id);
}

// ---- the table that other programs know

TEST(OrderHistory, DatabaseInitializationWithOrderHistoryTable) {
  World world;
  const Lines columns = world.lines(
      "SELECT name, type, \"notnull\", ifnull(dflt_value, '-'), pk "
      "FROM pragma_table_info('order_history') ORDER BY cid LIMIT 12",
      5);
  EXPECT_EQ(columns, (Lines{"id|INTEGER|0|-|1", "order_id|TEXT|1|-|0", "inst_id|TEXT|1|-|0",
                            "side|TEXT|1|-|0", "ord_type|TEXT|1|-|0", "size|TEXT|1|-|0",
                            "price|TEXT|0|-|0", "reduce_only|BOOLEAN|1|0|0",
                            "placed_at|DATETIME|1|CURRENT_TIMESTAMP|0", "week_start|DATE|1|-|0",
                            "status|TEXT|1|-|0", "created_at|DATETIME|1|CURRENT_TIMESTAMP|0"}));
  EXPECT_THAT(world.lines("SELECT sql FROM sqlite_master WHERE name = 'order_history'")[0],
              HasSubstr("id INTEGER PRIMARY KEY AUTOINCREMENT"));
  const Lines indexes = world.lines(
      "SELECT l.name, i.name FROM pragma_index_list('order_history') l, "
      "pragma_index_info(l.name) i ORDER BY l.name, i.seqno",
      2);
  EXPECT_EQ(indexes,
            (Lines{"idx_order_history_order_id|order_id", "idx_order_history_placed_at|placed_at",
                   "idx_order_history_reference|venue", "idx_order_history_reference|reference",
                   "idx_order_history_week|week_start"}));
}

TEST(OrderHistory, RecordSuccessfulOrderPlacementInTheColumnsThatOthersKnow) {
  World world;
  NewIntent ask = Client::fresh("a");
  ask.order.reduce_only = true;
  (void)world.client().ended(ask, Client::confirmed("123"));
  NewIntent market = Client::fresh("b");
  market.order.type = order::Type::market;
  market.order.price.reset();
  (void)world.client().ended(market, Client::confirmed("124", Life::filled));
  (void)world.client().ended(Client::fresh("c"), Client::rejected());
  const Lines rows = world.lines(
      "SELECT order_id, inst_id, side, ord_type, size, ifnull(price, 'NULL'), reduce_only, "
      "placed_at, week_start, status, venue, reference, counts FROM order_history ORDER BY id",
      13);
  EXPECT_EQ(rows, (Lines{"123|BTC-USDT-SWAP|sell|limit|0.10|64000.5|1|2025-12-03 15:30:00|"
                         "2025-12-01|placed|okx|a|1",
                         "124|BTC-USDT-SWAP|sell|market|0.10|NULL|0|2025-12-03 15:30:00|"
                         "2025-12-01|filled|okx|b|1"}));
  EXPECT_EQ(world.lines("SELECT DISTINCT length(created_at) FROM order_history"), Lines{"19"});
  EXPECT_TRUE(world.client().set_life("123", Life::canceled));
  EXPECT_EQ(world.lines("SELECT status FROM order_history ORDER BY id"),
            (Lines{"canceled", "filled"}));
}

TEST(OrderHistory, QueryPerformanceWithWeekStartIndex) {
  World world;
  constexpr int rows = 10'000;
  constexpr int weeks = 52;
  std::vector<HistoryRow> history;
  for (int i = 0; i < rows; ++i) {
    history.push_back(Client::row(std::to_string(i), start() - Duration::days(7 * (i % weeks))));
  }
  EXPECT_EQ(world.client().backfill(history), 10'000u);
  EXPECT_EQ(world.client().used(), 193);  // 10,000 / 52, and one
  sqlite::Database database = side_door(world.path());
  EXPECT_THAT(database.plan(IntentBook::count_week).value(),
              AllOf(HasSubstr("SEARCH order_history USING INDEX idx_order_history_week "
                              "(week_start=?)"),
                    Not(HasSubstr("SCAN order_history"))));
  EXPECT_EQ(database.plan(IntentBook::find_history).value(),
            "SEARCH order_history USING INDEX idx_order_history_reference "
            "(venue=? AND reference=?)\n");
}

TEST(OrderHistory, KeepsAReferenceTakenAfterItsIntentsWereLost) {
  World world;
  (void)world.client().ended(Client::fresh("a"), Client::confirmed("77"));
  world.stop();
  world.remove_files();
  world.start_store();
  HistoryRow row = Client::row("77");
  row.reference = "a";
  EXPECT_EQ(world.client().backfill({row}), 1u);
  world.restart();
  const int before = Disk::steps;
  const Result<Opening> opened = world.client().try_open(Client::fresh("a"));
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, Code::refused);
  EXPECT_EQ(Disk::steps, before) << "it only looked";
  EXPECT_EQ(world.lines("SELECT count(*) FROM intents"), Lines{"0"});
  EXPECT_EQ(world.client().opened("b").id, 1) << "nothing is held of it";
}

TEST(OrderHistory, IsCountedNoFurtherThanTheAnswerNeeds) {
  World world;
  std::vector<HistoryRow> history;
  for (int i = 0; i < 1'000; ++i) history.push_back(Client::row(std::to_string(i)));
  EXPECT_EQ(world.client().backfill(history), 1'000u);
  const Opening denied = world.client().open(Client::fresh("a"));
  ASSERT_TRUE(std::holds_alternative<DeniedIntent>(denied));
  EXPECT_EQ(std::get<DeniedIntent>(denied).quota.used, 5 + bounds::order_count_excess_max);
  EXPECT_EQ(world.client().used(), 1'000) << "who asks for the figure gets it";
}

TEST(SqliteIntentStore, FindsWhatIsOpenWithoutReadingEveryIntent) {
  World world;
  sqlite::Database database = side_door(world.path());
  EXPECT_THAT(database.plan(IntentBook::count_slots).value(),
              HasSubstr("SEARCH intents USING INDEX intents_open (week_start=? AND slot=?)"));
  EXPECT_THAT(database.plan(IntentBook::list_open).value(), HasSubstr("INDEX intents_open"));
  EXPECT_THAT(database.plan(IntentBook::list_rejected).value(),
              HasSubstr("INDEX intents_rejected"));
  EXPECT_THAT(database.plan(IntentBook::list_working).value(),
              HasSubstr("SEARCH intents USING INDEX intents_working (venue=? AND rowid>?)"));
  EXPECT_THAT(database.plan(IntentBook::free_slot_by_name).value(),
              HasSubstr("INDEX intents_open_by_name (venue=? AND venue_name=?)"));
}

TEST(SqliteIntentStore, GoesOnWithAFileOfItsFirstVersion) {
  World world;
  world.stop();
  world.remove_files();
  sqlite::Schema first = IntentBook::schema;
  first.steps = first.steps.first(1);
  {
    sqlite::Database database =
        sqlite::Database::open(
            {.path = world.path(), .schema = first, .journal = sqlite::Journal::wal})
            .value();
    constexpr std::string_view order =
        R"({"inst":"B","side":"buy","size":"1","type":"market","venue":"okx"})";
    constexpr std::string_view progress =
        R"({"attempts":1,"evidence":[],"life":"unknown","order_id":"","reason":"",)"
        R"("request_id":"r","sealed":false,"status":"sending"})";
    EXPECT_TRUE(database.transact([&] {
      return database.run(
          "INSERT INTO intents SELECT 7, 'old', 'okx', ?1, 1, 5, '1969-12-29', "
          "'sending', 1, 1, 0, '', ?2",
          {order, progress});
    }));
  }
  world.start_store();
  const Result<Intent> old = world.client().get("old");
  ASSERT_TRUE(old.has_value()) << old.error().message;
  EXPECT_FALSE(old->progress.unsent);
  EXPECT_TRUE(world.client().takes("old"));
  EXPECT_EQ(world.client().used(Instant::from_ns(5)), 1);
  EXPECT_EQ(world.lines("SELECT venue_name FROM intents"), Lines{""});
  EXPECT_EQ(world.client().opened("new").id, 8);
}

TEST(SqliteIntentStore, OpensAgainAfterARestartWhatNeverLeft) {
  World world;
  order::Progress unsent = Client::rejected();
  unsent.unsent = true;
  (void)world.client().ended(Client::fresh("a"), unsent);
  world.restart();
  EXPECT_EQ(world.client().opened("a").id, 1);
  EXPECT_EQ(world.lines("SELECT id, status, open, slot FROM intents", 4), Lines{"1|sending|1|1"});
  EXPECT_EQ(world.client().used(), 1);
}

// ---- files that are not as they should be

TEST(SqliteIntentStore, SaysThatItsFileIsDamagedAndHowToGoOn) {
  World world;
  (void)world.client().opened("a");
  (void)sqlite::Database::reopen(
      {.path = world.path(), .schema = IntentBook::schema, .journal = sqlite::Journal::wal})
      .value();  // has everything in the file itself
  world.stop();
  {
    std::fstream file(world.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4'096);
    file << std::string(20 * 4'096, '\xff');
  }
  const auto opened = SqliteIntentStore::open({.path = world.path()}, world.clock);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, Code::unavailable);
  EXPECT_THAT(opened.error().message,
              AllOf(HasSubstr(world.path()), HasSubstr("damaged"), HasSubstr("move it away"),
                    HasSubstr("`pawl backfill-orders`")));
}

TEST(SqliteIntentStore, NeverGuessesAnIntentItCannotRead) {
  World world;
  (void)world.client().opened("a");
  world.change("UPDATE intents SET progress = '{}'");
  for (const Error& error : {world.client().get("a").error(), world.client().try_take("a").error(),
                             world.client().try_open(Client::fresh("a")).error()}) {
    EXPECT_EQ(error.code, Code::unavailable);
    EXPECT_THAT(error.message,
                AllOf(HasSubstr("not as pawl wrote it"), HasSubstr("`pawl backfill-orders`")));
  }
  EXPECT_EQ(world.client().used(), 1) << "its slot stays";
}

TEST(SqliteIntentStore, RefusesTheFileOfSomethingElse) {
  const TempFolder folder;
  ManualClock clock;
  {
    std::ofstream text(folder / "text");
    text << std::string(8'192, 'x');
  }
  EXPECT_THAT(SqliteIntentStore::open({.path = folder / "text"}, clock).error().message,
              HasSubstr("name another path"));
}

TEST(SqliteIntentStore, StartsNoAttemptWithoutItsLockFile) {
  World world;
  const Intent intent = world.client().opened("a");
  const Intent other = world.client().opened("b");
  EXPECT_TRUE(world.store().health().has_value());
  std::filesystem::remove(world.path() + "-work");
  const order::Progress again{.attempts = 2, .request_id = "second"};
  EXPECT_EQ(world.client().try_save(intent.id, again).error().code, Code::unavailable);
  EXPECT_EQ(world.client().try_open(Client::fresh("c")).error().code, Code::unavailable);
  world.store().release(other.id);
  EXPECT_EQ(world.client().try_take("b").error().code, Code::unavailable);
  EXPECT_THAT(world.store().health().error().message, HasSubstr("deleted or replaced"));
  world.client().save(intent.id, Client::confirmed("1"));  // what is known may be kept
  const auto beside = SqliteIntentStore::open({.path = world.path()}, world.clock);
  ASSERT_FALSE(beside.has_value()) << "it would find all work free";
  EXPECT_THAT(beside.error().message, HasSubstr("end all of them, then start again"));
  world.restart();
  EXPECT_TRUE(world.client().takes("b"));
  EXPECT_EQ(world.client().get("c").error().code, Code::not_found);
}

TEST(SqliteIntentStore, IsOneStoreUnderEveryNameOfItsFile) {
  World world;
  std::filesystem::create_symlink(world.path(), world.folder / "link.db");
  const auto beside = opened_store(world.folder / "link.db", world.clock);
  (void)world.client().opened("a");
  EXPECT_FALSE(Client(*beside).takes("a"));
}

// ---- trouble

TEST(SqliteIntentStore, GoesOnWhenTheDiskHasRoomAgain) {
  World world;
  const Intent held = world.client().opened("held");
  Disk::fail(1, 1'000'000);
  for (int i = 0; i < 2; ++i) {
    const Result<Opening> opened = world.client().try_open(Client::fresh("a"));
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code, Code::unavailable);
    EXPECT_EQ(opened.error().outcome, Outcome::not_applied);
    EXPECT_THAT(opened.error().message, HasSubstr("make room on its disk"));
    EXPECT_FALSE(world.client().try_save(held.id, Client::confirmed("1")));
  }
  const int before = Disk::steps;
  while (Disk::steps == before) ASSERT_FALSE(world.store().health().has_value());
  Disk::heal();
  while (!world.store().health()) std::this_thread::yield();
  (void)world.client().opened("a");
  world.client().save(held.id, Client::confirmed("1"));
  EXPECT_EQ(world.client().used(), 2);
}

TEST(SqliteIntentStore, TellsTheOutcomeWhicheverStepOfTheDiskFails) {
  int unknown = 0;
  int not_applied = 0;
  bool passed = false;
  for (int step = 1; !passed; ++step) {
    World world;
    const Client client = world.client();
    const Intent held = client.opened("held");
    const bool saves = step % 2 == 0;  // else it opens
    Disk::fail((step + 1) / 2);
    Result<void> done;
    if (saves) {
      done = client.try_save(held.id, Client::confirmed("1"));
    } else if (const auto opened = client.try_open(Client::fresh("a")); !opened) {
      done = std::unexpected(opened.error());
    }
    passed = Disk::steps < Disk::fail_from;
    Disk::heal();
    const bool is_there = saves ? client.get("held")->progress.status == Status::confirmed
                                : client.get("a").has_value();
    EXPECT_EQ(client.used(), saves || !is_there ? 1 : 2) << step;
    if (done) {
      EXPECT_TRUE(is_there) << step;
    } else if (done.error().outcome == Outcome::not_applied) {
      ++not_applied;
      EXPECT_FALSE(is_there) << step << done.error().message;
    } else {
      ++unknown;
      if (!saves && is_there) {
        EXPECT_TRUE(client.takes("a")) << "nobody has it";
      }
    }
    if (saves) client.save(held.id, Client::confirmed("1"));
  }
  EXPECT_GT(not_applied, 0);
  EXPECT_GT(unknown, 0);
}

// ---- several processes, and kill -9

// `work` in as many processes of their own; what they write is read from the pipe.
class Children {
 public:
  Children(int count, const std::function<void(int child, int told)>& work) {
    EXPECT_EQ(::pipe(pipe_), 0);
    for (int i = 0; i < count; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::alarm(120);  // should the parent die
        ::close(pipe_[0]);
        work(i, pipe_[1]);
        ::_exit(testing::Test::HasFailure() ? 1 : 0);
      }
      EXPECT_GT(child, 0);
      pids_.push_back(child);
    }
    ::close(pipe_[1]);
  }
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  ~Children() { ::close(pipe_[0]); }

  template <class T>
  bool read(T& message) {
    return ::read(pipe_[0], &message, sizeof message) == sizeof message;
  }
  // All at one moment: none is to take over what another leaves.
  void kill() {
    for (const pid_t child : pids_) ::kill(child, SIGSTOP);
    for (const pid_t child : pids_) ::waitpid(child, nullptr, WUNTRACED);
    for (const pid_t child : pids_) ::kill(child, SIGKILL);
  }
  // True: all ended by themselves and well.
  bool wait() {
    bool good = true;
    for (const pid_t child : pids_) {
      int status = 0;
      ::waitpid(child, &status, 0);
      good = good && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    return good;
  }

 private:
  int pipe_[2] = {};
  std::vector<pid_t> pids_;
};

template <class T>
void tell(int pipe, const T& message) {
  if (::write(pipe, &message, sizeof message) != sizeof message) ::_exit(1);
}

TEST(SqliteIntentStore, OpensExactlyAsManyAsThereAreSlotsFromTwoProcesses) {
  for (int round = 0; round < 5; ++round) {
    const TempFolder folder;
    const std::string path = folder / "orders.db";
    Children children(2, [&](int child, int told) {
      ManualClock clock;
      const auto store = opened_store(path, clock);
      std::vector<std::future<Result<Opening>>> answers;
      for (int i = 0; i < 100; ++i) {
        const std::string reference = std::to_string(child) + "." + std::to_string(i);
        answers.push_back(asked<Opening>(
            [&](auto done) { store->open(Client::fresh(reference), std::move(done)); }));
      }
      int opened = 0;
      for (auto& answer : answers) {
        opened += std::holds_alternative<OpenedIntent>(answer.get().value()) ? 1 : 0;
      }
      tell(told, opened);
    });
    int sum = 0;
    int one = 0;
    while (children.read(one)) sum += one;
    EXPECT_TRUE(children.wait());
    EXPECT_EQ(sum, 5);
    ManualClock clock;
    EXPECT_EQ(Client(*opened_store(path, clock)).used(), 5);
  }
}

TEST(SqliteIntentStore, ServesTwentyProcessesThatStartAtOnce) {
  const TempFolder folder;
  const std::string path = folder / "orders.db";
  constexpr int processes = 20;
  constexpr int each = 5;
  Children children(processes, [&](int child, int told) {
    ManualClock clock;
    for (int i = 0; i < each; ++i) {
      const auto store = opened_store(path, clock);
      NewIntent ask = Client::fresh(std::to_string(child) + "." + std::to_string(i));
      ask.limit.weekly_max_orders = processes * each;
      (void)Client(*store).ended(ask, Client::confirmed(ask.reference));
    }
    tell(told, each);
  });
  EXPECT_TRUE(children.wait());
  ManualClock clock;
  const auto store = opened_store(path, clock);
  EXPECT_EQ(Client(*store).used(), processes * each);
  EXPECT_EQ(Client(*store).list({.limit = 1'000}).size(), std::size_t{processes * each});
}

// What a child tells its parent: it has opened or taken an intent, or has ended it.
struct Told {
  enum class What : std::uint8_t { began, confirmed, rejected };
  What what;
  int number;
};

std::string numbered(int n) {
  return "intent-" + std::to_string(n);
}

// Opens or takes over intent after intent and ends it, until killed. Every third is rejected.
[[noreturn]] void work_until_killed(const std::string& path, int first, int told) {
  ManualClock clock;
  const auto store = opened_store(path, clock);
  const Client client(*store);
  const auto work = [&] {
    for (int n = first;; ++n) {
      NewIntent ask = Client::fresh(numbered(n));
      ask.limit.weekly_max_orders = 1'000'000;
      const Opening opening = client.open(ask);
      bool mine = std::holds_alternative<OpenedIntent>(opening);
      if (!mine) mine = client.takes(numbered(n));
      if (!mine) continue;
      const std::int64_t id = client.get(numbered(n)).value().id;
      tell(told, Told{Told::What::began, n});
      const bool rejects = n % 3 == 0;
      client.save(id, rejects ? Client::rejected() : Client::confirmed(numbered(n)));
      tell(told, Told{rejects ? Told::What::rejected : Told::What::confirmed, n});
      store->release(id);
    }
  };
  std::thread beside(work);
  work();
  ::_exit(0);
}

class Ledger {
 public:
  void hear(const Told& told) {
    Entry& entry = entries_[told.number];
    EXPECT_FALSE(entry.ended) << told.number << " was worked on after its end, or by two";
    EXPECT_FALSE(told.what == Told::What::began && entry.begun) << told.number << " by two";
    entry.begun = true;
    entry.ended = told.what != Told::What::began;
  }
  // A killed process is in the middle of nothing any more. Some were opened and nobody was told;
  // each process opens one after the other, so there is no gap.
  void expect_kept(const Client& client, int first) {
    std::int64_t used = used_before_;
    for (int n = first;; ++n) {
      const Result<Intent> found = client.get(numbered(n));
      if (!found && entries_.lower_bound(n) == entries_.end()) break;
      ASSERT_TRUE(found.has_value()) << n << found.error().message;
      const Status status = found->progress.status;
      if (order::is_open(status)) {
        EXPECT_FALSE(entries_[n].ended) << n;
      } else {
        EXPECT_EQ(status, n % 3 == 0 ? Status::rejected : Status::confirmed) << n;
      }
      entries_[n] = {.begun = false, .ended = !order::is_open(status)};
      used += status == Status::rejected ? 0 : 1;
    }
    EXPECT_EQ(client.used(), used);
    for (int n = first; n < first_open(); ++n) used_before_ += n % 3 == 0 ? 0 : 1;
  }
  int first_open() const {
    for (const auto& [n, entry] : entries_) {
      if (!entry.ended) return n;
    }
    return static_cast<int>(entries_.size());
  }
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    bool begun = false;
    bool ended = false;
  };
  std::map<int, Entry> entries_;
  std::int64_t used_before_ = 0;  // by those before the first that is open
};

TEST(SqliteIntentStore, LosesNothingItAnsweredAndGivesNoWorkTwiceWhenItIsKilled) {
  const TempFolder folder;
  const std::string path = folder / "orders.db";
  ManualClock clock;
  Ledger ledger;
  for (int round = 0; round < 300; ++round) {
    const int first = ledger.first_open();
    Children children(1 + round % 3, [&](int, int told) { work_until_killed(path, first, told); });
    Told told = {};
    for (int steps = 1 + round % 7; steps > 0 && children.read(told); --steps) ledger.hear(told);
    children.kill();
    EXPECT_FALSE(children.wait());
    while (children.read(told)) ledger.hear(told);
    const auto store = opened_store(path, clock);
    ledger.expect_kept(Client(*store), first);
    if (HasFailure()) return;
  }
  EXPECT_GE(ledger.size(), 300u);
  sqlite::Database database = side_door(path);
  std::string found;
  EXPECT_TRUE(database.run("PRAGMA integrity_check", {},
                           [&](const sqlite::Row& row) { found = row.text(0); }));
  EXPECT_EQ(found, "ok");
}

}  // namespace
}  // namespace pawl
