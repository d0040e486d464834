// Goal: the engine runs effects in the machine's order and brings every answer of a port back to
// the machine, also when it comes late, from elsewhere, or is an error. Method: a door that writes
// down what it is asked, a store and a sink whose answers the test holds in its hand.
#include "runtime/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "runtime/manual_clock.h"

namespace pawl {
namespace {

using ::testing::ElementsAre;

class HeldCounters final : public CounterStore {
 public:
  void charge(const Charge& charge, Done done) override {
    asked.push_back(std::string(charge.policy.name) + "/" + std::string(charge.key));
    if (held) {
      waiting.push_back(std::move(done));
    } else {
      done(answer);
    }
  }
  bool held = false;
  Result<limit::Verdict> answer = limit::Verdict{.allowed = true, .limit = 5, .remaining = 4};
  std::vector<std::string> asked;
  std::vector<Done> waiting;
};

class ListSink final : public EventSink {
 public:
  Result<void> append(audit::Event event) override {
    if (!room) {
      return std::unexpected(Error(Code::unavailable, Outcome::not_applied, "audit log full"));
    }
    events.push_back(std::move(event));
    return {};
  }
  Result<void> flush() override { return {}; }
  std::uint64_t lag() const override { return 0; }
  bool room = true;
  std::vector<audit::Event> events;
};

class ListDoor final : public Door {
 public:
  void send_upstream() override { did.push_back("send"); }
  void refuse(const request::Refuse& refusal) override {
    did.push_back("refuse " + std::string(http::to_string(refusal.code)));
  }
  void ended(const request::RecordEnd& end, const Result<void>& recorded) override {
    did.push_back("end " + std::string(to_string(end.outcome)) + (recorded ? "" : " unrecorded"));
  }
  void resume(std::move_only_function<void()> continuation) override { continuation(); }
  std::vector<std::string> did;
};

class EngineTest : public ::testing::Test {
 protected:
  EngineTest() {
    door->correlation.tenant_id = "acme";
    door->operation = "POST /orders";
  }
  void arrive() { engine.handle(*door, request::Arrived{&policy, "acme", false}); }

  const limit::Policy policy{
      .name = "global",
      .bucket = {.rate = {.count = 5, .period = Duration::seconds(1)}, .burst = 0}};
  ManualClock clock;
  HeldCounters counters;
  ListSink sink;
  Engine engine{{clock, counters, sink}};
  std::shared_ptr<ListDoor> door = std::make_shared<ListDoor>();
};

TEST_F(EngineTest, ChargesRecordsSendsAndRecordsTheEnd) {
  arrive();
  EXPECT_THAT(counters.asked, ElementsAre("global/acme"));
  EXPECT_THAT(door->did, ElementsAre("send"));
  engine.handle(*door, request::Answered{200});
  EXPECT_THAT(door->did, ElementsAre("send", "end applied"));
  ASSERT_EQ(sink.events.size(), 2u);
  EXPECT_EQ(sink.events[0].type, audit::EventType::limit);
  EXPECT_EQ(sink.events[0].operation, "POST /orders");
  EXPECT_EQ(sink.events[0].correlation.tenant_id, "acme");
  EXPECT_EQ(sink.events[0].timestamp, clock.wall_now());
  EXPECT_EQ(sink.events[1].type, audit::EventType::request);
}

TEST_F(EngineTest, RefusesWithoutSending) {
  counters.answer = limit::Verdict{.allowed = false, .limit = 5};
  arrive();
  EXPECT_THAT(door->did, ElementsAre("refuse ERR_RATE_LIMIT", "end not_applied"));
}

TEST_F(EngineTest, SendsNothingThatTheAuditLogWouldNotTake) {
  sink.room = false;
  arrive();
  EXPECT_THAT(door->did, ElementsAre("refuse ERR_STORE_UNAVAILABLE", "end not_applied unrecorded"));
}

TEST_F(EngineTest, RefusesWhenTheStoreFails) {
  counters.answer = std::unexpected(Error(Code::unavailable, Outcome::unknown, "gone"));
  arrive();
  EXPECT_THAT(door->did, ElementsAre("refuse ERR_STORE_UNAVAILABLE", "end not_applied"));
}

TEST_F(EngineTest, TakesAnAnswerThatComesLater) {
  counters.held = true;
  arrive();
  EXPECT_TRUE(door->did.empty());
  counters.waiting[0](counters.answer);
  EXPECT_THAT(door->did, ElementsAre("send"));
}

TEST_F(EngineTest, KeepsTheDoorUntilTheLateAnswerAndServesNobodyWhoLeft) {
  counters.held = true;
  arrive();
  engine.handle(*door, request::Abandoned{});
  EXPECT_THAT(door->did, ElementsAre("end not_applied"));
  const std::weak_ptr<ListDoor> watch = door;
  door.reset();
  EXPECT_FALSE(watch.expired());
  counters.waiting[0](counters.answer);
  counters.waiting.clear();
  EXPECT_TRUE(watch.expired());
}

}  // namespace
}  // namespace pawl
