// Goal: what flush() acknowledged is in the stream, once and in order, in one unbroken chain,
// whatever becomes of the server and of other processes; and nothing is dropped when the sink is
// full. Method: the port's conformance suite on the test run's server; servers of the test's own
// that are killed, paused and started again; the stream is read by other eyes and verified.
#include <atomic>
#include <future>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

#include "adapter/nats/nats_event_sink.h"
#include "adapter/nats/nats_server_fixture.h"
#include "base/json.h"
#include "core/audit/verifier.h"
#include "port/event_sink_conformance.h"

namespace pawl {
namespace {

using nats::NatsServer;
using Operations = std::vector<std::string>;

audit::Event event(std::string operation) {
  return {.type = audit::EventType::request,
          .timestamp = Instant(),
          .operation = std::move(operation),
          .correlation = {},
          .details = {}};
}

std::unique_ptr<NatsEventSink> open_sink(const nats::NatsUrl& url, EventQueue::Options queue = {}) {
  return nats::open_soon([&] {
    return NatsEventSink::open(
        {.url = url, .queue = queue, .deadline = Duration::milliseconds(500)});
  });
}

// The whole log as its bytes, read through a connection of its own.
std::string log_of(const nats::NatsUrl& url) {
  const auto connection = nats::open_soon([&] {
    return nats::Connection::open(
        url,
        {.name = url.name, .subjects = "pawl.audit." + url.name, .last_of_each_subject = false});
  });
  std::string text;
  const auto walked = connection->walk(
      "pawl.audit." + url.name, 1,
      [&](const nats::Kept& kept) {
        text += kept.data;
        return true;
      },
      nats::from_now(Duration::seconds(30)));
  EXPECT_TRUE(walked.has_value()) << walked.error().message;
  return text;
}

// Of the log, which is verified on the way.
Operations operations_of(const nats::NatsUrl& url) {
  const std::string text = log_of(url);
  audit::Verifier verifier;
  verifier.take(text);
  const auto flaw = verifier.finish();
  EXPECT_FALSE(flaw) << flaw->message;
  Operations operations;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    operations.push_back(
        *json::parse(text.substr(at, end - at)).value().find("operation")->if_string());
    at = end + 1;
  }
  return operations;
}

class NatsSinkUnderTest final : public EventSinkUnderTest {
 public:
  EventSink& sink() override { return *sink_; }
  Operations operations_at_rest() override { return operations_of(url_); }

