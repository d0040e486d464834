// Goal: the engine runs effects in the machine's order and brings every answer of a port back to
// the machine, also when it comes late, from elsewhere, or is an error. Method: a door that writes
// down what it is asked, a store and a sink whose answers the test holds in its hand.
#include "runtime/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "core/limit/headers.h"
#include "core/request/limit_record.h"
#include "runtime/held_records_fixture.h"
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
  void deliver() override { did.push_back("deliver"); }
  void replay(const request::Replay& replay) override {
    did.push_back("replay " + std::to_string(replay.head.status) + " " + replay.body);
  }
  void noted(const request::NoteWrite& note) override {
    did.push_back("note " + std::string(request::to_string(note.what)));
  }
  void wake_after(Duration wait, std::uint64_t ask) override {
    woken_after = wait;
    woken_ask = ask;
  }
  void ended(const request::RecordEnd& end, const Result<void>& recorded) override {
    did.push_back("end " + std::string(to_string(end.outcome)) + (recorded ? "" : " unrecorded"));
  }
  void resume(std::move_only_function<void()> continuation) override { continuation(); }
  std::vector<std::string> did;
  Duration woken_after;
  std::uint64_t woken_ask = 0;
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
  HeldRecords records{clock};
  Engine engine{{clock, counters, sink, &records}};
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

// Writes with a key.
class EngineWriteTest : public EngineTest {
 protected:
  using Did = std::vector<std::string>;

  std::shared_ptr<ListDoor> come(std::string body = "f") {
    auto next = std::make_shared<ListDoor>();
    ask(*next, std::move(body));
    return next;
  }
  // A door's next request.
  void ask(ListDoor& at, std::string body = "f") {
    at.machine = {};
    at.did.clear();
    at.write = std::make_shared<Write>();
    at.write->key = {.scope = "acme", .key = "POST /orders k"};
    at.write->client_key = "k";
    at.correlation.tenant_id = "acme";
    at.operation = "POST /orders";
    engine.handle(at, request::Arrived{counts, false, &rules});
    engine.handle(at, request::Gathered{std::move(body)});
  }
  void answer(ListDoor& at) {
    engine.handle(at, request::Answered{201, {.body = "made", .metadata = metadata}});
  }

  const std::string metadata = request::answer_metadata(201, "Created", {});
  request::WriteRules rules{.methods = {"POST"},
                            .store_statuses = {{200, 299}},
                            .body_limit = 100,
                            .ttl = Duration::hours(24),
                            .lease = Duration::seconds(60),
                            .store_deadline = Duration::milliseconds(50)};
};

TEST_F(EngineWriteTest, ExecutesOnceAndReplaysWithoutCharging) {
  const auto first = come();
  EXPECT_EQ(first->did, Did{"send"});
  EXPECT_THAT(records.asked, ElementsAre("look_up", "begin"));
  answer(*first);
  EXPECT_EQ(first->did, (Did{"send", "note executed", "end applied", "deliver"}));
  counters.asked.clear();
  const auto second = come();
  EXPECT_EQ(second->did, (Did{"note replayed", "end applied", "replay 201 made"}));
  EXPECT_TRUE(counters.asked.empty());
  EXPECT_EQ(engine.write_stats().count(WriteStats::What::replayed), 1u);
  EXPECT_EQ(engine.write_stats().recent(9).at(0).key, "k");
}

TEST_F(EngineWriteTest, LeavesATrailOfWhatBecameOfTheKey) {
  answer(*come());
  come();
  come("another body");
  std::vector<std::string> actions;
  for (const audit::Event& event : sink.events) {
    if (event.type != audit::EventType::idempotency) continue;
    EXPECT_EQ(event.correlation.tenant_id, "acme");
    actions.push_back(*event.details.at(1).second.if_string());
  }
  EXPECT_THAT(actions, ElementsAre("record", "hit", "mismatch"));
}

TEST_F(EngineWriteTest, AHotKeyAsksTheStoreOnce) {
  const auto first = come();
  records.asked.clear();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(come()->did.back(), "refuse ERR_IDEMPOTENCY_IN_FLIGHT 1");
    EXPECT_EQ(come("other")->did.back(), "refuse ERR_IDEMPOTENCY_MISMATCH 0");
  }
  EXPECT_TRUE(records.asked.empty());
}

