// Goal: retries are told by category for a minute, and breakers until they close. Method: events
// into a sink in memory, at times of the test's choice.
#include "runtime/retry_tally.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapter/memory/memory_event_sink.h"
#include "base/bounds_panel.h"
#include "core/audit/retry_event.h"

namespace pawl {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

class RetryTallyTest : public ::testing::Test {
 protected:
  static Instant at(std::int64_t seconds) { return Instant::from_ns(seconds * 1'000'000'000); }
  void retry(std::string_view category, std::int64_t second) {
    ASSERT_TRUE(tally.append(to_event(audit::RetryAttempt{
        .subject = {.category = category, .operation = "send", .timestamp = at(second)}})));
  }
  void breaker(std::string_view key, audit::BreakerState state, std::int64_t second) {
    ASSERT_TRUE(tally.append(to_event(audit::Breaker{
        .subject = {.category = "RETRY_API_REQUEST", .operation = "send", .timestamp = at(second)},
        .key = key,
        .state = state})));
  }

  MemoryEventSink sink{1'000};
  RetryTally tally{sink};
};

TEST_F(RetryTallyTest, CountsTheRetriesOfAMinuteByCategory) {
  retry("RETRY_API_REQUEST", 1'000);
  retry("RETRY_API_REQUEST", 1'030);
  retry("RETRY_KV_PUT", 1'030);
  EXPECT_EQ(tally.all_of_last_minute(at(1'030)), 3U);
  EXPECT_THAT(tally.last_minute(at(1'030)),
              ElementsAre(Pair("RETRY_API_REQUEST", 2U), Pair("RETRY_KV_PUT", 1U)));
  EXPECT_THAT(tally.last_minute(at(1'060)),
              ElementsAre(Pair("RETRY_API_REQUEST", 1U), Pair("RETRY_KV_PUT", 1U)));
  EXPECT_THAT(tally.last_minute(at(1'090)), IsEmpty());
  EXPECT_EQ(tally.all_of_last_minute(at(1'090)), 0U);
  EXPECT_THAT(sink.events(), SizeIs(3)) << "all went on";
}

TEST_F(RetryTallyTest, CountsWhatItHasNoRoomForTogether) {
  for (std::size_t i = 0; i < bounds::retry_tally_categories_max + 10; ++i) {
    retry("CATEGORY_" + std::to_string(i), 1'000);
  }
  const auto told = tally.last_minute(at(1'000));
  EXPECT_THAT(told, SizeIs(bounds::retry_tally_categories_max));
  EXPECT_THAT(told, ::testing::Contains(Pair("other", 11U)));
  EXPECT_EQ(tally.all_of_last_minute(at(1'000)), bounds::retry_tally_categories_max + 10);
}

TEST_F(RetryTallyTest, RemembersABreakerUntilItCloses) {
  breaker("shop", audit::BreakerState::open, 5);
  breaker("mail", audit::BreakerState::open, 6);
  breaker("mail", audit::BreakerState::half_open, 9);
  ASSERT_THAT(tally.breakers(), SizeIs(2));
  EXPECT_EQ(tally.breakers()[0].name, "mail");
  EXPECT_EQ(tally.breakers()[0].state, "half_open");
  EXPECT_EQ(tally.breakers()[0].since, at(6)) << "not with each probe";
  breaker("mail", audit::BreakerState::closed, 10);
  breaker("shop", audit::BreakerState::closed, 10);
  EXPECT_THAT(tally.breakers(), IsEmpty());
  breaker("mail", audit::BreakerState::open, 20);
  EXPECT_EQ(tally.breakers()[0].since, at(20)) << "it had closed";
}

TEST_F(RetryTallyTest, CountsNothingThatTheSinkDidNotTake) {
  MemoryEventSink full{0};
  RetryTally refused(full);
  EXPECT_FALSE(refused.append(to_event(audit::RetryAttempt{
      .subject = {.category = "RETRY_KV_PUT", .operation = "send", .timestamp = at(1)}})));
  EXPECT_THAT(refused.last_minute(at(1)), IsEmpty());
  EXPECT_EQ(refused.all_of_last_minute(at(1)), 0U);
}

}  // namespace
}  // namespace pawl
