// Goal: an upstream is given up and taken back after so many answers in a row, never after fewer.
// Method: strings of good (+) and bad (-) answers and the state after each.
#include "core/upstream/health.h"

#include <gtest/gtest.h>
#include <string>

namespace pawl::upstream {
namespace {

// H: healthy, s: sick, after each of the answers.
std::string course(std::string_view answers, HealthRule rule) {
  Health health;
  std::string states;
  for (const char answer : answers) {
    health = health.after(answer == '+', rule);
    states += health.is_healthy() ? 'H' : 's';
  }
  return states;
}

TEST(Health, BeginsHealthy) {
  EXPECT_TRUE(Health().is_healthy());
}

TEST(Health, ChangesAfterSoManyInARow) {
  constexpr HealthRule rule{.unhealthy_after = 3, .healthy_after = 2};
  EXPECT_EQ(course("---", rule), "HHs");
  EXPECT_EQ(course("--+--+---", rule), "HHHHHHHHs") << "a good one in between begins anew";
  EXPECT_EQ(course("---++", rule), "HHssH");
  EXPECT_EQ(course("---+-+-++", rule), "HHssssssH") << "and so does a bad one";
  EXPECT_EQ(course("---++--", rule), "HHssHHH") << "back at the beginning";
}

TEST(Health, ChangesAtOnceWhenOneIsEnough) {
  EXPECT_EQ(course("-+-+", {.unhealthy_after = 1, .healthy_after = 1}), "sHsH");
}

TEST(Health, DoesNotCountBeyondWhatMatters) {
  constexpr HealthRule rule{.unhealthy_after = 2, .healthy_after = 2};
  EXPECT_EQ(course(std::string(70'000, '-') + "++", rule).substr(69'998), "sssH");
  EXPECT_EQ(course(std::string(70'000, '+') + "--", rule).substr(69'998), "HHHs");
}

}  // namespace
}  // namespace pawl::upstream
