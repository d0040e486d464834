// Goal: the engine runs effects in the machine's order and brings every answer of a port back to
// the machine, also when it comes late, from elsewhere, or is an error. Method: a door that writes
// down what it is asked, a store and a sink whose answers the test holds in its hand.
#include "runtime/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "core/limit/headers.h"
#include "core/request/limit_record.h"
#include "runtime/manual_clock.h"

namespace pawl {
namespace {

using ::testing::ElementsAre;

// Writes down what it is asked; answers when it is told to.
class HeldCounters final : public CounterStore {
 public:
  void check(Counts counts, std::int64_t cost, Done<limit::Answer> done) override {
    asked.push_back("check " + names(counts) + " " + std::to_string(cost));
    if (held) {
      waiting.push_back(std::move(done));
    } else {
      done(answer_to(counts));
    }
  }
  void reserve(Counts counts, std::int64_t cost, Duration hold, Done<Reservation> done) override {
    asked.push_back("reserve " + names(counts) + " " + std::to_string(cost) + " " +
                    to_string(hold));
    done(Reservation{.id = answer->allowed ? 7u : 0u, .answer = *answer_to(counts)});
  }
  void settle(Counts counts, std::uint64_t id, Settlement how, Done<void> done) override {
    const std::string verbs[] = {"commit " + std::to_string(how.actual), "cancel",
                                 "renew " + to_string(how.hold)};
    asked.push_back(verbs[static_cast<std::size_t>(how.kind)] + " " + names(counts) + " " +
                    std::to_string(id));
    settling.push_back(std::move(done));
  }
  void refund(const Count& count, std::int64_t cost, Done<void> done) override {
    asked.push_back("refund " + names({&count, 1}) + " " + std::to_string(cost));
    settling.push_back(std::move(done));
  }
  void reset(const Count&, Done<void>) override {}
  void close(const Count&, Instant, Done<void>) override {}

  // `answer`, with a verdict for each count.
  Result<limit::Answer> answer_to(Counts counts) const {
    Result<limit::Answer> out = answer;
    for (std::size_t i = 0; out && i < counts.size(); ++i) {
      out->verdicts.add({.allowed = out->allowed && counts[i].policy->name != full,
                         .limit = 5,
                         .remaining = 4,
                         .retry_after = out->retry_after});
    }
    return out;
  }

  bool held = false;
  std::string full = {};  // the policy in shadow that has no room
  Result<limit::Answer> answer = [] {
    limit::Answer allowed;
    allowed.allowed = true;
    return allowed;
  }();
  std::vector<std::string> asked;
  std::vector<Done<limit::Answer>> waiting;
  std::vector<Done<void>> settling;

 private:
  static std::string names(Counts counts) {
    std::string out;
    for (const Count& count : counts) {
      out += (out.empty() ? "" : "+") + count.policy->name + "/" + std::string(count.key.name());
    }
    return out;
  }
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
    did.push_back("refuse " + std::string(http::to_string(refusal.code)) + " " +
                  std::to_string(refusal.retry_after_seconds));
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
  void arrive() { engine.handle(*door, request::Arrived{counts, false}); }
  static limit::Answer refused() {
    limit::Answer answer;
    answer.retry_after = Duration::seconds(2);
    return answer;
  }

