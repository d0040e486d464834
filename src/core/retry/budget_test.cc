// Goal: retries stay a share of the calls and a few a second besides, whatever happens. Method: a
// budget moved through time by hand; the inequality of the header over every stretch of arbitrary
// histories.
#include "core/retry/budget.h"

#include <gtest/gtest.h>
#include <limits>
#include <rapidcheck/gtest.h>
#include <vector>

namespace pawl::retry {
namespace {

constexpr SteadyInstant start = SteadyInstant::from_ns(5'000'000'000);
constexpr BudgetRule share_only = {.ratio_milli = 200, .min_per_second = 0};
constexpr BudgetRule floor_only = {.ratio_milli = 0, .min_per_second = 10};

int spend_all(const BudgetRule& rule, BudgetState& state, SteadyInstant now) {
  int spent = 0;
  while (spend(rule, state, now)) ++spent;
  return spent;
}

TEST(Budget, FiveCallsEarnOneRetry) {
  BudgetState state;
  EXPECT_FALSE(spend(share_only, state, start));
  for (int i = 0; i < 4; ++i) earn(share_only, state);
  EXPECT_FALSE(spend(share_only, state, start));
  earn(share_only, state);
  EXPECT_TRUE(spend(share_only, state, start));
  EXPECT_FALSE(spend(share_only, state, start + Duration::hours(1))) << "time earns nothing";
}

TEST(Budget, TheFloorIsTenASecondWithoutAnyCall) {
  BudgetState state;
  EXPECT_EQ(spend_all(floor_only, state, start), 10);
  EXPECT_EQ(spend_all(floor_only, state, start + Duration::milliseconds(99)), 0);
  EXPECT_EQ(spend_all(floor_only, state, start + Duration::milliseconds(100)), 1);
  EXPECT_EQ(spend_all(floor_only, state, start + Duration::seconds(60)), 10) << "it saves no more";
}

TEST(Budget, WhatCallsEarnIsSavedUpToTheReserve) {
  BudgetState state;
  for (int i = 0; i < 100'000; ++i) earn(share_only, state);
  EXPECT_EQ(spend_all(share_only, state, start), bounds::retry_budget_reserve);
}

TEST(Budget, ManyCallsAtOnceEarnWhatTheyWouldOneByOne) {
  BudgetState one_by_one;
  BudgetState at_once;
  for (int i = 0; i < 37; ++i) earn(share_only, one_by_one);
  earn(share_only, at_once, 37);
  EXPECT_EQ(at_once, one_by_one);
  earn(share_only, at_once, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(spend_all(share_only, at_once, start), bounds::retry_budget_reserve);
}

TEST(Budget, TheFloorIsSpentBeforeWhatWasEarned) {
  constexpr BudgetRule both;
  BudgetState state;
  for (int i = 0; i < 5; ++i) earn(both, state);
  EXPECT_EQ(spend_all(both, state, start), 11);
  for (int i = 0; i < 5; ++i) earn(both, state);
  const SteadyInstant later = start + Duration::seconds(1);
  EXPECT_TRUE(spend(both, state, later));
  EXPECT_EQ(state.earned_milli, 1000);
}

TEST(Budget, ARetryThatIsRefusedCostsNothing) {
  BudgetState state;
  EXPECT_EQ(spend_all(floor_only, state, start), 10);
  const BudgetState before = state;
  EXPECT_FALSE(spend(floor_only, state, start));
  EXPECT_EQ(state, before);
}

TEST(Budget, ARuleIsWithinItsBounds) {
  EXPECT_TRUE(check(BudgetRule{}));
  EXPECT_TRUE(check(BudgetRule{.ratio_milli = 0, .min_per_second = 0}));
  EXPECT_FALSE(check(BudgetRule{.ratio_milli = -1}));
  EXPECT_FALSE(check(BudgetRule{.ratio_milli = bounds::retry_budget_ratio_milli_max + 1}));
  EXPECT_FALSE(check(BudgetRule{.min_per_second = -1}));
  EXPECT_FALSE(check(BudgetRule{.min_per_second = bounds::retry_budget_per_second_max + 1}));
}

struct Step {
  SteadyInstant at;
  std::int64_t calls = 0;    // so far
  std::int64_t retries = 0;  // so far
};

RC_GTEST_PROP(Budget, NoStretchOfAnyHistoryHasMoreRetriesThanItsCallsAndItsTimeAllow, ()) {
  const BudgetRule rule = {.ratio_milli = *rc::gen::inRange<std::int64_t>(0, 2000),
                           .min_per_second = *rc::gen::inRange<std::int64_t>(0, 50)};
  BudgetState state;
  std::vector<Step> history = {{.at = start}};
  const int steps = *rc::gen::inRange(1, 200);
  for (int i = 0; i < steps; ++i) {
    Step step = history.back();
    const auto pause = *rc::gen::inRange<std::int64_t>(0, 2'000);
    // Mostly at once, else up to two seconds later.
    step.at = step.at + Duration::milliseconds(pause < 1'000 ? 0 : pause);
    const int calls = *rc::gen::inRange(0, 20);
    for (int c = 0; c < calls; ++c) earn(rule, state);
    step.calls += calls;
    const int asked = *rc::gen::inRange(0, 40);
    for (int a = 0; a < asked; ++a) step.retries += spend(rule, state, step.at) ? 1 : 0;
    history.push_back(step);
  }
  const std::int64_t reserves = bounds::retry_budget_reserve + rule.min_per_second;
  for (std::size_t from = 0; from < history.size(); ++from) {
    for (std::size_t to = from + 1; to < history.size(); ++to) {
      const std::int64_t milli = rule.ratio_milli * (history[to].calls - history[from].calls);
      const std::int64_t in_time =
          rule.min_per_second * (history[to].at - history[from].at).ns() / 1'000'000;
      const std::int64_t retries = history[to].retries - history[from].retries;
      RC_ASSERT(retries * 1000 <= milli + in_time + reserves * 1000);
    }
  }
}

}  // namespace
}  // namespace pawl::retry
