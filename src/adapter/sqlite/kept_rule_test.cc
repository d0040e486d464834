// Goal: a count outlives the rule it was kept under: the rule comes back from its text, or a clear
//       error does.
// Method: round trips of every algorithm; texts that no pawl wrote.
#include "adapter/sqlite/kept_rule.h"

#include <gtest/gtest.h>

namespace pawl {
namespace {

using limit::Rule;

const limit::Rate rate = {.count = 100, .period = Duration::minutes(1)};

Zone zurich() {
  return Zone("Europe/Zurich", Duration::hours(1));
}

Result<Zone> zones(std::string_view name) {
  if (name == "Europe/Zurich") return zurich();
  return failure(Code::invalid, "no zone " + std::string(name));
}

Rule monthly(Zone zone, CivilTime anchor = limit::CalendarRule().anchor) {
  return limit::Calendar{
      .count = 10'000,
      .rule = {.unit = limit::CalendarUnit::month, .zone = std::move(zone), .anchor = anchor}};
}

std::vector<Rule> rules() {
  return {limit::TokenBucket(rate, 0),
          limit::TokenBucket(rate, 20),
          limit::TokenBucket({.count = 101, .period = rate.period}, 20),
          limit::SlidingWindow{.rate = rate},
          limit::SlidingLog{.rate = rate},
          limit::Concurrency{.slots = 3, .lease = Duration::seconds(7)},
          limit::Concurrency{.slots = 3, .lease = Duration::seconds(8)},
          monthly(Zone::utc()),
          monthly(zurich()),
          monthly(zurich(),
                  {.date = {2024, 1, 31}, .hour = 9, .minute = 8, .second = 7, .nanosecond = 6}),
          limit::Calendar{.count = 5, .rule = {.unit = limit::CalendarUnit::week}}};
}

TEST(KeptRule, ComesBackFromItsText) {
  for (const Rule& rule : rules()) {
    const Result<Rule> back = rebuild(text_of(rule), zones);
    ASSERT_TRUE(back.has_value()) << back.error().message;
    EXPECT_EQ(*back, rule) << text_of(rule);
  }
}

TEST(KeptRule, HasATextOfItsOwn) {
  const std::vector<Rule> all = rules();
  for (std::size_t a = 0; a < all.size(); ++a) {
    for (std::size_t b = 0; b < all.size(); ++b) {
      EXPECT_EQ(text_of(all[a]) == text_of(all[b]), a == b) << text_of(all[a]);
    }
  }
}

TEST(KeptRule, KeepsItsFormForFilesThatAreOutThere) {
  EXPECT_EQ(text_of(limit::TokenBucket(rate, 20)),
            R"({"algorithm":"token_bucket","burst":20,"count":100,"period_ns":60000000000})");
  EXPECT_EQ(text_of(monthly(zurich())),
            R"({"algorithm":"calendar","anchor":[2001,1,1,0,0,0,0],"count":10000,)"
            R"("unit":"month","zone":"Europe/Zurich"})");
}

TEST(KeptRule, RefusesWhatNoRuleWasWrittenAs) {
  for (const std::string_view text :
       {"", "{", "[]", "{}", R"({"algorithm":"leaky"})",
        R"({"algorithm":"leaky","slots":3,"lease_ns":7})",
        R"({"algorithm":"token_bucket","count":1,"period_ns":1})",
        R"({"algorithm":"token_bucket","burst":-1,"count":1,"period_ns":1})",
        R"({"algorithm":"sliding_log","count":0,"period_ns":1})",
        R"({"algorithm":"sliding_log","count":1,"period_ns":0})",
        R"({"algorithm":"sliding_log","count":1.5,"period_ns":1})",
        R"({"algorithm":"concurrency","slots":99999999,"lease_ns":7})",
        R"({"algorithm":"calendar","anchor":[2001,2,30,0,0,0,0],)"
        R"("count":1,"unit":"day","zone":"UTC"})",
        R"({"algorithm":"calendar","anchor":[2001,1,1,0,0,0],"count":1,)"
        R"("unit":"day","zone":"UTC"})",
        R"({"algorithm":"calendar","anchor":[2001,1,1,0,0,0,0],"count":1,)"
        R"("unit":"eon","zone":"UTC"})",
        R"({"algorithm":"calendar","anchor":[2001,1,1,0,0,0,0],"count":1,"unit":"day"})"}) {
    const Result<Rule> back = rebuild(text, zones);
    ASSERT_FALSE(back.has_value()) << text;
    EXPECT_EQ(back.error().code, Code::invalid);
    EXPECT_NE(back.error().message.find("reset the count"), std::string::npos);
  }
}

TEST(KeptRule, TellsWhenItsZoneIsNotKnownHere) {
  const std::string text = text_of(monthly(Zone("Moon/Base", Duration())));
  EXPECT_EQ(rebuild(text, zones).error().message, "no zone Moon/Base");
}

}  // namespace
}  // namespace pawl
