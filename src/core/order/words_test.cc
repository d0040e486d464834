// Goal: an answer is told with all that helps, and every attempt gets ids of its own.
// Method: answers of each kind; the notes compared.
#include "core/order/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace pawl::order {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(OrderWords, TellsAnAnswer) {
  EXPECT_EQ(text_of(Answer{}), "unknown");
  EXPECT_EQ(text_of({.sent = Sent::rate_limited,
                     .status = 429,
                     .code = "RateLimitExceeded",
                     .message = "slow down",
                     .correlation = "abc##1"}),
            "rate_limited, 429 RateLimitExceeded: slow down [abc##1]");
  EXPECT_EQ(text_of({.sent = Sent::unknown, .order_id = "7", .status = 202}),
            "unknown, 202 (order 7)");
}

std::vector<Note> notes(const Answer& answer, const Decision& decision) {
  return notes_of(answer, decision, {.external_reference = "ref", .request_id = "id"});
}

TEST(OrderWords, TellsTheLogOfAFailure) {
  const Answer conflict{.sent = Sent::duplicate, .status = 409, .limits = "l"};
  const auto told = notes(conflict, {.next = Next::read, .reason = Reason::duplicate});
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].what, Told::operation_failed);
  EXPECT_EQ(told[0].category, "conflict");
  EXPECT_EQ(told[0].limits, "l");
  EXPECT_EQ(told[0].external_reference, "ref");
  EXPECT_EQ(told[1].what, Told::conflict_no_retry);
  EXPECT_EQ(told[1].request_id, "id");
  EXPECT_THAT(told[1].message,
              HasSubstr("Duplicate operation detected (409). Check x-request-id."));
  EXPECT_THAT(told[1].message, HasSubstr("15 seconds"));
}

TEST(OrderWords, SaysOfAClientOrderIdThatIsTakenWhatItIs) {
  const Answer taken{.sent = Sent::duplicate, .status = 200, .code = "51016"};
  const auto told = notes(taken, {.next = Next::read, .reason = Reason::duplicate});
  ASSERT_EQ(told.size(), 2u);
  EXPECT_THAT(told[0].message, HasSubstr("51016"));
  EXPECT_EQ(told[1].what, Told::conflict_no_retry);
  EXPECT_THAT(told[1].message, HasSubstr("client order id"));
  for (const char* of_saxo : {"409", "x-request-id", "Saxo", "15 seconds"}) {
    EXPECT_THAT(told[1].message, Not(HasSubstr(of_saxo)));
  }
}

TEST(OrderWords, TellsTheLogNothingOfASuccess) {
  EXPECT_TRUE(notes({.sent = Sent::accepted}, {.next = Next::confirm}).empty());
}

TEST(OrderWords, TellsWhenItIsSentAgain) {
  const auto told = notes({.sent = Sent::rate_limited},
                          {Next::send_again, Reason::retry_rate_limited, Duration::seconds(3)});
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[1].what, Told::retrying_after_delay);
  EXPECT_EQ(told[1].delay, Duration::seconds(3));
}

TEST(OrderWords, TellsOfAnUnknownOutcomeOnce) {
  const Decision look{.next = Next::read, .reason = Reason::outcome_unknown};
  EXPECT_EQ(notes({.status = 503}, look).size(), 1u);
}

TEST(OrderWords, MakesAnotherIdForEveryAttempt) {
  std::set<Entropy16> all;
  for (int attempt = 1; attempt <= 100; ++attempt) {
    all.insert(attempt_entropy({1, 2, 3}, attempt));
    all.insert(attempt_entropy({4, 5, 6}, attempt));
  }
  EXPECT_EQ(all.size(), 200u);
  EXPECT_EQ(attempt_entropy({1}, 1), attempt_entropy({1}, 1));
}

}  // namespace
}  // namespace pawl::order
