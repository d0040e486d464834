// Goal: rows of every source become the one order they are about; nothing is ours without proof,
//       and nothing that may be ours is passed over.
// Method: rows by hand, with and without references, in and out of order.
#include "venue/saxo/saxo_reading.h"

#include <gtest/gtest.h>

#include "venue/saxo/saxo_fixture.h"

namespace pawl::saxo {
namespace {

using order::Life;

json::Value parsed(const std::string& text) {
  return json::parse(text).value();
}

const Account account{.client_key = "client", .account_key = "account"};

Weigher weigher(const std::string& order_id = "") {
  return Weigher({.order = stock_order(), .reference = "ref", .order_id = order_id}, account,
                 test_now - Duration::minutes(15));
}

Match match_of_open(const std::string& row, const std::string& order_id = "") {
  Sightings sightings;
  sightings.add_open(parsed(row));
  return weigher(order_id).match(sightings.all().begin()->second);
}

Life life_after(const std::vector<std::pair<std::string, std::string>>& activities) {
  Sightings sightings;
  int log_id = 0;
  for (const auto& [status, sub_status] : activities) {
    sightings.add_activity(parsed(activity_row("1", status, sub_status, std::to_string(++log_id))));
  }
  return sightings.find("1")->order.life;
}

TEST(SaxoReading, FollowsAnOrderThroughItsActivities) {
  using Rows = std::vector<std::pair<std::string, std::string>>;
  const std::pair<Rows, Life> table[] = {
      {{{"Placed", "Confirmed"}}, Life::working},
      {{{"Placed", "Requested"}, {"Placed", "Rejected"}}, Life::rejected},
      {{{"Placed", "Confirmed"}, {"Working", "Confirmed"}}, Life::working},
      {{{"Placed", "Confirmed"}, {"Fill", "Confirmed"}}, Life::working},
      {{{"Placed", "Confirmed"}, {"FinalFill", "Confirmed"}}, Life::filled},
      {{{"Placed", "Confirmed"}, {"FinalFilled", ""}}, Life::filled},
      {{{"Working", "Confirmed"}, {"Cancelled", "Confirmed"}}, Life::canceled},
      {{{"Working", "Confirmed"}, {"Cancelled", "Requested"}}, Life::working},
      {{{"Working", "Confirmed"}, {"Cancelled", "Rejected"}}, Life::working},
      {{{"Working", "Confirmed"}, {"Changed", "Rejected"}}, Life::working},
      {{{"Working", "Confirmed"}, {"Expired", "Confirmed"}}, Life::canceled},
      {{{"SomethingNew", ""}}, Life::working},
  };
  for (const auto& [rows, life] : table) {
    EXPECT_EQ(to_string(life_after(rows)), to_string(life)) << rows.back().first;
  }
}

TEST(SaxoReading, TakesTheNewestActivityWhateverTheirOrder) {
  Sightings sightings;
  sightings.add_activity(parsed(activity_row("1", "FinalFill", "Confirmed", "12")));
  sightings.add_activity(parsed(activity_row("1", "Placed", "Confirmed", "9")));
  EXPECT_EQ(sightings.find("1")->order.life, Life::filled) << "12 comes after 9";
  sightings.add_open(parsed(open_row("1", "ref")));
  EXPECT_EQ(sightings.find("1")->order.life, Life::filled) << "open orders lag behind";
  EXPECT_EQ(sightings.find("1")->order.reference, "ref");
}

TEST(SaxoReading, ShowsAnOrderInWordsAllVenuesShare) {
  Sightings sightings;
  sightings.add_open(parsed(open_row("1", "ref")));
  const order::VenueOrder& seen = sightings.find("1")->order;
  EXPECT_EQ(seen.instrument, "211:Stock");
  EXPECT_EQ(seen.instrument, order::instrument_name(stock_order()));
  EXPECT_EQ(seen.type, "limit");
  EXPECT_EQ(to_string(seen.size), "10");
  EXPECT_EQ(seen.life, Life::working);
  EXPECT_EQ(seen.says, "Working");
  EXPECT_EQ(seen.placed_at, test_now - Duration::seconds(10));
}

TEST(SaxoReading, KnowsItsOwnByIdOrByReferenceAndTerms) {
  EXPECT_EQ(match_of_open(open_row("1", "ref")), Match::ours);
  EXPECT_EQ(match_of_open(open_row("1", "", "99"), "1"), Match::ours);
  EXPECT_EQ(match_of_open(R"({"OrderId":"1","ExternalReference":"ref"})"), Match::ours);
}

TEST(SaxoReading, TakesOurReferenceOnOtherTermsForNoProof) {
  EXPECT_EQ(match_of_open(open_row("1", "ref", "99")), Match::probable);
  std::string other_account = open_row("1", "ref");
  other_account.replace(other_account.find("\"account\""), 9, "\"another\"");
  EXPECT_EQ(match_of_open(other_account), Match::probable);
}

TEST(SaxoReading, TakesWhatLooksLikeOursForProbable) {
  EXPECT_EQ(match_of_open(open_row("1", "")), Match::probable);
  EXPECT_EQ(match_of_open(R"({"OrderId":"1"})"), Match::probable) << "it could be anything";
  EXPECT_EQ(match_of_open(open_row("1", "", "99")), Match::none);
  EXPECT_EQ(match_of_open(open_row("1", "another")), Match::none);
  std::string old = open_row("1", "");
  old.replace(old.find("21:14:50"), 8, "20:14:50");
  EXPECT_EQ(match_of_open(old), Match::none);
  std::string sold = open_row("1", "");
  sold.replace(sold.find("Buy\""), 4, "Sell\"");
  EXPECT_EQ(match_of_open(sold), Match::none);
  std::string market = open_row("1", "");
  market.replace(market.find("\"Limit\""), 7, "\"Market\"");
  EXPECT_EQ(match_of_open(market), Match::none);
}

TEST(SaxoReading, TakesAWordForATypeThatItDoesNotKnowForAnyType) {
  std::string odd = open_row("1", "");
  odd.replace(odd.find("\"Limit\""), 7, "\"Traspaso\"");
  EXPECT_EQ(match_of_open(odd), Match::probable);
}

TEST(SaxoReading, TakesARowWithoutAnAssetTypeForNoTerms) {
  std::string partial = open_row("1", "");
  partial.replace(partial.find(R"("AssetType":"Stock",)"), 20, "");
  EXPECT_EQ(match_of_open(partial), Match::probable) << "nobody can say that it is another one";
  Sightings sightings;
  sightings.add_activity(parsed(activity_row("1", "Placed", "Confirmed", "1")));
  sightings.add_open(parsed(partial));
  EXPECT_EQ(sightings.find("1")->order.instrument, "211:Stock");
  EXPECT_EQ(weigher().match(*sightings.find("1")), Match::probable);
}

TEST(SaxoReading, LearnsAReferenceFromAnyRow) {
  Sightings sightings;
  sightings.add_activity(parsed(activity_row("1", "Placed", "Confirmed", "1")));
  EXPECT_EQ(weigher().undecided(sightings), std::vector<std::string>{"1"});
  sightings.add_open(parsed(open_row("1", "another")));
  EXPECT_TRUE(weigher().undecided(sightings).empty());
  EXPECT_EQ(weigher().match(*sightings.find("1")), Match::none);
}

TEST(SaxoReading, LearnsAReferenceAndNothingElse) {
  Sightings sightings;
  sightings.add_open(parsed(open_row("1", "")));
  order::VenueOrder wanted = sightings.find("1")->order;
  sightings.learn_reference(parsed(activity_row("1", "FinalFill", "Confirmed", "9")));
  EXPECT_EQ(sightings.find("1")->order, wanted) << "no reference is none";
  sightings.learn_reference(parsed(activity_row("1", "FinalFill", "Confirmed", "9", "ref")));
  wanted.reference = "ref";
  EXPECT_EQ(sightings.find("1")->order, wanted);
  sightings.learn_reference(parsed(activity_row("2", "Placed", "Confirmed", "10", "ref")));
  EXPECT_EQ(sightings.find("2"), nullptr);
  EXPECT_EQ(sightings.rows(), 1u);
}

TEST(SaxoReading, CountsRowsThatNameNoOrder) {
  Sightings sightings;
  sightings.add_activity(parsed(R"({"Status":"Placed"})"));
  sightings.add_open(parsed("7"));
  sightings.add_open(parsed(R"({"OrderId":"../../x"})"));
  EXPECT_EQ(sightings.nameless(), 3u);
  EXPECT_TRUE(sightings.all().empty());
}

TEST(SaxoReading, TakesOfTheNextPageOnlyItsQuery) {
  const auto page = page_of(
      parsed(R"({"__count":7,"__next":"http://evil.test/x?$skiptoken=5&$top=1","Data":[1]})"));
  ASSERT_TRUE(page);
  EXPECT_EQ(page->next, "$skiptoken=5&$top=1");
  EXPECT_EQ(page->count, 7u);
  EXPECT_EQ(page_of(parsed(R"({"Data":[]})"))->next, "");
  EXPECT_FALSE(page_of(parsed(R"({"Data":{}})")));
  EXPECT_FALSE(page_of(parsed("{}")));
  EXPECT_FALSE(page_of(parsed(R"({"Data":[],"__next":"no question"})")));
  EXPECT_FALSE(page_of(parsed(R"({"Data":[],"__next":"/x?a b"})")));
}

TEST(SaxoReading, BackfillsWhatWasPlacedInTheWindow) {
  Sightings sightings;
  sightings.add_activity(parsed(activity_row("1", "Placed", "Confirmed", "1")));
  sightings.add_activity(parsed(activity_row("1", "FinalFill", "Confirmed", "2")));
  sightings.add_activity(parsed(activity_row("2", "FinalFill", "Confirmed", "3")));
  sightings.add_activity(parsed(activity_row("3", "Placed", "Rejected", "4")));
  const auto within = placed_within(sightings, test_now - Duration::days(7), test_now);
  ASSERT_EQ(within.size(), 1u) << "2 was placed before, 3 was never placed";
  EXPECT_EQ(within[0].order_id, "1");
  EXPECT_EQ(within[0].life, Life::filled);
  EXPECT_TRUE(placed_within(sightings, test_now, test_now + Duration::days(1)).empty());
}

}  // namespace
}  // namespace pawl::saxo
