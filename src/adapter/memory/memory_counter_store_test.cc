// Goal: the store conforms, and stays within its bound without ever freeing a key that is out of
// tokens. Method: the conformance suite; a flood of random keys against a small table, with a
// hand-moved
//         clock.
#include "adapter/memory/memory_counter_store.h"

#include <gtest/gtest.h>

#include "port/counter_store_conformance.h"
#include "runtime/manual_clock.h"

namespace pawl {
namespace {

const limit::Policy once_an_hour{
    .name = "hourly", .bucket = {.rate = {.count = 1, .period = Duration::hours(1)}, .burst = 0}};

bool allowed(MemoryCounterStore& store, const std::string& key) {
  return charge_now(store, {.policy = once_an_hour, .key = key}).value().allowed;
}

TEST(MemoryCounterStore, Conforms) {
  ManualClock clock;
  MemoryCounterStore store(clock);
  expect_counter_store_conforms({store, [&](Duration d) { clock.advance(d); }});
}

TEST(MemoryCounterStore, AFloodOfKeysNeitherGrowsItNorFreesABlockedKey) {
  ManualClock clock;
  MemoryCounterStore store(clock, 6'400);
  ASSERT_TRUE(allowed(store, "blocked"));
  for (int i = 0; i < 50'000; ++i) allowed(store, "flood" + std::to_string(i));
  EXPECT_LE(store.keys(), 6'400u);
  EXPECT_FALSE(allowed(store, "blocked"));
}

TEST(MemoryCounterStore, WhenFullNewKeysShareOneCellThatOnlyUnderAdmits) {
  ManualClock clock;
  MemoryCounterStore store(clock, 64);
  int admitted = 0;
  for (int i = 0; i < 10'000; ++i) admitted += allowed(store, "key" + std::to_string(i)) ? 1 : 0;
  EXPECT_LE(admitted, 128) << "a cell and an overflow cell for each of 64 shards";
}

TEST(MemoryCounterStore, AKeyThatSharedTheOverflowCellGetsNoFreshStart) {
  ManualClock clock;
  MemoryCounterStore store(clock, 64);
  for (int i = 0; i < 1'000; ++i) allowed(store, "early" + std::to_string(i));
  clock.advance(Duration::minutes(90));  // one token for those cells, and for each overflow cell
  std::string shared;
  for (int i = 0; i < 1'000 && shared.empty(); ++i) {
    const std::string key = "late" + std::to_string(i);
    const std::size_t before = store.keys();
    if (allowed(store, key) && store.keys() == before) shared = key;
  }
  ASSERT_FALSE(shared.empty()) << "no key was served from an overflow cell";
  clock.advance(Duration::minutes(30));
  EXPECT_FALSE(allowed(store, shared)) << "one an hour, wherever it is counted";
}

TEST(MemoryCounterStore, RestedKeysMakeRoom) {
  ManualClock clock;
  MemoryCounterStore store(clock, 640);
  for (int i = 0; i < 2'000; ++i) allowed(store, "old" + std::to_string(i));
  clock.advance(Duration::hours(2));
  int admitted = 0;
  for (int i = 0; i < 150; ++i) admitted += allowed(store, "new" + std::to_string(i)) ? 1 : 0;
  EXPECT_EQ(admitted, 150);
  EXPECT_LE(store.keys(), 640u);
}

}  // namespace
}  // namespace pawl
