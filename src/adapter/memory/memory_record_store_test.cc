// Goal: the store conforms, and keeps to its bounds without ever forgetting what has not expired.
// Method: the conformance suite with a hand-moved clock; small stores, filled; threads that hammer
// on a few keys.
#include "adapter/memory/memory_record_store.h"

#include <array>
#include <atomic>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

#include "port/record_store_conformance.h"
#include "runtime/manual_clock.h"

namespace pawl {
namespace {

using idempotency::Begin;
using idempotency::Begun;
using idempotency::Completion;
using idempotency::Record;
using idempotency::Status;
using Verdict = Begun::Verdict;

constexpr Duration lease = Duration::seconds(10);
constexpr Duration ttl = Duration::seconds(100);

class Filled {
 public:
  explicit Filled(MemoryRecordStore::Options options) : store(clock, options) {}

  Result<Begun> begin(const std::string& key) {
    const Begin ask{.fingerprint = "print", .lease = lease, .ttl = ttl};
    return answer<Begun>([&](auto done) { store.begin({"acme", key}, ask, std::move(done)); });
  }
  Result<void> end(const std::string& key, std::uint64_t fence, Completion how) {
    return answer<void>(
        [&](auto done) { store.complete({"acme", key}, fence, std::move(how), std::move(done)); });
  }
  Result<void> complete(const std::string& key, std::uint64_t fence, std::string body) {
    return end(key, fence, {.response = {.body = std::move(body), .metadata = "{}"}, .ttl = ttl});
  }
  Result<Record> get(const std::string& key) {
    return answer<Record>([&](auto done) { store.get({"acme", key}, std::move(done)); });
  }
  template <class T, class Call>
  static Result<T> answer(Call call) {
    std::optional<Result<T>> found;
    call([&](Result<T> result) { found = std::move(result); });
    return std::move(found).value();
  }

  ManualClock clock;
  MemoryRecordStore store;
};

TEST(MemoryRecordStore, Conforms) {
  ManualClock clock;
  MemoryRecordStore store(clock);
  expect_record_store_conforms({.store = store,
                                .advance = [&](Duration by) { clock.advance(by); },
                                .now = [&] { return clock.wall_now(); }});
  EXPECT_EQ(store.durability(), Durability::none);
  EXPECT_EQ(to_string(store.durability()), "none");
  EXPECT_TRUE(store.health().has_value());
}

TEST(MemoryRecordStore, RefusesANewKeyWhenItIsFullAndForgetsNoneThatHasNotExpired) {
  Filled full({.records_max = 50});
  for (int i = 0; i < 50; ++i) {
    full.clock.advance(Duration::seconds(1));
    ASSERT_TRUE(full.begin(std::to_string(i)).has_value());
  }
  const auto refused = full.begin("one more");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::unavailable);
  EXPECT_EQ(refused.error().outcome, Outcome::not_applied);
  EXPECT_EQ(full.store.records(), 50u);
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(full.get(std::to_string(i)).has_value()) << i;
  EXPECT_EQ(full.begin("49").value().verdict, Verdict::in_flight) << "a known key is served";

