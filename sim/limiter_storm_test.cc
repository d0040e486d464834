// Goal: the storm breaks no rule on any seed, is the same twice, and its checker can fail.
// Method: a hundred seeds; determinism by trace hash; a store whose charge is forgotten.
#include "sim/limiter_storm.h"

#include <gtest/gtest.h>

#include "port/counter_store_conformance.h"
#include "sim/clock.h"
#include "sim/counter_store.h"
#include "sim/random.h"

namespace pawl::sim {
namespace {

TEST(LimiterStorm, BreaksNoRuleOnAnySeed) {
  std::uint64_t sent = 0, refused = 0, store_failures = 0, upstream_failures = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const StormReport report = run_limiter_storm(seed);
    for (const std::string& violation : report.violations) {
      ADD_FAILURE() << "seed " << seed << " (" << report.options << "): " << violation;
    }
    sent += report.sent;
    refused += report.refused;
    store_failures += report.store_failures;
    upstream_failures += report.upstream_failures;
  }
  // A storm in which nothing happens would prove nothing.
  EXPECT_GT(sent, 1000u);
  EXPECT_GT(refused, 1000u);
  EXPECT_GT(store_failures, 100u);
  EXPECT_GT(upstream_failures, 100u);
}

TEST(LimiterStorm, TheSameSeedGivesTheSameRun) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(run_limiter_storm(seed).trace_hash, run_limiter_storm(seed).trace_hash);
  }
  EXPECT_NE(run_limiter_storm(1).trace_hash, run_limiter_storm(2).trace_hash);
}

TEST(LimiterStorm, FindsAStoreThatForgetsWhatItCharged) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    found += run_limiter_storm(seed, Bug::store_forgets_charges).violations.empty() ? 0 : 1;
  }
  EXPECT_GT(found, 0);
}

TEST(SimCounterStore, Conforms) {
  SimClock clock;
  Random random(1);
  SimCounterStore store(clock, random, {.latency_max = {}});
  // The simulation has one thread, so the suite's crowd comes one by one.
  expect_counter_store_conforms(
      {.store = store,
       .advance = [&](Duration d) { clock.run_until(clock.steady_now() + d); },
       .now =
           [&] {
             return limit::Now{.moment = limit::Moment::from_ns(clock.steady_now().ns()),
                               .wall = clock.wall_now()};
           },
       .threads = 1});
}

}  // namespace
}  // namespace pawl::sim
