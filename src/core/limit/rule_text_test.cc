// Goal: a rule that was told can be had back from what was told, and from nothing else.
// Method: rules printed and read back; texts that differ from what is printed in one place.
#include "core/limit/rule_text.h"

#include <gtest/gtest.h>

namespace pawl::limit {
namespace {

const Zones zones = [](std::string_view name) -> Result<Zone> {
  if (name == "Europe/Zurich") return Zone("Europe/Zurich", Duration::hours(1));
  return failure(Code::unavailable, "no such zone");
};

Result<Rule> parsed(const Rule& rule) {
  return parse_rule(algorithm_of(rule), to_string(rule), zones);
}

TEST(RuleText, GivesTheRuleBackThatWasPrinted) {
  const Zone zurich = zones("Europe/Zurich").value();
  for (const Rule& rule : {
           Rule(TokenBucket({100, Duration::minutes(1)}, 0)),
           Rule(TokenBucket({1, Duration::milliseconds(1500)}, 20)),
           Rule(SlidingWindow{{7, Duration::days(1)}}),
           Rule(Calendar{.count = 1000, .rule = {}}),
           Rule(Calendar{.count = 1, .rule = {.unit = CalendarUnit::minute, .zone = zurich}}),
           Rule(Calendar{
               .count = 5,
               .rule = {.unit = CalendarUnit::week,
                        .zone = zurich,
                        .anchor = to_civil(parse_instant("2026-01-31T06:30:00Z").value())}}),
       }) {
    const Result<Rule> again = parsed(rule);
    ASSERT_TRUE(again.has_value()) << to_string(rule) << ": " << again.error().message;
    EXPECT_EQ(*again, rule) << to_string(rule);
  }
}

TEST(RuleText, HasNoWayBackForRulesThatKeepMarks) {
  EXPECT_FALSE(parsed(SlidingLog{{7, Duration::days(1)}}).has_value());
  EXPECT_FALSE(parsed(Concurrency{.slots = 3}).has_value());
}

TEST(RuleText, SaysWhenAZoneIsNotKnown) {
  const Result<Rule> rule = parse_rule("calendar", "5 a day in Mars/Base", zones);
  ASSERT_FALSE(rule.has_value());
  EXPECT_EQ(rule.error().code, Code::not_found);
}

TEST(RuleText, RefusesWhatPawlDoesNotWrite) {
  for (const char* text :
       {"", "100", "100/60s", "0100/1m", "100/1m ", "100/1m burst", "100/1m burst 0",
        "100/1m burst 020", "100/1m burst 2 burst 3", "100/1m burst 9999999999", "-1/1m"}) {
    EXPECT_FALSE(parse_rule("token_bucket", text, zones).has_value()) << text;
  }
  EXPECT_FALSE(parse_rule("sliding_window", "100/1m burst 5", zones).has_value());
  for (const char* text :
       {"", "5 a day", "5 a day in ", "0 a day in UTC", "5 a fortnight in UTC", "05 a day in UTC",
        "5 a day in UTC from", "5 a day in UTC from 2026-02-30T00:00:00.000",
        "5 a day in UTC from 2001-01-01T00:00:00.000"}) {
    EXPECT_FALSE(parse_rule("calendar", text, zones).has_value()) << text;
  }
}

}  // namespace
}  // namespace pawl::limit
