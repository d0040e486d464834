// Goal: too many retries a minute are noticed, once, and so is that they are over.
// Method: events through it into a memory sink, at moments chosen by hand.
#include "runtime/retry_watch.h"

#include <gtest/gtest.h>

#include "adapter/memory/memory_event_sink.h"

namespace pawl {
namespace {

Instant at(std::int64_t second) {
  return Instant() + Duration::seconds(1'000 + second);
}

audit::Event event(audit::EventType type, std::int64_t second) {
  return {
      .type = type, .timestamp = at(second), .operation = "o", .correlation = {}, .details = {}};
}

TEST(RetryWatch, AlertsAboveItsThresholdAndSaysEachChangeOnce) {
  MemoryEventSink sink;
  RetryWatch watch(sink, 2);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(watch.append(event(audit::EventType::retry_attempt, i)));
  }
  EXPECT_TRUE(watch.append(event(audit::EventType::retry_succeeded, 2)));
  EXPECT_FALSE(watch.look(at(2)).alert) << "two are not above two";
  EXPECT_TRUE(watch.append(event(audit::EventType::retry_attempt, 3)));
  const RetryWatch::Seen seen = watch.look(at(3));
  EXPECT_TRUE(seen.alert);
  EXPECT_TRUE(seen.changed);
  EXPECT_EQ(seen.retries, 3u);
  EXPECT_FALSE(watch.look(at(4)).changed);
  watch.set_alert_above(3);
  EXPECT_FALSE(watch.look(at(4)).alert);
  watch.set_alert_above(2);
  EXPECT_TRUE(watch.look(at(4)).changed);
  const RetryWatch::Seen later = watch.look(at(60));
  EXPECT_FALSE(later.alert);
  EXPECT_TRUE(later.changed);
  EXPECT_EQ(sink.events().size(), 4u) << "all went through";
}

TEST(RetryWatch, WhatTheSinkDidNotTakeIsNotCounted) {
  MemoryEventSink full(0);
  RetryWatch watch(full, 0);
  EXPECT_FALSE(watch.append(event(audit::EventType::retry_attempt, 0)));
  EXPECT_EQ(watch.look(at(0)).retries, 0u);
}

}  // namespace
}  // namespace pawl
