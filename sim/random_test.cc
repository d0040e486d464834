// Goal: the dice are fixed by their seed, and fair enough.
// Method: pinned throws; the port's suite, on the one thread that a simulation has.
#include "sim/random.h"

#include <gtest/gtest.h>
#include <set>

#include "port/entropy_conformance.h"

namespace pawl::sim {
namespace {

TEST(Random, TheSeedFixesEveryThrow) {
  Random a(42);
  Random b(42);
  Random c(43);
  EXPECT_EQ(a.next_bits(), 1546998764402558742u);
  EXPECT_EQ(a.next_bits(), 6990951692964543102u);
  b.next_bits();
  b.next_bits();
  EXPECT_EQ(a.next(), b.next());
  EXPECT_NE(a.next_bits(), c.next_bits());
}

TEST(Random, ThrowsStayBelowTheirBoundAndReachAllOfIt) {
  Random random(7);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random.below(6));
  EXPECT_EQ(seen, (std::set<std::uint64_t>{0, 1, 2, 3, 4, 5}));
  for (int i = 0; i < 1000; ++i) {
    const Duration d = random.up_to(Duration::nanoseconds(3));
    EXPECT_GE(d, Duration());
    EXPECT_LE(d, Duration::nanoseconds(3));
  }
}

TEST(Random, ConformsAsEntropy) {
  Random random(1);
  expect_entropy_conforms(random, 1);
}

}  // namespace
}  // namespace pawl::sim
