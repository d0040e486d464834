// Goal: evidence stays bounded and readable; an open intent is told from a closed one.
// Method: what others may say, long and strange; more evidence than is kept.
#include "core/order/intent.h"

#include <gtest/gtest.h>

#include "base/bounds.h"

namespace pawl::order {
namespace {

TEST(Intent, IsOpenUntilItsOutcomeIsKnown) {
  EXPECT_TRUE(is_open(Status::sending));
  EXPECT_TRUE(is_open(Status::reconciling));
  EXPECT_TRUE(is_open(Status::unresolved));
  EXPECT_FALSE(is_open(Status::confirmed));
  EXPECT_FALSE(is_open(Status::rejected));
}

TEST(Intent, HasNamesForItsStates) {
  for (const Status status : {Status::sending, Status::reconciling, Status::unresolved,
                              Status::confirmed, Status::rejected}) {
    EXPECT_EQ(status_of(to_string(status)), status);
  }
  EXPECT_EQ(status_of("placed"), std::nullopt);
}

TEST(Intent, MayBeOpenedAgainOnlyIfNothingLeftAndTheOrderIsTheSame) {
  Intent intent{.order = {.venue = "okx"}, .progress = {.status = Status::rejected}};
  EXPECT_FALSE(may_open_again(intent, intent.order)) << "a byte of it may have left";
  intent.progress.unsent = true;
  EXPECT_TRUE(may_open_again(intent, intent.order));
  EXPECT_FALSE(may_open_again(intent, {.venue = "saxo"}));
  intent.progress.status = Status::sending;
  EXPECT_FALSE(may_open_again(intent, intent.order));
}

TEST(Intent, BeginsFromTheStartWhenItIsOpenedAgainAndKeepsWhatWasFound) {
  const Progress last{.status = Status::rejected,
                      .attempts = 3,
                      .request_id = "old",
                      .reason = "nobody answered",
                      .unsent = true,
                      .evidence = {{.source = "place attempt 3", .says = "not_sent"}}};
  const Progress again = opened_again(last, "new", Instant::from_ns(7));
  Progress fresh{.request_id = "new", .evidence = again.evidence};
  EXPECT_EQ(again, fresh);
  ASSERT_EQ(again.evidence.size(), 2U);
  EXPECT_EQ(again.evidence[0], last.evidence[0]);
  EXPECT_EQ(again.evidence[1].at, Instant::from_ns(7));
}

TEST(Evidence, IsOneLine) {
  EXPECT_EQ(line_of("a\r\nb\x01"), "a  b ");
  EXPECT_EQ(line_of("naïve"), "naïve");
  EXPECT_EQ(line_of("bad \xff byte"), "bad   byte");
  EXPECT_EQ(line_of(line_of("x\ty")), line_of("x\ty"));
}

TEST(Evidence, IsNeverCutWithinACharacter) {
  const std::string long_one(bounds::order_text_bytes_max - 1, 'a');
  EXPECT_EQ(line_of(long_one + "ü"), long_one);
  EXPECT_EQ(line_of(long_one + "bc"), long_one + "b");
}

TEST(Evidence, KeepsTheBeginningAndTheEnd) {
  Progress progress;
  for (int i = 0; i < 200; ++i) {
    add_evidence(progress, {.source = std::to_string(i), .says = "line\nbreak"});
  }
  ASSERT_EQ(progress.evidence.size(), bounds::order_evidence_max);
  EXPECT_EQ(progress.evidence.front().source, "0");
  EXPECT_EQ(progress.evidence[15].source, "15");
  EXPECT_EQ(progress.evidence[16].source, "152");
  EXPECT_EQ(progress.evidence.back().source, "199");
  EXPECT_EQ(progress.evidence.back().says, "line break");
}

}  // namespace
}  // namespace pawl::order
