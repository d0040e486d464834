// Goal: records in NATS behave as the machine says, for several processes whose clocks differ, and
// what was acknowledged outlives the server's process. Method: the port's conformance suite on the
// test run's server with two stores side by side; servers of the test's own that are killed, paused
// and started again; a clock of each store's own, moved by hand.
#include <atomic>
#include <future>
#include <gtest/gtest.h>
#include <latch>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "adapter/nats/nats_record_store.h"
#include "adapter/nats/nats_server_fixture.h"
#include "adapter/nats/record_subject.h"
#include "port/record_store_conformance.h"

namespace pawl {
namespace {

using idempotency::Begun;
using idempotency::Status;
using nats::NatsServer;
using record_store_suite::Client;
using Verdict = Begun::Verdict;

constexpr Duration unit = Duration::seconds(10);

Instant noon() {
  return parse_instant("2026-11-15T12:00:00Z").value();
}

// Moved by hand, while the store's threads look at it.
class HandClock final : public Clock {
 public:
  Instant wall_now() override { return Instant::from_ns(wall_); }
  SteadyInstant steady_now() override { return SteadyInstant::from_ns(steady_); }
  void advance(Duration by) {
    wall_ += by.ns();
    steady_ += by.ns();
  }
  void set_wall(Instant wall) { wall_ = wall.ns(); }

 private:
  std::atomic<std::int64_t> wall_ = noon().ns();
  std::atomic<std::int64_t> steady_ = 1'000'000'000;
};

// A store as one process would open it, with a clock of its own.
struct Process {
  explicit Process(NatsRecordStoreOptions options)
      : store(nats::open_soon([&] { return NatsRecordStore::open(options, clock); })) {}

  RecordStoreUnderTest test() {
    return {.store = *store, .advance = [this](Duration d) { clock.advance(d); }, .unit = unit};
  }
  Client client() { return Client(test()); }

