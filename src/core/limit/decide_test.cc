// Goal: all policies of an ask are charged or none is, the answer is true, and no clock locks
//       anybody out or opens the gate.
// Method: pinned sets by hand; random sets of random rules in random states, each answer compared
//         with what each policy says by itself, and each wait tried out.
#include "core/limit/decide.h"

#include <gtest/gtest.h>
#include <vector>

#include "core/limit/limit_fixture.h"

namespace pawl::limit {
namespace {

constexpr Duration second = Duration::seconds(1);
constexpr Duration minute = Duration::minutes(1);
constexpr Duration hour = Duration::hours(1);

SlidingWindow a_minute(std::int64_t count) {
  return {.rate = {.count = count, .period = minute}};
}

// Policies with a state each.
struct Set {
  std::vector<Policy> policies;
  std::vector<Kept> kept;

  void add(Rule rule, PolicyOptions options = {}) {
    policies.emplace_back("p" + std::to_string(policies.size()), std::move(rule), options);
    kept.emplace_back();
  }
  Answer decide(Ask ask, Now now) {
    std::vector<Member> members;
    for (std::size_t i = 0; i < policies.size(); ++i) {
      members.push_back({.policy = &policies[i], .state = &kept[i].state});
    }
    return limit::decide(members, ask, now);
  }
  Answer decide(std::int64_t cost, Now now) { return decide(use_of(cost, now), now); }
};

Verdict alone(const Policy& policy, const Kept& kept, std::int64_t cost, Now now) {
  Kept copy = kept;
  const Member member{.policy = &policy, .state = &copy.state};
  return decide({&member, 1}, use_of(cost, now), now).verdicts[0];
}

void expect_same(const Verdict& a, const Verdict& b) {
  EXPECT_EQ(a.allowed, b.allowed);
  EXPECT_EQ(a.closed, b.closed);
  EXPECT_EQ(a.limit, b.limit);
  EXPECT_EQ(a.remaining, b.remaining);
  EXPECT_EQ(a.retry_after, b.retry_after);
  EXPECT_EQ(a.more_after, b.more_after);
  EXPECT_EQ(a.full_after, b.full_after);
  EXPECT_EQ(a.before, b.before);
}

TEST(Decide, ChargesAllOrNone) {
  Set set;
  set.add(a_minute(10));
  set.add(a_minute(2));
  EXPECT_TRUE(set.decide(2, start).allowed);
  EXPECT_EQ(set.decide(0, start).verdicts[0].remaining, 8);
  const std::vector<Kept> before = set.kept;
  const Answer refused = set.decide(1, start);
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(set.kept, before);
  EXPECT_TRUE(refused.verdicts[0].allowed);
  EXPECT_EQ(refused.verdicts[0].remaining, 8);
  EXPECT_FALSE(refused.verdicts[1].allowed);
}

TEST(Decide, NamesThePolicyThatKeepsOutForLongest) {
  Set set;
  set.add(TokenBucket({.count = 1, .period = second}, 0));
  set.add(TokenBucket({.count = 1, .period = minute}, 0));
  set.add(TokenBucket({.count = 1, .period = minute}, 0));
  EXPECT_TRUE(set.decide(1, start).allowed);
  const Answer refused = set.decide(1, start);
  EXPECT_EQ(refused.binding, 1);
  EXPECT_EQ(refused.retry_after, minute);
  EXPECT_EQ(refused.bound().retry_after, minute);
  EXPECT_EQ(refused.now.moment, start.moment);
  EXPECT_EQ(refused.now.wall, start.wall);
}

TEST(Decide, WhenAllAllowNamesTheOneThatHasLeastLeft) {
  Set set;
  set.add(a_minute(1), {.shadow = true, .on_change = OnChange::as_is});
  set.add(a_minute(100));
  set.add(a_minute(3));
  set.add(a_minute(3));
  const Answer answer = set.decide(1, start);
  EXPECT_TRUE(answer.allowed);
  EXPECT_EQ(answer.retry_after, Duration());
  EXPECT_EQ(answer.binding, 2);
  EXPECT_EQ(answer.bound().remaining, 2);
}

TEST(Decide, OfShadowsAloneTheOneThatWouldRefuseBinds) {
  const PolicyOptions shadow = {.shadow = true, .on_change = OnChange::as_is};
  Set set;
  set.add(a_minute(4), shadow);
  set.add(a_minute(5), shadow);
  const Answer answer = set.decide(5, start);
  EXPECT_TRUE(answer.allowed);
  EXPECT_EQ(answer.binding, 0);
  EXPECT_EQ(answer.verdicts[0].remaining, 4);
  EXPECT_EQ(answer.verdicts[1].remaining, 0);
}

TEST(Decide, AShadowCountsAndTellsAndNeverRefuses) {
  Set set;
  set.add(a_minute(1), {.shadow = true, .on_change = OnChange::as_is});
  set.add(a_minute(3));
  EXPECT_EQ(set.decide(1, start).verdicts[0].remaining, 0);
  const Answer second_ask = set.decide(1, start);
  EXPECT_TRUE(second_ask.allowed);
  EXPECT_EQ(second_ask.binding, 1);
  EXPECT_FALSE(second_ask.verdicts[0].allowed);
  EXPECT_EQ(second_ask.verdicts[1].remaining, 1);
  EXPECT_TRUE(set.decide(1, start).allowed);
  const Answer refused = set.decide(1, start);
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.binding, 1);
}

// A refusal by a policy that counts leaves the shadow uncharged, wherever it stands.
TEST(Decide, AShadowIsChargedOnlyWithTheOthers) {
  Set set;
  set.add(a_minute(1));
  set.add(a_minute(5), {.shadow = true, .on_change = OnChange::as_is});
  EXPECT_EQ(set.decide(1, start).verdicts[1].remaining, 4);
  EXPECT_FALSE(set.decide(1, start).allowed);
  EXPECT_EQ(set.decide(0, start).verdicts[1].remaining, 4);
}

TEST(Decide, TellsWhichCountsWereCharged) {
  Set set;
  set.add(a_minute(5));
  set.add(a_minute(1), {.shadow = true, .on_change = OnChange::as_is});
  set.add(a_minute(2));
  EXPECT_EQ(charged_mask(set.decide(1, start)), 0b111);
  const std::uint8_t mask = charged_mask(set.decide(1, start));
  EXPECT_EQ(mask, 0b101) << "the shadow had no room";
  EXPECT_TRUE(is_charged(mask, 0));
  EXPECT_FALSE(is_charged(mask, 1));
  const Answer refused = set.decide(1, start);
  EXPECT_TRUE(refused.verdicts[0].allowed);
  EXPECT_EQ(charged_mask(refused), 0) << "a refused ask charges nobody";
}

TEST(Decide, ACostAboveTheCapacityOfOneIsNeverAllowed) {
  Set set;
  set.add(a_minute(100));
  set.add(a_minute(10));
  const Answer answer = set.decide(11, start);
  EXPECT_FALSE(answer.allowed);
  EXPECT_EQ(answer.retry_after, Duration::max());
  EXPECT_EQ(answer.binding, 1);
}

TEST(Decide, OfAClosingAndTheRuleTheStricterWins) {
  Set set;
  set.add(TokenBucket({.count = 1, .period = minute}, 1));
  set.kept[0].state.closed_until = start.moment + second;
  const Answer closed = set.decide(1, start);
  EXPECT_FALSE(closed.allowed);
  EXPECT_TRUE(closed.verdicts[0].closed);
  EXPECT_EQ(closed.retry_after, second);
  EXPECT_EQ(closed.verdicts[0].remaining, 0);
  EXPECT_EQ(closed.verdicts[0].more_after, second);
  EXPECT_EQ(closed.verdicts[0].full_after, second);
  EXPECT_FALSE(set.decide(1, later(start, second - nanosecond)).allowed);
  EXPECT_TRUE(set.decide(2, later(start, second)).allowed);

  set.kept[0].state.closed_until = start.moment + second * 2;
  EXPECT_EQ(set.decide(1, later(start, second)).retry_after, minute);
  EXPECT_EQ(set.decide(3, later(start, second)).retry_after, Duration::max());
  set.kept[0].state.closed_until = start.moment + minute * 10;
  EXPECT_EQ(set.decide(1, start).retry_after, minute * 10);
}

// What is closed with something left has it when it opens, not when the rule has more.
TEST(Decide, MoreComesWhenTheClosingEnds) {
  Set set;
  set.add(TokenBucket({.count = 1, .period = minute}, 1));
  EXPECT_TRUE(set.decide(1, start).allowed);
  set.kept[0].state.closed_until = start.moment + second;
  EXPECT_EQ(set.decide(0, start).verdicts[0].more_after, second);
  EXPECT_EQ(set.decide(0, start).verdicts[0].full_after, minute);
  set.kept[0].state.closed_until = {};
  EXPECT_TRUE(set.decide(1, start).allowed);
  set.kept[0].state.closed_until = start.moment + second;
  EXPECT_EQ(set.decide(0, start).verdicts[0].more_after, minute);
}

TEST(Decide, AClosingOutlastsNoPeriod) {
  Set set;
  set.add(a_minute(1));
  set.kept[0].state.closed_until = Moment::max();
  EXPECT_EQ(set.decide(1, start).retry_after, bounds::limit_period_max);
  EXPECT_FALSE(set.decide(1, later(start, bounds::limit_period_max - nanosecond)).allowed);
  EXPECT_TRUE(set.decide(1, later(start, bounds::limit_period_max)).allowed);
}

Set any_set(Chance& chance) {
  Set set;
  const std::int64_t size = chance.between(1, bounds::limit_policies_max);
  const std::int64_t shadows = chance.one_in(6) ? 1 : 4;  // one in so many
  for (std::int64_t i = 0; i < size; ++i) {
    set.add(any_rule(chance), {.shadow = chance.one_in(shadows), .on_change = OnChange::as_is});
  }
  return set;
}

// Most sets have one small policy; a cost that fits it makes both answers likely.
std::int64_t cost_for(Chance& chance, const Set& set) {
  std::int64_t smallest = bounds::limit_count_max;
  for (const Policy& policy : set.policies) {
    smallest = std::min(smallest, capacity_of(policy.rule));
  }
  if (chance.one_in(6)) return 0;
  if (chance.one_in(6)) return chance.any_size(1, bounds::limit_count_max);
  return any_cost(chance, smallest);
}

// The policy that binds, in the header's words.
std::size_t binding_of(const Set& set, const Answer& answer) {
  std::size_t best = set.policies.size();
  for (const bool shadow : {false, true}) {
    for (const bool allowed : {false, true}) {
      for (std::size_t i = 0; i < set.policies.size(); ++i) {
        const Verdict& verdict = answer.verdicts[i];
        if (set.policies[i].options.shadow != shadow || verdict.allowed != allowed) continue;
        if (best == set.policies.size() ||
            (allowed ? verdict.remaining < answer.verdicts[best].remaining
                     : verdict.retry_after > answer.verdicts[best].retry_after)) {
          best = i;
        }
      }
      if (best < set.policies.size()) return best;
    }
  }
  return best;
}

void expect_charged(const Set& set, const std::vector<Kept>& before, std::int64_t cost, Now now) {
  for (std::size_t i = 0; i < set.policies.size(); ++i) {
    const Policy& policy = set.policies[i];
    if (!alone(policy, before[i], cost, now).allowed) {
      EXPECT_TRUE(policy.options.shadow);
      EXPECT_EQ(set.kept[i], before[i]);
      continue;
    }
    EXPECT_EQ(alone(policy, set.kept[i], 0, now).remaining,
              alone(policy, before[i], 0, now).remaining - cost);
  }
}

// A store that has the verdicts from elsewhere draws the same conclusion.
void expect_conclusion(const Set& set, const Answer& answer) {
  std::vector<Count> counts;
  for (const Policy& policy : set.policies) counts.push_back({.policy = &policy, .key = "key"});
  Answer again = answer;
  again.allowed = !answer.allowed;
  again.binding = bounds::limit_policies_max;
  again.retry_after = Duration::max();
  conclude(counts, again);
  EXPECT_EQ(again.allowed, answer.allowed);
  EXPECT_EQ(again.binding, answer.binding);
  EXPECT_EQ(again.retry_after, answer.retry_after);
}

void expect_answer(Set& set, std::int64_t cost, Now now) {
  const std::vector<Kept> before = set.kept;
  const Answer answer = set.decide(cost, now);
  expect_conclusion(set, answer);
  bool allowed = true;
  Duration wait;
  for (std::size_t i = 0; i < set.policies.size(); ++i) {
    const Verdict verdict = alone(set.policies[i], before[i], cost, now);
    if (set.policies[i].options.shadow) continue;
    allowed = allowed && verdict.allowed;
    wait = std::max(wait, verdict.retry_after);
  }
  EXPECT_EQ(answer.allowed, allowed);
  EXPECT_EQ(answer.retry_after, wait);
  EXPECT_EQ(answer.binding, binding_of(set, answer));
  for (std::size_t i = 0; i < set.policies.size(); ++i) {
    const Verdict verdict = alone(set.policies[i], before[i], cost, now);
    const bool as_if_not_asked = verdict.allowed && !allowed;
    expect_same(answer.verdicts[i],
                as_if_not_asked ? alone(set.policies[i], before[i], 0, now) : verdict);
  }
  if (allowed && cost > 0) {
    expect_charged(set, before, cost, now);
    return;
  }
  EXPECT_EQ(set.kept, before);
  if (allowed || wait == Duration::max()) return;
  Set early = set;
  EXPECT_FALSE(early.decide(cost, later(now, wait - nanosecond)).allowed);
  EXPECT_EQ(early.kept, before);
  EXPECT_TRUE(Set(set).decide(cost, later(now, wait)).allowed);
}

// In time that goes on: a refusal and a look change not a bit, and every wait is exact.
TEST(Decide, EveryAnswerOfARandomSetIsWhatItsPoliciesSayTogether) {
  int refused = 0;
  for_seeds(600, [&](Chance& chance) {
    Set set = any_set(chance);
    Now now = start;
    for (int step = 0; step < 20 && !testing::Test::HasFailure(); ++step) {
      const auto of = static_cast<std::size_t>(
          chance.between(0, static_cast<std::int64_t>(set.policies.size()) - 1));
      now = later(now, any_pause(chance, set.policies[of].rule, now));
      if (chance.one_in(8)) {
        const Duration closed = any_pause(chance, set.policies[of].rule, now);
        set.kept[of].state.closed_until = now.moment + std::min(closed, bounds::limit_period_max);
      }
      const std::int64_t cost = cost_for(chance, set);
      if (!Set(set).decide(cost, now).allowed) ++refused;
      expect_answer(set, cost, now);
    }
  });
  EXPECT_GT(refused, 2'000);  // of 12'000: both answers were seen
}

Now anywhen(Chance& chance, Now now) {
  const Now leapt = {.moment = start.moment + chance.duration(-year * 10, year * 10),
                     .wall = start.wall + chance.duration(-year * 10, year * 10)};
  switch (chance.between(0, 4)) {
    case 0:
      return leapt;
    case 1:
      return {.moment = leapt.moment, .wall = now.wall};
    case 2:
      return {.moment = now.moment, .wall = leapt.wall};
    default:  // a step of a second clock, or of an hour
      return later(
          now, chance.any_duration(Duration(), Duration::hours(1)) * (chance.one_in(2) ? 1 : -1));
  }
}

std::int64_t left_at_once(const Policy& policy, Kept kept, Now now) {
  std::int64_t passed = 0;
  const Member member{.policy = &policy, .state = &kept.state};
  for (std::int64_t n = capacity_of(policy.rule); n > 0;) {
    if (decide({&member, 1}, use_of(n, start), now).allowed) {
      passed += n;
    } else {
      n /= 2;
    }
  }
  return passed;
}

TEST(Decide, NoJumpOfAClockLocksACallerOutOrOpensTheGate) {
  for_seeds(1000, [](Chance& chance) {
    const Policy policy("any", any_rule(chance));
    const std::int64_t capacity = capacity_of(policy.rule);
    Kept kept;
    const Member member{.policy = &policy, .state = &kept.state};
    Now now = start;
    for (int step = 0; step < 30 && !testing::Test::HasFailure(); ++step) {
      const Now then = now;
      now =
          chance.one_in(3) ? anywhen(chance, now) : later(now, any_pause(chance, policy.rule, now));
      EXPECT_LE(left_at_once(policy, kept, now), capacity);
      if (now.moment <= then.moment && now.wall <= then.wall) {
        EXPECT_LE(left_at_once(policy, kept, now), left_at_once(policy, kept, then));
      }
      const std::int64_t cost = any_cost(chance, capacity);
      const Answer answer = decide({&member, 1}, use_of(cost, now), now);
      EXPECT_LE(answer.retry_after, longest_wait(policy.rule, now));
      if (!answer.allowed) {
        // Also through other refusals on the way, each of which sees what the last one left.
        const Duration part = chance.duration(Duration(), answer.retry_after - nanosecond);
        const Answer again = decide({&member, 1}, use_of(cost, now), later(now, part));
        EXPECT_FALSE(again.allowed);
        EXPECT_EQ(again.retry_after, answer.retry_after - part);
        EXPECT_TRUE(alone(policy, kept, cost, later(now, answer.retry_after)).allowed);
      }
      if (chance.one_in(8)) {
        settle(policy, kept.state, use_of(0, start),
               {.kind = Settlement::Kind::commit, .actual = any_cost(chance, capacity), .hold = {}},
               now);
      }
    }
  });
}

TEST(Decide, ASetIsAllowedAtTheWaitItNamedWhateverTheClocksDidBefore) {
  for_seeds(600, [](Chance& chance) {
    Set set = any_set(chance);
    Now now = start;
    for (int step = 0; step < 20 && !testing::Test::HasFailure(); ++step) {
      now = anywhen(chance, now);
      const std::int64_t cost = cost_for(chance, set);
      const Answer answer = set.decide(cost, now);
      if (answer.allowed || answer.retry_after == Duration::max()) continue;
      const std::vector<Kept> before = set.kept;
      EXPECT_FALSE(set.decide(cost, later(now, answer.retry_after - nanosecond)).allowed);
      EXPECT_EQ(set.kept, before);  // brought to now by the first refusal, left alone by the next
      EXPECT_TRUE(Set(set).decide(cost, later(now, answer.retry_after)).allowed);
    }
  });
}

TEST(Decide, AKeyIsUnusedExactlyWhenItSaysSo) {
  for_seeds(1500, [](Chance& chance) {
    const Policy policy("any", any_rule(chance));
    Kept kept;
    const Member member{.policy = &policy, .state = &kept.state};
    EXPECT_EQ(until_unused(policy.rule, kept.state, start), Duration());
    decide({&member, 1}, use_of(any_cost(chance, capacity_of(policy.rule)), start), start);
    if (chance.one_in(3)) kept.state.closed_until = start.moment + chance.duration(second, year);
    const Duration wait = until_unused(policy.rule, kept.state, start);
    EXPECT_GT(wait, Duration());
    const Now then = later(start, wait);
    EXPECT_GT(until_unused(policy.rule, kept.state, later(then, -nanosecond)), Duration());
    EXPECT_EQ(until_unused(policy.rule, kept.state, then), Duration());
    EXPECT_EQ(left_at_once(policy, kept, then), capacity_of(policy.rule));
  });
}

// -- what comes after a decision

Settlement commit(std::int64_t actual) {
  return {.kind = Settlement::Kind::commit, .actual = actual, .hold = {}};
}
constexpr Settlement cancel = {.kind = Settlement::Kind::cancel, .actual = 0, .hold = {}};
constexpr Settlement still_at_it = {.kind = Settlement::Kind::renew, .actual = 0, .hold = {}};

// One rule of each kind with the same capacity; slots are another matter.
std::vector<Rule> rules_of(std::int64_t capacity) {
  return {TokenBucket({.count = 1, .period = minute}, capacity - 1), a_minute(capacity),
          SlidingLog{{.count = capacity, .period = minute}},
          Calendar{capacity, {.unit = CalendarUnit::day}}};
}

TEST(Decide, WhatTheVerdictsSayIsConcludedTheSameAfterwards) {
  for_seeds(500, [](Chance& chance) {
    Set set;
    std::vector<Count> counts;
    for (std::int64_t n = chance.between(1, 4); n > 0; --n) {
      set.add(any_rule(chance), {.shadow = chance.one_in(3)});
    }
    for (const Policy& policy : set.policies) counts.push_back({.policy = &policy, .key = "k"});
    for (int i = 0; i < 5; ++i) {
      const Answer answer = set.decide(chance.any_size(1, 1'000), start);
      Answer again;
      again.verdicts = answer.verdicts;
      conclude(counts, again);
      EXPECT_EQ(again.allowed, answer.allowed);
      EXPECT_EQ(again.retry_after, answer.retry_after);
      EXPECT_EQ(again.binding, answer.binding);
    }
  });
}

TEST(Settle, TakesWhatWasUsedAndGivesBackTheRest) {
  for (const Rule& rule : rules_of(100)) {
    const Policy policy("any", rule);
    Set set;
    set.add(rule);
    const Ask reserved = use_of(40, start, 7);
    const auto left_after = [&](Settlement how) {
      Kept kept = set.kept[0];
      EXPECT_TRUE(settle(policy, kept.state, reserved, how, start));
      return alone(policy, kept, 0, start).remaining;
    };
    EXPECT_TRUE(set.decide(10, start).allowed);
    EXPECT_TRUE(set.decide(reserved, start).allowed);
    EXPECT_EQ(left_after(commit(15)), 75) << algorithm_of(rule);
    EXPECT_EQ(left_after(commit(0)), 90) << algorithm_of(rule);
    EXPECT_EQ(left_after(commit(40)), 50) << algorithm_of(rule);
    EXPECT_EQ(left_after(commit(60)), 30) << algorithm_of(rule);
    EXPECT_EQ(left_after(commit(1000)), 0) << algorithm_of(rule);
    EXPECT_EQ(left_after(cancel), 90) << algorithm_of(rule);
    EXPECT_EQ(left_after(still_at_it), 50) << algorithm_of(rule);
  }
}

// Two keys with the same uses but for one that is reserved, and in the end used in part: on the
// other key just that part was used from the beginning.
TEST(Settle, WhatWasReservedLeavesNoMoreThanIfOnlyTheUseHadBeenCharged) {
  for_seeds(2000, [](Chance& chance) {
    const Policy policy("any", any_rule(chance));
    if (std::holds_alternative<Concurrency>(policy.rule)) return;
    const std::int64_t capacity = capacity_of(policy.rule);
    Kept kept;
    Kept other;
    const auto take_anyway = [&](Kept& of, std::int64_t cost, Now now) {
      settle(policy, of.state, use_of(0, now), commit(cost), now);
    };
    const Ask reserved = use_of(any_cost(chance, capacity), start, 7);
    const std::int64_t actual = chance.between(0, reserved.cost);
    const Member member{.policy = &policy, .state = &kept.state};
    Now now = start;
    for (int step = 0; step < 10 && !testing::Test::HasFailure(); ++step) {
      const Ask ask = step == 0 ? reserved : use_of(any_cost(chance, capacity), now);
      if (decide({&member, 1}, ask, now).allowed) {
        take_anyway(other, step == 0 ? actual : ask.cost, now);
      }
      Kept settled = kept;
      EXPECT_TRUE(settle(policy, settled.state, reserved, commit(actual), now));
      const std::int64_t left = alone(policy, settled, 0, now).remaining;
      const std::int64_t others_left = alone(policy, other, 0, now).remaining;
      // A bucket cannot know whether it was full in between, and takes it that it was.
      const bool exact = !std::holds_alternative<TokenBucket>(policy.rule);
      if (exact || now.moment == start.moment) {
        EXPECT_EQ(left, others_left);
      } else {
        EXPECT_LE(left, others_left);
      }
      now = later(now, any_pause(chance, policy.rule, now));
    }
  });
}

TEST(Settle, NumbersThatMakeNoSenseDoNoHarm) {
  for (const Rule& rule : rules_of(100)) {
    const Policy policy("any", rule);
    Set set;
    set.add(rule);
    const Ask reserved = use_of(40, start, 7);
    EXPECT_TRUE(set.decide(reserved, start).allowed);
    Kept kept = set.kept[0];
    EXPECT_TRUE(settle(policy, kept.state, reserved, commit(INT64_MIN), start));
    EXPECT_EQ(alone(policy, kept, 0, start).remaining, 100) << algorithm_of(rule);
    EXPECT_TRUE(settle(policy, set.kept[0].state, reserved, commit(INT64_MAX), start));
    EXPECT_EQ(alone(policy, set.kept[0], 0, start).remaining, 0) << algorithm_of(rule);
  }
}

TEST(Settle, SlotsComeBackWholeAndOnlyToTheirHolder) {
  const Policy policy("slots", Concurrency{.slots = 3, .lease = minute});
  Set set;
  set.add(policy.rule);
  const Ask mine = use_of(2, start, 7);
  EXPECT_TRUE(set.decide(mine, start).allowed);
  EXPECT_FALSE(set.decide(use_of(2, start, 8), start).allowed);
  State& state = set.kept[0].state;
  EXPECT_TRUE(settle(policy, state, mine, still_at_it, later(start, second * 59)));
  EXPECT_FALSE(set.decide(use_of(2, start, 8), later(start, minute)).allowed);
  EXPECT_TRUE(settle(policy, state, use_of(2, start, 9), cancel, later(start, minute)));
  EXPECT_FALSE(set.decide(use_of(2, start, 8), later(start, minute)).allowed);
  EXPECT_TRUE(settle(policy, state, mine, commit(1), later(start, minute)));
  EXPECT_EQ(set.decide(0, later(start, minute)).verdicts[0].remaining, 3);
}

TEST(Settle, ALeaseThatIsOverIsNotRenewed) {
  const Policy policy("slots", Concurrency{.slots = 1, .lease = minute});
  Set set;
  set.add(policy.rule);
  const Ask mine = use_of(1, start, 7);
  EXPECT_TRUE(set.decide(mine, start).allowed);
  EXPECT_FALSE(settle(policy, set.kept[0].state, mine, still_at_it, later(start, minute)));
  EXPECT_TRUE(set.decide(use_of(1, start, 8), later(start, minute)).allowed);
}

TEST(GiveBack, GivesBackNoMoreThanARestedKeyHas) {
  for (const Rule& rule : rules_of(100)) {
    const Policy policy("any", rule);
    Set set;
    set.add(rule);
    EXPECT_TRUE(set.decide(40, start).allowed);
    give_back(policy, set.kept[0].state, use_of(15, start), start);
    EXPECT_EQ(set.decide(0, start).verdicts[0].remaining, 75) << algorithm_of(rule);
    give_back(policy, set.kept[0].state, use_of(1000, start), start);
    EXPECT_EQ(set.decide(0, start).verdicts[0].remaining, 100) << algorithm_of(rule);
    EXPECT_EQ(until_unused(rule, set.kept[0].state, start), Duration()) << algorithm_of(rule);
  }
}

// -- a rule that changes while it is in use

struct Change {
  Rule from;
  Rule to;
  OnChange how = OnChange::as_is;
};

// What is left after 40 were used and the rule has changed.
std::int64_t left_after(const Change& change) {
  Set set;
  set.add(change.from);
  EXPECT_TRUE(set.decide(40, start).allowed);
  const Policy to("p0", change.to, {.shadow = false, .on_change = change.how});
  carry_over(change.from, to, set.kept[0].state, start);
  return alone(to, set.kept[0], 0, start).remaining;
}

TEST(CarryOver, WhatWasUsedIsKeptFromEveryRuleToEveryOther) {
  std::vector<Rule> hundred = rules_of(100);
  std::vector<Rule> thousand = rules_of(1000);
  std::vector<Rule> thirty = rules_of(30);
  for (auto [rules, slots] : {std::pair(&hundred, 100), {&thousand, 1000}, {&thirty, 30}}) {
    rules->push_back(Concurrency{.slots = slots, .lease = minute});
  }
  for (const Rule& from : hundred) {
    for (std::size_t i = 0; i < thousand.size(); ++i) {
      const auto names = ::testing::Message() << to_string(from) << " to " << to_string(thirty[i]);
      EXPECT_EQ(left_after({from, thousand[i]}), 960) << names;
      EXPECT_EQ(left_after({from, thirty[i]}), 0) << names;
      EXPECT_EQ(left_after({from, thousand[i], OnChange::reset}), 1000) << names;
      EXPECT_EQ(left_after({from, thirty[i], OnChange::reset}), 30) << names;
      const bool slots = std::holds_alternative<Concurrency>(from) &&
                         std::holds_alternative<Concurrency>(thirty[i]);
      EXPECT_EQ(left_after({from, thousand[i], OnChange::proportional}), slots ? 960 : 600)
          << names;
      EXPECT_EQ(left_after({from, thirty[i], OnChange::proportional}), slots ? 0 : 18) << names;
    }
  }
}

// To every rule and back, though there was no room for it: nothing comes free by the way of a
// refusal.
TEST(CarryOver, WhatHasNoRoomIsNotForgotten) {
  std::vector<Rule> hundred = rules_of(100);
  std::vector<Rule> thirty = rules_of(30);
  for (const Rule& from : hundred) {
    for (const Rule& by : thirty) {
      Set set;
      set.add(from);
      EXPECT_TRUE(set.decide(40, start).allowed);
      const Policy there("p0", by);
      const Policy back("p0", from);
      Kept kept = set.kept[0];
      const bool lasts = carry_over(from, there, kept.state, start);
      EXPECT_FALSE(alone(there, kept, 1, start).allowed);
      EXPECT_EQ(alone(there, kept, 0, start).remaining, 0);
      if (lasts) carry_over(by, back, kept.state, start);
      EXPECT_EQ(alone(back, lasts ? kept : set.kept[0], 0, start).remaining, 60)
          << to_string(from) << " by " << to_string(by);
    }
  }
}

TEST(CarryOver, NobodyWaitsForLongerThanUnderTheOneRuleOrTheOther) {
  const Rule from = a_minute(1'000'000);
  const Policy to("p0", TokenBucket({.count = 1, .period = hour}, 1));
  Set set;
  set.add(from);
  EXPECT_TRUE(set.decide(900'000, start).allowed);
  const Duration before = until_unused(from, set.kept[0].state, start);
  carry_over(from, to, set.kept[0].state, start);
  EXPECT_LE(alone(to, set.kept[0], 1, start).retry_after, std::max(before, hour * 2));
}

TEST(CarryOver, ABucketKeepsItsShareOfATokenThereAndBack) {
  const Policy five("p0", TokenBucket({.count = 5, .period = second}, 5));
  const Policy four("p0", TokenBucket({.count = 4, .period = second}, 5));
  Set set;
  set.add(five.rule);
  EXPECT_TRUE(set.decide(6, start).allowed);
  const Now now = later(start, Duration::milliseconds(130));
  const Cell before = set.kept[0].state.cell;
  for (int i = 0; i < 1'000; ++i) {
    carry_over(five.rule, four, set.kept[0].state, now);
    carry_over(four.rule, five, set.kept[0].state, now);
  }
  EXPECT_LE(set.kept[0].state.cell.a - before.a, 2'000) << "a nanosecond each time";
}

// Two programs, two rules, one count: each refusal by the one must not make it last for the other.
TEST(CarryOver, IsKeptOnARefusalOnlyWhereItWouldLastLonger) {
  Set set;
  set.add(SlidingWindow{{.count = 20, .period = second * 2}});
  EXPECT_TRUE(set.decide(20, start).allowed);
  Kept shorter = set.kept[0];
  const Policy faster("p0", SlidingWindow{{.count = 10, .period = second}});
  EXPECT_TRUE(carry_over(set.policies[0].rule, faster, shorter.state, start));
  Kept longer = shorter;
  EXPECT_FALSE(carry_over(faster.rule, set.policies[0], longer.state, start));
  const Verdict refused = alone(set.policies[0], longer, 1, start);
  EXPECT_FALSE(refused.allowed);
  EXPECT_GE(refused.retry_after, until_unused(faster.rule, shorter.state, start)) << "never early";
}

TEST(CarryOver, LeasesOutliveAChangeOfTheSlots) {
  for (const OnChange how : {OnChange::as_is, OnChange::proportional}) {
    const Rule from = Concurrency{.slots = 2, .lease = minute};
    const Policy to("p0", Concurrency{.slots = 5, .lease = minute * 2},
                    {.shadow = false, .on_change = how});
    Set set;
    set.add(from);
    EXPECT_TRUE(set.decide(use_of(2, start, 7), start).allowed);
    carry_over(from, to, set.kept[0].state, start);
    EXPECT_EQ(alone(to, set.kept[0], 0, start).remaining, 3);
    give_back(to, set.kept[0].state, use_of(2, start, 7), start);
    EXPECT_EQ(alone(to, set.kept[0], 0, start).remaining, 5);
  }
}

TEST(CarryOver, AClosingOutlivesTheChange) {
  Set set;
  set.add(a_minute(10));
  set.kept[0].state.closed_until = start.moment + second;
  for (const OnChange how : {OnChange::as_is, OnChange::proportional, OnChange::reset}) {
    const Policy to("p0", TokenBucket({.count = 1, .period = minute}, 5),
                    {.shadow = false, .on_change = how});
    carry_over(set.policies[0].rule, to, set.kept[0].state, start);
    EXPECT_EQ(set.kept[0].state.closed_until, start.moment + second);
  }
}

// The same kind of rule with other numbers, as a plan is changed; or any other.
Rule changed(Chance& chance, const Rule& rule) {
  struct Of {
    Chance& chance;
    Rule operator()(const TokenBucket& bucket) {
      const std::int64_t burst =
          chance.any_size(0, bounds::limit_refill_max.ns() / bucket.interval.ns());
      return TokenBucket(bucket.rate, std::clamp<std::int64_t>(burst - 1, 0, 1'000'000));
    }
    Rule operator()(const SlidingWindow& window) {
      return SlidingWindow{{.count = other(window.rate), .period = window.rate.period}};
    }
    Rule operator()(const SlidingLog& log) {
      const Rate rate = any_rate(chance, bounds::limit_log_count_max);
      if (chance.one_in(2)) return SlidingLog{rate};
      const std::int64_t count = std::min(other(log.rate), bounds::limit_log_count_max);
      return SlidingLog{{.count = count, .period = log.rate.period}};
    }
    Rule operator()(const Concurrency&) { return any_concurrency(chance); }
    Rule operator()(const Calendar& calendar) {
      return Calendar{chance.any_size(1, bounds::limit_count_max), calendar.rule};
    }
    std::int64_t other(const Rate& rate) {
      return chance.any_size(1, std::min(rate.period.ns(), bounds::limit_count_max));
    }
  };
  return chance.one_in(2) ? any_rule(chance) : std::visit(Of{chance}, rule);
}

TEST(CarryOver, GivesNothingAwayAndItsWaitsComeTrue) {
  for_seeds(3000, [](Chance& chance) {
    Set set;
    set.add(any_rule(chance));
    const Rule& from = set.policies[0].rule;
    Now now = start;
    for (int step = 0; step < 8; ++step) {
      now = later(now, any_pause(chance, from, now));
      set.decide(any_cost(chance, capacity_of(from)), now);
    }
    const auto how = static_cast<OnChange>(chance.between(0, 2));
    const Policy to("p0", changed(chance, from), {.shadow = false, .on_change = how});
    const std::int64_t used = capacity_of(from) - set.decide(0, now).verdicts[0].remaining;
    const std::int64_t capacity = capacity_of(to.rule);
    __extension__ using Wide = __int128;
    const Wide share = (Wide{used} * capacity + capacity_of(from) - 1) / capacity_of(from);
    const Kept before = set.kept[0];
    Kept kept = before;
    carry_over(from, to, kept.state, now);
    kept.state.carried_for = {};  // as if it had been kept
    const std::int64_t left = alone(to, kept, 0, now).remaining;
    const std::int64_t expected_as_is = std::max<std::int64_t>(0, capacity - used);
    const bool same_kind = from.index() == to.rule.index();
    const bool slots = same_kind && std::holds_alternative<Concurrency>(from);
    if (from == to.rule) {
      EXPECT_EQ(kept, before);
    } else if (how == OnChange::reset) {
      EXPECT_EQ(left, capacity);
      EXPECT_EQ(until_unused(to.rule, kept.state, now), Duration());
    } else if (how == OnChange::proportional && !slots) {
      EXPECT_EQ(left, capacity - static_cast<std::int64_t>(share));
    } else if (same_kind && std::holds_alternative<SlidingLog>(from)) {
      EXPECT_LE(left, expected_as_is);  // a longer look back may see more
    } else {
      EXPECT_EQ(left, expected_as_is);
    }
    const std::int64_t cost = any_cost(chance, capacity);
    const Verdict verdict = alone(to, kept, cost, now);
    const Duration before_for = until_unused(from, before.state, now);
    EXPECT_LE(verdict.retry_after, std::max(before_for, longest_wait(to.rule, now)));
    const Member member{.policy = &to, .state = &kept.state};
    if (decide({&member, 1}, use_of(cost, now), now).allowed) return;
    EXPECT_FALSE(alone(to, kept, cost, later(now, verdict.retry_after - nanosecond)).allowed);
    EXPECT_TRUE(alone(to, kept, cost, later(now, verdict.retry_after)).allowed);
  });
}

TEST(CarryOver, TheSameRuleChangesNothingWhateverTheSettingSays) {
  for_seeds(500, [](Chance& chance) {
    Set set;
    set.add(any_rule(chance));
    set.decide(any_cost(chance, capacity_of(set.policies[0].rule)), start);
    const Kept before = set.kept[0];
    for (const OnChange how : {OnChange::as_is, OnChange::proportional, OnChange::reset}) {
      const Policy to("p0", set.policies[0].rule, {.shadow = true, .on_change = how});
      carry_over(set.policies[0].rule, to, set.kept[0].state, later(start, second));
      EXPECT_EQ(set.kept[0], before);
    }
  });
}

}  // namespace
}  // namespace pawl::limit
