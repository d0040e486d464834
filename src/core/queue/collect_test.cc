// Goal: nothing that somebody may still need is deleted, and the rest does not pile up.
// Method: lists of snapshots by hand; a day of snapshots by dice.
#include "core/queue/collect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace pawl::queue {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Instant now = Instant::from_ns(1'700'000'000'000'000'000);
constexpr Duration grace = Duration::hours(1);

SnapshotSeen snapshot(std::uint64_t sequence, int minutes_ago) {
  return {.sequence = sequence, .modified = now - Duration::minutes(minutes_ago)};
}

TEST(Collect, OneSnapshotIsNotEnough) {
  const std::vector seen = {snapshot(10, 600)};
  EXPECT_EQ(collectable(seen, now, grace).segments_to, 0U);
  EXPECT_THAT(collectable(seen, now, grace).snapshots, IsEmpty());
}

TEST(Collect, AYoungSnapshotCoversNothing) {
  const std::vector seen = {snapshot(10, 60), snapshot(20, 30)};
  EXPECT_EQ(collectable(seen, now, grace).segments_to, 0U);
}

TEST(Collect, WhatIsBehindTheSecondNewestStays) {
  const std::vector seen = {snapshot(10, 300), snapshot(20, 200)};
  const Collection collection = collectable(seen, now, grace);
  EXPECT_EQ(collection.segments_to, 10U);
  EXPECT_THAT(collection.snapshots, IsEmpty());
}

TEST(Collect, TheOldSnapshotThatCoversStays) {
  const std::vector seen = {snapshot(10, 300), snapshot(20, 200), snapshot(30, 50),
                            snapshot(40, 40),  snapshot(50, 30),  snapshot(60, 20)};
  const Collection collection = collectable(seen, now, grace);
  EXPECT_EQ(collection.segments_to, 20U);
  EXPECT_THAT(collection.snapshots, ElementsAre(10, 40));
}

TEST(Collect, ASnapshotIsDueByBytesOrByNumber) {
  const SnapshotRule rule = {.segments_min = 10, .segments_max = 100};
  EXPECT_FALSE(is_due(rule, {.segments = 9, .bytes = 1000}));
  EXPECT_TRUE(is_due(rule, {.segments = 10, .bytes = 0}));
  EXPECT_FALSE(is_due(rule, {.segments = 10, .bytes = 99, .snapshot_bytes = 800}));
  EXPECT_TRUE(is_due(rule, {.segments = 10, .bytes = 100, .snapshot_bytes = 800}));
  EXPECT_TRUE(is_due(rule, {.segments = 100, .bytes = 1, .snapshot_bytes = 800}));
}

TEST(IsDue, SparesTheNextOneWhatItTookToOpen) {
  const SnapshotRule rule = {.opened_min = 5, .cheap_bytes_max = 1000};
  EXPECT_FALSE(is_due(rule, {.segments = 9, .opened = 4, .bytes = 10}));
  EXPECT_TRUE(is_due(rule, {.segments = 9, .opened = 5, .bytes = 10}));
  EXPECT_TRUE(is_due(rule, {.segments = 9, .opened = 5, .bytes = 10, .snapshot_bytes = 990}));
  EXPECT_FALSE(is_due(rule, {.segments = 9, .opened = 5, .bytes = 10, .snapshot_bytes = 991}))
      << "to write it costs more than to read";
}

RC_GTEST_PROP(Collect, KeepsFourSnapshotsAndGetsOn, ()) {
  const auto gaps =
      *rc::gen::container<std::vector<int>>(200, rc::gen::inRange(1, 20)).as("minutes between");
  std::vector<SnapshotSeen> kept;
  Instant at = now;
  std::uint64_t sequence = 0;
  std::uint64_t collected = 0;
  for (const int gap : gaps) {
    at = at + Duration::minutes(gap);
    sequence += 10;
    kept.push_back({.sequence = sequence, .modified = at});
    const Collection collection = collectable(kept, at, grace);
    RC_ASSERT(collection.segments_to < sequence);
    collected = std::max(collected, collection.segments_to);
    std::erase_if(kept, [&](const SnapshotSeen& s) {
      return std::ranges::find(collection.snapshots, s.sequence) != collection.snapshots.end();
    });
    RC_ASSERT(kept.size() <= 4U);
    RC_ASSERT(kept.back().sequence == sequence);
  }
  // 200 snapshots take more than three hours.
  RC_ASSERT(collected > 0U);
}

}  // namespace
}  // namespace pawl::queue
