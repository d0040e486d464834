// Goal: both decisions, by every reason there is.
// Method: facts as tables; properties over random facts.
#include "core/order/decision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/bounds.h"

namespace pawl::order {
namespace {

using ::testing::HasSubstr;

Decision plain(Next next, Reason reason) {
  return {.next = next, .reason = reason};
}

constexpr Duration second = Duration::seconds(1);

TEST(Decision, OfAnAttempt) {
  const Settings s;
  EXPECT_EQ(decide(s, Ended{.sent = Sent::accepted, .has_order_id = true}),
            plain(Next::confirm, Reason::accepted));
  EXPECT_EQ(decide(s, Ended{.sent = Sent::accepted}), plain(Next::read, Reason::outcome_unknown));
  EXPECT_EQ(decide(s, Ended{.sent = Sent::refused}), plain(Next::reject, Reason::refused));
  EXPECT_EQ(decide(s, Ended{.sent = Sent::refused, .has_order_id = true}),
            plain(Next::read, Reason::outcome_unknown));
  EXPECT_EQ(decide(s, Ended{.sent = Sent::unknown}), plain(Next::read, Reason::outcome_unknown));
  EXPECT_EQ(decide(s, Ended{.sent = Sent::duplicate}), plain(Next::read, Reason::duplicate));
  EXPECT_EQ(decide(s, Ended{.sent = Sent::accepted, .has_order_id = true, .not_completed = true}),
            plain(Next::read, Reason::trade_not_completed));
  EXPECT_EQ(decide(s, Ended{.attempt = 3, .sent = Sent::not_sent}),
            plain(Next::reject, Reason::attempts_exhausted));
  EXPECT_EQ(decide(s, Ended{.sent = Sent::not_sent, .withdrawn = true}),
            plain(Next::reject, Reason::withdrawn));
  EXPECT_EQ(decide(s, Ended{.sent = Sent::rate_limited, .retry_after = Duration::hours(1)}),
            plain(Next::reject, Reason::pushback_too_long));
}

TEST(Decision, WaitsAsThePolicySaysAndNeverLessThanTheVenue) {
  const Settings s;
  const Decision first = decide(s, Ended{.sent = Sent::not_sent});
  EXPECT_EQ(first.reason, Reason::retry_not_sent);
  EXPECT_GE(first.delay, Duration::milliseconds(750));
  EXPECT_LE(first.delay, Duration::milliseconds(1250));
  const Decision second_one = decide(s, Ended{.attempt = 2, .sent = Sent::rate_limited});
  EXPECT_EQ(second_one.reason, Reason::retry_rate_limited);
  EXPECT_GE(second_one.delay, Duration::milliseconds(1500));
  EXPECT_LE(second_one.delay, Duration::milliseconds(2500));
  const Ended named{.sent = Sent::rate_limited, .retry_after = second * 7};
  EXPECT_EQ(decide(s, named).delay, second * 7);
}

TEST(Decision, MakesOneMoreAttemptWhenTheLastOneMetAGate) {
  Settings s;
  s.retry.max_attempts = 1;
  const Ended turned_away{.attempt = 1, .sent = Sent::not_sent, .turned_away = true};
  EXPECT_EQ(decide(s, turned_away).reason, Reason::retry_not_sent);
  Ended again = turned_away;
  again.attempt = 2;
  EXPECT_EQ(decide(s, again).reason, Reason::attempts_exhausted);
  again.repeatable = true;
  EXPECT_EQ(decide(s, again).reason, Reason::attempts_exhausted);
  EXPECT_EQ(decide(s, Ended{.attempt = 1, .sent = Sent::not_sent}).reason,
            Reason::attempts_exhausted);
}

TEST(Decision, OfACancelOrChange) {
  const Settings s;
  const auto of = [&](Ended ended) {
    ended.repeatable = true;
    const Decision decision = decide(s, ended);
    return std::pair(decision.next, decision.reason);
  };
  using Pair = std::pair<Next, Reason>;
  EXPECT_EQ(of({.sent = Sent::accepted}), Pair(Next::confirm, Reason::accepted));
  EXPECT_EQ(of({.sent = Sent::refused}), Pair(Next::reject, Reason::refused));
  EXPECT_EQ(of({.sent = Sent::refused, .unknown_before = true}),
            Pair(Next::unresolved, Reason::outcome_unknown));
  EXPECT_EQ(of({.sent = Sent::unknown}), Pair(Next::send_again, Reason::retry_harmless));
  EXPECT_EQ(of({.sent = Sent::duplicate}), Pair(Next::send_again, Reason::retry_harmless));
  EXPECT_EQ(of({.sent = Sent::rate_limited}), Pair(Next::send_again, Reason::retry_rate_limited));
  EXPECT_EQ(of({.attempt = 3, .sent = Sent::unknown}),
            Pair(Next::unresolved, Reason::attempts_exhausted));
  EXPECT_EQ(of({.attempt = 3, .sent = Sent::not_sent}),
            Pair(Next::reject, Reason::attempts_exhausted));
  EXPECT_EQ(of({.attempt = 3, .sent = Sent::not_sent, .unknown_before = true}),
            Pair(Next::unresolved, Reason::attempts_exhausted));
}

// Whole, after the settle time, with one before it.
Read absent_twice() {
  const Settings s;
  return {.readings = 4,
          .whole = true,
          .readable = true,
          .expired = true,
          .quiet = s.settle + second,
          .absent_before = true,
          .since_absent = second,
          .elapsed = s.settle + second};
}

Decision decide_changed(void (*change)(Read&)) {
  Read read = absent_twice();
  change(read);
  return decide(Settings(), read);
}

TEST(Decision, OfAReadingThatShowsSomething) {
  EXPECT_EQ(decide_changed([](Read& r) { r.orders = 1; }), plain(Next::confirm, Reason::found));
  EXPECT_EQ(decide_changed([](Read& r) {
              r.orders = 1;
              r.venue_refused = true;
            }),
            plain(Next::reject, Reason::found_refused));
  EXPECT_EQ(decide_changed([](Read& r) { r.orders = 2; }),
            plain(Next::unresolved, Reason::several_orders));
  EXPECT_EQ(decide_changed([](Read& r) {
              r.orders = 1;
              r.strangers = 1;
            }),
            plain(Next::unresolved, Reason::several_orders));
  EXPECT_EQ(decide_changed([](Read& r) { r.strangers = 1; }),
            plain(Next::unresolved, Reason::other_order));
  EXPECT_EQ(decide_changed([](Read& r) { r.probable = 1; }),
            plain(Next::unresolved, Reason::probable_order));
}

TEST(Decision, OfAReadingThatShowsNothing) {
  EXPECT_EQ(decide(Settings(), absent_twice()), plain(Next::send_again, Reason::absence_earned));
  EXPECT_EQ(decide_changed([](Read& r) { r.sealed = true; }),
            plain(Next::unresolved, Reason::absent_contradicted));
  EXPECT_EQ(decide_changed([](Read& r) { r.withdrawn = true; }),
            plain(Next::reject, Reason::absent_withdrawn));
  EXPECT_EQ(decide_changed([](Read& r) { r.attempt = 3; }),
            plain(Next::reject, Reason::absent_exhausted));
  EXPECT_EQ(decide_changed([](Read& r) { r.whole = false; }),
            plain(Next::unresolved, Reason::not_kept));
  EXPECT_EQ(decide_changed([](Read& r) {
              r.whole = r.readable = false;
              r.elapsed = Settings().settle + Settings().patience;
            }),
            plain(Next::unresolved, Reason::patience_over));
}

TEST(Decision, ReadsAgainUntilItIsSure) {
  const auto of = [](void (*change)(Read&)) { return decide_changed(change); };
  EXPECT_EQ(of([](Read& r) { r.absent_before = false; }),
            (Decision{Next::read, Reason::absent_once, second}));
  EXPECT_EQ(of([](Read& r) { r.since_absent = second - Duration::nanoseconds(1); }),
            (Decision{Next::read, Reason::absent_once, Duration::nanoseconds(1)}));
  EXPECT_EQ(of([](Read& r) { r.expired = false; }),
            (Decision{Next::read, Reason::not_expired, second * 8}));
  EXPECT_EQ(of([](Read& r) { r.whole = r.readable = false; }),
            (Decision{Next::read, Reason::not_whole, second * 8}));
  EXPECT_EQ(of([](Read& r) {
              r.quiet = r.elapsed = second * 15;
              r.absent_before = false;
            }),
            (Decision{Next::read, Reason::not_settled, second * 5}))
      << "no later than the settle time ends";
  EXPECT_EQ(of([](Read& r) {
              r.quiet = r.elapsed = second;
              r.probable = 1;
              r.readings = 1;
            }),
            (Decision{Next::read, Reason::not_settled, second}));
  EXPECT_EQ(of([](Read& r) {
              r.readings = 1'000'000;
              r.whole = r.readable = false;
            }),
            (Decision{Next::read, Reason::not_whole, bounds::order_reading_wait_max}));
}

Read any_read() {
  const auto flag = [] { return *rc::gen::arbitrary<bool>(); };
  const auto time = [] { return Duration::milliseconds(*rc::gen::inRange(0, 100'000)); };
  Read read{.attempt = *rc::gen::inRange(1, 5), .readings = *rc::gen::inRange(1, 30)};
  read.orders = *rc::gen::inRange<std::size_t>(0, 3) / 2;
  read.probable = *rc::gen::inRange<std::size_t>(0, 3) / 2;
  read.whole = flag();
  read.readable = read.whole || flag();
  read.expired = flag();
  read.quiet = time();
  read.elapsed = read.quiet + time();
  read.absent_before = flag();
  read.since_absent = time();
  read.sealed = flag();
  read.withdrawn = flag();
  return read;
}

RC_GTEST_PROP(Decision, SendsAgainOnlyWhenAbsenceWasEarned, ()) {
  const Settings s;
  const Read read = any_read();
  if (decide(s, read).next != Next::send_again) return;
  RC_ASSERT(read.whole && read.expired && read.quiet >= s.settle);
  RC_ASSERT(read.orders == 0 && read.probable == 0 && read.strangers == 0);
  RC_ASSERT(read.absent_before && read.since_absent >= bounds::order_absence_gap);
  RC_ASSERT(!read.sealed && !read.withdrawn && read.attempt < s.retry.max_attempts);
}

RC_GTEST_PROP(Decision, EndsWhenPatienceIsOver, ()) {
  const Settings s;
  const Read read = any_read();
  const Decision decision = decide(s, read);
  if (decision.next != Next::read) return;
  RC_ASSERT(read.elapsed < s.settle + s.patience);
  RC_ASSERT(read.elapsed + decision.delay <= s.settle + s.patience);
}

TEST(OrderSettings, AreChecked) {
  EXPECT_TRUE(check(Settings()));
  Settings s;
  s.settle = Duration();
  EXPECT_THAT(check(s).error().message, HasSubstr("settle"));
  s = {};
  s.patience = -second;
  EXPECT_THAT(check(s).error().message, HasSubstr("patience"));
  s = {};
  s.retry.max_attempts = 0;
  EXPECT_FALSE(check(s));
  s = {};
  s.retry.jitter = retry::Jitter::decorrelated;
  EXPECT_FALSE(check(s));
  s = {};
  s.retry.delays = {second};
  EXPECT_FALSE(check(s));
}

TEST(Decision, HasNames) {
  for (int i = 0; i <= static_cast<int>(Reason::patience_over); ++i) {
    const auto reason = static_cast<Reason>(i);
    EXPECT_EQ(reason_of(to_string(reason)), reason);
  }
  EXPECT_EQ(to_string(Reason::accepted), "accepted");
  EXPECT_EQ(to_string(Reason::found), "found");
  EXPECT_EQ(to_string(Reason::patience_over), "patience_over");
  for (const Next next :
       {Next::confirm, Next::reject, Next::send_again, Next::read, Next::unresolved}) {
    EXPECT_EQ(next_of(to_string(next)), next);
  }
  EXPECT_EQ(next_of("perhaps"), std::nullopt);
  EXPECT_EQ(reason_of(""), std::nullopt);
}

}  // namespace
}  // namespace pawl::order
