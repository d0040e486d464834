// Goal: what Prometheus reads is exactly what was counted, and nobody outside can make it grow.
// Method: whole texts pinned; closed sets of labels fed with strangers; threads that count at
//         once.
#include "metrics/metrics.h"

#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "base/bounds.h"

namespace pawl::metrics {
namespace {

TEST(Registry, WritesAllTypesInPrometheusText) {
  Registry registry;
  registry.counter("pawl_requests_total", "Requests decided.", {{"decision", "refused"}}).add(3);
  registry.counter("pawl_requests_total", "Requests decided.", {{"decision", "allowed"}}).add();
  registry.gauge("pawl_connections", "Open connections.").set(2.5);
  const double ends[] = {0.005, 0.1, 1};
  Histogram& wait = registry.histogram("pawl_wait_seconds", "Time waited.", ends);
  for (const double value : {0.001, 0.005, 0.25, 4.0}) wait.observe(value);
  EXPECT_EQ(registry.text(),
            "# HELP pawl_connections Open connections.\n"
            "# TYPE pawl_connections gauge\n"
            "pawl_connections 2.5\n"
            "# HELP pawl_requests_total Requests decided.\n"
            "# TYPE pawl_requests_total counter\n"
            "pawl_requests_total{decision=\"allowed\"} 1\n"
            "pawl_requests_total{decision=\"refused\"} 3\n"
            "# HELP pawl_wait_seconds Time waited.\n"
            "# TYPE pawl_wait_seconds histogram\n"
            "pawl_wait_seconds_count 4\n"
            "pawl_wait_seconds_sum 4.256\n"
            "pawl_wait_seconds_bucket{le=\"0.005\"} 2\n"
            "pawl_wait_seconds_bucket{le=\"0.1\"} 2\n"
            "pawl_wait_seconds_bucket{le=\"1\"} 3\n"
            "pawl_wait_seconds_bucket{le=\"+Inf\"} 4\n");
}

TEST(Registry, ShowsEveryCounterAndGaugeAsItStands) {
  Registry registry;
  registry.counter("pawl_x_total", "x", {{"b", "1"}, {"a", "2"}}).add(3);
  registry.gauge("pawl_y", "y").set(0.5);
  registry.histogram("pawl_z_seconds", "z", request_seconds).observe(1);
  std::string told;
  registry.for_each([&](const Reading& reading) {
    told += reading.name;
    for (const auto& [name, value] : reading.labels) told += " " + name + "=" + value;
    told += " " + std::to_string(reading.value) + "\n";
  });
  EXPECT_EQ(told, "pawl_x_total a=2 b=1 3.000000\npawl_y 0.500000\n");
}

TEST(Registry, IsEmptyTextAtFirst) {
  EXPECT_EQ(Registry().text(), "");
}

TEST(Registry, EscapesHelpAndLabelValues) {
  Registry registry;
  registry.gauge("pawl_odd", "A \\ and a\nline, a \"quote\".", {{"value", "\\ \" \n é"}}).set(1);
  EXPECT_EQ(registry.text(),
            "# HELP pawl_odd A \\\\ and a\\nline, a \"quote\".\n"
            "# TYPE pawl_odd gauge\n"
            "pawl_odd{value=\"\\\\ \\\" \\n é\"} 1\n");
}

TEST(Registry, WritesLargeCountsWithoutLosingDigits) {
  Registry registry;
  registry.counter("pawl_bytes_total", "Bytes.").add(9'007'199'254'740'991);
  EXPECT_NE(registry.text().find("pawl_bytes_total 9007199254740991\n"), std::string::npos)
      << registry.text();
}

TEST(Registry, GivesTheSameHandleForTheSameLabelsInAnyOrder) {
  Registry registry;
  Counter& one = registry.counter("pawl_x_total", "X.", {{"a", "1"}, {"b", "2"}});
  Counter& two = registry.counter("pawl_x_total", "X.", {{"b", "2"}, {"a", "1"}});
  Counter& other = registry.counter("pawl_x_total", "X.", {{"a", "2"}, {"b", "1"}});
  EXPECT_EQ(&one, &two);
  EXPECT_NE(&one, &other);
}

TEST(Registry, KeepsHandlesGoodWhileItGrows) {
  Registry registry;
  Counter& counter = registry.counter("pawl_x_total", "X.", {{"n", "other"}});
  std::vector<std::string> names;
  for (int i = 0; i < 50; ++i) names.push_back(std::to_string(i));
  const auto set = LabelSet::from_configuration(names);
  for (const auto& name : names) registry.counter("pawl_x_total", "X.", {{"n", set.value(name)}});
  counter.add();
  EXPECT_NE(registry.text().find("pawl_x_total{n=\"other\"} 1\n"), std::string::npos);
}

TEST(RegistryDeathTest, AssertsOnOneNameForTwoThings) {
  Registry registry;
  const double ends[] = {1, 2};
  const double other_ends[] = {1, 3};
  registry.gauge("pawl_size", "Size.", {{"a", "1"}});
  registry.histogram("pawl_wait_seconds", "Wait.", ends);
  EXPECT_DEATH(registry.histogram("pawl_size", "Size.", ends, {{"a", "1"}}), "holds_alternative");
  EXPECT_DEATH(registry.gauge("pawl_size", "Length.", {{"a", "1"}}), "help");
  EXPECT_DEATH(registry.gauge("pawl_size", "Size.", {{"b", "1"}}), "same_names");
  EXPECT_DEATH(registry.gauge("pawl_size", "Size."), "same_names");
  EXPECT_DEATH(registry.gauge("pawl_two", "Two.", {{"a", "1"}, {"a", "2"}}), "same_name");
  EXPECT_DEATH(registry.histogram("pawl_wait_seconds", "Wait.", other_ends), "bucket_ends");
}

TEST(Gauge, GoesUpAndDown) {
  Registry registry;
  Gauge& gauge = registry.gauge("pawl_connections", "Open connections.");
  gauge.add(3);
  gauge.add(-1);
  EXPECT_EQ(gauge.value(), 2);
  gauge.set(-0.5);
  EXPECT_EQ(gauge.value(), -0.5);
}

TEST(Histogram, CountsAValueInEveryBucketThatReachesIt) {
  const double ends[] = {1, 2, 3};
  Histogram histogram(ends);
  for (const double value : {-1.0, 1.0, 1.5, 2.0, 3.0, 3.5, 1e300}) histogram.observe(value);
  EXPECT_EQ(histogram.cumulative(), (std::vector<std::uint64_t>{2, 4, 5, 7}));
}

TEST(Histogram, MayHaveNoBucketButTheLast) {
  Histogram histogram({});
  histogram.observe(5);
  EXPECT_EQ(histogram.cumulative(), std::vector<std::uint64_t>{1});
}

TEST(HistogramDeathTest, AssertsOnBucketsOutOfOrderAndOnNoNumber) {
  const double falling[] = {2, 1};
  const double twice[] = {1, 1};
  const double endless[] = {1, std::numeric_limits<double>::infinity()};
  EXPECT_DEATH(Histogram{falling}, "greater_equal");
  EXPECT_DEATH(Histogram{twice}, "greater_equal");
  EXPECT_DEATH(Histogram{endless}, "isfinite");
  Histogram histogram(request_seconds);
  EXPECT_DEATH(histogram.observe(std::numeric_limits<double>::quiet_NaN()), "isnan");
}

TEST(LabelSet, KnowsItsValuesAndCallsTheRestOther) {
  const LabelSet set = {"refused", "allowed"};
  EXPECT_EQ(set.value("allowed").text(), "allowed");
  EXPECT_EQ(set.value("refused").text(), "refused");
  for (const char* stranger : {"", "allow", "allowed2", "zzz", "other"}) {
    EXPECT_EQ(set.value(stranger).text(), "other") << stranger;
  }
}

TEST(LabelSet, TakesConfiguredNamesUpToItsBound) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i <= bounds::metric_label_values_max; ++i) {
    names.push_back("bucket" + std::to_string(i));
  }
  const auto set = LabelSet::from_configuration(names);
  EXPECT_EQ(set.value(names.front()).text(), names.front());
  EXPECT_EQ(set.value(names[bounds::metric_label_values_max - 1]).text(),
            names[bounds::metric_label_values_max - 1]);
  EXPECT_EQ(set.value(names.back()).text(), "other");
}

TEST(Registry, CountsSeriesPastTheBoundTogether) {
  Registry registry;
  Counter* last = nullptr;
  for (std::size_t i = 0; i < bounds::metric_series_max + 5; ++i) {
    const std::vector<std::string> names = {std::to_string(i)};  // as after many reloads
    const auto set = LabelSet::from_configuration(names);
    last = &registry.counter("pawl_x_total", "X.", {{"n", set.value(names.front())}});
    last->add();
  }
  EXPECT_EQ(last->value(), 5u);
  EXPECT_EQ(last, &registry.counter("pawl_x_total", "X.", {{"n", "other"}}));
  EXPECT_EQ(registry.counter("pawl_x_total", "X.", {{"n", "0"}}).value(), 1u);
}

TEST(Registry, LosesNothingOfManyThreads) {
  Registry registry;
  constexpr int each = 20'000;
  const auto work = [&] {
    Counter& counter = registry.counter("pawl_x_total", "X.");
    Gauge& gauge = registry.gauge("pawl_y", "Y.");
    Histogram& histogram = registry.histogram("pawl_z_seconds", "Z.", request_seconds);
    for (int i = 0; i < each; ++i) {
      counter.add();
      gauge.add(1);
      histogram.observe(i % 2 == 0 ? 0.25 : 100);
    }
  };
  {
    const std::jthread threads[] = {std::jthread(work), std::jthread(work), std::jthread(work),
                                    std::jthread(work)};
    for (int i = 0; i < 20; ++i) (void)registry.text();
  }
  EXPECT_EQ(registry.counter("pawl_x_total", "X.").value(), 4u * each);
  EXPECT_EQ(registry.gauge("pawl_y", "Y.").value(), 4 * each);
  const Histogram& histogram = registry.histogram("pawl_z_seconds", "Z.", request_seconds);
  EXPECT_EQ(histogram.cumulative().back(), 4u * each);
  EXPECT_EQ(histogram.cumulative()[std::size(request_seconds) - 1], 2u * each);
  EXPECT_EQ(histogram.sum(), 2 * each * 100.25);
}

static_assert(!std::is_constructible_v<LabelValue, std::string>);
static_assert(!std::is_convertible_v<std::string_view, LabelValue>);
static_assert(!std::is_constructible_v<Name<Type::counter>, std::string>);
static_assert(!std::is_constructible_v<LabelSet, std::vector<std::string>>);

}  // namespace
}  // namespace pawl::metrics
