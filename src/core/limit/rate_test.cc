// Goal: a rate reads as the configuration promises, and nothing else reads as a rate.
// Method: pinned examples, the edges of every bound, and a round trip over random rates.
#include "core/limit/rate.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/bounds.h"

namespace pawl::limit {
namespace {

TEST(Rate, ReadsCountAndPeriod) {
  EXPECT_EQ(parse_rate("100/1m").value(), (Rate{100, Duration::minutes(1)}));
  EXPECT_EQ(parse_rate("5/500ms").value(), (Rate{5, Duration::milliseconds(500)}));
  EXPECT_EQ(parse_rate("1/1d").value(), (Rate{1, Duration::days(1)}));
}

TEST(Rate, RefusesWhatIsNotOne) {
  for (const char* text :
       {"",         "/",       "100",     "100/",    "/1m",      "100/1x",  "100/m",
        "100 /1m",  "100/ 1m", " 100/1m", "100/1m ", "-100/1m",  "+100/1m", "1.5/1m",
        "100/1.5m", "100/-1m", "0x10/1m", "1e3/1m",  "100/1m/2", "007/1m",  "00/1m"}) {
    const auto parsed = parse_rate(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().code, Code::invalid);
    EXPECT_EQ(parsed.error().message,
              "'" + std::string(text) +
                  "' is not a rate; write a count, a slash and a duration, as in 100/1m");
  }
}

TEST(Rate, StaysWithinItsBounds) {
  EXPECT_TRUE(parse_rate("1000000000/1s").has_value());
  EXPECT_TRUE(parse_rate("1/366d").has_value());
  EXPECT_TRUE(parse_rate("1/1ns").has_value());
  EXPECT_EQ(parse_rate("0/1m").error().message,
            "the rate '0/1m' is out of range; allowed: a count from 1 to 1000000000");
  EXPECT_EQ(parse_rate("1000000001/1m").error().message,
            "the rate '1000000001/1m' is out of range; allowed: a count from 1 to 1000000000");
  EXPECT_EQ(parse_rate("99999999999999999999/1m").error().message,
            "the rate '99999999999999999999/1m' is out of range; allowed: a count from 1 to "
            "1000000000");
  EXPECT_EQ(parse_rate("1/0s").error().message,
            "the rate '1/0s' is out of range; allowed: a duration above 0s and up to 366d");
  EXPECT_EQ(parse_rate("1/367d").error().message,
            "the rate '1/367d' is out of range; allowed: a duration above 0s and up to 366d");
  EXPECT_EQ(parse_rate("2/1ns").error().message,
            "the rate '2/1ns' is out of range; allowed: at most one a nanosecond");
}

TEST(Rate, PrintsTheLargestExactUnit) {
  EXPECT_EQ(to_string(Rate{100, Duration::seconds(60)}), "100/1m");
  EXPECT_EQ(to_string(Rate{1, Duration::milliseconds(1500)}), "1/1500ms");
}

RC_GTEST_PROP(Rate, EveryPrintedRateReadsBackTheSame, ()) {
  const auto period = *rc::gen::inRange<std::int64_t>(1, bounds::limit_period_max.ns() + 1);
  const auto count =
      *rc::gen::inRange<std::int64_t>(1, std::min(period, bounds::limit_count_max) + 1);
  const Rate rate{count, Duration::nanoseconds(period)};
  RC_ASSERT(parse_rate(to_string(rate)).value() == rate);
}

}  // namespace
}  // namespace pawl::limit
