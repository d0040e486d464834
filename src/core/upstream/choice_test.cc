// Goal: the next request goes to the healthy upstream that has least to do. Method: pinned
// situations; a run in which all are equal.
#include "core/upstream/choice.h"

#include <array>
#include <gtest/gtest.h>
#include <vector>

namespace pawl::upstream {
namespace {

std::optional<std::size_t> chosen(const std::vector<Candidate>& candidates, std::size_t first = 0) {
  return choose(candidates, first);
}

TEST(Choice, TakesTheOneWithTheFewestUnderWay) {
  EXPECT_EQ(chosen({{.pending = 3}, {.pending = 1}, {.pending = 2}}), 1u);
  EXPECT_EQ(chosen({{.pending = 3}, {.pending = 1}, {.pending = 2}}, 2), 1u);
}

TEST(Choice, PassesOverTheSick) {
  EXPECT_EQ(chosen({{.pending = 0, .healthy = false}, {.pending = 9}}), 1u);
}

TEST(Choice, UsesAllWhenNoneIsHealthy) {
  EXPECT_EQ(chosen({{.pending = 2, .healthy = false}, {.pending = 1, .healthy = false}}), 1u);
}

TEST(Choice, DoesNotTryOneTwice) {
  EXPECT_EQ(chosen({{.pending = 0, .tried = true}, {.pending = 9}}), 1u);
  EXPECT_EQ(chosen({{.pending = 0, .tried = true}, {.pending = 9, .healthy = false}}), 1u)
      << "rather a sick one than none";
  EXPECT_EQ(chosen({{.tried = true}, {.tried = true}}), std::nullopt);
  EXPECT_EQ(chosen({}), std::nullopt);
}

TEST(Choice, EqualsTakeTurns) {
  std::array<int, 3> taken{};
  const std::vector<Candidate> equal(3);
  for (std::size_t i = 0; i < 30; ++i) ++taken[*choose(equal, i)];
  EXPECT_EQ(taken, (std::array<int, 3>{10, 10, 10}));
}

}  // namespace
}  // namespace pawl::upstream
