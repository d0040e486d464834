// Goal: a task's shard follows from its key, its unique name or its id, for good. Method: pinned
//       values; rapidcheck for what must not matter.
#include "core/queue/shards.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <set>

namespace pawl::queue {
namespace {

TEST(Shards, AreTheSameForGood) {
  EXPECT_EQ(shard_of("acme", 256), 198);
  EXPECT_EQ(shard_of("acme", 1), 0);
  const TaskId id = parse_task_id("0011223344556677889900ff").value();
  EXPECT_EQ(shard_of(id, TaskTerms(), 256), 255);
  EXPECT_EQ(shard_of(id, TaskTerms(), 7), 0x889900ffu % 7);
}

RC_GTEST_PROP(Shards, FollowTheKeyThenTheUniqueName, (std::string key, std::string unique)) {
  const TaskId one = make_task_id({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const TaskId other = make_task_id({9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9});
  const auto same = [&](const TaskTerms& a, const TaskTerms& b) {
    return shard_of(one, a, 64) == shard_of(other, b, 64);
  };
  if (!key.empty()) RC_ASSERT(same({.key = key, .unique = unique}, {.key = key}));
  if (!unique.empty()) RC_ASSERT(same({.unique = unique}, {.unique = unique}));
}

TEST(Shards, SpreadTasksWithoutAName) {
  std::set<int> seen;
  for (std::uint8_t i = 0; i < 64; ++i) {
    Entropy16 entropy = {};
    entropy[11] = i;
    seen.insert(shard_of(make_task_id(entropy), {}, 8));
  }
  EXPECT_EQ(seen.size(), 8u);
}

TEST(Shards, HaveAScheduleWhereItsTasksAre) {
  EXPECT_EQ(shard_of(SetSchedule{.name = "nightly", .terms = {.key = "acme"}}, 64),
            shard_of("acme", 64));
  EXPECT_EQ(shard_of(SetSchedule{.name = "nightly"}, 64), shard_of("nightly", 64));
}

TEST(Shards, StandInTheFirstByteOfAnId) {
  const TaskId id = make_task_id({255, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  EXPECT_EQ(to_string(id), "0002030405060708090a0b0c");
  EXPECT_EQ(to_string(placed(id, 17)), "1102030405060708090a0b0c");
  EXPECT_EQ(placed(id, 17).shard(), 17);
}

}  // namespace
}  // namespace pawl::queue
