// Goal: an answer never says more than is certain.
// Method: every way an attempt can end, and every name.
#include "core/order/answer.h"

#include <gtest/gtest.h>

namespace pawl::order {
namespace {

TEST(Answer, IsNotAppliedOnlyWhereThatIsCertain) {
  EXPECT_EQ(outcome_of(Sent::accepted), Outcome::applied);
  EXPECT_EQ(outcome_of(Sent::refused), Outcome::not_applied);
  EXPECT_EQ(outcome_of(Sent::rate_limited), Outcome::not_applied);
  EXPECT_EQ(outcome_of(Sent::not_sent), Outcome::not_applied);
  EXPECT_EQ(outcome_of(Sent::duplicate), Outcome::unknown);
  EXPECT_EQ(outcome_of(Sent::unknown), Outcome::unknown);
  EXPECT_EQ(outcome_of(Answer().sent), Outcome::unknown) << "unless it is known better";
}

TEST(Answer, HasNamesForItsWords) {
  for (const Sent sent : {Sent::accepted, Sent::refused, Sent::rate_limited, Sent::duplicate,
                          Sent::not_sent, Sent::unknown}) {
    EXPECT_EQ(sent_of(to_string(sent)), sent);
  }
  for (const Life life :
       {Life::working, Life::filled, Life::canceled, Life::rejected, Life::unknown}) {
    EXPECT_EQ(life_of(to_string(life)), life);
  }
  using Found = SourceRead::Found;
  EXPECT_EQ(to_string(Found::absent), "absent");
  EXPECT_EQ(to_string(Found::present), "present");
  EXPECT_EQ(to_string(Found::probable), "probable");
  EXPECT_EQ(to_string(Found::unreadable), "unreadable");
  EXPECT_EQ(sent_of("lost"), std::nullopt);
  EXPECT_EQ(life_of(""), std::nullopt);
}

}  // namespace
}  // namespace pawl::order
