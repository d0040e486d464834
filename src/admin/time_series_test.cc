// Goal: what was sampled comes back at its time, as a mean, with holes where nothing was. Method: a
// hand-moved time and small scales.
#include "admin/time_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pawl::admin {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Values = std::vector<std::optional<double>>;

Instant at(std::int64_t seconds) {
  return Instant::from_ns(seconds * 1'000'000'000);
}

class TimeSeriesTest : public ::testing::Test {
 protected:
  TimeSeries series{{{{1, 5}, {10, 3}, {100, 2}}}, 2};
};

TEST_F(TimeSeriesTest, HasNothingBeforeTheFirstSample) {
  EXPECT_THAT(series.times(Span::quarter_hour), IsEmpty());
  EXPECT_THAT(series.values("a", Span::day), IsEmpty());
}

TEST_F(TimeSeriesTest, KeepsTheNewestPointsOfEachSpan) {
  for (int second = 100; second < 107; ++second) series.add(at(second), {{"a", second}});
  EXPECT_THAT(series.times(Span::quarter_hour), ElementsAre(102, 103, 104, 105, 106));
  EXPECT_EQ(series.values("a", Span::quarter_hour), (Values{102, 103, 104, 105, 106}));
  EXPECT_THAT(series.times(Span::hour), ElementsAre(100));
  EXPECT_EQ(series.values("a", Span::hour), (Values{103})) << "the mean of its step";
}

TEST_F(TimeSeriesTest, LeavesHolesWhereNothingWasSampled) {
  series.add(at(100), {{"a", 1}});
  series.add(at(103), {{"b", 2}});
  EXPECT_EQ(series.values("a", Span::quarter_hour), (Values{1, {}, {}, {}}));
  EXPECT_EQ(series.values("b", Span::quarter_hour), (Values{{}, {}, {}, 2}));
  series.add(at(1'000), {{"a", 7}});
  EXPECT_EQ(series.values("a", Span::quarter_hour), (Values{{}, {}, {}, {}, 7}))
      << "what is older than the span is gone";
}

TEST_F(TimeSeriesTest, LeavesOutLinesBeyondItsBound) {
  series.add(at(1), {{"a", 1}, {"b", 2}, {"c", 3}});
  EXPECT_THAT(series.lines(), ElementsAre("a", "b"));
}

TEST_F(TimeSeriesTest, WaitsForAClockThatWentBack) {
  series.add(at(100), {{"a", 1}});
  series.add(at(50), {{"a", 3}});
  EXPECT_THAT(series.times(Span::quarter_hour), ElementsAre(100));
  EXPECT_EQ(series.values("a", Span::quarter_hour), (Values{2}));
}

TEST(TimeSeriesJson, WritesNumbersShort) {
  EXPECT_EQ(json::print(values_json({1.0, {}, 0.12345, -0.0001})), "[1,null,0.123,0]");
  EXPECT_EQ(json::print(numbers_json({1, 2})), "[1,2]");
}

TEST(TimeSeriesJson, KnowsItsSpans) {
  EXPECT_EQ(span_of("15m"), Span::quarter_hour);
  EXPECT_EQ(span_of("1d"), Span::day);
  EXPECT_EQ(span_of("2d"), std::nullopt);
}

}  // namespace
}  // namespace pawl::admin