 private:
  const nats::NatsUrl url_ = nats::fresh_url("sink");
  std::unique_ptr<NatsEventSink> sink_ = open_sink(url_);
};

std::unique_ptr<EventSinkUnderTest> make_nats_sink() {
  return std::make_unique<NatsSinkUnderTest>();
}

INSTANTIATE_TEST_SUITE_P(Nats, EventSinkConformance, testing::Values(make_nats_sink));

TEST(NatsEventSink, GoesOnWithTheChainOfTheStream) {
  const nats::NatsUrl url = nats::fresh_url("reopen");
  Operations expected;
  for (int i = 0; i < 3; ++i) {
    const auto sink = open_sink(url);
    for (int j = 0; j < 10; ++j) {
      expected.push_back(std::to_string(i * 10 + j));
      ASSERT_TRUE(sink->append(event(expected.back())).has_value());
    }
  }  // the destructor writes what is left
  EXPECT_EQ(operations_of(url), expected);
}

TEST(NatsEventSink, SeveralProcessesKeepOneChain) {
  const nats::NatsUrl url = nats::fresh_url("shared");
  constexpr int sinks = 3;
  constexpr int events = 200;
  std::vector<std::thread> running;
  for (int s = 0; s < sinks; ++s) {
    running.emplace_back([&, s] {
      const auto sink = open_sink(url);
      for (int i = 0; i < events; ++i) {
        EXPECT_TRUE(sink->append(event(std::to_string(s))).has_value());
        if (i % 10 == 0) {
          EXPECT_TRUE(sink->flush().has_value());
        }
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  const Operations all = operations_of(url);
  EXPECT_EQ(all.size(), static_cast<std::size_t>(sinks * events));
  for (int s = 0; s < sinks; ++s) EXPECT_EQ(std::ranges::count(all, std::to_string(s)), events);
}

TEST(NatsEventSink, WhileTheServerIsAwayEventsWaitAndHealthSaysWhy) {
  NatsServer server;
  const nats::NatsUrl url = server.url("away");
  const auto sink = open_sink(url);
  ASSERT_TRUE(sink->append(event("before")).has_value());
  ASSERT_TRUE(sink->flush().has_value());
  server.kill();
  ASSERT_TRUE(sink->append(event("meanwhile")).has_value());
  EXPECT_TRUE(eventually([&] { return !sink->health().has_value(); }));
  EXPECT_EQ(sink->lag(), 1u);
  server.start();
  EXPECT_TRUE(sink->flush().has_value());
  EXPECT_TRUE(sink->health().has_value());
  EXPECT_EQ(operations_of(url), (Operations{"before", "meanwhile"}));
}

TEST(NatsEventSink, FullItFailsOrWaitsAndDropsNothing) {
  for (const auto on_full : {EventQueue::OnFull::fail, EventQueue::OnFull::block}) {
    NatsServer server;
    const nats::NatsUrl url = server.url("full");
    const auto sink = open_sink(url, {.on_full = on_full, .events_max = 10});
    server.kill();
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(sink->append(event(std::to_string(i))).has_value());
    std::future<Result<void>> one_more =
        std::async(std::launch::async, [&] { return sink->append(event("one more")); });
    if (on_full == EventQueue::OnFull::fail) {
      const Result<void> refused = one_more.get();
      ASSERT_FALSE(refused.has_value());
      EXPECT_EQ(refused.error().code, Code::unavailable);
      EXPECT_TRUE(refused.error().outcome == Outcome::not_applied);
    }
    server.start();
    if (on_full == EventQueue::OnFull::block) {
      EXPECT_TRUE(one_more.get().has_value());
    }
    EXPECT_TRUE(sink->flush().has_value());
    EXPECT_EQ(operations_of(url).size(), on_full == EventQueue::OnFull::fail ? 10u : 11u);
  }
}

// Its answers get lost at every moment there is: each event is there once all the same.
TEST(NatsEventSink, AServerKilledOrPausedAgainAndAgainLosesNothingAndRepeatsNothing) {
  NatsServer server;
  const nats::NatsUrl url = server.url("storm");
  Operations expected;
  {
    const auto sink = open_sink(url);
    std::atomic<bool> over = false;
    std::thread caller([&] {
      for (int i = 0; !over; ++i) {
        expected.push_back(std::to_string(i));
        EXPECT_TRUE(sink->append(event(expected.back())).has_value());
        if (i % 7 == 0) {
          EXPECT_TRUE(sink->flush().has_value());
        }
      }
    });
    for (int round = 0; round < 12; ++round) {
      const std::uint64_t before = sink->lag();
      std::this_thread::sleep_for(std::chrono::milliseconds(17 * round % 50));
      if (round % 3 == 2) {
        server.pause();  // longer than the deadline: the answer is lost, the message is not
        std::this_thread::sleep_for(std::chrono::milliseconds(700));
        server.go_on();
      } else {
        server.kill();
        server.start();
      }
      EXPECT_TRUE(eventually([&] { return sink->health().has_value() || sink->lag() < before; }));
    }
    over = true;
    caller.join();
    EXPECT_TRUE(sink->flush().has_value());
  }
  EXPECT_GT(expected.size(), 100u);
  EXPECT_EQ(operations_of(url), expected);
}

TEST(NatsEventSink, AStreamThatWasEmptiedOrIsSomebodyElsesIsNotWrittenTo) {
  NatsServer server;
  const nats::NatsUrl url = server.url("emptied");
  const auto sink = open_sink(url);
  ASSERT_TRUE(sink->append(event("one")).has_value());
  ASSERT_TRUE(sink->flush().has_value());
  server.ask("$JS.API.STREAM.DELETE.emptied", "");
  const auto anew = open_sink(url);
  ASSERT_TRUE(sink->append(event("two")).has_value());
  const Result<void> failed = sink->flush();
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, Code::invalid);
  EXPECT_NE(failed.error().message.find("emptied"), std::string::npos) << failed.error().message;
  EXPECT_FALSE(sink->append(event("three")).has_value());

  server.ask("pawl.audit.emptied", "{}");
  const auto others = NatsEventSink::open({.url = url});
  ASSERT_FALSE(others.has_value());
  EXPECT_EQ(others.error().code, Code::invalid);
}

}  // namespace
}  // namespace pawl
