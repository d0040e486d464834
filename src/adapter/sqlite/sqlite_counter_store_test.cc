// Goal: limits that outlive the process: whatever is killed, full, locked, moved or damaged, no
//       answer is forgotten, and nothing passes that should not.
// Method: a hand-moved clock over real files; two stores on one file as two processes have them;
//         child processes that are killed in the middle; a disk that fails on demand.
#include "adapter/sqlite/sqlite_counter_store.h"

#include <csignal>
#include <fstream>
#include <future>
#include <gmock/gmock.h>
#include <sstream>
#include <sys/wait.h>

#include "adapter/sqlite/sqlite_fixture.h"
#include "port/counter_store_conformance.h"
#include "runtime/manual_clock.h"

namespace pawl {
namespace {

using limit::Answer;
using limit::Policy;
using testing::HasSubstr;

const Duration second = Duration::seconds(1);

// Ids in a row: what is random here would only make failures hard to read.
class CountingEntropy final : public Entropy {
 public:
  Entropy16 next() override {
    const std::uint64_t n = (next_ += 2);
    Entropy16 bytes = {};
    for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<std::uint8_t>(n >> (8 * i));
    return bytes;
  }

 private:
  std::atomic<std::uint64_t> next_ = static_cast<std::uint64_t>(::getpid()) << 32;
};

Instant at(std::string_view text) {
  return parse_instant(text).value();
}

Policy bucket(std::int64_t burst, limit::PolicyOptions options = {}) {
  return {"bucket", limit::TokenBucket({.count = 1, .period = second}, burst), options};
}

Policy monthly(std::int64_t count, limit::PolicyOptions options = {}) {
  return {"monthly", limit::Calendar{.count = count, .rule = {}}, options};
}

Policy log_of(std::int64_t count) {
  return {"log", limit::SlidingLog{.rate = {.count = count, .period = Duration::minutes(1)}}};
}

Policy slots(std::int64_t count) {
  return {"slots", limit::Concurrency{.slots = count, .lease = Duration::seconds(60)}};
}

// The answer of a call, waited for.
template <class T, class Call>
Result<T> now(const Call& call) {
  std::promise<Result<T>> promise;
  std::future<Result<T>> future = promise.get_future();
  call([promise = std::move(promise)](Result<T> result) mutable {
    promise.set_value(std::move(result));
  });
  return future.get();
}

class World {
 public:
  explicit World(CounterBookOptions book = {}, std::size_t queue_max = bounds::sqlite_queue_max)
      : book_(std::move(book)), queue_max_(queue_max) {
    start();
  }

  void start() {
    auto opened = open();
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    store_ = *std::move(opened);
  }
  Result<std::unique_ptr<SqliteCounterStore>> open() {
    return SqliteCounterStore::open({.path = path(),
                                     .book = book_,
                                     .busy_timeout = Duration::milliseconds(50),
                                     .queue_max = queue_max_},
                                    clock, entropy);
  }
  void restart() {
    store_.reset();
    start();
  }

  Result<Answer> check(Counts counts, std::int64_t cost = 1) {
    return now<Answer>([&](auto done) { store_->check(counts, cost, std::move(done)); });
  }
  Result<Answer> check(const Policy& policy, limit::Key key, std::int64_t cost = 1) {
    const Count count{&policy, key};
    return check({&count, 1}, cost);
  }
  bool takes(const Policy& policy, limit::Key key, std::int64_t cost = 1) {
    const Result<Answer> answer = check(policy, key, cost);
    EXPECT_TRUE(answer.has_value()) << answer.error().message;
    return answer && answer->allowed;
  }
  std::int64_t left(const Policy& policy, limit::Key key) {
    const Result<Answer> answer = check(policy, key, 0);
    EXPECT_TRUE(answer.has_value()) << answer.error().message;
    return answer ? answer->verdicts[0].remaining : -1;
  }
  Result<Reservation> reserve(Counts counts, std::int64_t cost, Duration hold) {
    return now<Reservation>(
        [&](auto done) { store_->reserve(counts, cost, hold, std::move(done)); });
  }
  Result<void> settle(Counts counts, std::uint64_t id, Settlement how) {
    return now<void>([&](auto done) { store_->settle(counts, id, how, std::move(done)); });
  }
  Result<void> refund(const Count& count, std::int64_t cost) {
    return now<void>([&](auto done) { store_->refund(count, cost, std::move(done)); });
  }
  Result<void> reset(const Count& count) {
    return now<void>([&](auto done) { store_->reset(count, std::move(done)); });
  }
  Result<void> close(const Count& count, Instant until) {
    return now<void>([&](auto done) { store_->close(count, until, std::move(done)); });
  }

  // The file as another program opens it.
  sqlite::Database side_door() {
    return sqlite::Database::open({.path = path(), .schema = CounterBook::schema}).value();
  }
  std::int64_t number(sqlite::Sql sql) {
    std::int64_t n = -1;
    EXPECT_TRUE(side_door().run(sql, {}, [&](const sqlite::Row& row) { n = row.number(0); }));
    return n;
  }

