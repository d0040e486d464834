// What the tests of limits share: seeded chance, a hand-moved clock, a state that owns its marks,
// rules of every kind, and the check that a verdict tells the truth.
//
// How: seeded loops rather than generators: they compile fast, and a failure prints its seed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <ostream>
#include <string>
#include <type_traits>

#include "base/bounds.h"
#include "core/limit/policy.h"

namespace pawl::limit {

constexpr Duration nanosecond = Duration::nanoseconds(1);
constexpr Duration year = Duration::days(365);

// Far enough from zero that a clock may go back by years.
constexpr Now start = {.moment = Moment() + year * 40, .wall = Instant() + year * 56};

inline Now later(Now now, Duration by) {
  return {.moment = now.moment + by, .wall = now.wall + by};
}

// Numbers as good as random from a seed, the same on every machine.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
  }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(high - low + 1));
  }
  // Every order of magnitude as likely as the next.
  std::int64_t any_size(std::int64_t low, std::int64_t high) {
    const std::int64_t top = std::max(low, high >> between(0, 62));
    return between(low, top);
  }
  bool one_in(std::int64_t n) { return between(1, n) == 1; }
  Duration duration(Duration low, Duration high) {
    return Duration::nanoseconds(between(low.ns(), high.ns()));
  }
  Duration any_duration(Duration low, Duration high) {
    return Duration::nanoseconds(any_size(low.ns(), high.ns()));
  }

 private:
  std::uint64_t state_;
};

// Calls body(chance) for each of so many seeds, until one fails.
template <class Body>
void for_seeds(std::uint64_t seeds, const Body& body) {
  for (std::uint64_t seed = 1; seed <= seeds && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Chance chance(seed);
    body(chance);
  }
}

// A key's state with its marks, to be copied and compared as a whole.
struct Kept {
  Marks marks;
  State state;

  Kept() { state.marks = &marks; }
  Kept(const Kept& other) : marks(other.marks), state(other.state) { state.marks = &marks; }
  Kept& operator=(const Kept& other) {
    marks = other.marks;
    state = other.state;
    state.marks = &marks;
    return *this;
  }
  bool operator==(const Kept& other) const {
    return marks == other.marks && state.cell == other.state.cell &&
           state.closed_until == other.state.closed_until;
  }
};

inline void PrintTo(const Kept& kept, std::ostream* out) {
  *out << "{a " << kept.state.cell.a << " b " << kept.state.cell.b << " closed until "
       << kept.state.closed_until.ns();
  for (const Mark& mark : kept.marks) {
    *out << ", " << mark.cost << " at " << mark.at.ns() << " of " << mark.holder;
  }
  *out << "}";
}

inline Ask use_of(std::int64_t cost, Now charged, std::uint64_t holder = 0) {
  return {.cost = cost, .holder = holder, .charged = charged};
}

template <class R>
void charge(const R& rule, Kept& kept, std::int64_t cost, Now now) {
  if constexpr (requires { take(rule, kept.state, Mark(), now); }) {
    take(rule, kept.state, Mark{.at = {}, .cost = cost, .holder = 0}, now);
  } else {
    take(rule, kept.state, cost, now);
  }
}

// What decide() does with one policy.
template <class R>
Verdict ask(const R& rule, Kept& kept, std::int64_t cost, Now now) {
  const Verdict verdict = look(rule, kept.state, cost, now);
  if (!verdict.allowed) rewind(rule, kept.state, now);
  if (verdict.allowed && cost > 0) charge(rule, kept, cost, now);
  return verdict;
}

inline Zone zurich() {
  const auto at = [](const char* text) { return parse_instant(text).value(); };
  return Zone("Europe/Zurich", Duration::hours(1),
              {{at("2026-03-29T01:00:00Z"), Duration::hours(2)},
               {at("2026-10-25T01:00:00Z"), Duration::hours(1)},
               {at("2027-03-28T01:00:00Z"), Duration::hours(2)},
               {at("2027-10-31T01:00:00Z"), Duration::hours(1)}});
}

inline Rate any_rate(Chance& chance, std::int64_t count_max) {
  const Duration period = chance.any_duration(nanosecond, bounds::limit_period_max);
  return {.count = chance.any_size(1, std::min(period.ns(), count_max)), .period = period};
}

inline TokenBucket any_bucket(Chance& chance) {
  const Rate rate = any_rate(chance, bounds::limit_count_max);
  const Duration interval = TokenBucket(rate, 0).interval;
  const std::int64_t capacity_max = bounds::limit_refill_max.ns() / interval.ns();
  return {rate, chance.any_size(0, std::min(bounds::limit_count_max, capacity_max - 1))};
}

inline SlidingWindow any_window(Chance& chance) {
  return {.rate = any_rate(chance, bounds::limit_count_max)};
}

inline SlidingLog any_log(Chance& chance) {
  return {.rate = any_rate(chance, chance.one_in(2) ? 5 : bounds::limit_log_count_max)};
}

inline Concurrency any_concurrency(Chance& chance) {
  return {.slots = chance.any_size(1, bounds::limit_slots_max),
          .lease = chance.any_duration(nanosecond, bounds::limit_hold_max)};
}

inline Calendar any_calendar(Chance& chance) {
  CalendarRule rule = {.unit = static_cast<CalendarUnit>(chance.between(0, 5))};
  if (chance.one_in(2)) rule.zone = zurich();
  if (chance.one_in(2)) {
    rule.anchor = to_civil(Instant() + chance.duration(year * 50, year * 56));
  }
  return {.count = chance.any_size(1, bounds::limit_count_max), .rule = rule};
}

