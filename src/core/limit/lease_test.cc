// Goal: a lease knows what it may hand out, when it is over, and how much to take next. Method: one
// lease, told by hand what a store said.
#include "core/limit/lease.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace pawl::limit {
namespace {

constexpr SteadyInstant start = SteadyInstant::from_ns(5'000'000'000);
constexpr Duration second = Duration::seconds(1);
constexpr LeaseTerms terms{.batch = 16, .lease_for = second};

const Rule& tokens() {
  static const Rule rule = TokenBucket({10, second}, 99);
  return rule;
}

Heard granted(std::int64_t units, SteadyInstant now = start) {
  Heard heard{.verdict = {}, .told = {}, .sent = now, .now = now, .units = units};
  heard.verdict.allowed = true;
  heard.verdict.limit = 10;
  heard.verdict.remaining = 40;
  heard.verdict.more_after = Duration::milliseconds(100);
  heard.verdict.full_after = Duration::seconds(6);
  heard.told = {.moment = Moment::from_ns(77), .wall = Instant::from_ns(99)};
  return heard;
}

Heard refused(std::int64_t units, Duration retry_after, SteadyInstant now = start) {
  Heard heard = granted(units, now);
  heard.verdict.allowed = false;
  heard.verdict.remaining = 0;
  heard.verdict.retry_after = retry_after;
  return heard;
}

TEST(Lease, HandsOutWhatWasGrantedUntilItIsOver) {
  Lease lease;
  EXPECT_EQ(lease.standing(1, start), Standing::wanting);
  lease.granted(tokens(), terms, granted(8));
  EXPECT_EQ(lease.standing(8, start), Standing::ready);
  EXPECT_EQ(lease.standing(9, start), Standing::wanting);
  const SteadyInstant later = start + Duration::milliseconds(60);
  const Verdict verdict = lease.spend(3, later);
  EXPECT_TRUE(verdict.allowed);
  EXPECT_EQ(verdict.limit, 10);
  EXPECT_EQ(verdict.remaining, 45) << "of the store, and what is left here";
  EXPECT_EQ(verdict.more_after, Duration::milliseconds(40));
  EXPECT_EQ(now_of(lease, later).moment, Moment::from_ns(77) + Duration::milliseconds(60));
  EXPECT_EQ(lease.take_ended(start + second - Duration::nanoseconds(1)), 0);
  EXPECT_EQ(lease.standing(1, start + second), Standing::wanting);
  EXPECT_EQ(lease.take_ended(start + second), 5);
  EXPECT_EQ(lease.left(), 0);
}

TEST(Lease, TakesMoreWhileItIsUsedUpInTimeAndOneWhenItIsNot) {
  Lease lease;
  EXPECT_EQ(lease.next_take(terms, start), 1);
  std::int64_t wanted = 1;
  for (int i = 0; i < 6; ++i) {
    lease.granted(tokens(), terms, granted(1));
    (void)lease.spend(1, start);
    wanted = std::min<std::int64_t>(16, wanted * 2);
    EXPECT_EQ(lease.next_take(terms, start), wanted);
  }
  lease.granted(tokens(), terms, granted(16));
  EXPECT_FALSE(lease.is_low(start));
  (void)lease.spend(13, start);
  EXPECT_TRUE(lease.is_low(start)) << "3 of 16";
  EXPECT_EQ(lease.take_ended(start + second), 3);
  EXPECT_EQ(lease.next_take(terms, start + second), 1);
}

TEST(Lease, RemembersARefusalUntilItMayHaveChanged) {
  Lease lease;
  lease.refused(terms, refused(2, Duration::milliseconds(300)));
  EXPECT_EQ(lease.standing(1, start), Standing::wanting) << "one might be there";
  EXPECT_EQ(lease.standing(2, start), Standing::refused);
  EXPECT_EQ(lease.standing(3, start), Standing::wanting) << "three may have to wait longer";
  const Verdict verdict = lease.refusal(start + Duration::milliseconds(200));
  EXPECT_FALSE(verdict.allowed);
  EXPECT_EQ(verdict.retry_after, Duration::milliseconds(100));
  EXPECT_EQ(lease.standing(2, start + Duration::milliseconds(300)), Standing::wanting);

  lease.refused(terms, refused(1, Duration::hours(1)));
  EXPECT_EQ(lease.standing(1, start + second), Standing::wanting) << "a lease's time at most";
  EXPECT_EQ(lease.refusal(start + second).retry_after, Duration::hours(1) - second);
  lease.refused(terms, refused(1, Duration::max()));
  EXPECT_EQ(lease.refusal(start + second).retry_after, Duration::max());
  lease.forget_refusal();
  EXPECT_EQ(lease.standing(1, start), Standing::wanting);
}

TEST(Lease, WhatIsLeftCountsBeforeWhatIsRefused) {
  Lease lease;
  lease.granted(tokens(), terms, granted(3));
  lease.refused(terms, refused(2, second));
  EXPECT_EQ(lease.standing(3, start), Standing::ready);
  EXPECT_EQ(lease.standing(4, start), Standing::wanting) << "one more might be there";
  EXPECT_EQ(lease.standing(5, start), Standing::refused);
  EXPECT_EQ(lease.standing(6, start), Standing::wanting);
}

TEST(Lease, AClosingForfeitsWhatIsLeft) {
  Lease lease;
  lease.granted(tokens(), terms, granted(3));
  Heard closed = refused(1, second);
  closed.verdict.closed = true;
  lease.refused(terms, closed);
  EXPECT_EQ(lease.standing(1, start), Standing::refused);
  EXPECT_EQ(lease.left(), 0);
}

TEST(Lease, OfACalendarEndsWithItsWindowAndGivesNothingBackToTheNext) {
  Lease lease;
  Heard heard = granted(8);
  heard.sent = start - Duration::milliseconds(10);
  heard.verdict.full_after = Duration::milliseconds(500);
  lease.granted(Calendar{10, {.unit = CalendarUnit::hour}}, terms, heard);
  const SteadyInstant end = start + Duration::milliseconds(490);
  EXPECT_EQ(lease.standing(1, end - Duration::nanoseconds(1)), Standing::ready);
  EXPECT_EQ(lease.standing(1, end), Standing::wanting);
  EXPECT_EQ(lease.take_ended(end), 0);
  EXPECT_EQ(lease.left(), 0);
}

TEST(Lease, IsIdleWhenNothingOfItMatters) {
  Lease lease;
  EXPECT_TRUE(lease.is_idle(start));
  lease.granted(tokens(), terms, granted(1));
  EXPECT_FALSE(lease.is_idle(start + second)) << "a unit is to go back";
  (void)lease.spend(1, start);
  EXPECT_FALSE(lease.is_idle(start)) << "it may be used again soon";
  EXPECT_TRUE(lease.is_idle(start + second));
  lease.refused(terms, refused(1, second, start + second));
  EXPECT_FALSE(lease.is_idle(start + second));
}

}  // namespace
}  // namespace pawl::limit
