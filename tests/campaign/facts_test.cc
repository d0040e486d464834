// Goal:   whatever breaks in a run is said, and nothing else is.
// Method: facts of a good run; then each with one thing wrong.
#include "tests/campaign/facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pawl::campaign {
namespace {

using Kind = Change::Kind;
using Heard = Change::Heard;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Instant noon = Instant::from_ns(1'764'763'200'000'000'000);

Row row(const std::string& price, const std::string& size = "10") {
  return {.order_id = "7",
          .reference = "A",
          .state = "working",
          .price = price,
          .size = size,
          .open = true};
}

// One order that was placed at 100 and changed to 101 and then to 102, as its callers heard.
Facts good() {
  Facts facts{.weekly_max = 1, .book = {row("102")}};
  for (const char* price : {"101", "102"}) facts.terms.see({row(price)});
  facts.intents = {
      {.reference = "A", .progress = {.status = order::Status::confirmed, .order_id = "7"}}};
  facts.wishes = {{.reference = "A",
                   .order = {.size = *parse_decimal("10"), .price = *parse_decimal("100")},
                   .heard = {PlacedAs::confirmed}}};
  facts.changes = {{.kind = Kind::price, .value = "101", .heard = Heard::done},
                   {.kind = Kind::price, .value = "102", .heard = Heard::done}};
  facts.accepted.placed = {noon};
  facts.written.placed = {noon, noon + Duration::seconds(1), noon + Duration::seconds(2)};
  return facts;
}

TEST(CampaignFacts, SayNothingOfAGoodRun) {
  Facts facts = good();
  EXPECT_THAT(judge(facts), IsEmpty());
}

TEST(CampaignFacts, TellOfOrdersThatAreTooMany) {
  Facts facts = good();
  Row second = row("100");
  second.order_id = "8";
  facts.book.push_back(second);
  facts.accepted.placed.push_back(noon + Duration::milliseconds(999));
  EXPECT_THAT(judge(facts), ElementsAre("2 orders for A", "2 orders are above the weekly limit",
                                        "2 orders within a second"));
}

TEST(CampaignFacts, TellOfAnOrderThatPawlKnowsOtherwise) {
  Facts facts = good();
  facts.intents[0].progress = {.status = order::Status::rejected, .reason = "why"};
  EXPECT_THAT(judge(facts), ElementsAre("A is called rejected, and lives: why"));
  facts.intents[0].progress = {.status = order::Status::confirmed, .order_id = "9"};
  EXPECT_THAT(judge(facts), ElementsAre("A is taken for the order 9"));
  facts.intents.clear();
  EXPECT_THAT(judge(facts), ElementsAre("nobody knows the order A"));
  facts.wishes[0].waiting = 1;
  facts.book.clear();
  EXPECT_THAT(judge(facts), ElementsAre("nobody answered who wanted A",
                                        HasSubstr("is confirmed, and it is not there")));
}

TEST(CampaignFacts, TellOfAnOrderThatArrivedThoughItsCallerHeardThatNothingWasSent) {
  Facts facts = good();
  facts.wishes[0].came_late = true;
  EXPECT_THAT(judge(facts),
              ElementsAre("a caller heard that A was not sent, and it arrived later"));
}

TEST(CampaignFacts, CountOnlyOrdersThatTheVenueDoesNotHoldToReducing) {
  Facts facts = good();
  facts.weekly_max = 0;
  facts.wishes[0].order.reduce_only = true;
  EXPECT_THAT(judge(facts), ElementsAre("1 orders are above the weekly limit"));
  facts.against = Against::okx;
  EXPECT_THAT(judge(facts), IsEmpty());
}

TEST(CampaignFacts, TellOfCallsThatDoNotKeepThePace) {
  Facts facts = good();
  facts.written.placed[1] = noon + Duration::milliseconds(999);
  EXPECT_THAT(judge(facts), ElementsAre("2 changing calls within a second"));
  facts.at_once = 2;
  EXPECT_THAT(judge(facts), IsEmpty());
}

TEST(CampaignFacts, TellOfAnIdThatWasUsedTwice) {
  Facts facts = good();
  facts.repeated_ids = 1;
  EXPECT_THAT(judge(facts), ElementsAre("1 calls with an x-request-id that was used before"));
}

TEST(CampaignFacts, TellOfAChangeThatWasMadeAgain) {
  for (const char* again : {"101", "100"}) {
    Facts facts = good();
    facts.terms.see({row(again)});
    EXPECT_THAT(judge(facts), ElementsAre("a change of A was made again after another one",
                                          "A is not what the last change made of it"));
  }
}

TEST(CampaignFacts, TellOfAChangeThatWasMadeAndNotTold) {
  Facts facts = good();
  facts.changes[1].heard = Heard::not_done;
  EXPECT_THAT(judge(facts),
              ElementsAre("a change of A was made, and its caller heard that it was not",
                          "A is not what the last change made of it"));
  facts.changes[1].heard = Heard::unknown;
  EXPECT_THAT(judge(facts), IsEmpty());
}

TEST(CampaignFacts, TellOfAChangeThatWasToldAndNotMade) {
  Facts facts = good();
  facts.changes.push_back({.kind = Kind::size, .value = "11", .heard = Heard::done});
  EXPECT_THAT(judge(facts),
              ElementsAre("a change of A was not made, and its caller heard that it was",
                          "A is not what the last change made of it"));
}

TEST(CampaignFacts, TellOfACancelThatIsNone) {
  Facts facts = good();
  facts.changes.push_back(
      {.kind = Kind::cancel, .heard = Heard::done, .life = order::Life::canceled});
  EXPECT_THAT(judge(facts), ElementsAre("a caller heard that A is over, and it is open",
                                        "a caller heard that A is canceled, and it is working"));
  facts.book[0].open = false;
  facts.book[0].state = "canceled";
  EXPECT_THAT(judge(facts), IsEmpty());
  facts.changes.back().heard = Heard::not_done;
  EXPECT_THAT(judge(facts), ElementsAre("A is canceled, and nobody heard so"));
}

}  // namespace
}  // namespace pawl::campaign