TEST_F(EngineWriteTest, ThoseWhoWaitHearAsSoonAsTheFirstHasEnded) {
  rules.on_in_flight = request::OnInFlight::wait;
  const auto first = come();
  const auto second = come();
  const auto third = come();
  EXPECT_TRUE(second->did.empty());
  EXPECT_GT(second->woken_after, Duration());
  answer(*first);
  EXPECT_EQ(second->did.back(), "replay 201 made");
  EXPECT_EQ(third->did.back(), "replay 201 made");
}

TEST_F(EngineWriteTest, WhoLeavesWhileItWaitsIsNotKept) {
  rules.on_in_flight = request::OnInFlight::wait;
  const auto first = come();
  auto second = come();
  const std::weak_ptr<ListDoor> left = second;
  engine.handle(*second, request::Abandoned{});
  second.reset();
  EXPECT_TRUE(left.expired());
  answer(*first);
}

TEST_F(EngineWriteTest, AnAnswerOfTheStoreToAnEarlierRequestIsNobodys) {
  records.holding = true;
  const auto at = come();
  engine.handle(*at, request::Abandoned{});
  ask(*at);
  records.waiting.front()();
  records.waiting.erase(records.waiting.begin());
  EXPECT_TRUE(at->did.empty()) << "the second is still looking";
  records.holding = false;
  records.answer();
}

class LateClaim : public EngineWriteTest {
 protected:
  // One whose claim the store takes, and does not tell in time.
  std::shared_ptr<ListDoor> come_too_early() {
    counters.held = true;
    const auto at = come();  // looked up, not yet charged
    records.asked.clear();
    records.holding = true;
    counters.waiting.back()(counters.answer_to(counts));
    EXPECT_THAT(records.asked, ElementsAre("begin"));
    engine.handle(*at, request::Overdue{at->woken_ask});
    records.holding = false;
    return at;
  }
};

TEST_F(LateClaim, IsGivenBackWhereNothingWasSent) {
  rules.on_store_failure = request::OnRecordFailure::reject;
  const auto at = come_too_early();
  EXPECT_EQ(at->did.back(), "refuse ERR_STORE_UNAVAILABLE 0");
  at->write = nullptr;  // its next request
  records.answer();
  EXPECT_EQ(records.asked.back(), "complete failed");
}

TEST_F(LateClaim, IsToldHowItEndedWhicheverComesFirst) {
  for (const bool claim_first : {true, false}) {
    const auto at = come_too_early();
    EXPECT_EQ(at->did.back(), "send");
    if (claim_first) records.answer();
    EXPECT_EQ(records.asked.back(), "begin") << "one of both is not known";
    answer(*at);
    EXPECT_EQ(at->did.back(), "end applied");
    at->write = nullptr;  // its next request
    if (!claim_first) records.answer();
    EXPECT_EQ(records.asked.back(), "complete done");
    EXPECT_EQ(come()->did.back(), "refuse ERR_IDEMPOTENCY_NOT_REPLAYABLE 0");
    records.clear({.scope = "acme", .key = "POST /orders k"}, true, [](const Result<void>&) {});
  }
}

TEST_F(EngineWriteTest, WithoutTheStoreNoTwoOfThisProcessRunAtOnce) {
  records.holding = true;
  const auto first = come();
  const auto second = come();
  for (const auto& each : {first, second}) {
    engine.handle(*each, request::Overdue{each->woken_ask});
  }
  EXPECT_EQ(first->did.back(), "send");
  EXPECT_EQ(second->did.back(), "refuse ERR_IDEMPOTENCY_IN_FLIGHT 1");
  EXPECT_EQ(come()->did.back(), "refuse ERR_IDEMPOTENCY_IN_FLIGHT 1");
  answer(*first);
  EXPECT_EQ(first->did.back(), "end applied");
  const auto third = come();
  engine.handle(*third, request::Overdue{third->woken_ask});
  EXPECT_EQ(third->did.back(), "send") << "as the setting asks";
  records.answer();
}

TEST_F(EngineWriteTest, EveryAskHasItsDeadline) {
  records.holding = true;
  const auto at = come();
  EXPECT_EQ(at->woken_after, Duration::milliseconds(50));
  engine.handle(*at, request::Overdue{at->woken_ask});
  EXPECT_EQ(at->did, (Did{"note store_failure", "send"})) << "executed without the store";
  EXPECT_TRUE(engine.lost_records_lately());
  clock.advance(Duration::seconds(10));
  EXPECT_FALSE(engine.lost_records_lately());
  records.answer();
}

}  // namespace
}  // namespace pawl