inline Rule any_rule(Chance& chance) {
  switch (chance.between(0, 4)) {
    case 0:
      return any_bucket(chance);
    case 1:
      return any_window(chance);
    case 2:
      return any_log(chance);
    case 3:
      return any_concurrency(chance);
    default:
      return any_calendar(chance);
  }
}

// The longest that any clock may make anybody wait, as the headers of the rules say.
inline Duration longest_wait(const Rule& rule, Now now) {
  struct Of {
    Now now;
    Duration operator()(const TokenBucket& bucket) { return bucket.interval * bucket.capacity(); }
    Duration operator()(const SlidingWindow& window) { return window.rate.period * 2; }
    Duration operator()(const SlidingLog& log) { return log.rate.period; }
    Duration operator()(const Concurrency& concurrency) { return concurrency.lease; }
    Duration operator()(const Calendar& calendar) {
      const Window window = window_at(calendar.rule, now.wall);
      const Window next = window_at(calendar.rule, now.wall + bounds::clock_step_max);
      return std::max(window.end, next.end) - now.wall;
    }
  };
  return std::visit(Of{now}, rule);
}

// A span of time that matters to the rule: nothing, a little, about a token's, all of it, more.
inline Duration any_pause(Chance& chance, const Rule& rule, Now now) {
  const Duration all = std::max(nanosecond, longest_wait(rule, now));
  const std::int64_t capacity = capacity_of(rule);
  switch (chance.between(0, 4)) {
    case 0:
      return {};
    case 1:
      return chance.any_duration(Duration(), all);
    case 2:
      return chance.duration(Duration(), all / capacity * 2);
    case 3:
      return chance.duration(Duration(), all);
    default:
      return chance.one_in(4) ? all * 2 : all / 7;
  }
}

inline std::int64_t any_cost(Chance& chance, std::int64_t capacity) {
  switch (chance.between(0, 3)) {
    case 0:
      return 1;
    case 1:
      return chance.between(1, capacity);
    case 2:
      return chance.any_size(1, capacity);
    default:
      return std::max<std::int64_t>(1, capacity - chance.any_size(0, capacity));
  }
}

// Whether what look() says of an ask of `cost`, within the rule's capacity, is true to the last use
// and nanosecond.
template <class R>
void expect_truth(const R& rule, const Kept& kept, std::int64_t cost, Now now) {
  const auto seen = [&](Duration after) { return look(rule, kept.state, 0, later(now, after)); };
  const auto allows = [&](std::int64_t n, Duration after) {
    return look(rule, kept.state, n, later(now, after)).allowed;
  };
  const std::int64_t capacity = capacity_of(rule);
  const Verdict here = seen({});
  EXPECT_TRUE(here.allowed);
  EXPECT_GE(here.remaining, 0);
  EXPECT_LE(here.remaining, capacity);
  EXPECT_TRUE(here.remaining == 0 || allows(here.remaining, {}));
  EXPECT_FALSE(allows(here.remaining + 1, {}));

  const Verdict verdict = look(rule, kept.state, cost, now);
  EXPECT_EQ(verdict.allowed, cost <= here.remaining);
  EXPECT_EQ(verdict.allowed, verdict.retry_after == Duration());
  if (!verdict.allowed) {
    EXPECT_TRUE(allows(cost, verdict.retry_after));
    EXPECT_FALSE(allows(cost, verdict.retry_after - nanosecond));
    EXPECT_EQ(verdict.remaining, here.remaining);
  }
  EXPECT_EQ(here.more_after == Duration(), here.full_after == Duration());
  if (here.full_after > Duration()) {
    EXPECT_GT(seen(here.more_after).remaining, here.remaining);
    EXPECT_EQ(seen(here.more_after - nanosecond).remaining, here.remaining);
    EXPECT_GT(seen(here.full_after - nanosecond).full_after, Duration());
  }
  EXPECT_EQ(seen(here.full_after).full_after, Duration());
  EXPECT_EQ(seen(here.full_after).remaining, capacity);

  if (!verdict.allowed) return;
  Kept charged = kept;
  charge(rule, charged, cost, now);
  const Verdict after = look(rule, charged.state, 0, now);
  EXPECT_EQ(verdict.remaining, here.remaining - cost);
  EXPECT_EQ(verdict.remaining, after.remaining);
  EXPECT_EQ(verdict.more_after, after.more_after);
  EXPECT_EQ(verdict.full_after, after.full_after);
}

// Uses the rule at random for some steps, and checks every verdict on the way.
template <class R>
void walk_and_check(const R& rule, Chance& chance, int steps) {
  Kept kept;
  Now now = start;
  for (int step = 0; step < steps && !testing::Test::HasFailure(); ++step) {
    now = later(now, any_pause(chance, rule, now));
    const std::int64_t cost = any_cost(chance, capacity_of(rule));
    expect_truth(rule, kept, cost, now);
    const Kept before = kept;
    const bool allowed = ask(rule, kept, cost, now).allowed;
    EXPECT_EQ(allowed, !(kept == before));
    // What was used beyond what was reserved: more than there is.
    if (chance.one_in(8)) charge(rule, kept, any_cost(chance, capacity_of(rule)), now);
  }
}

}  // namespace pawl::limit
