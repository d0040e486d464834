// Goal: two counters admit what the header promises: the limit in every window of the grid, less
//       than twice the limit in any window, and waits that are exact.
// Method: pinned walks with a hand-moved clock, one of which comes as near to twice the limit as
//         can be; random walks against the whole history in exact fractions.
#include "core/limit/sliding_window.h"

#include <gtest/gtest.h>
#include <vector>

#include "core/limit/limit_fixture.h"

namespace pawl::limit {
namespace {

__extension__ using Wide = __int128;

constexpr Duration minute = Duration::minutes(1);
const SlidingWindow hundred_a_minute = {.rate = {.count = 100, .period = minute}};

// `start` lies on the grid of every period that divides a year.
static_assert(start.moment.ns() % minute.ns() == 0);

TEST(SlidingWindow, AllowsTheLimitAndNoMore) {
  Kept kept;
  const Verdict first = ask(hundred_a_minute, kept, 1, start);
  EXPECT_TRUE(first.allowed);
  EXPECT_EQ(first.limit, 100);
  EXPECT_EQ(first.remaining, 99);
  EXPECT_EQ(first.before, Cell());
  EXPECT_TRUE(ask(hundred_a_minute, kept, 99, start).allowed);
  const Cell full = kept.state.cell;
  const Verdict refused = ask(hundred_a_minute, kept, 1, start);
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.before, full);
  EXPECT_EQ(kept.state.cell, full);
}

// 100 used at the start: after the line they fade by one every 600 ms.
TEST(SlidingWindow, TheLastWindowsCountFadesEvenly) {
  Kept kept;
  EXPECT_TRUE(ask(hundred_a_minute, kept, 100, start).allowed);
  const auto remaining_after = [&](Duration passed) {
    return look(hundred_a_minute, kept.state, 0, later(start, passed)).remaining;
  };
  EXPECT_EQ(remaining_after(minute - nanosecond), 0);
  EXPECT_EQ(remaining_after(minute), 0);
  EXPECT_EQ(remaining_after(minute + Duration::milliseconds(600) - nanosecond), 0);
  EXPECT_EQ(remaining_after(minute + Duration::milliseconds(600)), 1);
  EXPECT_EQ(remaining_after(minute + Duration::seconds(30)), 50);
  EXPECT_EQ(remaining_after(minute * 2 - nanosecond), 99);
  EXPECT_EQ(remaining_after(minute * 2), 100);
  const Verdict verdict = look(hundred_a_minute, kept.state, 50, start);
  EXPECT_EQ(verdict.retry_after, minute + Duration::seconds(30));
  EXPECT_EQ(verdict.more_after, minute + Duration::milliseconds(600));
  EXPECT_EQ(verdict.full_after, minute * 2);
}

TEST(SlidingWindow, WhoAsksAllTheTimeGetsOneLessThanTheLimitInAWindow) {
  for (const std::int64_t limit : {1, 2, 10, 100}) {
    const SlidingWindow window = {.rate = {.count = limit, .period = minute}};
    Kept kept;
    std::int64_t passed = 0;
    constexpr int windows = 10;
    for (Duration at = {}; at < minute * windows; at = at + Duration::milliseconds(25)) {
      if (ask(window, kept, 1, later(start, at)).allowed) ++passed;
    }
    EXPECT_EQ(passed, limit == 1 ? windows / 2 : windows * (limit - 1) + 1) << limit;
  }
}

TEST(SlidingWindow, ACostAboveTheLimitIsNeverAllowed) {
  Kept kept;
  EXPECT_EQ(look(hundred_a_minute, kept.state, 101, start).retry_after, Duration::max());
  EXPECT_TRUE(look(hundred_a_minute, kept.state, 100, start).allowed);
}

// The bound of the header is reached but for one: 100 just before the line, and 99 until the moment
// before the first of them leaves the window.
TEST(SlidingWindow, InAnyWindowLessThanTwiceTheLimitPassesAndNoBoundIsTighter) {
  Kept kept;
  const Now before_the_line = later(start, minute - nanosecond);
  EXPECT_TRUE(ask(hundred_a_minute, kept, 100, before_the_line).allowed);
  std::int64_t passed = 100;
  const Now end =
      later(before_the_line, minute);  // the window (before_the_line - 1 ns, end - 1 ns]
  for (Now now = later(start, minute); now.moment < end.moment;) {
    const Verdict verdict = ask(hundred_a_minute, kept, 1, now);
    if (verdict.allowed) ++passed;
    now = later(now, verdict.allowed ? verdict.more_after : verdict.retry_after);
  }
  EXPECT_EQ(passed, 199);
}

TEST(SlidingWindow, WhatWasTakenBeyondTheLimitIsPaidBackWithinTwoWindows) {
  Kept kept;
  take(hundred_a_minute, kept.state, 250, start);
  EXPECT_EQ(look(hundred_a_minute, kept.state, 0, start).remaining, 0);
  EXPECT_EQ(look(hundred_a_minute, kept.state, 50, start).retry_after,
            minute + Duration::seconds(48));
  EXPECT_EQ(look(hundred_a_minute, kept.state, 100, start).retry_after, minute * 2);
  for (int i = 0; i < 10; ++i) take(hundred_a_minute, kept.state, bounds::limit_count_max, start);
  EXPECT_EQ(kept.state.cell.b, 0x7fff'ffff);  // as much as is counted, and the last window's is not
  EXPECT_EQ(look(hundred_a_minute, kept.state, 100, start).retry_after, minute * 2);
  EXPECT_EQ(look(hundred_a_minute, kept.state, 0, later(start, minute * 2)).full_after, Duration());
}

TEST(SlidingWindow, WhatIsGivenBackComesOutOfTheCountItWentInto) {
  Kept kept;
  take(hundred_a_minute, kept.state, 40, start);
  const Now now = later(start, minute);
  take(hundred_a_minute, kept.state, 10, now);
  EXPECT_EQ(look(hundred_a_minute, kept.state, 0, now).remaining, 50);
  const auto left = [&](Duration passed) {
    return look(hundred_a_minute, kept.state, 0, later(now, passed)).remaining;
  };
  give_back(hundred_a_minute, kept.state, use_of(30, start), now);
  EXPECT_EQ(left({}), 80);
  EXPECT_EQ(left(Duration::seconds(30)), 85);
  give_back(hundred_a_minute, kept.state, use_of(4, now), now);
  EXPECT_EQ(left({}), 84);
  EXPECT_EQ(left(Duration::seconds(30)), 89);
  give_back(hundred_a_minute, kept.state, use_of(100, start), now);
  EXPECT_EQ(left({}), 94);
  // What was charged two windows ago has faded out by itself.
  give_back(hundred_a_minute, kept.state, use_of(6, start), later(now, minute));
  EXPECT_EQ(left(minute), 94);
  give_back(hundred_a_minute, kept.state, use_of(100, now), later(now, minute));
  EXPECT_EQ(left(minute), 100);
  EXPECT_EQ(look(hundred_a_minute, kept.state, 0, later(now, minute)).full_after, Duration());
}

TEST(SlidingWindow, AClockThatWentBackFreesNothingAndKeepsNobodyOutForLongerThanTwoWindows) {
  Kept kept;
  EXPECT_TRUE(ask(hundred_a_minute, kept, 100, later(start, year * 10)).allowed);
  for (const Duration passed :
       {Duration(), Duration::seconds(59), minute, minute * 2 - nanosecond}) {
    const Verdict refused = ask(hundred_a_minute, kept, 100, later(start, passed));
    EXPECT_FALSE(refused.allowed);
    EXPECT_EQ(refused.retry_after, minute * 2 - passed);
  }
  EXPECT_TRUE(ask(hundred_a_minute, kept, 100, later(start, minute * 2)).allowed);
}

// Just after the line little of the last window has faded, just before it nearly all.
TEST(SlidingWindow, AStepBackAcrossTheLineDoesNotFadeTheLastWindow) {
  Kept kept;
  EXPECT_TRUE(ask(hundred_a_minute, kept, 90, start).allowed);
  const Now after_the_line = later(start, minute);
  EXPECT_TRUE(ask(hundred_a_minute, kept, 5, after_the_line).allowed);
  for (int step = 0; step < 3; ++step) {
    const Now stepped_back = later(after_the_line, -Duration::milliseconds(1));
    EXPECT_EQ(look(hundred_a_minute, kept.state, 0, stepped_back).remaining, 5 - step);
    EXPECT_TRUE(ask(hundred_a_minute, kept, 1, stepped_back).allowed);
    EXPECT_EQ(look(hundred_a_minute, kept.state, 0, after_the_line).remaining, 4 - step);
  }
}

TEST(SlidingWindow, ALeapForwardGivesTheLimitAndNoMore) {
  Kept kept;
  EXPECT_TRUE(ask(hundred_a_minute, kept, 100, start).allowed);
  const Now leapt = later(start, year * 10);
  EXPECT_TRUE(ask(hundred_a_minute, kept, 100, leapt).allowed);
  EXPECT_FALSE(ask(hundred_a_minute, kept, 1, leapt).allowed);
}

TEST(SlidingWindow, EveryVerdictIsTrueToTheUseAndTheNanosecond) {
  for_seeds(500, [](Chance& chance) { walk_and_check(any_window(chance), chance, 30); });
}

// All that ever passed, kept by itself.
struct History {
  struct Use {
    std::int64_t at;
    std::int64_t cost;
  };
  Rate rate;
  std::vector<Use> uses;

  // In [from, until).
  std::int64_t between(Wide from, Wide until) const {
    std::int64_t sum = 0;
    for (const Use& use : uses) {
      if (use.at >= from && use.at < until) sum += use.cost;
    }
    return sum;
  }
  // What is left of the limit, in parts of 1/period of a use.
  Wide room(std::int64_t now) const {
    const Wide period = rate.period.ns();
    const Wide line = now - now % period;
    return rate.count * period - between(line, line + period) * period -
           between(line - period, line) * (line + period - now);
  }
};

TEST(SlidingWindow, AgreesWithTheWholeHistoryInExactFractions) {
  for_seeds(1000, [](Chance& chance) {
    const SlidingWindow window = any_window(chance);
    const std::int64_t period = window.rate.period.ns();
    History history{.rate = window.rate, .uses = {}};
    Kept kept;
    Now now = start;
    for (int step = 0; step < 60 && !testing::Test::HasFailure(); ++step) {
      now = later(now, any_pause(chance, window, now));
      // Greedy callers find the worst case: whatever remains, whenever there is some.
      const std::int64_t remaining = look(window, kept.state, 0, now).remaining;
      const std::int64_t cost =
          remaining > 0 && chance.one_in(2) ? remaining : any_cost(chance, window.rate.count);
      const Wide room = history.room(now.moment.ns());
      EXPECT_EQ(remaining, static_cast<std::int64_t>(std::max<Wide>(0, room) / period));
      const bool allowed = ask(window, kept, cost, now).allowed;
      EXPECT_EQ(allowed, Wide{cost} * period <= room);
      if (allowed) history.uses.push_back({.at = now.moment.ns(), .cost = cost});
    }
    for (const History::Use& use : history.uses) {
      const std::int64_t line = use.at - use.at % period;
      EXPECT_LE(history.between(line, Wide{line} + period), window.rate.count);
      EXPECT_LT(history.between(use.at, Wide{use.at} + period), 2 * window.rate.count);
    }
  });
}

// Rounding up costs one use a window at the most.
TEST(SlidingWindow, EvenlySpreadCallsStayAtTheLimit) {
  for (const Duration pause : {Duration::milliseconds(600), Duration::milliseconds(150)}) {
    History history{.rate = hundred_a_minute.rate, .uses = {}};
    Kept kept;
    for (Now now = start; now.moment < (start.moment + minute * 10); now = later(now, pause)) {
      if (!ask(hundred_a_minute, kept, 1, now).allowed) continue;
      history.uses.push_back({.at = now.moment.ns(), .cost = 1});
      EXPECT_LE(history.between(now.moment.ns() - minute.ns() + 1, now.moment.ns() + 1), 100);
    }
    for (int window = 0; window < 10; ++window) {
      const std::int64_t line = (start.moment + minute * window).ns();
      EXPECT_GE(history.between(line, line + minute.ns()), 99);
    }
  }
}

}  // namespace
}  // namespace pawl::limit
