// Goal: the store conforms, and stays within its bound without ever freeing a key that is out of
// tokens. Method: the conformance suite; floods of random keys against small tables and, once, ten
// million against the full one; threads on the same and on new keys; all with a hand-moved clock.
#include "adapter/memory/memory_counter_store.h"

#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "adapter/system/system_clock.h"
#include "port/counter_store_conformance.h"
#include "runtime/manual_clock.h"

namespace pawl {
namespace {

const limit::Policy& once_an_hour() {
  static const limit::Policy policy{"hourly", limit::TokenBucket({1, Duration::hours(1)}, 0)};
  return policy;
}

bool allowed(MemoryCounterStore& store, limit::Key key) {
  const Count count{&once_an_hour(), key};
  return store.check_now({&count, 1}, 1).allowed;
}

limit::Now now_of(Clock& clock) {
  return {limit::Moment::from_ns(clock.steady_now().ns()), clock.wall_now()};
}

TEST(MemoryCounterStore, Conforms) {
  ManualClock clock;
  MemoryCounterStore store(clock);
  expect_counter_store_conforms({.store = store,
                                 .advance = [&](Duration d) { clock.advance(d); },
                                 .now = [&] { return now_of(clock); }});
}

TEST(MemoryCounterStore, ConformsWhenItHasNoRoomToSpare) {
  ManualClock clock;
  MemoryCounterStore store(clock, {.keys_max = 64, .marks_max = 6'400, .seed = 7});
  expect_counter_store_conforms({.store = store,
                                 .advance = [&](Duration d) { clock.advance(d); },
                                 .now = [&] { return now_of(clock); }});
}

TEST(MemoryCounterStore, AFloodOfKeysNeitherGrowsItNorFreesABlockedKey) {
  ManualClock clock;
  MemoryCounterStore store(clock, {.keys_max = 6'400});
  ASSERT_TRUE(allowed(store, "blocked"));
  for (std::uint64_t i = 0; i < 50'000; ++i) allowed(store, limit::KeyId{1, i});
  EXPECT_LE(store.keys(), 12'800u);
  EXPECT_FALSE(allowed(store, "blocked"));
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__clang__)
constexpr int flood = 200'000;             // sanitizers make it fifty times as slow,
constexpr bool memory_is_its_own = false;  // and keep books about it in memory
#else
constexpr int flood = 10'000'000;
constexpr bool memory_is_its_own = true;
#endif
constexpr std::size_t other_bytes = std::size_t{8} << 20;

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t size = 0;
  std::size_t resident = 0;
  EXPECT_TRUE(file >> size >> resident);
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST(MemoryCounterStore, TenMillionRandomKeysPassNeitherTheBoundNorABlockedKey) {
  ManualClock clock;
  const std::size_t before = resident_bytes();
  MemoryCounterStore store(clock, {.keys_max = flood / 10});
  std::vector<std::string> blocked;
  for (int i = 0; i < 100; ++i) blocked.push_back("blocked" + std::to_string(i));
  for (const std::string& key : blocked) ASSERT_TRUE(allowed(store, key));
  std::uint64_t x = 1;
  for (int i = 0; i < flood; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    allowed(store, limit::KeyId{2, x});
  }
  if (memory_is_its_own) {
    EXPECT_LE(resident_bytes() - before, 64u * flood / 10 + other_bytes) << "64 bytes a key";
  }
  for (const std::string& key : blocked) EXPECT_FALSE(allowed(store, key)) << key;
}

TEST(MemoryCounterStore, WhenFullNewKeysShareAFewThatOnlyUnderAdmit) {
  ManualClock clock;
  MemoryCounterStore store(clock, {.keys_max = 64});
  int admitted = 0;
  for (std::uint64_t i = 0; i < 10'000; ++i) admitted += allowed(store, limit::KeyId{3, i}) ? 1 : 0;
  EXPECT_LE(admitted, 128 + 16) << "a place each for 128 keys, and 16 that the rest share";
  EXPECT_GE(admitted, 128);
}

TEST(MemoryCounterStore, AKeyThatWasCountedWithOthersGetsNoFreshStart) {
  ManualClock clock;
  MemoryCounterStore store(clock, {.keys_max = 32});
  for (std::uint64_t i = 0; i < 64; ++i) ASSERT_TRUE(allowed(store, limit::KeyId{4, i}));
  clock.advance(Duration::minutes(30));
  ASSERT_TRUE(allowed(store, "shared")) << "the table is full: it is counted on a shared key";
  EXPECT_EQ(store.keys(), 64u);
  clock.advance(Duration::minutes(40));  // the others have rested and make room
  EXPECT_FALSE(allowed(store, "shared")) << "one an hour, wherever it is counted";
  clock.advance(Duration::minutes(20));
  EXPECT_TRUE(allowed(store, "shared"));
}

// Each of the two takes the place that the other was just given, if it may.
TEST(MemoryCounterStore, AFloodOfAsksWithTwoNewKeysEachComesToAnEnd) {
  ManualClock clock;
  MemoryCounterStore store(clock, {.keys_max = 32});
  const limit::Policy tenant{"tenant", limit::TokenBucket({1, Duration::milliseconds(1)}, 0)};
  const limit::Policy address{"address", limit::TokenBucket({1, Duration::milliseconds(1)}, 0)};
  int admitted = 0;
  for (std::uint64_t i = 0; i < 300'000; ++i) {
    clock.advance(Duration::microseconds(7));
    const Count set[] = {{&tenant, limit::KeyId{1, i}}, {&address, limit::KeyId{2, i}}};
    admitted += store.check_now(set, 1).allowed ? 1 : 0;
  }
  EXPECT_GT(admitted, 1'000);
}

// Keys come from the shared place to one of their own and go again, under everybody's hands.
TEST(MemoryCounterStore, NoUseGetsLostBetweenTheSharedPlaceAndAnOwnOne) {
  SystemClock clock;
  MemoryCounterStore store(clock, {.keys_max = 200});
  const Duration interval = Duration::milliseconds(20);
  const limit::Policy policy{"crowd", limit::TokenBucket({1, interval}, 4)};
  constexpr std::size_t keys = 1'000;
  std::vector<std::atomic<std::int64_t>> admitted(keys);
  const SteadyInstant start = clock.steady_now();
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::uint64_t dice = t + 1;
      for (int i = 0; i < 100'000; ++i) {
        dice = dice * 6364136223846793005u + 1442695040888963407u;
        const std::size_t key = (dice >> 33) % keys;
        const Count count{&policy, limit::KeyId{9, key}};
        admitted[key] += store.check_now({&count, 1}, 1).allowed ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::int64_t earned = (clock.steady_now() - start).ns() / interval.ns();
  for (const auto& each : admitted) EXPECT_LE(each, 5 + earned);
}

TEST(MemoryCounterStore, ARuleThatChangesThereAndBackForgetsNothing) {
  ManualClock clock;
  MemoryCounterStore store(clock);
  const limit::Policy bucket{"way", limit::TokenBucket({1, Duration::hours(1)}, 9)};
  const limit::Policy log{"way", limit::SlidingLog{{10, Duration::hours(1)}}};
  const auto left = [&](const limit::Policy& policy) {
    const Count count{&policy, "k"};
    return store.check_now({&count, 1}, 1).bound().remaining;
  };
  EXPECT_EQ(left(bucket), 9);
  EXPECT_EQ(left(log), 8);
  EXPECT_EQ(left(bucket), 7);
  EXPECT_EQ(left(log), 6);
  EXPECT_EQ(left(log), 5);
  EXPECT_EQ(left(bucket), 4);
}

TEST(MemoryCounterStore, ResettingAKeyThatSharesAPlaceFreesNobody) {
  ManualClock clock;
  MemoryCounterStore store(clock, {.keys_max = 32});
  for (std::uint64_t i = 0; i < 5'000; ++i) allowed(store, limit::KeyId{10, i});
  for (std::uint64_t i = 0; i < 64; ++i) {
    const Count count{&once_an_hour(), limit::KeyId{11, i}};
    store.reset(count, [](const Result<void>& done) { EXPECT_TRUE(done.has_value()); });
  }
  for (std::uint64_t i = 0; i < 200; ++i) EXPECT_FALSE(allowed(store, limit::KeyId{12, i}));
}

TEST(MemoryCounterStore, RestedKeysMakeRoom) {
  ManualClock clock;
  MemoryCounterStore store(clock, {.keys_max = 320});
  for (std::uint64_t i = 0; i < 2'000; ++i) allowed(store, limit::KeyId{5, i});
  clock.advance(Duration::hours(2));
  int admitted = 0;
  for (std::uint64_t i = 0; i < 300; ++i) admitted += allowed(store, limit::KeyId{6, i}) ? 1 : 0;
  EXPECT_EQ(admitted, 300);
}

TEST(MemoryCounterStore, AFloodOfLogKeysIsBoundedAndUnderAdmits) {
  ManualClock clock;
  MemoryCounterStore store(clock, {.keys_max = 64 * 16});
  const limit::Policy log{"log", limit::SlidingLog{{1, Duration::hours(1)}}};
  int admitted = 0;
  for (std::uint64_t i = 0; i < 5'000; ++i) {
    const Count count{&log, limit::KeyId{7, i}};
    admitted += store.check_now({&count, 1}, 1).allowed ? 1 : 0;
  }
  EXPECT_LE(store.keys(), 64u + 64u) << "a key a shard, and the one that the rest of it share";
  EXPECT_LE(admitted, 64 + 64);
}

// Known keys grow with every use, so they must meet a bound as new ones do.
TEST(MemoryCounterStore, KnownLogKeysGrowNoFurtherThanTheBoundOnMarks) {
  ManualClock clock;
  constexpr std::size_t marks_max = 64 * 50;
  MemoryCounterStore store(clock, {.marks_max = marks_max});
  const limit::Policy log{"log", limit::SlidingLog{{100, Duration::hours(1)}}};
  const auto ask = [&](std::uint64_t key) {
    const Count count{&log, limit::KeyId{13, key}};
    return store.check_now({&count, 1}, 1);
  };
  std::size_t admitted = 0;
  for (int round = 0; round < 100; ++round) {
    clock.advance(Duration::seconds(1));
    for (std::uint64_t key = 0; key < 100; ++key) admitted += ask(key).allowed ? 1 : 0;
  }
  EXPECT_LE(store.marks(), marks_max);
  EXPECT_GE(admitted, marks_max / 2) << "shards are filled unevenly, and yet they are filled";
  EXPECT_LT(admitted, 100u * 100u);
  const limit::Answer full = ask(0);
  EXPECT_TRUE(full.allowed || full.retry_after == Duration::seconds(1));
  clock.advance(Duration::hours(2));
  for (std::uint64_t key = 0; key < 100; ++key) EXPECT_TRUE(ask(key).allowed) << key;
}

// A sweep for one count of an ask must not forget the other one under its hands.
TEST(MemoryCounterStore, TwoLogsOfOneAskShareAFullShard) {
  ManualClock clock;
  MemoryCounterStore store(clock, {.keys_max = 16 * 64});
  const limit::Policy one{"one", limit::SlidingLog{{5, Duration::seconds(1)}}};
  const limit::Policy two{"two", limit::SlidingLog{{5, Duration::seconds(1)}}};
  int admitted = 0;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const Count set[] = {{&one, limit::KeyId{14, i}}, {&two, limit::KeyId{15, i / 2}}};
    admitted += store.check_now(set, 1).allowed ? 1 : 0;
    if (i % 100 == 0) clock.advance(Duration::seconds(2));
  }
  EXPECT_GT(admitted, 1'000);
}

TEST(MemoryCounterStore, OfACalendarOnlyTheWindowOfNowIsCarriedToAnotherRule) {
  ManualClock clock;
  MemoryCounterStore store(clock);
  const limit::Policy monthly{"way", limit::Calendar{10, {}}};
  const limit::Policy bucket{"way", limit::TokenBucket({1, Duration::hours(1)}, 9)};
  const Count before{&monthly, "k"};
  store.check_now({&before, 1}, 5);
  clock.advance(Duration::days(40));
  const Count after{&bucket, "k"};
  EXPECT_EQ(store.check_now({&after, 1}, 1).bound().remaining, 9);
}

// New keys from many threads at once: each gets one place, so each is admitted once.
TEST(MemoryCounterStore, ThreadsThatBringTheSameNewKeysAdmitEachOnce) {
  ManualClock clock;
  MemoryCounterStore store(clock, {.keys_max = 4'000});
  std::atomic<int> admitted = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (std::uint64_t i = 0; i < 4'000; ++i)
        admitted += allowed(store, limit::KeyId{8, i}) ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(admitted, 4'000);
  EXPECT_EQ(store.keys(), 4'000u);
}

// Places change owners under the readers' eyes; whatever happens, the hot key keeps its pace.
TEST(MemoryCounterStore, AHotKeyKeepsItsPaceWhileOthersComeAndGo) {
  ManualClock clock;
  MemoryCounterStore store(clock, {.keys_max = 64});
  const limit::Policy brief{"brief", limit::TokenBucket({1, Duration::nanoseconds(1)}, 0)};
  const limit::Policy hot{"hot", limit::TokenBucket({1, Duration::hours(1)}, 999)};
  std::atomic<int> admitted = 0;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < 5'000; ++i) {
        const Count set[] = {{&brief, limit::KeyId{t, i}}, {&hot, "hot"}};
        admitted += store.check_now(set, 1).allowed ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(admitted, 1'000);
  const Count count{&hot, "hot"};
  EXPECT_EQ(store.check_now({&count, 1}, 0).bound().remaining, 1'000 - admitted);
}

// Whoever reads it may be held up before it gets to use what it read.
class SlowClock final : public Clock {
 public:
  Instant wall_now() override { return clock_.wall_now(); }
  SteadyInstant steady_now() override {
    const SteadyInstant now = clock_.steady_now();
    if (const auto meanwhile = std::exchange(meanwhile_, {})) meanwhile();
    return now;
  }
  void advance(Duration by) { clock_.advance(by); }
  // What others do in the meantime, once.
  void hold_up(std::function<void()> meanwhile) { meanwhile_ = std::move(meanwhile); }

 private:
  ManualClock clock_;
  std::function<void()> meanwhile_;
};

TEST(MemoryCounterStore, AThreadThatIsLateForgivesNobodyWhatWasUsedSince) {
  SlowClock clock;
  MemoryCounterStore store(clock);
  const limit::Policy window{"w", limit::SlidingWindow{{10, Duration::seconds(1)}}};
  const auto ask = [&](std::int64_t cost) {
    const Count count{&window, "k"};
    return store.check_now({&count, 1}, cost).allowed;
  };
  const Duration into = Duration::nanoseconds(clock.steady_now().ns() % Duration::seconds(1).ns());
  clock.advance(Duration::milliseconds(999) - into);  // just before the grid's line
  EXPECT_TRUE(ask(1));
  clock.hold_up([&] {
    clock.advance(Duration::milliseconds(1'002));
    EXPECT_TRUE(ask(7));
  });
  EXPECT_TRUE(ask(1));
  clock.advance(Duration::milliseconds(500));
  EXPECT_FALSE(ask(6)) << "eight were used in this window";
}

TEST(MemoryCounterStore, TooManyReservationsAreRefusedWithWhatToDo) {
  ManualClock clock;
  MemoryCounterStore store(clock);
  const limit::Policy policy{"many",
                             limit::TokenBucket({1'000'000, Duration::seconds(1)}, 999'999)};
  const Count count{&policy, "t"};
  const auto reserve = [&] {
    std::optional<Result<Reservation>> result;
    store.reserve({&count, 1}, 1, Duration::minutes(1), [&](auto r) { result = std::move(r); });
    return *result;
  };
  for (std::size_t i = 0; i < bounds::limit_reservations_max; ++i)
    ASSERT_TRUE(reserve().has_value());
  const auto refused = reserve();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::refused);
  clock.advance(Duration::minutes(2));
  EXPECT_TRUE(reserve().has_value()) << "those that ran out make room";
}

}  // namespace
}  // namespace pawl
