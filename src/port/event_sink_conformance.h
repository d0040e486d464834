// What every EventSink does, as a test suite. Include it in one test file of the adapter and say:
//
//   INSTANTIATE_TEST_SUITE_P(Memory, EventSinkConformance, testing::Values(make_memory_sink));
//
// where make_memory_sink makes an EventSinkUnderTest: a fresh, empty sink and a way to see what
// has come to rest in it.
#pragma once

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/bounds.h"
#include "core/audit/late_fixture.h"
#include "port/event_sink.h"

namespace pawl {

class EventSinkUnderTest {
 public:
  virtual ~EventSinkUnderTest() = default;
  virtual EventSink& sink() = 0;
  // The `operation` of every event that is durable, oldest first, seen by other eyes than the
  // sink's.
  virtual std::vector<std::string> operations_at_rest() = 0;
};

class EventSinkConformance
    : public testing::TestWithParam<std::unique_ptr<EventSinkUnderTest> (*)()> {
 protected:
  static audit::Event event(std::string operation) {
    return {.type = audit::EventType::request,
            .timestamp = Instant(),
            .operation = std::move(operation),
            .correlation = {},
            .details = {}};
  }

  EventSink& sink() { return under_test_->sink(); }
  std::vector<std::string> at_rest() { return under_test_->operations_at_rest(); }

 private:
  std::unique_ptr<EventSinkUnderTest> under_test_ = GetParam()();
};

TEST_P(EventSinkConformance, AFreshSinkHasNothingToFlush) {
  EXPECT_EQ(sink().lag(), 0u);
  EXPECT_TRUE(sink().flush().has_value());
  EXPECT_TRUE(at_rest().empty());
}

TEST_P(EventSinkConformance, EventsComeToRestInTheOrderOfTheirAppends) {
  std::vector<std::string> expected;
  for (int i = 0; i < 1000; ++i) {
    expected.push_back("operation-" + std::to_string(i));
    ASSERT_TRUE(sink().append(event(expected.back())).has_value());
  }
  ASSERT_TRUE(sink().flush().has_value());
  EXPECT_EQ(at_rest(), expected);
}

TEST_P(EventSinkConformance, WhatComesLateComesToRestInItsPlace) {
  const audit::LimitSample sample;
  const auto trail = std::make_shared<const audit::Trail>(audit::Trail{.operation = "three"});
  ASSERT_TRUE(sink().append(event("one")).has_value());
  audit::RequestEnded ended = audit::request_sample();
  ended.operation = "two";
  ASSERT_TRUE(sink().append_late(ended).has_value());
  ASSERT_TRUE(sink().append_late(audit::Success{.trail = trail}).has_value());
  audit::LimitDecided decided = sample.decided();
  decided.operation = "four";
  ASSERT_TRUE(sink().append_late(decided).has_value());
  ASSERT_TRUE(sink().append(event("five")).has_value());
  ASSERT_TRUE(sink().flush().has_value());
  EXPECT_EQ(at_rest(), (std::vector<std::string>{"one", "two", "three", "four", "five"}));
  EXPECT_TRUE(sink().has_room());
}

TEST_P(EventSinkConformance, FlushLeavesNoLag) {
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(sink().append(event("operation")).has_value());
    ASSERT_TRUE(sink().flush().has_value());
    EXPECT_EQ(sink().lag(), 0u);
    EXPECT_EQ(at_rest().size(), static_cast<std::size_t>(i + 1));
  }
}

TEST_P(EventSinkConformance, EventsOfFourThreadsAllArriveOnceAndEachThreadsInItsOrder) {
  constexpr int threads = 4;
  constexpr int events = 500;
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([this, t] {
      for (int i = 0; i < events; ++i) {
        EXPECT_TRUE(
            sink().append(event(std::to_string(t) + "/" + std::to_string(1000 + i))).has_value());
      }
      EXPECT_TRUE(sink().flush().has_value());
    });
  }
  for (std::thread& thread : running) thread.join();

  const std::vector<std::string> all = at_rest();
  EXPECT_EQ(all.size(), static_cast<std::size_t>(threads * events));
  for (int t = 0; t < threads; ++t) {
    std::vector<std::string> expected;
    for (int i = 0; i < events; ++i) {
      expected.push_back(std::to_string(t) + "/" + std::to_string(1000 + i));
    }
    std::vector<std::string> of_this_thread;
    std::ranges::copy_if(all, std::back_inserter(of_this_thread), [&](const std::string& name) {
      return name.starts_with(std::to_string(t) + "/");
    });
    EXPECT_EQ(of_this_thread, expected);
  }
}

TEST_P(EventSinkConformance, AnEventOverTheBoundIsRefusedAndTheSinkGoesOn) {
  ASSERT_TRUE(sink().append(event("before")).has_value());
  const Result<void> refused =
      sink().append(event(std::string(bounds::audit_event_bytes_max, 'x')));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::invalid);
  EXPECT_TRUE(refused.error().outcome == Outcome::not_applied);
  const std::string too_long(bounds::audit_event_bytes_max, 'x');
  audit::RequestEnded late = audit::request_sample();
  late.operation = too_long;
  EXPECT_EQ(sink().append_late(late).error().code, Code::invalid);
  ASSERT_TRUE(sink().append(event("after")).has_value());
  ASSERT_TRUE(sink().flush().has_value());
  EXPECT_EQ(at_rest(), (std::vector<std::string>{"before", "after"}));
}

}  // namespace pawl
