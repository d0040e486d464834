// Goal: most asks need no store; never more passes than the header says, nothing is lost, and
// nobody asks the store in vain. Method: the conformance suite with a batch of 1; several leased
// stores on one, on random schedules, against a brute-force check of every stretch of time; then a
// store that answers late, fails, or is changed under a lease.
#include "runtime/leased_counter_store.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "core/limit/limit_fixture.h"
#include "port/counter_store_conformance.h"
#include "runtime/counter_store_fixture.h"

namespace pawl {
namespace {

using limit::Chance;

struct Leased {
  explicit Leased(LeasedCounterStore::Options options = {.terms = {.batch = 64}})
      : store(options, clock, inner) {}

  ManualClock clock;
  MemoryCounterStore memory{clock};
  TroubledStore inner{memory};
  LeasedCounterStore store;

  limit::Policy pace{"pace", limit::TokenBucket({1, Duration::hours(1)}, 999)};
  Count count{&pace, "t"};
  Counts set{&count, 1};

  int allowed(int asks, Counts counts, std::int64_t cost = 1) {
    int n = 0;
    for (int i = 0; i < asks; ++i) n += checked(store, counts, cost)->allowed ? 1 : 0;
    return n;
  }
  std::int64_t left_in_store(const Count& which) {
    return checked(memory, {&which, 1}, 0)->bound().remaining;
  }
};

TEST(LeasedCounterStore, WithABatchOfOneItConforms) {
  Leased leased({.terms = {.batch = 1}});
  expect_counter_store_conforms({.store = leased.store,
                                 .advance = [&](Duration d) { leased.clock.advance(d); },
                                 .now = [&] { return now_of(leased.clock); }});
}

TEST(LeasedCounterStore, AloneItHandsOutAllThereIsAndNoMore) {
  const limit::Policy policies[] = {
      {"tokens", limit::TokenBucket({1, Duration::hours(1)}, 999)},
      {"window", limit::SlidingWindow{{1'000, Duration::hours(1)}}},
      {"calendar", limit::Calendar{1'000, {.unit = limit::CalendarUnit::month}}}};
  for (const limit::Policy& policy : policies) {
    SCOPED_TRACE(policy.name);
    Leased leased;
    const Count count{&policy, "t"};
    for (int i = 1; i <= 1'000; ++i) {
      const limit::Answer answer = checked(leased.store, {&count, 1}).value();
      ASSERT_TRUE(answer.allowed);
      EXPECT_EQ(answer.bound().remaining, 1'000 - i);
      EXPECT_EQ(answer.bound().limit, checked(leased.memory, {&count, 1}, 0)->bound().limit);
    }
    EXPECT_LE(leased.inner.calls, 40) << "1, 2, 4 … 64, and then the last ones";
    EXPECT_EQ(leased.allowed(100, {&count, 1}), 0);
  }
}

TEST(LeasedCounterStore, OfASetAllAreChargedOrNone) {
  Leased leased;
  const limit::Policy narrow{"narrow", limit::SlidingWindow{{10, Duration::hours(1)}}};
  const limit::Policy shadow{
      "shadow", limit::TokenBucket({1, Duration::hours(1)}, 4), {.shadow = true}};
  const Count set[] = {leased.count, {&narrow, "t"}, {&shadow, "t"}};
  EXPECT_EQ(leased.allowed(300, set, 2), 5);
  EXPECT_EQ(leased.allowed(100, leased.set), 100);
  const limit::Answer refused = checked(leased.store, set, 2).value();
  EXPECT_EQ(refused.binding, 1);
  EXPECT_TRUE(refused.verdicts[0].allowed);
  EXPECT_FALSE(refused.verdicts[1].allowed);
  EXPECT_FALSE(refused.verdicts[2].allowed) << "four of five were used in twos";
  leased.store.give_back_all();
  EXPECT_EQ(leased.left_in_store(leased.count), 1'000 - 110);
  EXPECT_EQ(leased.left_in_store(set[1]), 0);
}

// Several processes on one store, and what they let through.
class Crowd {
 public:
  struct Use {
    SteadyInstant at;
    Instant wall;
    std::int64_t cost;
  };
  // What goes straight is used when its answer comes: nobody but the wire bounds that. So answers
  // are late only where all is leased.
  Crowd(Chance& chance, std::size_t processes, LeasedCounterStore::Options options)
      : chance_(chance),
        cost_max_(std::min<std::int64_t>(4, options.terms.batch / 2)),
        late_(cost_max_ > 0 && chance.one_in(2)) {
    if (!late_) cost_max_ = 4;
    for (std::size_t i = 0; i < processes; ++i) {
      wires_.push_back(std::make_unique<TroubledStore>(memory_));
      wires_.back()->late = late_;
      stores_.push_back(std::make_unique<LeasedCounterStore>(options, clock_, *wires_.back()));
    }
  }

  // Bursts of one process after the other, and pauses of all lengths up to twice `period`.
  std::vector<Use> run(const limit::Policy& policy, Duration period, int steps) {
    std::vector<Use> uses;
    const Count count{&policy, "t"};
    for (int step = 0; step < steps; ++step) {
      if (chance_.one_in(3)) clock_.advance(chance_.any_duration(Duration(), period * 2));
      if (chance_.one_in(4)) clock_.advance(chance_.duration(Duration(), period));
      LeasedCounterStore& store = *stores_[index()];
      const std::int64_t cost = chance_.one_in(3) ? chance_.between(1, cost_max_) : 1;
      for (std::int64_t n = chance_.between(1, 30); n > 0; --n) {
        store.check({&count, 1}, cost, [&uses, cost, this](const auto& answer) {
          if (answer->allowed) uses.push_back({clock_.steady_now(), clock_.wall_now(), cost});
        });
        if (chance_.one_in(2)) wires_[index()]->pump();
      }
      if (chance_.one_in(3)) stores_[index()]->give_back_idle();
    }
    while (pump()) {
    }
    return uses;
  }
  bool pump() {
    bool any = false;
    for (auto& wire : wires_) {
      any = any || wire->waiting() > 0;
      wire->pump();
    }
    return any;
  }

 private:
  std::size_t index() {
    return static_cast<std::size_t>(
        chance_.between(0, static_cast<std::int64_t>(stores_.size()) - 1));
  }

  Chance& chance_;
  std::int64_t cost_max_;
  bool late_;
  ManualClock clock_;
  MemoryCounterStore memory_{clock_};
  std::vector<std::unique_ptr<TroubledStore>> wires_;
  std::vector<std::unique_ptr<LeasedCounterStore>> stores_;
};

struct Terms {
  std::size_t processes;
  std::int64_t batch;
  std::int64_t slack() const { return static_cast<std::int64_t>(processes) * batch; }
};

LeasedCounterStore::Options options_of(const Terms& terms, Duration period, Chance& chance) {
  return {
      .terms = {.batch = terms.batch, .lease_for = chance.any_duration(limit::nanosecond, period)}};
}

constexpr Terms all_terms[] = {{1, 1}, {3, 1}, {1, 8}, {2, 8}, {5, 20}, {3, 100}};

// Every stretch from one use to another.
TEST(LeasedCounterStore, OfATokenBucketNoMorePassesThanCapacityRefillAndWhatIsHeld) {
  constexpr Duration period = Duration::seconds(10);
  for (const Terms& terms : all_terms) {
    std::int64_t worst = 0;
    limit::for_seeds(40, [&](Chance& chance) {
      const limit::TokenBucket bucket({chance.between(1, 100), period}, chance.between(0, 60));
      Crowd crowd(chance, terms.processes, options_of(terms, period, chance));
      const auto uses = crowd.run({"tokens", bucket}, period, 100);
      std::int64_t most = bucket.capacity();
      for (std::size_t from = 0; from < uses.size(); ++from) {
        std::int64_t passed = 0;
        for (std::size_t to = from; to < uses.size(); ++to) {
          passed += uses[to].cost;
          const std::int64_t refilled =
              (uses[to].at - uses[from].at).ns() / bucket.interval.ns() + 1;
          worst = std::max(worst, passed - bucket.capacity() - refilled);
          most = std::max(most, passed - refilled);
        }
      }
      EXPECT_LE(most, bucket.capacity() + terms.slack());
    });
    EXPECT_EQ(worst > 0, terms.batch > 1) << "strict is exact; leases do use their slack " << worst;
  }
}

TEST(LeasedCounterStore, OfAWindowNoMorePassesThanTheLimitAndWhatIsHeld) {
  constexpr Duration period = Duration::minutes(1);
  const auto by_window = [&](const auto& uses, auto window_of) {
    std::map<std::int64_t, std::int64_t> passed;
    for (const Crowd::Use& use : uses) passed[window_of(use) / period.ns()] += use.cost;
    std::int64_t most = 0;
    for (const auto& [window, sum] : passed) most = std::max(most, sum);
    return most;
  };
  for (const Terms& terms : all_terms) {
    std::int64_t worst = 0;
    limit::for_seeds(60, [&](Chance& chance) {
      const std::int64_t limit = chance.between(1, 150);
      const auto options = options_of(terms, period, chance);
      const limit::Policy sliding{"sliding", limit::SlidingWindow{{limit, period}}};
      const limit::Policy calendar{"calendar",
                                   limit::Calendar{limit, {.unit = limit::CalendarUnit::minute}}};
      const auto in_grid =
          by_window(Crowd(chance, terms.processes, options).run(sliding, period, 60),
                    [](const Crowd::Use& use) { return use.at.ns(); });
      const auto in_calendar =
          by_window(Crowd(chance, terms.processes, options).run(calendar, period, 60),
                    [](const Crowd::Use& use) { return use.wall.ns(); });
      EXPECT_LE(in_grid, limit + terms.slack());
      EXPECT_LE(in_calendar, limit + terms.slack());
      worst = std::max(worst, in_grid - limit);
    });
    EXPECT_EQ(worst > 0, terms.batch > 1) << "strict is exact; leases do use their slack " << worst;
  }
}

TEST(LeasedCounterStore, WhatIsUsedIsChargedAndTheRestGoesBack) {
  limit::for_seeds(50, [](Chance& chance) {
    ManualClock clock;
    MemoryCounterStore memory(clock);
    const LeasedCounterStore::Options options{.terms = {.batch = chance.between(2, 50)}};
    LeasedCounterStore stores[] = {{options, clock, memory}, {options, clock, memory}};
    const limit::Policy a{"a", limit::TokenBucket({1, Duration::hours(1)}, 199)};
    const limit::Policy b{"b", limit::SlidingWindow{{200, Duration::hours(1)}}};
    const Count counts[] = {{&a, "t"}, {&b, "t"}};
    std::int64_t used[] = {0, 0};
    for (int i = 0; i < 300; ++i) {
      const std::int64_t which = chance.between(0, 2);  // a, b, or both
      const Counts set = which == 2 ? Counts(counts) : Counts(&counts[which], 1);
      const std::int64_t cost = chance.between(1, 3);
      if (!checked(stores[chance.between(0, 1)], set, cost)->allowed) continue;
      for (std::int64_t j = 0; j < 2; ++j) used[j] += which == 2 || which == j ? cost : 0;
    }
    for (LeasedCounterStore& store : stores) store.give_back_all();
    for (int j = 0; j < 2; ++j) {
      EXPECT_LE(used[j], 200);
      EXPECT_EQ(checked(memory, {&counts[j], 1}, 0)->bound().remaining, 200 - used[j]);
    }
  });
}

TEST(LeasedCounterStore, RefusedCallersCostNoTrip) {
  Leased leased;
  EXPECT_EQ(leased.allowed(1'500, leased.set), 1'000);
  const int calls = leased.inner.calls;
  const limit::Answer first = checked(leased.store, leased.set).value();
  EXPECT_EQ(first.retry_after, Duration::hours(1));
  EXPECT_FALSE(first.bound().allowed);
  leased.clock.advance(Duration::milliseconds(999));
  EXPECT_EQ(checked(leased.store, leased.set)->retry_after,
            Duration::hours(1) - Duration::milliseconds(999));
  EXPECT_EQ(leased.inner.calls, calls);
  leased.clock.advance(Duration::milliseconds(1));
  EXPECT_EQ(leased.allowed(100, leased.set), 0);
  EXPECT_EQ(leased.inner.calls, calls + 1) << "once a second, in case the store says otherwise";
}

TEST(LeasedCounterStore, ARefusalIsForgottenWhenItsWaitIsOver) {
  Leased leased;
  const limit::Policy quick{"quick", limit::TokenBucket({1, Duration::milliseconds(10)}, 0)};
  const Count count{&quick, "t"};
  EXPECT_EQ(leased.allowed(3, {&count, 1}), 1);
  leased.clock.advance(Duration::milliseconds(10));
  EXPECT_EQ(leased.allowed(3, {&count, 1}), 1);
}

TEST(LeasedCounterStore, AKeyThatIsSeldomUsedCostsWhatItCostsWithoutLeases) {
  Leased leased;
  for (int i = 1; i <= 20; ++i) {
    EXPECT_EQ(leased.allowed(1, leased.set), 1);
    EXPECT_EQ(leased.left_in_store(leased.count), 1'000 - i) << "nothing is held";
    leased.clock.advance(Duration::seconds(2));
    leased.store.give_back_idle();
  }
  EXPECT_EQ(leased.inner.calls, 20);
}

TEST(LeasedCounterStore, WhatIsNotUsedGoesBackWhenItsTimeIsOver) {
  Leased leased;
  EXPECT_EQ(leased.allowed(100, leased.set), 100);
  leased.store.give_back_idle();
  EXPECT_LT(leased.left_in_store(leased.count), 900) << "it is too early";
  leased.clock.advance(Duration::seconds(1));
  const int calls = leased.inner.calls;
  leased.store.give_back_idle();
  EXPECT_EQ(leased.left_in_store(leased.count), 900);
  leased.store.give_back_idle();
  EXPECT_EQ(leased.inner.calls, calls + 1);

  // The same when somebody asks first.
  EXPECT_EQ(leased.allowed(100, leased.set), 100);
  leased.clock.advance(Duration::seconds(1));
  EXPECT_EQ(leased.allowed(1, leased.set), 1);
  EXPECT_EQ(leased.left_in_store(leased.count), 799);
}

TEST(LeasedCounterStore, CallersOfOneKeyWaitForOneTrip) {
  Leased leased;
  leased.inner.late = true;
  int answers = 0;
  for (int i = 0; i < 50; ++i) {
    leased.store.check(leased.set, 1, [&](const auto& answer) { answers += answer->allowed; });
  }
  EXPECT_EQ(leased.inner.calls, 1);
  int trips = 0;
  while (leased.inner.waiting() > 0) {
    EXPECT_EQ(leased.inner.waiting(), 1u);
    leased.inner.pump();
    ++trips;
  }
  EXPECT_EQ(answers, 50);
  EXPECT_LE(trips, 8) << "1, 2, 4 … and one that nobody waits for";
}

TEST(LeasedCounterStore, ThoseWhoWaitAreServedInTurnAndTheRestGoStraight) {
  Leased leased;
  const limit::Policy wide{"wide", limit::TokenBucket({1, Duration::hours(1)}, 999'999)};
  const Count count{&wide, "t"};
  constexpr std::size_t asks = bounds::limit_lease_waiters_max + 2;  // one asks the store
  leased.inner.late = true;
  std::vector<std::size_t> served;
  for (std::size_t i = 0; i < asks; ++i) {
    leased.store.check({&count, 1}, 1, [&, i](const auto& answer) {
      if (answer) served.push_back(i);
    });
  }
  EXPECT_EQ(leased.inner.calls, 2);
  leased.inner.late = false;
  leased.inner.pump_newest();
  EXPECT_EQ(served, std::vector{asks - 1}) << "there is no room for it to wait";
  leased.inner.pump();
  ASSERT_EQ(served.size(), asks);
  EXPECT_TRUE(std::ranges::is_sorted(served.begin() + 1, served.end()));
}

TEST(LeasedCounterStore, MoreIsTakenBeforeAnybodyWaitsForIt) {
  Leased leased;
  EXPECT_EQ(leased.allowed(64, leased.set), 64);
  leased.inner.late = true;
  for (int i = 0; i < 500; ++i) {
    bool answered = false;
    leased.store.check(leased.set, 1, [&](const auto&) { answered = true; });
    ASSERT_TRUE(answered) << "ask " << i;
    if (i % 10 == 0) leased.inner.pump();
  }
}

TEST(LeasedCounterStore, AClosingHoldsAtOnce) {
  for (const bool under_way : {false, true}) {
    Leased leased;
    EXPECT_EQ(leased.allowed(100, leased.set), 100);
    int allowed = 0;
    leased.inner.late = under_way;
    if (under_way) {
      for (int i = 0; i < 64; ++i) {
        leased.store.check(leased.set, 1, [](const auto&) {});
      }
      ASSERT_EQ(leased.inner.waiting(), 1u) << "more is being taken";
    }
    bool closed = false;
    leased.store.close(leased.count, leased.clock.wall_now() + Duration::minutes(1),
                       [&](const auto&) { closed = true; });
    if (under_way) leased.inner.pump_newest();
    ASSERT_TRUE(closed);
    for (int i = 0; i < 10; ++i) {
      leased.store.check(leased.set, 1, [&](const auto& answer) { allowed += answer->allowed; });
    }
    while (leased.inner.waiting() > 0) leased.inner.pump();
    EXPECT_EQ(allowed, 0);
    EXPECT_TRUE(leased.inner.late || checked(leased.store, leased.set)->bound().closed);
  }
}

TEST(LeasedCounterStore, AClosingByAnotherProcessIsSeenWhenTheLeaseIsOver) {
  Leased leased;
  EXPECT_EQ(leased.allowed(100, leased.set), 100);
  leased.memory.close(leased.count, leased.clock.wall_now() + Duration::hours(1),
                      [](const auto&) {});
  leased.clock.advance(Duration::seconds(1));
  EXPECT_EQ(leased.allowed(10, leased.set), 0);
}

TEST(LeasedCounterStore, RefundResetAndSettlementAreSeenAtOnce) {
  Leased leased;
  const auto ok = [](const Result<void>& result) { EXPECT_TRUE(result.has_value()); };
  const Reservation held = reserved(leased.store, leased.set, 10).value();
  EXPECT_EQ(leased.allowed(1'000, leased.set), 990);
  leased.store.refund(leased.count, 5, ok);
  EXPECT_EQ(leased.allowed(10, leased.set), 5);
  ASSERT_TRUE(settled(leased.store, leased.set, held.id, Settlement::Kind::cancel).has_value());
  EXPECT_EQ(leased.allowed(20, leased.set), 10);
  leased.store.reset(leased.count, ok);
  EXPECT_EQ(leased.allowed(2'000, leased.set), 1'000);
}

TEST(LeasedCounterStore, AnotherRuleIsAskedForAnew) {
  Leased leased;
  EXPECT_EQ(leased.allowed(100, leased.set), 100);
  const limit::Policy tight{"pace", limit::TokenBucket({1, Duration::hours(1)}, 49)};
  const Count count{&tight, "t"};
  EXPECT_EQ(leased.allowed(10, {&count, 1}), 0) << "more than that were used";
}

TEST(LeasedCounterStore, AnErrorIsToldToAllWhoWaitedAndTheNextAsksAgain) {
  Leased leased;
  leased.inner.late = true;
  leased.inner.error = Error(Code::unavailable, Outcome::unknown, "lost");
  int errors = 0;
  for (int i = 0; i < 10; ++i) {
    leased.store.check(leased.set, 1, [&](const auto& answer) { errors += !answer; });
  }
  leased.inner.pump();
  EXPECT_EQ(errors, 10);
  EXPECT_EQ(leased.inner.calls, 1);
  EXPECT_FALSE(leased.store.health().has_value());
  leased.inner.late = false;
  leased.inner.error.reset();
  EXPECT_EQ(leased.allowed(10, leased.set), 10);
}

TEST(LeasedCounterStore, WhatFindsNoRoomIsAskedOfTheStore) {
  Leased leased({.terms = {.batch = 64}, .leases_max = 8});
  const limit::Policy three{"three", limit::SlidingWindow{{3, Duration::hours(1)}}};
  for (std::uint64_t round = 0; round < 5; ++round) {
    for (std::uint64_t key = 0; key < 100; ++key) {
      const Count count{&three, limit::KeyId{0, key}};
      EXPECT_EQ(leased.allowed(1, {&count, 1}), round < 3 ? 1 : 0) << "key " << key;
    }
  }
}

TEST(LeasedCounterStore, APlaceThatSomebodyWaitsForMakesNoRoom) {
  Leased leased({.terms = {.batch = 64}, .leases_max = 8});
  const limit::Policy spent{"spent", limit::SlidingWindow{{1, Duration::hours(1)}}};
  const Count a{&spent, "a"}, b{&leased.pace, "b"}, q{&leased.pace, "q"}, r{&leased.pace, "r"};
  ASSERT_TRUE(checked(leased.memory, {&a, 1})->allowed);
  for (std::uint64_t key = 0; key < 5; ++key) {
    const Count busy{&leased.pace, limit::KeyId{0, key}};
    ASSERT_EQ(leased.allowed(1, {&busy, 1}), 1);
  }
  leased.inner.late = true;
  int told = 0;
  const auto ask = [&](std::vector<Count> set) {
    leased.store.check(set, 1, [&](const auto&) { ++told; });
  };
  ask({a, b});  // has the store asked for both
  ask({b});     // waits for that
  ask({a, q});  // and so does this one; with q the table is full
  ask({r});     // takes the place of q
  // Then a is refused and b is at rest: whoever wants q again must not get the place of b.
  for (int i = 0; i < 10; ++i) leased.inner.pump();
  EXPECT_EQ(told, 4);
}

TEST(LeasedCounterStore, NobodyIsToldTheWaitOfASmallerAsk) {
  Leased leased;
  const limit::Policy tokens{"tokens", limit::TokenBucket({1, Duration::seconds(1)}, 9)};
  const Count count{&tokens, "t"};
  EXPECT_EQ(leased.allowed(10, {&count, 1}), 10);
  EXPECT_EQ(checked(leased.store, {&count, 1}, 1)->bound().retry_after, Duration::seconds(1));
  EXPECT_EQ(checked(leased.store, {&count, 1}, 5)->bound().retry_after, Duration::seconds(5));
}

TEST(LeasedCounterStore, AtTheEndAllGoesBackInParts) {
  constexpr std::uint64_t keys = bounds::limit_lease_returns_max * 5 / 2;
  Leased leased;
  for (std::uint64_t key = 0; key < keys; ++key) {
    const Count count{&leased.pace, limit::KeyId{0, key}};
    ASSERT_EQ(leased.allowed(4, {&count, 1}), 4);
  }
  int rounds = 0;
  leased.inner.late = true;
  for (; leased.store.give_back_all(); ++rounds) {
    EXPECT_LE(leased.inner.waiting(), bounds::limit_lease_returns_max);
    leased.inner.pump();
  }
  EXPECT_EQ(rounds, 3);
  for (std::uint64_t key = 0; key < keys; ++key) {
    ASSERT_EQ(leased.left_in_store({&leased.pace, limit::KeyId{0, key}}), 996) << key;
  }
}

TEST(LeasedCounterStore, WhatCannotBeLeasedGoesStraight) {
  Leased leased;
  const limit::Policy log{"log", limit::SlidingLog{{100, Duration::hours(1)}}};
  const Count set[] = {leased.count, {&log, "t"}};
  EXPECT_EQ(leased.allowed(10, set), 10);
  EXPECT_EQ(leased.inner.calls, 10);
  EXPECT_EQ(leased.allowed(1, leased.set, 33), 1);
  EXPECT_EQ(leased.inner.cost, 33);
  EXPECT_EQ(leased.left_in_store(leased.count), 1'000 - 43);
}

TEST(LeasedCounterStore, ThreadsOfTwoProcessesPassWhatThereIs) {
  ManualClock clock;
  MemoryCounterStore memory(clock);
  const LeasedCounterStore::Options options{.terms = {.batch = 16}};
  LeasedCounterStore stores[] = {{options, clock, memory}, {options, clock, memory}};
  const limit::Policy a{"a", limit::TokenBucket({1, Duration::hours(1)}, 2'999)};
  const limit::Policy b{"b", limit::SlidingWindow{{5'000, Duration::hours(1)}}};
  std::atomic<int> passed = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const Count set[] = {{&a, "t"}, {&b, "t"}};
      for (int i = 0; i < 1'500; ++i) {
        stores[t % 2].check(set, 1, [&](const auto& answer) { passed += answer->allowed; });
        if (i % 100 == 0) stores[t % 2].give_back_all();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (LeasedCounterStore& store : stores) store.give_back_all();
  EXPECT_LE(passed, 3'000);
  EXPECT_GE(passed, 3'000 - 32);
  const Count counts[] = {{&a, "t"}, {&b, "t"}};
  EXPECT_EQ(checked(memory, {&counts[0], 1}, 0)->bound().remaining, 3'000 - passed);
  EXPECT_EQ(checked(memory, {&counts[1], 1}, 0)->bound().remaining, 5'000 - passed);
}

TEST(LeasedCounterStore, ALateAnswerMayComeWhenItIsGone) {
  Leased leased;
  leased.inner.late = true;
  int told = 0;
  {
    LeasedCounterStore brief({.terms = {.batch = 8}}, leased.clock, leased.inner);
    brief.check(leased.set, 1, [&](const auto& answer) { told += answer->allowed; });
  }
  leased.inner.pump();
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace pawl
