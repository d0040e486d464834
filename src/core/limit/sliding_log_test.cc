// Goal: never more than the limit in any stretch of one period, never a refusal without need, and
//       waits that are exact.
// Method: pinned walks with a hand-moved clock; random walks against a list of all uses that is
//         added up by brute force.
#include "core/limit/sliding_log.h"

#include <gtest/gtest.h>
#include <vector>

#include "core/limit/limit_fixture.h"

namespace pawl::limit {
namespace {

constexpr Duration second = Duration::seconds(1);
const SlidingLog three_a_second = {.rate = {.count = 3, .period = second}};

Mark use(std::int64_t cost, std::uint64_t holder = 0) {
  return {.at = {}, .cost = cost, .holder = holder};
}

TEST(SlidingLog, AUseCountsForExactlyOnePeriod) {
  Kept kept;
  EXPECT_EQ(ask(three_a_second, kept, 1, start).remaining, 2);
  EXPECT_TRUE(ask(three_a_second, kept, 2, later(start, Duration::milliseconds(300))).allowed);
  const Verdict refused = ask(three_a_second, kept, 1, later(start, Duration::milliseconds(500)));
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.limit, 3);
  EXPECT_EQ(refused.retry_after, Duration::milliseconds(500));
  EXPECT_EQ(refused.full_after, Duration::milliseconds(800));
  EXPECT_FALSE(ask(three_a_second, kept, 1, later(start, second - nanosecond)).allowed);
  EXPECT_TRUE(ask(three_a_second, kept, 1, later(start, second)).allowed);
  EXPECT_FALSE(ask(three_a_second, kept, 1, later(start, second)).allowed);
}

TEST(SlidingLog, ACostAboveTheLimitIsNeverAllowed) {
  Kept kept;
  EXPECT_EQ(look(three_a_second, kept.state, 4, start).retry_after, Duration::max());
  EXPECT_TRUE(look(three_a_second, kept.state, 3, start).allowed);
}

TEST(SlidingLog, UsesOfOneMomentShareAMarkAndOldOnesAreForgotten) {
  Kept kept;
  EXPECT_TRUE(ask(three_a_second, kept, 1, start).allowed);
  EXPECT_TRUE(ask(three_a_second, kept, 1, start).allowed);
  EXPECT_EQ(kept.marks, (Marks{{start.moment, 2, 0}}));
  const Now now = later(start, second);
  EXPECT_TRUE(ask(three_a_second, kept, 1, now).allowed);
  EXPECT_EQ(kept.marks, (Marks{{now.moment, 1, 0}}));
}

// 2 reserved, 1 used later, then the reservation is cancelled: the later use must stay.
TEST(SlidingLog, AHolderGetsBackItsOwnUsesAndNobodyElses) {
  Kept kept;
  const Now now = later(start, Duration::milliseconds(900));
  take(three_a_second, kept.state, use(2, 7), start);
  take(three_a_second, kept.state, use(1), now);
  give_back(three_a_second, kept.state, use_of(2, start, 7), now);
  EXPECT_EQ(kept.marks, (Marks{{now.moment, 1, 0}}));
  give_back(three_a_second, kept.state, use_of(1, start, 7), now);
  EXPECT_EQ(look(three_a_second, kept.state, 0, now).remaining, 2);
}

TEST(SlidingLog, APartOfAReservationComesBack) {
  Kept kept;
  take(three_a_second, kept.state, use(1, 7), start);
  take(three_a_second, kept.state, use(2, 7), later(start, nanosecond));
  give_back(three_a_second, kept.state, use_of(1, start, 7), later(start, second - nanosecond));
  EXPECT_EQ(look(three_a_second, kept.state, 0, later(start, second - nanosecond)).remaining, 1);
  // Of what is out of sight nothing is left to come back.
  give_back(three_a_second, kept.state, use_of(2, start, 7), later(start, second + nanosecond));
  EXPECT_TRUE(kept.marks.empty());
}

TEST(SlidingLog, ARefundTakesTheNewestUsesFirst) {
  Kept kept;
  const Now now = later(start, Duration::milliseconds(10));
  take(three_a_second, kept.state, use(2, 7), start);
  take(three_a_second, kept.state, use(1, 8), now);
  give_back(three_a_second, kept.state, use_of(2, now), now);
  EXPECT_EQ(kept.marks, (Marks{{start.moment, 1, 7}}));
  give_back(three_a_second, kept.state, use_of(5, now), now);
  EXPECT_TRUE(kept.marks.empty());
}

TEST(SlidingLog, AClockThatWentBackKeepsNobodyOutForLongerThanOnePeriod) {
  Kept kept;
  EXPECT_TRUE(ask(three_a_second, kept, 3, later(start, year * 10)).allowed);
  for (const Duration passed : {Duration(), Duration::milliseconds(600), second - nanosecond}) {
    const Verdict refused = ask(three_a_second, kept, 1, later(start, passed));
    EXPECT_FALSE(refused.allowed);
    EXPECT_EQ(refused.retry_after, second - passed);
  }
  EXPECT_TRUE(ask(three_a_second, kept, 3, later(start, second)).allowed);
}

TEST(SlidingLog, ALeapForwardGivesTheLimitAndNoMore) {
  Kept kept;
  EXPECT_TRUE(ask(three_a_second, kept, 3, start).allowed);
  EXPECT_TRUE(ask(three_a_second, kept, 3, later(start, year * 10)).allowed);
  EXPECT_FALSE(ask(three_a_second, kept, 1, later(start, year * 10)).allowed);
}

TEST(SlidingLog, EveryVerdictIsTrueToTheUseAndTheNanosecond) {
  for_seeds(500, [](Chance& chance) { walk_and_check(any_log(chance), chance, 30); });
}

struct Used {
  Moment at;
  std::int64_t cost;
  std::uint64_t holder;
};

// In (end - period, end].
std::int64_t used_until(const std::vector<Used>& uses, Moment end, Duration period) {
  std::int64_t sum = 0;
  for (const Used& each : uses) {
    if (each.at <= end && each.at + period > end) sum += each.cost;
  }
  return sum;
}

// Reservations are cancelled in part or whole on the way: what was not used counts as never asked.
TEST(SlidingLog, AgreesWithAListOfAllUsesAddedUpByBruteForce) {
  for_seeds(700, [](Chance& chance) {
    const SlidingLog log = any_log(chance);
    std::vector<Used> uses;
    Kept kept;
    Now now = start;
    for (std::uint64_t step = 1; step <= 60 && !testing::Test::HasFailure(); ++step) {
      now = later(now, any_pause(chance, log, now));
      const std::int64_t used = used_until(uses, now.moment, log.rate.period);
      const Verdict here = look(log, kept.state, 0, now);
      EXPECT_EQ(here.remaining, log.rate.count - used);
      const std::int64_t cost = here.remaining > 0 && chance.one_in(2)
                                    ? here.remaining
                                    : any_cost(chance, log.rate.count);
      const Verdict verdict = look(log, kept.state, cost, now);
      EXPECT_EQ(verdict.allowed, used + cost <= log.rate.count);
      if (verdict.allowed) {
        take(log, kept.state, use(cost, step), now);
        uses.push_back({.at = now.moment, .cost = cost, .holder = step});
      }
      if (uses.empty() || !chance.one_in(3)) continue;
      const auto newest = static_cast<std::int64_t>(uses.size()) - 1;
      Used& cancelled = uses[static_cast<std::size_t>(newest - chance.any_size(0, newest))];
      const std::int64_t part = chance.between(0, cancelled.cost);
      give_back(log, kept.state, use_of(part, now, cancelled.holder), now);
      cancelled.cost -= part;
    }
    EXPECT_LE(kept.marks.size(), static_cast<std::size_t>(log.rate.count));
    for (const Used& each : uses) {
      EXPECT_LE(used_until(uses, each.at, log.rate.period), log.rate.count);
    }
  });
}

}  // namespace
}  // namespace pawl::limit
