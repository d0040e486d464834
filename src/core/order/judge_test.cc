// Goal: a reading shows our order, another's, or one that only looks like ours; never one for the
//       other.
// Method: readings with each of them, and with what venues leave out.
#include "core/order/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bounds.h"
#include "core/order/order_fixture.h"

namespace pawl::order {
namespace {

using ::testing::HasSubstr;

TEST(Judge, FindsOursByReferenceAndTerms) {
  const Sighting seen = judge(fresh_intent(), reading_of({shown("7")}));
  EXPECT_EQ(seen.orders, 1u);
  EXPECT_EQ(seen.strangers, 0u);
  ASSERT_TRUE(seen.found);
  EXPECT_EQ(seen.found->order_id, "7");
}

TEST(Judge, TakesOneOrderInSeveralSourcesForOne) {
  const Sighting seen =
      judge(fresh_intent(), reading_of({shown("7", Life::unknown), shown("7", Life::canceled),
                                        shown("7", Life::working), shown("7", Life::rejected)}));
  EXPECT_EQ(seen.orders, 1u);
  EXPECT_EQ(seen.found->life, Life::canceled);
}

TEST(Judge, DoesNotHoldAgainstAnOrderWhatTheVenueDoesNotShow) {
  VenueOrder bare = shown("7");
  bare.instrument = "";
  bare.size = Decimal();
  EXPECT_EQ(judge(fresh_intent(), reading_of({bare})).orders, 1u);
}

TEST(Judge, KnowsOursByTheIdTheVenueGave) {
  Intent intent = fresh_intent();
  intent.progress.order_id = "7";
  VenueOrder amended = shown("7");
  amended.size = decimal("0.05");
  EXPECT_EQ(judge(intent, reading_of({amended})).orders, 1u);
  EXPECT_EQ(judge(fresh_intent(), reading_of({amended})).strangers, 1u);
}

TEST(Judge, CountsTheOrderTheVenueNamedBesideAnotherThatItShows) {
  Intent intent = fresh_intent();
  intent.progress.order_id = "7";
  EXPECT_EQ(judge(intent, reading_of({shown("8")})).orders, 2u);
  EXPECT_EQ(judge(intent, reading_of({shown("7"), shown("7")})).orders, 1u);
  EXPECT_EQ(judge(intent, empty_reading()).orders, 0u);
}

TEST(Judge, ComparesSizesByValue) {
  VenueOrder same = shown("7");
  same.size = decimal("0.100");
  EXPECT_EQ(judge(fresh_intent(), reading_of({same})).orders, 1u);
}

TEST(Judge, CountsProbableOnesByTheirIds) {
  Reading reading = empty_reading();
  reading.probable = {shown("1"), shown("1"), shown("2")};
  const Sighting seen = judge(fresh_intent(), reading);
  EXPECT_EQ(seen.probable, 2u);
  EXPECT_FALSE(seen.found);
}

TEST(Judge, TellsASourceThatDidNotAnswerFromOneThatKeepsNoMore) {
  EXPECT_TRUE(judge(fresh_intent(), empty_reading()).readable);
  EXPECT_FALSE(judge(fresh_intent(), unreadable()).readable);
}

TEST(Judge, BelievesInExpiryByTheVenuesClockAlone) {
  Intent intent = fresh_intent();
  Reading reading = empty_reading();
  EXPECT_TRUE(judge(intent, reading).expired) << "nothing was promised";
  intent.progress.expires = noon;
  EXPECT_FALSE(judge(intent, reading).expired);
  reading.venue_time = noon + bounds::order_expiry_margin;
  EXPECT_FALSE(judge(intent, reading).expired);
  reading.venue_time = noon + bounds::order_expiry_margin + Duration::milliseconds(1);
  EXPECT_TRUE(judge(intent, reading).expired);
}

TEST(Judge, KeepsEverySourceAndEveryIdAsEvidence) {
  Intent intent = fresh_intent();
  VenueOrder other = shown("8");
  other.side = Side::sell;
  Reading reading = reading_of({shown("7"), other});
  reading.sources[0].says = "2 rows";
  reading.probable = {shown("9")};
  add_reading(intent, reading, noon + second);
  const auto& evidence = intent.progress.evidence;
  ASSERT_EQ(evidence.size(), 4u);
  EXPECT_EQ(evidence[0], (Evidence{noon, "GET orders", "present: 2 rows"}));
  EXPECT_EQ(evidence[1].at, noon + second);
  EXPECT_EQ(evidence[1].says, "is it: order 7: BTC-USDT-SWAP buy 0.1, live");
  EXPECT_THAT(evidence[2].says, HasSubstr("is another: order 8: BTC-USDT-SWAP sell"));
  EXPECT_THAT(evidence[3].says, HasSubstr("looks like it: order 9"));
}

}  // namespace
}  // namespace pawl::order