  const limit::Policy global{"global", limit::TokenBucket({5, Duration::seconds(1)}, 0)};
  const limit::Policy slots{"slots",
                            limit::Concurrency{.slots = 1, .lease = Duration::seconds(30)}};
  std::vector<Count> counts{{&global, "acme"}};
  ManualClock clock;
  HeldCounters counters;
  ListSink sink;
  Engine engine{{clock, counters, sink}};
  std::shared_ptr<ListDoor> door = std::make_shared<ListDoor>();
};

TEST_F(EngineTest, ChargesRecordsSendsAndRecordsTheEnd) {
  arrive();
  EXPECT_THAT(counters.asked, ElementsAre("check global/acme 1"));
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
  counters.answer = refused();
  arrive();
  const limit::Answer answer = *counters.answer_to(counts);
  RetryHints hints;
  const Duration first = hints.wait(counts, answer);
  const std::string told = std::to_string(limit::retry_after_seconds(answer, first));
  EXPECT_THAT(door->did, ElementsAre("end not_applied", "refuse ERR_RATE_LIMIT " + told));
}

TEST_F(EngineTest, SendsNothingThatTheAuditLogWouldNotTake) {
  sink.room = false;
  arrive();
  EXPECT_THAT(door->did,
              ElementsAre("end not_applied unrecorded", "refuse ERR_STORE_UNAVAILABLE 0"));
}

TEST_F(EngineTest, GivesBackWhatTheAuditLogWouldNotTake) {
  const limit::Policy watched{"watched", global.rule, {.shadow = true}};
  const limit::Policy hourly{"hourly", limit::SlidingLog{{9, Duration::hours(1)}}};
  counts.push_back({&watched, "acme"});
  counts.push_back({&hourly, "acme"});
  counters.full = "watched";
  sink.room = false;
  arrive();
  EXPECT_THAT(counters.asked, ElementsAre("check global/acme+watched/acme+hourly/acme 1",
                                          "refund global/acme 1", "refund hourly/acme 1"));
}

TEST_F(EngineTest, CancelsTheLoanThatTheAuditLogWouldNotTake) {
  counts.push_back({&slots, "acme"});
  sink.room = false;
  arrive();
  EXPECT_THAT(counters.asked, ElementsAre("reserve global/acme+slots/acme 1 30s",
                                          "cancel global/acme+slots/acme 7"));
}

TEST_F(EngineTest, RefusesWhenTheStoreFails) {
  counters.answer = std::unexpected(Error(Code::unavailable, Outcome::unknown, "gone"));
  arrive();
  EXPECT_THAT(door->did, ElementsAre("end not_applied", "refuse ERR_STORE_UNAVAILABLE 0"));
}

TEST_F(EngineTest, RecordsTheWholeDecisionOnTheLimits) {
  counts.push_back({&slots, "acme"});
  arrive();
  ASSERT_FALSE(sink.events.empty());
  limit::Answer answer = *counters.answer_to(counts);
  answer.now.wall = clock.wall_now();  // the store did not read it
  EXPECT_EQ(sink.events[0].details, request::limit_record(counts, answer, 1));
}

TEST_F(EngineTest, BorrowsASlotRenewsTheLoanAndGivesItBack) {
  counts.push_back({&slots, "acme"});
  arrive();
  EXPECT_THAT(door->did, ElementsAre("send"));
  engine.handle(*door, request::TimePassed{clock.steady_now()});
  engine.handle(*door, request::TimePassed{clock.steady_now() + Duration::seconds(10)});
  engine.handle(*door, request::Answered{200});
  EXPECT_THAT(counters.asked, ElementsAre("reserve global/acme+slots/acme 1 30s",
                                          "renew 30s global/acme+slots/acme 7",
                                          "commit 1 global/acme+slots/acme 7"));
  EXPECT_THAT(door->did, ElementsAre("send", "end applied")) << "nobody waits for the store";
}

TEST_F(EngineTest, KeepsThePoliciesUntilTheStoreHasSettled) {
  auto owner = std::make_shared<const int>(1);
  const std::weak_ptr<const int> watch = owner;
  door->policies = std::move(owner);
  counts.push_back({&slots, "acme"});
  arrive();
  engine.handle(*door, request::Answered{200});
  door->policies.reset();  // the door is at its next request
  EXPECT_FALSE(watch.expired());
  counters.settling[0]({});
  counters.settling.clear();
  EXPECT_TRUE(watch.expired());
}

TEST_F(EngineTest, BorrowsNothingWhenItIsRefused) {
  counts.push_back({&slots, "acme"});
  counters.answer = refused();
  arrive();
  EXPECT_THAT(counters.asked, ElementsAre("reserve global/acme+slots/acme 1 30s"));
}

TEST_F(EngineTest, TakesAnAnswerThatComesLater) {
  counters.held = true;
  arrive();
  EXPECT_TRUE(door->did.empty());
  counters.waiting[0](counters.answer_to(counts));
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
  counters.waiting[0](counters.answer_to(counts));
  counters.waiting.clear();
  EXPECT_TRUE(watch.expired());
}

}  // namespace
}  // namespace pawl