  // The first one's lease and ttl are over 110 s after it was begun: 61 s from now.
  full.clock.advance(Duration::seconds(60));
  EXPECT_FALSE(full.begin("one more").has_value());
  full.clock.advance(Duration::seconds(1));
  EXPECT_EQ(full.begin("one more").value().verdict, Verdict::started);
  EXPECT_FALSE(full.begin("and another").has_value());
  EXPECT_EQ(full.store.records(), 50u);
}

TEST(MemoryRecordStore, ForgetsExpiredOnesLittleByLittle) {
  Filled store({});
  for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(store.begin(std::to_string(i)).has_value());
  EXPECT_EQ(store.store.records(), 1'000u);
  store.clock.advance(lease + ttl);
  for (int i = 0; i < 1'000; ++i) EXPECT_FALSE(store.get("other " + std::to_string(i)).has_value());
  EXPECT_EQ(store.store.records(), 0u);
  EXPECT_EQ(store.store.bytes(), 0u);
}

TEST(MemoryRecordStore, ForgetsByWhenARecordEndsAndNotByWhenItWasBegun) {
  Filled full({.records_max = 80});
  const auto renew = [&](const std::string& key, std::uint64_t fence) {
    return Filled::answer<void>([&](auto done) {
      full.store.renew({"acme", key}, fence, Duration::hours(1), std::move(done));
    });
  };
  for (int i = 0; i < 40; ++i) {
    const std::string key = "long " + std::to_string(i);
    ASSERT_TRUE(renew(key, full.begin(key).value().record.fence).has_value());
  }
  for (int i = 0; i < 40; ++i) {
    const std::string key = "short " + std::to_string(i);
    ASSERT_TRUE(full.complete(key, full.begin(key).value().record.fence, "").has_value());
  }
  EXPECT_FALSE(full.begin("one more").has_value());
  full.clock.advance(ttl);
  for (int i = 0; i < 40; ++i) EXPECT_TRUE(full.begin("new " + std::to_string(i)).has_value()) << i;
  EXPECT_FALSE(full.begin("one more").has_value());
  EXPECT_EQ(full.get("long 7").value().status, Status::in_flight);
}

TEST(MemoryRecordStore, HasOneOwnerAtATimeHoweverManyThreadsAsk) {
  Filled store({});
  std::array<std::atomic<int>, 3> owners = {};
  std::atomic<int> started = 0, wrong = 0;
  const auto ask = [&](int thread) {
    for (int i = 0; i < 10'000; ++i) {
      const auto n = static_cast<std::size_t>(i + thread) % owners.size();
      const std::string key = std::to_string(n);
      const Begun begun = store.begin(key).value();
      if (begun.verdict != Verdict::started) continue;
      ++started;
      wrong += owners[n].fetch_add(1) == 0 ? 0 : 1;
      --owners[n];
      wrong += store.end(key, begun.record.fence, {.status = Status::failed, .ttl = ttl}) ? 0 : 1;
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back(ask, t);
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(started, 5'000);
  EXPECT_EQ(wrong, 0);
}

TEST(MemoryRecordStore, CountsReplays) {
  Filled store({});
  const std::uint64_t fence = store.begin("k").value().record.fence;
  ASSERT_TRUE(store.complete("k", fence, "body").has_value());
  for (std::uint64_t i = 1; i < 5; ++i) EXPECT_EQ(store.begin("k").value().record.replays, i);
  EXPECT_EQ(store.get("k").value().replays, 4u);
}

TEST(MemoryRecordStore, KeepsATombstoneOfWhatItHasNoRoomFor) {
  Filled store({.records_max = 100, .bytes_max = 10'000});
  const std::uint64_t first = store.begin("first").value().record.fence;
  const std::uint64_t second = store.begin("second").value().record.fence;
  ASSERT_TRUE(store.complete("first", first, std::string(7'000, 'x')).has_value());
  const std::size_t bytes = store.store.bytes();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(store.complete("second", second, std::string(7'000, 'x')).has_value());
    EXPECT_EQ(store.store.bytes(), bytes);
  }
  EXPECT_EQ(store.get("first").value().response.body.size(), 7'000u);
  const Record kept = store.get("second").value();
  EXPECT_EQ(kept.status, Status::done);
  EXPECT_TRUE(kept.response.tombstone);

  // Nor is there room for many more keys, and it is given back when a record goes.
  int keys = 0;
  while (keys < 100 && store.begin("key " + std::to_string(keys)).has_value()) ++keys;
  EXPECT_GT(keys, 0);
  EXPECT_LT(keys, 10);
  store.clock.advance(ttl);
  EXPECT_TRUE(store.begin("one more").has_value());
  EXPECT_LE(store.store.bytes(), 10'000u);
}

TEST(MemoryRecordStore, ALeaseEndsByTheSteadyClockWhoeverSetsTheOther) {
  Filled store({});
  ASSERT_TRUE(store.begin("k").has_value());
  store.clock.set_wall(Instant::from_ns(4'000'000'000'000'000'000));
  EXPECT_EQ(store.begin("k").value().verdict, Verdict::in_flight);
  store.clock.set_wall(Instant());
  store.clock.advance(lease);
  EXPECT_EQ(store.begin("k").value().verdict, Verdict::unknown);
}

}  // namespace
}  // namespace pawl
