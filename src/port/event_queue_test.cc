// Goal: callers are told the truth about events on their way, and none is dropped. Method: a writer
// played by the test; the sinks that use the queue pass the conformance suite besides.
#include "port/event_queue.h"

#include <future>
#include <gtest/gtest.h>
#include <string>

#include "core/audit/late_fixture.h"

namespace pawl {
namespace {

using OnFull = EventQueue::OnFull;

audit::Event event(std::string operation) {
  return {.type = audit::EventType::request,
          .timestamp = Instant(),
          .operation = std::move(operation),
          .correlation = {},
          .details = {}};
}

const Error away = {Code::unavailable, Outcome::unknown, "the server is away"};

TEST(EventQueue, GivesEventsInOrderUntilTheyAreDurable) {
  EventQueue queue({});
  for (const char* name : {"one", "two", "three"}) {
    ASSERT_TRUE(queue.append(event(name)).has_value());
  }
  EXPECT_EQ(queue.batch(1).size(), 1u) << "at least one";
  ASSERT_EQ(queue.batch(1'000'000).size(), 3u);
  queue.durable(2);
  EXPECT_EQ(queue.lag(), 1u);
  const auto rest = queue.batch(1'000'000);
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_NE(rest[0].text.find("three"), std::string::npos);
}

TEST(EventQueue, WhatComesLateStandsInItsPlaceAndInWords) {
  EventQueue queue({});
  const auto trail = std::make_shared<const audit::Trail>(audit::Trail{.operation = "two"});
  ASSERT_TRUE(queue.append(event("one")).has_value());
  ASSERT_TRUE(queue.append(audit::Success{.trail = trail}).has_value());
  ASSERT_TRUE(queue.append(event("three")).has_value());
  EXPECT_EQ(queue.lag(), 3u);
  const auto batch = queue.batch(1'000'000);
  ASSERT_EQ(batch.size(), 3u);
  EXPECT_NE(batch[1].text.find(R"("event_type":"retry_succeeded","operation":"two")"),
            std::string::npos);
  queue.durable(3);
  EXPECT_EQ(queue.lag(), 0u);
}

TEST(EventQueue, WhatComesLateFillsItToo) {
  EventQueue queue({.on_full = OnFull::fail, .events_max = 1});
  const auto trail = std::make_shared<const audit::Trail>();
  ASSERT_TRUE(queue.append(audit::Success{.trail = trail}).has_value());
  EXPECT_FALSE(queue.append(audit::Success{.trail = trail}).has_value());
}

TEST(EventQueue, TheFactsOfARequestArePutIntoWordsForTheWriter) {
  EventQueue queue({});
  std::shared_ptr<const void> owner = std::make_shared<int>(1);
  const std::weak_ptr<const void> policies = owner;
  const audit::LimitSample sample;
  audit::LimitDecided decided = sample.decided();
  decided.policies = &owner;
  const std::string limit = audit::draft(to_event(decided)).value().text;
  ASSERT_TRUE(queue.append(audit::Late(decided)).has_value());
  ASSERT_TRUE(queue.append(audit::Late(audit::request_sample())).has_value());
  owner.reset();
  const auto batch = queue.batch(1'000'000);
  ASSERT_EQ(batch.size(), 2u);
  EXPECT_EQ(batch[0].text, limit);
  EXPECT_EQ(batch[1].text, audit::draft(to_event(audit::request_sample())).value().text);
  EXPECT_FALSE(policies.expired());
  queue.durable(2);
  queue.close();
  EXPECT_TRUE(queue.batch(1).empty());
  EXPECT_TRUE(policies.expired()) << "nobody needs them any more";
}

TEST(EventQueue, WhatIsTooLargeIsRefusedThoughItComesLate) {
  EventQueue queue({});
  const std::string long_text(bounds::audit_event_bytes_max / 6, 'x');
  audit::RequestEnded ended = audit::request_sample();
  ended.operation = long_text;
  EXPECT_TRUE(queue.append(audit::Late(ended)).has_value()) << "its words fit after all";
  const std::string too_long(bounds::audit_event_bytes_max, 'x');
  ended.operation = too_long;
  EXPECT_EQ(queue.append(audit::Late(ended)).error().code, Code::invalid);
  EXPECT_EQ(queue.lag(), 1u);
}

TEST(EventQueue, SaysThatThereIsNoRoomBeforeItIsFull) {
  EventQueue queue({.on_full = OnFull::fail, .events_max = 16});
  for (int i = 0; i < 14; ++i) {
    EXPECT_TRUE(queue.has_room()) << i;
    ASSERT_TRUE(queue.append(event("begun")).has_value());
  }
  EXPECT_FALSE(queue.has_room());
  EXPECT_TRUE(queue.append(event("ended")).has_value()) << "what has begun can end";
  EXPECT_TRUE(queue.append(event("ended")).has_value());
  EXPECT_FALSE(queue.append(event("one too many")).has_value());
  ASSERT_EQ(queue.batch(1'000'000).size(), 16u);
  queue.durable(2);
  EXPECT_FALSE(queue.has_room());
  queue.durable(1);
  EXPECT_TRUE(queue.has_room());
  ASSERT_TRUE(queue.append(event("begun")).has_value());
  EXPECT_FALSE(queue.has_room());
  queue.fail({Code::invalid, Outcome::unknown, "not ours"});
  EXPECT_TRUE(queue.has_room()) << "append() says at once what is wrong";
}

TEST(EventQueue, WhatIsDurableInPartsStaysInOrder) {
  EventQueue queue({});
  for (int i = 0; i < 9; ++i) ASSERT_TRUE(queue.append(event(std::to_string(i))).has_value());
  std::string seen;
  for (const std::size_t part : {1u, 2u, 3u, 2u, 1u}) {
    const std::span<const audit::Draft> batch = queue.batch(400);
    ASSERT_GE(batch.size(), part);
    for (const audit::Draft& draft : batch.first(part)) {
      seen += draft.text[draft.text.find("operation") + 12];
    }
    queue.durable(part);
  }
  EXPECT_EQ(seen, "012345678");
  EXPECT_EQ(queue.lag(), 0u);
}

TEST(EventQueue, FullItFailsAndSaysWhy) {
  EventQueue queue({.on_full = OnFull::fail, .events_max = 1});
  ASSERT_TRUE(queue.append(event("one")).has_value());
  EXPECT_TRUE(queue.pause_after(away, Duration::nanoseconds(1)));
  const Result<void> full = queue.append(event("two"));
  ASSERT_FALSE(full.has_value());
  EXPECT_EQ(full.error().code, Code::unavailable);
  EXPECT_TRUE(full.error().outcome == Outcome::not_applied);
  EXPECT_NE(full.error().message.find("1 events wait; the server is away"), std::string::npos);
  EXPECT_FALSE(queue.health().has_value());
  EXPECT_TRUE(queue.alive().has_value()) << "it may pass";
  queue.durable(queue.batch(1).size());
  EXPECT_TRUE(queue.health().has_value());
  EXPECT_TRUE(queue.append(event("two")).has_value());
}

TEST(EventQueue, FullItLetsCallersWaitForRoom) {
  EventQueue queue({.on_full = OnFull::block, .events_max = 1});
  ASSERT_TRUE(queue.append(event("one")).has_value());
  auto second = std::async(std::launch::async, [&] { return queue.append(event("two")); });
  auto flushed = std::async(std::launch::async, [&] { return queue.flush(); });
  queue.durable(queue.batch(1).size());
  EXPECT_TRUE(second.get().has_value());
  queue.durable(queue.batch(1).size());
  EXPECT_TRUE(flushed.get().has_value());
}

TEST(EventQueue, WhatFailsForGoodIsToldToEverybody) {
  EventQueue queue({.on_full = OnFull::block, .events_max = 1});
  ASSERT_TRUE(queue.append(event("one")).has_value());
  auto waiting = std::async(std::launch::async, [&] { return queue.append(event("two")); });
  queue.fail({Code::invalid, Outcome::unknown, "not ours"});
  EXPECT_EQ(waiting.get().error().message, "not ours");
  EXPECT_EQ(queue.flush().error().code, Code::invalid);
  EXPECT_EQ(queue.health().error().code, Code::invalid);
  EXPECT_EQ(queue.alive().error().code, Code::invalid);
  EXPECT_TRUE(queue.append(event("three")).error().outcome == Outcome::not_applied);
}

TEST(EventQueue, ClosedItGivesWhatIsLeftAndThenNothing) {
  EventQueue block({.on_full = OnFull::block});
  ASSERT_TRUE(block.append(event("one")).has_value());
  block.close();
  EXPECT_EQ(block.batch(1).size(), 1u);
  EXPECT_TRUE(block.pause_after(away, Duration::nanoseconds(1))) << "it is written to its end";
  block.durable(1);
  EXPECT_TRUE(block.batch(1).empty());

  EventQueue fail({.on_full = OnFull::fail});
  ASSERT_TRUE(fail.append(event("one")).has_value());
  fail.close();
  EXPECT_FALSE(fail.pause_after(away, Duration::hours(1))) << "nobody waits for a server any more";
}

}  // namespace
}  // namespace pawl
