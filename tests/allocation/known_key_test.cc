// Goal: a decision on a key that is known, one on an attempt, a call that succeeds through the
// library's Retry, and the two audit events of a request, ask for no memory. Method: this program
// replaces operator new by one that counts; so it is a program of its own, and does not blunt the
// sanitizers' look at other tests.
#include <array>
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "adapter/memory/memory_counter_store.h"
#include "core/audit/late_fixture.h"
#include "core/retry/attempts.h"
#include "pawl/retry.h"
#include "port/event_queue.h"
#include "runtime/manual_clock.h"
#include "tests/allocation/counted_new.h"

namespace pawl {
namespace {

constexpr int times = 1'000;
constexpr limit::Rate ample = {1'000'000, Duration::hours(1)};

template <class Call>
int allocations_of(Call call) {
  return pawl::allocations_of(times, call);
}

class KnownKey : public ::testing::Test {
 protected:
  ManualClock clock_;
  MemoryCounterStore store_{clock_};

  int allocations_of_checks(Counts counts) {
    EXPECT_TRUE(store_.check_now(counts, 1).allowed);
    bool allowed = true;
    const int found = allocations_of([&] {
      clock_.advance(Duration::microseconds(1));
      allowed = store_.check_now(counts, 1).allowed && allowed;
    });
    EXPECT_TRUE(allowed);
    return found;
  }
};

TEST_F(KnownKey, TakesNoMemoryUnderAnyAlgorithmThatKeepsACell) {
  const std::array policies = {
      limit::Policy("bucket", limit::TokenBucket(ample, 10'000)),
      limit::Policy("window", limit::SlidingWindow{ample}),
      limit::Policy("month", limit::Calendar{.count = 1'000'000, .rule = {}}),
  };
  for (const limit::Policy& policy : policies) {
    const Count by_name{&policy, "a tenant whose name fits in no small string"};
    const Count by_id{&policy, limit::KeyId{1, 2}};
    EXPECT_EQ(allocations_of_checks({&by_name, 1}), 0) << policy.name;
    EXPECT_EQ(allocations_of_checks({&by_id, 1}), 0) << policy.name;
  }
}

TEST_F(KnownKey, TakesNoMemoryInASetOfPolicies) {
  const limit::Policy everyone("everyone", limit::TokenBucket(ample, 10'000));
  const limit::Policy tenant("tenant", limit::SlidingWindow{ample});
  const limit::Policy route("route", limit::TokenBucket(ample, 20'000));
  const std::array<Count, 3> counts = {{{&everyone, ""}, {&tenant, "acme"}, {&route, "acme /x"}}};
  EXPECT_EQ(allocations_of_checks(counts), 0);
}

TEST_F(KnownKey, TakesNoMemoryWhenItIsRefused) {
  const limit::Policy policy("slow", limit::TokenBucket({1, Duration::hours(1)}, 0));
  const Count count{&policy, "acme"};
  EXPECT_TRUE(store_.check_now({&count, 1}, 1).allowed);
  bool allowed = false;
  EXPECT_EQ(allocations_of([&] { allowed |= store_.check_now({&count, 1}, 1).allowed; }), 0);
  EXPECT_FALSE(allowed);
}

TEST_F(KnownKey, TakesNoMemoryThroughThePort) {
  const limit::Policy policy("bucket", limit::TokenBucket(ample, 10'000));
  const Count count{&policy, "acme"};
  CounterStore& port = store_;
  int allowed = 0;
  const auto check = [&] {
    port.check({&count, 1}, 1,
               [&](const Result<limit::Answer>& answer) { allowed += answer && answer->allowed; });
  };
  check();
  EXPECT_EQ(allocations_of(check), 0);
  EXPECT_EQ(allowed, times + 1);
}

TEST(Attempt, TakesNoMemoryWhetherItSucceedsOrIsMadeAgain) {
  const retry::Policy policy;
  const SteadyInstant now = SteadyInstant::from_ns(1);
  const retry::Classification refused = {retry::Failure::rate_limited, Outcome::not_applied, true};
  const retry::Classification good = {retry::Failure::none, Outcome::applied, false};
  bool done = true;
  const auto call = [&] {
    retry::Attempts attempts({.policy = &policy});
    attempts.decide(retry::Begin{now});
    attempts.decide(retry::Ended{.now = now, .attempt = 1, .seen = refused});
    attempts.decide(retry::BudgetAnswered{true});
    attempts.decide(retry::Woken{now + policy.max_delay});
    attempts.decide(retry::Ended{.now = now + policy.max_delay, .attempt = 2, .seen = good});
    done = done && attempts.decision().next == retry::Next::done;
  };
  EXPECT_EQ(allocations_of(call), 0);
  EXPECT_TRUE(done);
}

TEST(RetryOfTheLibrary, TakesNoMemoryForACallThatSucceedsAtOnce) {
  int calls = 0;
  const auto work = [&](const Attempt&) -> Result<int> { return ++calls; };
  for (const Duration deadline : {Duration(), Duration::seconds(5)}) {
    Result<Retry> retry = Retry::make({.policy = {.deadline = deadline}});
    ASSERT_TRUE(retry);
    bool done = true;
    EXPECT_EQ(allocations_of([&] { done = retry->execute(work).has_value() && done; }), 0);
    EXPECT_TRUE(done);
  }
  EXPECT_EQ(calls, 2 * times);
}

}  // namespace
}  // namespace pawl
