// Goal: never more than the slots at once; every slot comes back when it is given back, or at the
//       very end of its lease.
// Method: pinned walks with a hand-moved clock; random walks against a table of who holds what.
#include "core/limit/concurrency.h"

#include <gtest/gtest.h>
#include <map>

#include "core/limit/limit_fixture.h"

namespace pawl::limit {
namespace {

constexpr Duration lease = Duration::seconds(60);
const Concurrency two_at_once = {.slots = 2, .lease = lease};

bool enter(const Concurrency& rule, Kept& kept, std::uint64_t holder, Now now,
           std::int64_t slots = 1) {
  const bool allowed = look(rule, kept.state, slots, now).allowed;
  if (!allowed) rewind(rule, kept.state, now);
  if (allowed) take(rule, kept.state, {.at = {}, .cost = slots, .holder = holder}, now);
  return allowed;
}

TEST(Concurrency, LendsTheSlotsThereAre) {
  Kept kept;
  EXPECT_TRUE(enter(two_at_once, kept, 1, start));
  EXPECT_EQ(look(two_at_once, kept.state, 0, start).remaining, 1);
  EXPECT_TRUE(enter(two_at_once, kept, 2, start));
  const Verdict refused = look(two_at_once, kept.state, 1, start);
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.limit, 2);
  EXPECT_EQ(refused.remaining, 0);
  EXPECT_TRUE(release(two_at_once, kept.state, 1, start));
  EXPECT_TRUE(enter(two_at_once, kept, 3, start));
  EXPECT_FALSE(enter(two_at_once, kept, 4, start));
}

TEST(Concurrency, TheSlotOfACrashedHolderComesBackAtTheEndOfItsLease) {
  Kept kept;
  EXPECT_TRUE(enter(two_at_once, kept, 1, start));
  EXPECT_TRUE(enter(two_at_once, kept, 2, later(start, Duration::seconds(20))));
  const Verdict refused = look(two_at_once, kept.state, 1, later(start, Duration::seconds(30)));
  EXPECT_EQ(refused.retry_after, Duration::seconds(30));
  EXPECT_EQ(refused.full_after, Duration::seconds(50));
  EXPECT_FALSE(enter(two_at_once, kept, 3, later(start, lease - nanosecond)));
  EXPECT_TRUE(enter(two_at_once, kept, 3, later(start, lease)));
  EXPECT_FALSE(enter(two_at_once, kept, 4, later(start, lease)));
}

TEST(Concurrency, ALeaseThatIsRenewedBeginsAnew) {
  Kept kept;
  EXPECT_TRUE(enter(two_at_once, kept, 1, start));
  EXPECT_TRUE(enter(two_at_once, kept, 2, start));
  EXPECT_TRUE(renew(two_at_once, kept.state, 1, later(start, lease - nanosecond)));
  EXPECT_TRUE(enter(two_at_once, kept, 3, later(start, lease)));
  EXPECT_FALSE(enter(two_at_once, kept, 4, later(start, lease)));
  EXPECT_FALSE(enter(two_at_once, kept, 4, later(start, lease * 2 - nanosecond * 2)));
  EXPECT_TRUE(enter(two_at_once, kept, 4, later(start, lease * 2 - nanosecond)));
}

TEST(Concurrency, WhoHoldsNoLeaseCanNeitherReleaseNorRenew) {
  Kept kept;
  EXPECT_FALSE(release(two_at_once, kept.state, 1, start));
  EXPECT_FALSE(renew(two_at_once, kept.state, 1, start));
  EXPECT_TRUE(enter(two_at_once, kept, 1, start));
  EXPECT_FALSE(release(two_at_once, kept.state, 2, start));
  EXPECT_FALSE(renew(two_at_once, kept.state, 2, start));
  EXPECT_EQ(look(two_at_once, kept.state, 0, start).remaining, 1);
  const Marks before = kept.marks;
  EXPECT_FALSE(renew(two_at_once, kept.state, 1, later(start, lease)));
  EXPECT_EQ(kept.marks, before) << "and nothing is changed";
  EXPECT_FALSE(release(two_at_once, kept.state, 1, later(start, lease)));
  EXPECT_TRUE(enter(two_at_once, kept, 1, later(start, lease)));
  EXPECT_TRUE(release(two_at_once, kept.state, 1, later(start, lease)));
  EXPECT_FALSE(release(two_at_once, kept.state, 1, later(start, lease)));
}

TEST(Concurrency, AllSlotsOfAHolderAreRenewedAndReleasedTogether) {
  const Concurrency five = {.slots = 5, .lease = lease};
  Kept kept;
  EXPECT_TRUE(enter(five, kept, 1, start, 2));
  EXPECT_TRUE(enter(five, kept, 1, later(start, Duration::seconds(1)), 2));
  EXPECT_FALSE(enter(five, kept, 2, later(start, Duration::seconds(1)), 2));
  EXPECT_TRUE(renew(five, kept.state, 1, later(start, Duration::seconds(30))));
  EXPECT_EQ(look(five, kept.state, 0, later(start, lease + Duration::seconds(29))).remaining, 1);
  EXPECT_EQ(look(five, kept.state, 0, later(start, lease + Duration::seconds(30))).remaining, 5);
  EXPECT_TRUE(release(five, kept.state, 1, later(start, lease)));
  EXPECT_EQ(look(five, kept.state, 0, later(start, lease)).remaining, 5);
}

TEST(Concurrency, ACostAboveTheSlotsIsNeverAllowed) {
  Kept kept;
  EXPECT_EQ(look(two_at_once, kept.state, 3, start).retry_after, Duration::max());
  EXPECT_TRUE(look(two_at_once, kept.state, 2, start).allowed);
}

TEST(Concurrency, AClockThatWentBackLeavesNoLeaseLongerThanAFreshOne) {
  Kept kept;
  EXPECT_TRUE(enter(two_at_once, kept, 1, later(start, year * 10)));
  EXPECT_TRUE(enter(two_at_once, kept, 2, later(start, year * 10)));
  for (const Duration passed : {Duration(), Duration::seconds(59), lease - nanosecond}) {
    const Now now = later(start, passed);
    EXPECT_EQ(look(two_at_once, kept.state, 1, now).retry_after, lease - passed);
    EXPECT_FALSE(enter(two_at_once, kept, 3, now));
  }
  Kept renewed = kept;
  EXPECT_TRUE(renew(two_at_once, renewed.state, 1, later(start, Duration::seconds(30))));
  EXPECT_TRUE(enter(two_at_once, renewed, 3, later(start, lease)));
  EXPECT_FALSE(enter(two_at_once, renewed, 4, later(start, lease)));
  EXPECT_TRUE(enter(two_at_once, kept, 3, later(start, lease)));
  EXPECT_TRUE(enter(two_at_once, kept, 4, later(start, lease)));
}

TEST(Concurrency, ALeapForwardFreesTheSlotsAndNoMore) {
  Kept kept;
  EXPECT_TRUE(enter(two_at_once, kept, 1, start, 2));
  EXPECT_TRUE(enter(two_at_once, kept, 2, later(start, year * 10), 2));
  EXPECT_FALSE(enter(two_at_once, kept, 3, later(start, year * 10)));
}

TEST(Concurrency, EveryVerdictIsTrueToTheSlotAndTheNanosecond) {
  for_seeds(500, [](Chance& chance) { walk_and_check(any_concurrency(chance), chance, 30); });
}

struct Lent {
  std::int64_t slots;
  Moment until;
};

TEST(Concurrency, AgreesWithATableOfWhoHoldsWhat) {
  for_seeds(700, [](Chance& chance) {
    const Concurrency rule = any_concurrency(chance);
    std::map<std::uint64_t, Lent> table;
    Kept kept;
    Now now = start;
    for (std::uint64_t step = 1; step <= 80 && !testing::Test::HasFailure(); ++step) {
      now = later(now, any_pause(chance, rule, now));
      std::erase_if(table, [&](const auto& each) { return each.second.until <= now.moment; });
      std::int64_t in_use = 0;
      for (const auto& [holder, lent] : table) in_use += lent.slots;
      EXPECT_EQ(look(rule, kept.state, 0, now).remaining, rule.slots - in_use);
      const std::uint64_t holder = step - static_cast<std::uint64_t>(chance.between(0, 5));
      const Moment until = now.moment + rule.lease;
      const std::int64_t slots = any_cost(chance, rule.slots);
      switch (chance.between(0, 3)) {
        case 0:
          EXPECT_EQ(release(rule, kept.state, holder, now), table.erase(holder) > 0);
          break;
        case 1:
          EXPECT_EQ(renew(rule, kept.state, holder, now), table.contains(holder));
          if (table.contains(holder)) table[holder].until = until;
          break;
        default:
          EXPECT_EQ(enter(rule, kept, step, now, slots), in_use + slots <= rule.slots);
          if (in_use + slots <= rule.slots) table[step] = {.slots = slots, .until = until};
      }
    }
  });
}

}  // namespace
}  // namespace pawl::limit