  HandClock clock;
  std::unique_ptr<NatsRecordStore> store;
};

NatsRecordStoreOptions options(const nats::NatsUrl& url) {
  return {.url = url, .deadline = Duration::seconds(30), .clock_margin = Duration()};
}

RecordKey key(std::string name) {
  return {.scope = "acme", .key = std::move(name)};
}

TEST(NatsRecordStore, Conforms) {
  const nats::NatsUrl url = nats::fresh_url("records");
  HandClock clock;
  const auto store = NatsRecordStore::open(options(url), clock).value();
  const auto beside = NatsRecordStore::open(options(url), clock).value();
  EXPECT_EQ(store->durability(), Durability::process);
  expect_record_store_conforms({.store = *store,
                                .advance = [&](Duration d) { clock.advance(d); },
                                .now = [&] { return clock.wall_now(); },
                                .unit = unit,
                                .beside = beside.get(),
                                .body_bytes_max = store->body_bytes_max(),
                                .counts_replays = false});
}

TEST(NatsRecordStore, AServerKilledBetweenBeginAndCompleteIsFoundAgain) {
  NatsServer server;
  Process process(options(server.url("killed")));
  const Client client = process.client();
  const Begun begun = client.begin(key("k"));
  ASSERT_EQ(begun.verdict, Verdict::started);
  server.kill();
  ASSERT_TRUE(eventually([&] { return !process.store->health().has_value(); }));
  const auto away = client.complete(key("k"), begun.record.fence, client.done("answer"));
  ASSERT_FALSE(away.has_value());
  EXPECT_EQ(away.error().code, Code::unavailable);
  EXPECT_TRUE(away.error().outcome == Outcome::not_applied);

  server.start();
  ASSERT_TRUE(eventually([&] { return client.get(key("k")).has_value(); })) << server.log();
  EXPECT_EQ(client.begin(key("k")).verdict, Verdict::in_flight) << "the claim outlived the server";
  ASSERT_TRUE(client.complete(key("k"), begun.record.fence, client.done("answer")).has_value());
  EXPECT_EQ(client.begin(key("k")).record.response.body, "answer");
}

// Kills the server in the middle of many begins; each that was acknowledged is there afterwards,
// under its fence, and none is there that was said not to be.
TEST(NatsRecordStore, AServerKilledMidwayKeepsWhatItAcknowledgedAndNothingThatFailed) {
  NatsServer server;
  Process process(options(server.url("midway")));
  const Client client = process.client();
  constexpr int many = 3'000;
  std::vector<std::future<Result<Begun>>> asked;
  const auto ask_until = [&](int end) {
    for (int i = static_cast<int>(asked.size()); i < end; ++i) {
      asked.push_back(client.ask_to_begin(key(std::to_string(i)), client.terms()));
    }
  };
  ask_until(many - 100);
  for (int first = 0; first < many / 10; ++first) asked[static_cast<std::size_t>(first)].wait();
  server.kill();
  ASSERT_TRUE(eventually([&] { return !process.store->health().has_value(); }));
  ask_until(many);
  std::map<int, std::uint64_t> started;
  std::vector<int> unknown, not_applied;
  for (int i = 0; i < many; ++i) {
    const Result<Begun> begun = asked[static_cast<std::size_t>(i)].get();
    if (begun) {
      EXPECT_EQ(begun->verdict, Verdict::started);
      started[i] = begun->record.fence;
    } else {
      EXPECT_EQ(begun.error().code, Code::unavailable);
      (begun.error().outcome == Outcome::unknown ? unknown : not_applied).push_back(i);
    }
  }
  EXPECT_GE(started.size(), static_cast<std::size_t>(many / 10));
  EXPECT_FALSE(not_applied.empty());
  server.start();
  ASSERT_TRUE(eventually([&] { return process.store->health().has_value(); }));
  ASSERT_TRUE(eventually([&] {
    const auto looked = client.get(key("nobody's"));
    return !looked && looked.error().code == Code::not_found;
  }));
  for (const auto& [i, fence] : started) {
    ASSERT_EQ(client.get(key(std::to_string(i))).value().fence, fence) << i;
  }
  for (const int i : not_applied) {
    ASSERT_EQ(client.get(key(std::to_string(i))).error().code, Code::not_found) << i;
  }
  for (const int i : unknown) {
    const Verdict verdict = client.begin(key(std::to_string(i))).verdict;
    EXPECT_TRUE(verdict == Verdict::started || verdict == Verdict::in_flight);
  }
}

TEST(NatsRecordStore, ACallThatGetsNoAnswerEndsAtItsDeadlineAndHoldsUpNobody) {
  NatsServer server;
  NatsRecordStoreOptions hasty = options(server.url("paused"));
  hasty.deadline = Duration::milliseconds(300);
  Process process(hasty);
  const Client client = process.client();
  server.pause();
  std::vector<std::future<Result<Begun>>> asked;
  for (int i = 0; i < 20; ++i) {
    asked.push_back(client.ask_to_begin(key(std::to_string(i)), client.terms()));
  }
  std::vector<int> never_sent;
  for (int i = 0; i < 20; ++i) {
    const Result<Begun> begun = asked[static_cast<std::size_t>(i)].get();
    ASSERT_FALSE(begun.has_value());
    EXPECT_EQ(begun.error().code, Code::unavailable);
    if (begun.error().outcome == Outcome::not_applied) never_sent.push_back(i);
  }
  EXPECT_LE(never_sent.size(), 20 - bounds::nats_workers);
  EXPECT_FALSE(never_sent.empty());
  server.go_on();
  EXPECT_TRUE(
      eventually([&] { return client.try_begin(key("later"), client.terms()).has_value(); }));
  for (const int i : never_sent) {
    const auto found = client.get(key(std::to_string(i)));
    ASSERT_FALSE(found.has_value());
    EXPECT_EQ(found.error().code, Code::not_found);
  }
}

TEST(NatsRecordStore, AskingForItsHealthHasARefusedLoginTriedAgain) {
  NatsServer server({"--user", "pawl", "--pass", "s3cret"});
  Process process(options(server.url("login", "pawl:s3cret@")));
  server.kill();
  server.start_with({"--user", "pawl", "--pass", "other"});
  ASSERT_TRUE(
      eventually([&] { return server.log().find("authentication error") != std::string::npos; }));
  server.kill();
  server.start_with({"--user", "pawl", "--pass", "s3cret"});
  EXPECT_TRUE(eventually([&] { return process.store->health().has_value(); }));
  EXPECT_EQ(process.client().begin(key("k")).verdict, Verdict::started);
}

TEST(NatsRecordStore, AFullQueueRefusesAtOnce) {
  NatsServer server;
  NatsRecordStoreOptions small = options(server.url("queue"));
  small.queue_max = 2;
  Process process(small);
  const Client client = process.client();
  server.pause();
  std::vector<std::future<Result<Begun>>> asked;
  const auto refused = [&] {
    asked.push_back(client.ask_to_begin(key(std::to_string(asked.size())), client.terms()));
    return asked.back().wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  };
  EXPECT_TRUE(eventually(refused));
  const auto last = asked.back().get();
  server.go_on();
  ASSERT_FALSE(last.has_value());
  EXPECT_EQ(last.error().code, Code::unavailable);
  EXPECT_TRUE(last.error().outcome == Outcome::not_applied);
  asked.pop_back();
  for (auto& each : asked) EXPECT_TRUE(each.get().has_value());
}

TEST(NatsRecordStore, ClocksThatDifferByLessThanTheMarginEndNoLeaseAndNoTtlEarly) {
  const nats::NatsUrl url = nats::fresh_url("clocks");
  NatsRecordStoreOptions careful = options(url);
  careful.clock_margin = Duration::seconds(5);
  Process slow(careful);
  Process fast(careful);
  fast.clock.advance(Duration::milliseconds(4'999));
  const Client owner = slow.client();
  const Client other = fast.client();
  const auto both = [&](Duration by) {
    slow.clock.advance(by);
    fast.clock.advance(by);
  };

  const Begun begun = owner.begin(key("k"));
  both(unit * 2 - Duration::nanoseconds(1));  // to the end of what the owner asked for
  EXPECT_EQ(other.begin(key("k")).verdict, Verdict::in_flight);
  ASSERT_TRUE(owner.renew(key("k"), begun.record.fence, unit * 2).has_value());
  both(unit * 2 - Duration::nanoseconds(1));
  EXPECT_EQ(other.begin(key("k")).verdict, Verdict::in_flight);
  ASSERT_TRUE(owner.complete(key("k"), begun.record.fence, owner.done("answer")).has_value());
  both(unit * 4 - Duration::nanoseconds(1));
  EXPECT_EQ(other.begin(key("k")).verdict, Verdict::replay);
  both(careful.clock_margin * 2);
  EXPECT_EQ(owner.begin(key("k")).verdict, Verdict::started) << "late, but not for ever";
}

TEST(NatsRecordStore, ClocksThatDifferByMoreStillMakeOneOwner) {
  const nats::NatsUrl url = nats::fresh_url("far");
  Process slow(options(url));
  Process fast(options(url));
  fast.clock.advance(Duration::hours(1));
  const Client first = slow.client();
  const Client second = fast.client();
  const std::uint64_t fence = first.begin(key("k")).record.fence;
  const Begun taken = second.begin(key("k"), second.terms(true));
  EXPECT_EQ(taken.verdict, Verdict::started) << "to the fast clock even the ttl is over";
  EXPECT_GT(taken.record.fence, fence);
  const auto stale = first.complete(key("k"), fence, first.done("first"));
  ASSERT_FALSE(stale.has_value());
  EXPECT_EQ(stale.error().code, Code::refused);
  EXPECT_TRUE(second.complete(key("k"), taken.record.fence, second.done("second")).has_value());
}

TEST(NatsRecordStore, SweepsWhatHasExpiredOrWasClearedAndFencesGrowOn) {
  const nats::NatsUrl url = nats::fresh_url("sweep");
  NatsRecordStoreOptions eager = options(url);
  eager.sweep_interval = Duration::milliseconds(20);
  Process process(eager);
  const Client client = process.client();
  const auto messages = [&] {
    const auto look = nats::Connection::open(url, {.name = "KV_" + url.name,
                                                   .subjects = nats::record_subjects(url.name, ""),
                                                   .last_of_each_subject = true});
    std::size_t count = 0;
    EXPECT_TRUE((*look)
                    ->walk(
                        nats::record_subjects(url.name, ""), 1,
                        [&](const nats::Kept&) {
                          ++count;
                          return true;
                        },
                        nats::from_now(Duration::seconds(30)))
                    .has_value());
    return count;
  };
  const std::uint64_t expired = client.begin(key("expires")).record.fence;
  const std::uint64_t cleared = client.begin(key("cleared")).record.fence;
  ASSERT_TRUE(client.clear(key("cleared"), true).has_value());
  EXPECT_TRUE(eventually([&] { return messages() == 1; })) << "the empty message is forgotten";
  process.clock.advance(unit * 5);
  client.begin(key("stays"));
  process.clock.advance(unit);
  EXPECT_TRUE(eventually([&] { return messages() == 1; })) << "so is the expired record";
  EXPECT_TRUE(client.get(key("stays")).has_value());
  EXPECT_GT(client.begin(key("expires")).record.fence, expired);
  EXPECT_GT(client.begin(key("cleared")).record.fence, cleared);
}

TEST(NatsRecordStore, AClockThatLeapsAheadEmptiesNothing) {
  const nats::NatsUrl url = nats::fresh_url("leap");
  NatsRecordStoreOptions eager = options(url);
  eager.sweep_interval = Duration::milliseconds(10);
  Process process(eager);
  const Client client = process.client();
  const std::uint64_t fence = client.begin(key("k")).record.fence;
  process.clock.set_wall(noon() + Duration::days(365));
  ASSERT_EQ(client.get(key("k")).error().code, Code::not_found);
  // Something that is due shows that a sweep went by.
  client.begin(key("cleared"));
  ASSERT_TRUE(client.clear(key("cleared"), true).has_value());
  Process other(options(url));
  const auto look = nats::Connection::open(url, {.name = "KV_" + url.name,
                                                 .subjects = nats::record_subjects(url.name, ""),
                                                 .last_of_each_subject = true});
  EXPECT_TRUE(eventually([&] {
    return !(*look)
                ->last(nats::record_subject(url.name, key("cleared")),
                       nats::from_now(Duration::seconds(30)))
                .value();
  }));
  process.clock.set_wall(noon());
  EXPECT_EQ(client.get(key("k")).value().fence, fence);
}

TEST(NatsRecordStore, WhatIsNoRecordIsNamedAndLeftAlone) {
  NatsServer server;
  Process process(options(server.url("foreign")));
  const Client client = process.client();
  server.ask("$KV.foreign.acme.k", "hello");
  const auto begun = client.try_begin(key("k"), client.terms());
  ASSERT_FALSE(begun.has_value());
  EXPECT_EQ(begun.error().code, Code::invalid);
  EXPECT_TRUE(begun.error().outcome == Outcome::not_applied);
  EXPECT_NE(begun.error().message.find("$KV.foreign.acme.k"), std::string::npos);
  EXPECT_EQ(client.get(key("k")).error().code, Code::invalid);
  EXPECT_EQ(client.begin(key("other")).verdict, Verdict::started);
}

TEST(NatsRecordStore, ABucketWithTooSmallMessagesOrAnotherFormIsRefused) {
  NatsServer server;
  Process process(options(server.url("good")));
  HandClock clock;
  server.ask("$JS.API.STREAM.CREATE.KV_small",
             R"({"name":"KV_small","subjects":["$KV.small.>"],"retention":"limits",)"
             R"("max_msgs_per_subject":1,"storage":"file","max_msg_size":1000})");
  const auto small = NatsRecordStore::open(options(server.url("small")), clock);
  ASSERT_FALSE(small.has_value());
  EXPECT_EQ(small.error().code, Code::invalid);
  EXPECT_NE(small.error().message.find("744 bytes"), std::string::npos) << small.error().message;
}

}  // namespace
}  // namespace pawl