  std::string path() const { return folder / "counters.db"; }
  SqliteCounterStore& store() { return *store_; }

  const TempFolder folder;
  ManualClock clock{at("2026-01-31T23:00:00Z")};
  CountingEntropy entropy;

 private:
  CounterBookOptions book_;
  std::size_t queue_max_;
  std::unique_ptr<SqliteCounterStore> store_;
};

// ---- the contract

TEST(SqliteCounterStore, Conforms) {
  World world;
  expect_counter_store_conforms({.store = world.store(),
                                 .advance = [&](Duration by) { world.clock.advance(by); },
                                 .now = [&]() -> limit::Now {
                                   const Instant wall = world.clock.wall_now();
                                   return {.moment = limit::Moment::from_ns(wall.ns()),
                                           .wall = wall};
                                 }});
}

TEST(SqliteCounterStore, ChargesEveryAlgorithmUpToItsLimit) {
  World world;
  const std::vector<Policy> policies = {
      bucket(2),
      monthly(3),
      log_of(3),
      slots(3),
      {"window", limit::SlidingWindow{.rate = {.count = 3, .period = Duration::minutes(1)}}}};
  for (const Policy& policy : policies) {
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(world.takes(policy, "a")) << policy.name << i;
    EXPECT_FALSE(world.takes(policy, "a")) << policy.name;
    EXPECT_TRUE(world.takes(policy, "b", 3)) << policy.name;
    EXPECT_FALSE(world.takes(policy, limit::KeyId{1, 2}, 4)) << policy.name;
    EXPECT_TRUE(world.takes(policy, limit::KeyId{1, 2})) << policy.name;
  }
}

TEST(SqliteCounterStore, ChargesAllCountsOrNone) {
  World world;
  const Policy wide = monthly(100);
  const Policy narrow = bucket(0);
  const std::vector<Count> both = {{&wide, "t"}, {&narrow, "t"}};
  EXPECT_TRUE(world.check(both)->allowed);
  const Answer refused = world.check(both).value();
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.binding, 1);
  EXPECT_EQ(refused.retry_after, second);
  EXPECT_EQ(refused.now.wall, world.clock.wall_now());
  EXPECT_EQ(world.left(wide, "t"), 99);
  world.clock.advance(second);
  EXPECT_TRUE(world.check(both)->allowed);
}

TEST(SqliteCounterStore, LooksAndRefusesWithoutTouchingTheDisk) {
  World world;
  EXPECT_TRUE(world.takes(bucket(0), "a"));
  const int before = Disk::steps;
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(world.takes(bucket(0), "a"));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(world.left(bucket(0), "a"), 0);
  EXPECT_EQ(Disk::steps, before);
}

TEST(SqliteCounterStore, AnswersWhenTheDiskHasIt) {
  World world;
  const int before = Disk::syncs;
  EXPECT_TRUE(world.takes(bucket(0), "a"));
  EXPECT_GE(Disk::syncs - before, 3);
  EXPECT_TRUE(Disk::ended_synced);
}

TEST(SqliteCounterStore, ChargesWithoutASyncWhatIsNoLoss) {
  World world;
  const auto store = SqliteCounterStore::open({.path = world.folder / "pace.db", .synced = false},
                                              world.clock, world.entropy);
  const Policy pace = bucket(0);
  const Count count{&pace, "a"};
  const int before = Disk::syncs;
  EXPECT_TRUE(
      now<Answer>([&](auto done) { (*store)->check({&count, 1}, 1, std::move(done)); })->allowed);
  EXPECT_EQ(Disk::syncs, before);
}

TEST(SqliteCounterStore, SettlesAReservationOnce) {
  World world;
  const Policy quota = monthly(10);
  const Policy busy = slots(1);
  const std::vector<Count> both = {{&quota, "t"}, {&busy, "t"}};
  const Reservation first = world.reserve(both, 1, Duration::minutes(5)).value();
  EXPECT_TRUE(first.answer.allowed);
  EXPECT_NE(first.id, 0u);
  const Reservation second_one = world.reserve(both, 1, Duration::minutes(5)).value();
  EXPECT_FALSE(second_one.answer.allowed);
  EXPECT_EQ(second_one.id, 0u);

  // What was really used is counted; the slot comes back.
  const Settlement used_four = {.kind = Settlement::Kind::commit, .actual = 4, .hold = {}};
  EXPECT_TRUE(world.settle(both, first.id, used_four).has_value());
  EXPECT_EQ(world.left(quota, "t"), 6);
  EXPECT_EQ(world.left(busy, "t"), 1);
  const Result<void> again = world.settle(both, first.id, used_four);
  EXPECT_EQ(again.error().code, Code::not_found);
  EXPECT_EQ(world.left(quota, "t"), 6);
}

TEST(SqliteCounterStore, GivesBackWhatIsCancelledOrNotUsed) {
  World world;
  const Policy quota = monthly(10);
  const std::vector<Count> counts = {{&quota, "t"}};
  const std::uint64_t a = world.reserve(counts, 5, second)->id;
  const std::uint64_t b = world.reserve(counts, 5, second)->id;
  EXPECT_EQ(world.left(quota, "t"), 0);
  EXPECT_TRUE(world.settle(counts, a, {.kind = Settlement::Kind::cancel}).has_value());
  EXPECT_EQ(world.left(quota, "t"), 5);
  EXPECT_TRUE(world.settle(counts, b, {.kind = Settlement::Kind::commit, .actual = 2}).has_value());
  EXPECT_EQ(world.left(quota, "t"), 8);
}

TEST(SqliteCounterStore, KeepsTheChargeOfAReservationThatRanOut) {
  World world;
  const Policy quota = monthly(10);
  const std::vector<Count> counts = {{&quota, "t"}};
  const std::uint64_t id = world.reserve(counts, 5, Duration::seconds(2))->id;
  world.clock.advance(second);
  EXPECT_TRUE(
      world.settle(counts, id, {.kind = Settlement::Kind::renew, .hold = Duration::seconds(2)}));
  world.clock.advance(second);
  EXPECT_TRUE(
      world.settle(counts, id, {.kind = Settlement::Kind::renew, .hold = Duration::seconds(2)}));
  world.clock.advance(Duration::seconds(2));
  EXPECT_EQ(world.settle(counts, id, {.kind = Settlement::Kind::cancel}).error().code,
            Code::not_found);
  EXPECT_EQ(world.left(quota, "t"), 5);
}

TEST(SqliteCounterStore, RenewsTheLeaseOfSlots) {
  World world;
  const Policy busy = slots(1);
  const std::vector<Count> counts = {{&busy, "t"}};
  const std::uint64_t id = world.reserve(counts, 1, Duration::hours(1))->id;
  world.clock.advance(Duration::seconds(59));
  EXPECT_TRUE(
      world.settle(counts, id, {.kind = Settlement::Kind::renew, .hold = Duration::hours(1)}));
  world.clock.advance(Duration::seconds(59));
  EXPECT_FALSE(world.takes(busy, "t"));
  world.clock.advance(second);
  EXPECT_TRUE(world.takes(busy, "t"));
}

TEST(SqliteCounterStore, RenewsNothingWhenTheLeaseOfSlotsIsOver) {
  World world;
  const Policy quota = monthly(10);
  const Policy busy = slots(1);
  const std::vector<Count> both = {{&quota, "t"}, {&busy, "t"}};
  const std::uint64_t id = world.reserve(both, 1, Duration::hours(1))->id;
  world.clock.advance(Duration::seconds(60));
  const Settlement renewal = {.kind = Settlement::Kind::renew, .hold = Duration::hours(1)};
  EXPECT_EQ(world.settle(both, id, renewal).error().code, Code::not_found);
  EXPECT_TRUE(world.takes(busy, "t"));
}

// Time has given it back already: a late cancel must not do so again.
TEST(SqliteCounterStore, GivesBackNoMoreThanTimeHasNotAcrossARestart) {
  World world;
  const Policy tokens = bucket(9);
  const std::vector<Count> counts = {{&tokens, "t"}};
  const std::uint64_t id = world.reserve(counts, 5, Duration::hours(1))->id;
  world.clock.advance(Duration::seconds(5));
  EXPECT_TRUE(world.takes(tokens, "t", 10));
  world.restart();
  EXPECT_TRUE(world.settle(counts, id, {.kind = Settlement::Kind::cancel}).has_value());
  EXPECT_EQ(world.left(tokens, "t"), 0);
}

TEST(SqliteCounterStore, SettlesOnlyWhatAReservationWasMadeFor) {
  World world;
  const Policy quota = monthly(10);
  const std::vector<Count> mine = {{&quota, "mine"}};
  const std::vector<Count> other = {{&quota, "other"}};
  const std::uint64_t id = world.reserve(mine, 5, second)->id;
  EXPECT_EQ(world.settle(other, id, {.kind = Settlement::Kind::cancel}).error().code,
            Code::not_found);
  EXPECT_TRUE(world.settle(mine, id, {.kind = Settlement::Kind::cancel}).has_value());
}

TEST(SqliteCounterStore, GivesNothingBackToAShadowThatWasNotCharged) {
  World world;
  const Policy quota = monthly(10);
  const Policy shadow("shadow", limit::Calendar{.count = 5, .rule = {}}, {.shadow = true});
  const std::vector<Count> both = {{&quota, "t"}, {&shadow, "t"}};
  EXPECT_TRUE(world.takes(shadow, "t", 4));
  const Reservation reservation = world.reserve(both, 3, second).value();
  EXPECT_TRUE(reservation.answer.allowed);
  EXPECT_TRUE(world.settle(both, reservation.id, {.kind = Settlement::Kind::cancel}).has_value());
  EXPECT_EQ(world.left(quota, "t"), 10);
  EXPECT_EQ(world.left(shadow, "t"), 1);
}

TEST(SqliteCounterStore, RefundsResetsAndCloses) {
  World world;
  const Policy quota = monthly(10);
  const Count count = {&quota, "t"};
  EXPECT_TRUE(world.takes(quota, "t", 10));
  EXPECT_TRUE(world.refund(count, 3).has_value());
  EXPECT_EQ(world.left(quota, "t"), 3);
  EXPECT_TRUE(world.refund(count, 100).has_value());
  EXPECT_EQ(world.left(quota, "t"), 10);

  const Instant noon = world.clock.wall_now() + Duration::minutes(10);
  EXPECT_TRUE(world.close(count, noon).has_value());
  EXPECT_TRUE(world.close(count, noon - Duration::minutes(5)).has_value());
  const Answer closed = world.check(quota, "t").value();
  EXPECT_FALSE(closed.allowed);
  EXPECT_EQ(closed.retry_after, Duration::minutes(10));
  EXPECT_TRUE(world.takes(quota, "somebody else"));
  world.restart();
  EXPECT_FALSE(world.takes(quota, "t"));
  EXPECT_TRUE(world.reset(count).has_value());
  EXPECT_TRUE(world.takes(quota, "t", 10));
  EXPECT_TRUE(world.reset(count).has_value());
  EXPECT_EQ(world.left(quota, "t"), 10);
}

// ---- what stays

TEST(SqliteCounterStore, RemembersEveryAlgorithmAfterARestart) {
  World world;
  const std::vector<Policy> policies = {
      bucket(2),
      monthly(3),
      log_of(3),
      slots(3),
      {"window", limit::SlidingWindow{.rate = {.count = 3, .period = Duration::minutes(1)}}}};
  for (const Policy& policy : policies) EXPECT_TRUE(world.takes(policy, "a", 2));
  const Policy quota = monthly(3);
  const std::vector<Count> counts = {{&quota, "r"}};
  const std::uint64_t id = world.reserve(counts, 2, Duration::hours(1))->id;
  world.restart();
  for (const Policy& policy : policies) {
    EXPECT_EQ(world.left(policy, "a"), 1) << policy.name;
    EXPECT_FALSE(world.takes(policy, "a", 2)) << policy.name;
  }
  EXPECT_TRUE(world.settle(counts, id, {.kind = Settlement::Kind::cancel}).has_value());
  EXPECT_EQ(world.left(quota, "r"), 3);
}

TEST(SqliteCounterStore, BeginsTheMonthAnewAndNotBefore) {
  World world;
  EXPECT_TRUE(world.takes(monthly(3), "a", 3));
  world.clock.advance(Duration::hours(1) - Duration::nanoseconds(1));
  world.restart();
  EXPECT_FALSE(world.takes(monthly(3), "a"));
  world.clock.advance(Duration::nanoseconds(1));
  EXPECT_TRUE(world.takes(monthly(3), "a", 3));
}

TEST(SqliteCounterStore, KeepsWhatWasUsedWhenTheRuleChanges) {
  World world;
  EXPECT_TRUE(world.takes(monthly(100), "a", 40));
  world.restart();
  EXPECT_EQ(world.left(monthly(1'000), "a"), 960);
  // A look changes nothing.
  EXPECT_EQ(world.left(monthly(1'000, {.on_change = limit::OnChange::reset}), "a"), 1'000);
  EXPECT_EQ(world.left(monthly(100), "a"), 60);
  EXPECT_TRUE(world.takes(monthly(1'000, {.on_change = limit::OnChange::proportional}), "a"));
  EXPECT_EQ(world.left(monthly(1'000), "a"), 599);
  world.restart();
  const Policy bucket_now("monthly", limit::TokenBucket({.count = 1, .period = second}, 999));
  EXPECT_EQ(world.left(bucket_now, "a"), 599);
  EXPECT_TRUE(world.takes(monthly(5, {.on_change = limit::OnChange::reset}), "a", 5));
}

// A refused ask writes the change too where the old rule would keep it for longer, or it would be
// carried over anew with every ask.
TEST(SqliteCounterStore, CarriesACountOverOnce) {
  World world;
  EXPECT_TRUE(world.takes(monthly(10), "a", 10));
  const Policy hourly("monthly",
                      limit::TokenBucket({.count = 10, .period = Duration::hours(1)}, 9));
  EXPECT_FALSE(world.takes(hourly, "a"));
  world.clock.advance(Duration::minutes(6));
  EXPECT_TRUE(world.takes(hourly, "a"));
}

TEST(SqliteCounterStore, KnowsTheLastRuleEvenWhenItRefused) {
  World world;
  EXPECT_TRUE(world.takes(monthly(10), "a", 10));
  EXPECT_FALSE(world.takes(monthly(20), "a", 15));
  EXPECT_EQ(world.left(monthly(40, {.on_change = limit::OnChange::proportional}), "a"), 20);
}

TEST(SqliteCounterStore, FindsTheZoneOfACountThatChangesItsRule) {
  const auto zones = [](std::string_view name) -> Result<Zone> {
    if (name == "Europe/Zurich") return Zone("Europe/Zurich", Duration::hours(1));
    return failure(Code::invalid, "no zone '" + std::string(name) + "' here");
  };
  World world({.zones = zones});
  const auto in_zone = [](std::string name, std::int64_t count) {
    return Policy("monthly", limit::Calendar{.count = count,
                                             .rule = {.zone = Zone(name, Duration::hours(1))}});
  };
  EXPECT_TRUE(world.takes(in_zone("Europe/Zurich", 10), "a", 4));
  EXPECT_TRUE(world.takes(in_zone("Moon/Base", 10), "m", 4));
  world.restart();
  EXPECT_EQ(world.left(in_zone("Europe/Zurich", 20), "a"), 16);
  // Nothing is forgotten because it cannot be read; only a person may do that.
  EXPECT_EQ(world.check(in_zone("Moon/Base", 20), "m").error().message, "no zone 'Moon/Base' here");
  EXPECT_EQ(world.left(in_zone("Moon/Base", 10), "m"), 6);
  const Policy moon = in_zone("Moon/Base", 20);
  EXPECT_TRUE(world.reset({&moon, "m"}).has_value());
  EXPECT_EQ(world.left(moon, "m"), 20);
}

TEST(SqliteCounterStore, RefusesToGuessACountThatIsNotAsItWasWritten) {
  World world;
  const Policy log = log_of(3);
  EXPECT_TRUE(world.takes(log, "a", 3));
  ASSERT_TRUE(world.side_door().run("UPDATE counts SET marks = x'0102'").has_value());
  const Result<Answer> answer = world.check(log, "a");
  EXPECT_EQ(answer.error().code, Code::invalid);
  EXPECT_THAT(answer.error().message, HasSubstr("reset it"));
  EXPECT_TRUE(world.takes(log, "b"));
  EXPECT_TRUE(world.store().health().has_value());
  EXPECT_TRUE(world.reset({&log, "a"}).has_value());
  EXPECT_TRUE(world.takes(log, "a"));
}

// ---- bounds

TEST(SqliteCounterStore, ForgetsCountsAndReservationsThatAreAtRest) {
  World world;
  const Policy quick = bucket(0);
  const std::vector<Count> counts = {{&quick, "r"}};
  EXPECT_NE(world.reserve(counts, 1, second)->id, 0u);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(world.takes(quick, "k" + std::to_string(i)));
  EXPECT_TRUE(world.takes(monthly(3), "stays", 3));
  world.clock.advance(second);
  for (int i = 0; i < 30; ++i) world.left(quick, "look");
  EXPECT_EQ(world.number("SELECT count(*) FROM counts"), 1);
  EXPECT_EQ(world.number("SELECT count(*) FROM reservations"), 0);
  EXPECT_EQ(world.number("SELECT counts + reservations FROM totals"), 1);
  EXPECT_FALSE(world.takes(monthly(3), "stays"));
}

TEST(SqliteCounterStore, ForgetsNothingForAClockThatLeaptAhead) {
  World world;
  EXPECT_TRUE(world.takes(monthly(3), "a", 3));
  const Instant before = world.clock.wall_now();
  world.clock.set_wall(before + Duration::days(300));
  for (int i = 0; i < 10; ++i) world.left(bucket(0), "look");
  world.clock.set_wall(before);
  EXPECT_FALSE(world.takes(monthly(3), "a"));
}

TEST(SqliteCounterStore, TakesNoNewKeyWhenItIsFull) {
  World world({.zones = {}, .counts_max = 3});
  const Policy quick = bucket(0);
  for (const char* key : {"a", "b", "c"}) EXPECT_TRUE(world.takes(quick, key));
  const Result<Answer> full = world.check(quick, "d");
  EXPECT_EQ(full.error().code, Code::refused);
  EXPECT_EQ(full.error().outcome, Outcome::not_applied);
  EXPECT_THAT(full.error().message, HasSubstr("all 3 counts are in use"));
  EXPECT_FALSE(world.takes(quick, "a"));
  EXPECT_EQ(world.left(quick, "d"), 1);
  world.clock.advance(second);
  EXPECT_TRUE(world.takes(quick, "d"));
}

TEST(SqliteCounterStore, TakesNoReservationBeyondItsBound) {
  World world({.zones = {}, .reservations_max = 1});
  const Policy quota = monthly(10);
  const std::vector<Count> counts = {{&quota, "t"}};
  const std::uint64_t id = world.reserve(counts, 1, second)->id;
  EXPECT_EQ(world.reserve(counts, 1, second).error().code, Code::refused);
  EXPECT_EQ(world.left(quota, "t"), 9);
  EXPECT_TRUE(world.settle(counts, id, {.kind = Settlement::Kind::cancel}).has_value());
  EXPECT_NE(world.reserve(counts, 1, second)->id, 0u);
}

// Holds the writer in its first answer while `then` runs.
template <class Then>
void while_the_writer_waits(World& world, const Policy& policy, const Then& then) {
  std::promise<void> holding;
  std::promise<void> let_go;
  std::future<void> held = holding.get_future();
  const Count count = {&policy, "held"};
  // What the callback needs is its own: it may end later than this does.
  world.store().check(
      {&count, 1}, 1,
      [holding = std::move(holding), until = let_go.get_future()](const Result<Answer>&) mutable {
        holding.set_value();
        until.wait();
      });
  held.wait();
  then();
  let_go.set_value();
}

TEST(SqliteCounterStore, RefusesMoreAsksThanItsQueueHolds) {
  World world({}, 10);
  const Policy quota = monthly(100);
  std::atomic<int> answered = 0;
  std::atomic<int> refused = 0;
  while_the_writer_waits(world, quota, [&] {
    const Count count = {&quota, "t"};
    for (int i = 0; i < 11; ++i) {
      world.store().check({&count, 1}, 1, [&](const Result<Answer>& answer) {
        ++answered;
        if (answer) return;
        ++refused;
        EXPECT_EQ(answer.error().code, Code::unavailable);
        EXPECT_EQ(answer.error().outcome, Outcome::not_applied);
        EXPECT_THAT(answer.error().message, HasSubstr("asks wait for the disk"));
      });
    }
    EXPECT_EQ(refused, 1);
  });
  world.restart();
  EXPECT_EQ(answered, 11);
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(world.left(quota, "t"), 90);
}

TEST(SqliteCounterStore, KeepsItsBoundWithinOneTransaction) {
  World world({.zones = {}, .counts_max = 3});
  const Policy quota = monthly(10);
  std::atomic<int> allowed = 0;
  while_the_writer_waits(world, quota, [&] {
    for (int i = 0; i < 5; ++i) {
      const std::string key = "k" + std::to_string(i);
      const Count count = {&quota, key};
      world.store().check({&count, 1}, 1,
                          [&](const Result<Answer>& answer) { allowed += answer.has_value(); });
    }
  });
  world.restart();
  EXPECT_EQ(allowed, 2);
  EXPECT_EQ(world.number("SELECT count(*) FROM counts"), 3);
}

TEST(SqliteCounterStore, CommitsAsksThatWaitTogether) {
  World world;
  const Policy quota = monthly(1'000);
  EXPECT_TRUE(world.takes(quota, "t"));
  const int one = Disk::syncs;
  EXPECT_TRUE(world.takes(quota, "t"));
  const int syncs_a_commit = Disk::syncs - one;
  int before = 0;
  std::atomic<int> allowed = 0;
  while_the_writer_waits(world, quota, [&] {
    const Count count = {&quota, "t"};
    before = Disk::syncs;
    for (int i = 0; i < 200; ++i) {
      world.store().check({&count, 1}, 1,
                          [&](const Result<Answer>& answer) { allowed += answer->allowed; });
    }
  });
  world.restart();
  EXPECT_EQ(allowed, 200);
  EXPECT_EQ(Disk::syncs - before, syncs_a_commit);
  EXPECT_EQ(world.left(quota, "t"), 1'000 - 202);
}

// ---- trouble

// Every ask fails while `trouble` lasts, and all goes on from where it stood when it is over.
template <class Begin, class End>
void expect_a_way_through(World& world, const Begin& begin, const End& end, Error expected) {
  const Policy quota = monthly(100);
  EXPECT_TRUE(world.takes(quota, "t", 40));
  begin();
  for (int i = 0; i < 2; ++i) {
    const Result<Answer> answer = world.check(quota, "t");
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().code, expected.code) << answer.error().message;
    EXPECT_EQ(answer.error().outcome, expected.outcome) << answer.error().message;
    EXPECT_THAT(answer.error().message, HasSubstr(expected.message));
    EXPECT_EQ(world.store().health(), Result<void>(std::unexpected(answer.error())));
  }
  EXPECT_FALSE(world.check(quota, "t").has_value()) << "and what health() has tried is over";
  end();
  EXPECT_EQ(world.left(quota, "t"), 60);
  EXPECT_TRUE(world.takes(quota, "t"));
  EXPECT_TRUE(world.store().health().has_value());
  world.restart();
  EXPECT_EQ(world.left(quota, "t"), 59);
}

TEST(SqliteCounterStore, GoesOnWhenTheDiskHasRoomAgain) {
  World world;
  expect_a_way_through(
      world, [] { Disk::fail(1, 1'000'000); }, [] { Disk::heal(); },
      {Code::unavailable, Outcome::not_applied, "make room on its disk"});
}

TEST(SqliteCounterStore, GoesOnWhenTheLockIsLetGo) {
  World world;
  sqlite::Database other = world.side_door();
  expect_a_way_through(
      world, [&] { EXPECT_TRUE(other.run("BEGIN IMMEDIATE").has_value()); },
      [&] { EXPECT_TRUE(other.run("COMMIT").has_value()); },
      {Code::unavailable, Outcome::not_applied, "another process keeps it locked"});
}

TEST(SqliteCounterStore, GoesOnWhenItsFileIsPutBackAndMakesNoneAnew) {
  World world;
  expect_a_way_through(
      world, [&] { std::filesystem::rename(world.path(), world.folder / "away"); },
      [&] {
        EXPECT_FALSE(std::filesystem::exists(world.path()));
        std::filesystem::rename(world.folder / "away", world.path());
      },
      {Code::unavailable, Outcome::not_applied, "the database"});
}

TEST(SqliteCounterStore, GoesOnWithACopyThatIsPutInItsPlace) {
  World world;
  EXPECT_TRUE(world.takes(monthly(100), "t", 40));
  std::filesystem::copy(world.path(), world.folder / "copy");
  std::filesystem::rename(world.folder / "copy", world.path());
  EXPECT_THAT(world.check(monthly(100), "t").error().message, HasSubstr("moved or deleted"));
  EXPECT_TRUE(world.takes(monthly(100), "t"));
  EXPECT_EQ(world.left(monthly(100), "t"), 59);
}

TEST(SqliteCounterStore, GoesOnWhenADamagedFileIsPutRight) {
  World world;
  std::string good;
  expect_a_way_through(
      world,
      [&] {
        std::ostringstream text;
        text << std::ifstream(world.path(), std::ios::binary).rdbuf();
        good = text.str();
        // All but the first page, and the mark that tells SQLite to read it again.
        std::string bad = good.substr(0, 4'096) + std::string(good.size() - 4'096, '\xff');
        for (std::size_t i = 24; i < 28; ++i) bad[i] = '\x55';
        std::ofstream(world.path(), std::ios::binary) << bad;
      },
      [&] { std::ofstream(world.path(), std::ios::binary) << good; },
      {Code::invalid, Outcome::not_applied, "put back a copy"});
}

TEST(SqliteCounterStore, GoesOnWhenItMayWriteAgain) {
  World world;
  std::optional<WithoutPrivilege> nobody;
  expect_a_way_through(
      world,
      [&] {
        ::chmod(world.folder.path().c_str(), 0555);
        nobody.emplace();
      },
      [&] {
        nobody.reset();
        ::chmod(world.folder.path().c_str(), 0700);
      },
      {Code::unavailable, Outcome::not_applied, "may write to it and in its folder"});
}

TEST(SqliteCounterStore, GetsWellWhenOnlyItsHealthIsAskedFor) {
  World world;
  Disk::fail(1, 1'000'000);
  EXPECT_FALSE(world.check(monthly(100), "t").has_value());
  // Each try writes, or a disk without room would look well.
  const int before = Disk::steps;
  while (Disk::steps == before) ASSERT_FALSE(world.store().health().has_value());
  Disk::heal();
  while (!world.store().health()) std::this_thread::yield();
  EXPECT_EQ(world.left(monthly(100), "t"), 100);
}

TEST(SqliteCounterStore, FailsThoseBehindAFailedTransactionAsWell) {
  World world;
  const Policy quota = monthly(10'000);
  std::atomic<int> failed = 0;
  while_the_writer_waits(world, quota, [&] {
    Disk::fail(1, 1'000'000);
    const Count count = {&quota, "t"};
    for (std::size_t i = 0; i < 3 * bounds::sqlite_batch_max; ++i) {
      world.store().check({&count, 1}, 1, [&](const Result<Answer>& answer) {
        failed += !answer && answer.error().outcome == Outcome::not_applied;
        Disk::heal();
      });
    }
  });
  world.restart();
  EXPECT_EQ(failed, static_cast<int>(3 * bounds::sqlite_batch_max));
  EXPECT_EQ(world.left(quota, "t"), 10'000);
}

TEST(SqliteCounterStore, TellsTheOutcomeWhicheverStepOfTheDiskFails) {
  int unknown = 0;
  int not_applied = 0;
  for (int step = 1;; ++step) {
    World world;
    const Policy quota = monthly(100);
    EXPECT_TRUE(world.takes(quota, "t", 40));
    Disk::fail(step);
    const Result<Answer> answer = world.check(quota, "t");
    const bool passed = Disk::steps < Disk::fail_from;
    Disk::heal();
    if (passed) break;
    const std::int64_t left = world.left(quota, "t");
    if (answer) {
      EXPECT_EQ(left, 59) << step;
    } else if (answer.error().outcome == Outcome::not_applied) {
      ++not_applied;
      EXPECT_EQ(left, 60) << step << answer.error().message;
    } else {
      ++unknown;
      EXPECT_THAT(answer.error().message, HasSubstr("nobody knows"));
      EXPECT_TRUE(left == 59 || left == 60) << step;
    }
  }
  EXPECT_GT(not_applied, 0);
  EXPECT_GT(unknown, 0);
}

// ---- several processes

std::unique_ptr<SqliteCounterStore> patient_store(const std::string& path, Clock& clock,
                                                  Entropy& entropy) {
  auto opened = SqliteCounterStore::open(
      {.path = path, .book = {}, .busy_timeout = Duration::minutes(5)}, clock, entropy);
  EXPECT_TRUE(opened.has_value()) << opened.error().message;
  return *std::move(opened);
}

bool takes(CounterStore& store, const Policy& policy) {
  const Count count = {&policy, "hot"};
  const Result<Answer> answer =
      now<Answer>([&](auto done) { store.check({&count, 1}, 1, std::move(done)); });
  EXPECT_TRUE(answer.has_value()) << answer.error().message;
  return answer && answer->allowed;
}

TEST(SqliteCounterStore, SharesALimitWithOthersOnTheSameFile) {
  const TempFolder folder;
  ManualClock clock;
  CountingEntropy entropy;
  const auto one = patient_store(folder / "counters.db", clock, entropy);
  const auto two = patient_store(folder / "counters.db", clock, entropy);
  const limit::Rate slow = {.count = 50, .period = Duration::hours(1)};
  const std::vector<Policy> policies = {
      {"bucket", limit::TokenBucket({.count = 1, .period = Duration::hours(1)}, 49)},
      {"window", limit::SlidingWindow{.rate = slow}},
      {"log", limit::SlidingLog{.rate = slow}},
      slots(50),
      monthly(50)};
  for (const Policy& policy : policies) {
    std::atomic<int> allowed = 0;
    std::vector<std::thread> threads;
    for (SqliteCounterStore* store : {one.get(), one.get(), two.get(), two.get()}) {
      threads.emplace_back([&, store] {
        for (int i = 0; i < 30; ++i) allowed += takes(*store, policy);
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(allowed, 50) << policy.name;
  }
}

constexpr int threads_a_child = 4;

// Charges until it is killed; every answer that allowed is told to the parent by a byte.
[[noreturn]] void charge_forever(const std::string& path, const Policy& policy, int told) {
  ManualClock clock;
  CountingEntropy entropy;
  const auto store = patient_store(path, clock, entropy);
  std::vector<std::thread> threads;
  for (int i = 0; i < threads_a_child; ++i) {
    threads.emplace_back([&] {
      while (true) {
        if (takes(*store, policy) && ::write(told, "+", 1) != 1) ::_exit(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ::_exit(0);
}

// Two children charge until at least `enough` was told; then both are killed. How many were told.
int charge_and_kill(const std::string& path, const Policy& policy, int enough) {
  int pipe[2] = {};
  EXPECT_EQ(::pipe(pipe), 0);
  std::vector<pid_t> children;
  for (int i = 0; i < 2; ++i) {
    const pid_t child = ::fork();
    EXPECT_GE(child, 0);
    if (child == 0) {
      ::alarm(60);  // should the parent die
      ::close(pipe[0]);
      charge_forever(path, policy, pipe[1]);
    }
    children.push_back(child);
  }
  ::close(pipe[1]);
  int told = 0;
  char bytes[64];
  const auto read_some = [&] {
    const ssize_t n = ::read(pipe[0], bytes, sizeof(bytes));
    told += static_cast<int>(std::max<ssize_t>(0, n));
    return n > 0;
  };
  while (told < enough && read_some()) {
  }
  for (const pid_t child : children) ::kill(child, SIGKILL);
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  while (read_some()) {
  }
  ::close(pipe[0]);
  return told;
}

TEST(SqliteCounterStore, ForgetsNothingItAnsweredWhenItIsKilled) {
  const TempFolder folder;
  const std::string path = folder / "counters.db";
  const Policy quota = monthly(1'000'000);
  std::int64_t told = 0;
  std::int64_t in_flight = 0;
  for (int round = 1; round <= 40; ++round) {
    told += charge_and_kill(path, quota, 30);
    in_flight += std::int64_t{2} * threads_a_child;
    ManualClock clock;
    CountingEntropy entropy;
    const auto store = patient_store(path, clock, entropy);
    const Count count = {&quota, "hot"};
    const Result<Answer> answer =
        now<Answer>([&](auto done) { store->check({&count, 1}, 0, std::move(done)); });
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    const std::int64_t used = 1'000'000 - answer->verdicts[0].remaining;
    EXPECT_GE(used, told);
    EXPECT_LE(used, told + in_flight);
  }
}

TEST(SqliteCounterStore, NeverPassesALimitThroughKills) {
  const TempFolder folder;
  const std::string path = folder / "counters.db";
  const Policy quota = monthly(100);
  const int first = charge_and_kill(path, quota, 60);
  EXPECT_GE(first, 60);
  ManualClock clock;
  CountingEntropy entropy;
  const auto store = patient_store(path, clock, entropy);
  int rest = 0;
  while (takes(*store, quota)) ++rest;
  EXPECT_LE(first + rest, 100);
  EXPECT_GE(first + rest, 100 - 2 * threads_a_child);
}

}  // namespace
}  // namespace pawl
