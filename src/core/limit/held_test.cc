// Goal: uses that come back one by one are told exactly, in whatever form they are kept.
// Method: a handful of marks by hand, seen as a log sees them and as leases.
#include "core/limit/held.h"

#include <gtest/gtest.h>

namespace pawl::limit {
namespace {

constexpr Moment now = Moment::from_ns(1'000);

constexpr Moment at(std::int64_t ns) {
  return now + Duration::nanoseconds(ns);
}

constexpr Duration ns(std::int64_t n) {
  return Duration::nanoseconds(n);
}

Held seen(const Marks& marks, Duration shift) {
  return {.marks = &marks, .now = now, .shift = shift, .at_most = ns(100)};
}

TEST(Held, NothingHeldIsAllThere) {
  const Marks marks;
  const Verdict verdict = seen(marks, {}).look(5, 0);
  EXPECT_TRUE(verdict.allowed);
  EXPECT_EQ(verdict.limit, 5);
  EXPECT_EQ(verdict.remaining, 5);
  EXPECT_EQ(verdict.more_after, Duration());
  EXPECT_EQ(verdict.full_after, Duration());
}

TEST(Held, WaitsForAsManyAsAreNeeded) {
  const Marks marks = {{at(10), 2, 1}, {at(20), 1, 2}, {at(30), 2, 3}};
  const auto wait = [&](std::int64_t cost) { return seen(marks, {}).look(5, cost).retry_after; };
  EXPECT_EQ(wait(1), ns(10));
  EXPECT_EQ(wait(2), ns(10));
  EXPECT_EQ(wait(3), ns(20));
  EXPECT_EQ(wait(4), ns(30));
  EXPECT_EQ(wait(5), ns(30));
  EXPECT_EQ(wait(6), Duration::max());
  EXPECT_EQ(seen(marks, {}).look(5, 0).more_after, ns(10));
  EXPECT_EQ(seen(marks, {}).look(5, 0).full_after, ns(30));
}

TEST(Held, WhatIsTakenNowComesBackLast) {
  const Marks marks = {{at(10), 2, 1}};
  const Verdict verdict = seen(marks, {}).look(5, 3);
  EXPECT_TRUE(verdict.allowed);
  EXPECT_EQ(verdict.remaining, 0);
  EXPECT_EQ(verdict.more_after, ns(10));
  EXPECT_EQ(verdict.full_after, ns(100));
  const Marks none;
  EXPECT_EQ(seen(none, {}).look(5, 3).more_after, ns(100));
}

TEST(Held, AMarkCountsUntilTheMomentItComesBack) {
  const Marks marks = {{at(-100), 1, 0}, {at(-99), 1, 0}};
  const Verdict verdict = seen(marks, ns(100)).look(2, 2);
  EXPECT_EQ(verdict.remaining, 1);
  EXPECT_EQ(verdict.retry_after, ns(1));
}

TEST(Held, NothingComesBackLaterThanAUseMadeNow) {
  const Marks marks = {{at(5'000), 2, 1}, {at(6'000), 2, 2}};
  const Verdict verdict = seen(marks, {}).look(4, 1);
  EXPECT_FALSE(verdict.allowed);
  EXPECT_EQ(verdict.retry_after, ns(100));
  EXPECT_EQ(verdict.full_after, ns(100));
}

TEST(Held, MoreThanTheLimitLeavesNothingAndNothingLess) {
  const Marks marks = {{at(10), 4, 1}, {at(20), 4, 2}};
  const Verdict verdict = seen(marks, {}).look(5, 1);
  EXPECT_EQ(verdict.remaining, 0);
  EXPECT_EQ(verdict.retry_after, ns(10));
  EXPECT_EQ(seen(marks, {}).look(5, 2).retry_after, ns(20));
}

}  // namespace
}  // namespace pawl::limit
