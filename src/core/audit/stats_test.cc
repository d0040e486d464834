// Goal: attempts, success rate, average and retry rate are what the events say.
// Method: logs made with the builders, counted by hand.
#include "core/audit/stats.h"

#include <gtest/gtest.h>

#include "base/bounds.h"
#include "core/audit/chain.h"
#include "core/audit/retry_event.h"

namespace pawl::audit {
namespace {

Instant at(std::int64_t second) {
  return Instant() + Duration::seconds(1'000'000 + second);
}

class Log {
 public:
  template <class What>
  void add(What what, std::string_view category, std::int64_t second = 0) {
    what.subject = {.category = category, .operation = "o", .timestamp = at(second)};
    stats.take(draft(to_event(what)).value().text);
  }

  Stats stats;
};

TEST(Stats, CountAndRateWhatEnded) {
  Log log;
  log.add(RetrySucceeded{.subject = {}, .total_attempts = 1}, "A");
  log.add(RetryAttempt{.subject = {}}, "A");
  log.add(RetryAttempt{.subject = {}}, "A");
  log.add(RetrySucceeded{.subject = {}, .total_attempts = 3}, "A");
  log.add(RetryAttempt{.subject = {}}, "A");
  log.add(RetryExhausted{.subject = {}, .total_attempts = 2}, "A");
  log.add(RetrySucceeded{.subject = {}, .total_attempts = 1}, "B");
  log.add(RetryAttempt{.subject = {}}, "C");
  log.add(Idempotency{.subject = {}, .idempotency_key = "k", .action = IdempotencyAction::hit},
          "C");
  log.add(Idempotency{.subject = {}, .idempotency_key = "k", .action = IdempotencyAction::stale},
          "C");

  const auto& categories = log.stats.categories();
  ASSERT_EQ(categories.size(), 3u);
  const CategoryStats& a = categories.at("A");
  EXPECT_EQ(a, (CategoryStats{
                   .attempts = 6, .retries = 3, .succeeded = 2, .exhausted = 1, .replayed = 0}));
  EXPECT_DOUBLE_EQ(a.success_rate().value(), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(a.average_attempts().value(), 2.0);
  EXPECT_DOUBLE_EQ(categories.at("B").success_rate().value(), 1.0);
  EXPECT_EQ(categories.at("C").replayed, 1u);
  EXPECT_EQ(categories.at("C").retries, 1u);
  EXPECT_FALSE(categories.at("C").success_rate().has_value()) << "nothing has ended";
  EXPECT_FALSE(categories.at("C").average_attempts().has_value());
  EXPECT_EQ(log.stats.records(), 10u);
  EXPECT_EQ(log.stats.unreadable(), 0u);
}

TEST(Stats, WhatWasGivenUpBeforeItsNextAttemptHadNoMore) {
  Log log;
  log.add(RetryAttempt{.subject = {}}, "A");
  log.add(RetryExhausted{.subject = {}, .total_attempts = 1}, "A");  // the breaker opened
  log.add(RetryExhausted{.subject = {}, .total_attempts = 0}, "A");  // and was open
  EXPECT_EQ(log.stats.categories().at("A").attempts, 1u);
  EXPECT_DOUBLE_EQ(log.stats.categories().at("A").average_attempts().value(), 0.5);
}

TEST(Stats, PassOverOtherEventsAndCountWhatIsNoRecord) {
  Stats stats;
  stats.take(R"({"event_type":"limit","retry_category":"A"})");
  for (const char* line : {"", "hello", "[1]", "{}", R"({"event_type":7})"}) stats.take(line);
  stats.take(R"({"event_type":"retry_exhausted"})");  // without any of its fields
  EXPECT_EQ(stats.records(), 2u);
  EXPECT_EQ(stats.unreadable(), 5u);
  ASSERT_EQ(stats.categories().size(), 1u);
  EXPECT_EQ(stats.categories().at("").exhausted, 1u);
}

TEST(Stats, CountCategoriesBeyondTheBoundTogether) {
  Log log;
  for (std::size_t i = 0; i < bounds::audit_categories_max + 5; ++i) {
    log.add(RetryAttempt{.subject = {}}, "C" + std::to_string(i));
  }
  EXPECT_EQ(log.stats.categories().size(), bounds::audit_categories_max + 1);
  EXPECT_EQ(log.stats.categories().at(std::string(other_categories)).retries, 5u);
}

TEST(Stats, KnowTheWorstMinute) {
  Log log;
  EXPECT_FALSE(log.stats.peak().has_value());
  for (const std::int64_t second : {0, 30, 59, 60, 61, 300}) {
    log.add(RetryAttempt{.subject = {}}, "A", second);
  }
  ASSERT_TRUE(log.stats.peak().has_value());
  EXPECT_EQ(log.stats.peak()->retries, 4u);  // 30 … 61: 0 is out by then
  EXPECT_EQ(log.stats.peak()->at, at(61));
  EXPECT_EQ(log.stats.retry_rate().in_minute_before(at(300)), 1u);
}

TEST(RetryRate, ForgetsWhatIsOlderThanAMinute) {
  RetryRate rate;
  EXPECT_EQ(rate.in_minute_before(at(0)), 0u);
  rate.note(at(0));
  rate.note(at(0));
  rate.note(at(59));
  EXPECT_EQ(rate.in_minute_before(at(59)), 3u);
  EXPECT_EQ(rate.in_minute_before(at(60)), 1u);
  EXPECT_EQ(rate.in_minute_before(at(118)), 1u);
  EXPECT_EQ(rate.in_minute_before(at(119)), 0u);
  rate.note(at(60));
  EXPECT_EQ(rate.in_minute_before(at(60)), 2u);
  rate.note(at(1'000));
  EXPECT_EQ(rate.in_minute_before(at(1'000)), 1u);
}

TEST(RetryRate, AClockThatGoesBackALittleStandsStillAndElseBeginsAnew) {
  RetryRate rate;
  rate.note(at(100));
  rate.note(at(90));
  EXPECT_EQ(rate.in_minute_before(at(100)), 2u);
  EXPECT_EQ(rate.in_minute_before(at(90)), 2u);
  rate.note(at(0));
  EXPECT_EQ(rate.in_minute_before(at(0)), 1u);
  EXPECT_EQ(rate.in_minute_before(at(59)), 1u);
  EXPECT_EQ(rate.in_minute_before(at(60)), 0u);
}

TEST(RetryRate, CountsBefore1970Too) {
  RetryRate rate;
  for (std::int64_t second = -100; second <= 100; ++second) {
    rate.note(Instant() + Duration::seconds(second));
    EXPECT_EQ(rate.in_minute_before(Instant() + Duration::seconds(second)),
              static_cast<std::uint64_t>(std::min<std::int64_t>(second + 101, 60)))
        << second;
  }
}

}  // namespace
}  // namespace pawl::audit
