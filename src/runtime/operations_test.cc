// Goal: an operation ends once and with a value, whatever its attempts do; one key acts once; every
//       decision is in the audit log, and can be taken again from it.
// Method: memory stores and timers moved by hand; a thousand callers on real threads; stores, sinks
//         and attempts that fail, are silent or throw.
#include "runtime/operations.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <thread>
#include <vector>

#include "adapter/memory/memory_event_sink.h"
#include "adapter/memory/memory_record_store.h"
#include "core/retry/decision_record.h"
#include "runtime/manual_clock.h"
#include "runtime/timers_fixture.h"

namespace pawl {
namespace {

using execution::Answer;
using How = execution::Answer::How;

AttemptEnd good(std::string body = "ok") {
  return {.seen = {retry::Failure::none, Outcome::applied, false}, .response = {.body = body}};
}
AttemptEnd lost() {
  return {.seen = {retry::Failure::transient_network, Outcome::not_applied, true},
          .type = "ConnectError",
          .message = "connection refused"};
}
AttemptEnd silent() {
  return {.seen = {retry::Failure::transient_network, Outcome::unknown, true},
          .type = "TimeoutError",
          .message = "no answer"};
}

class OperationsTest : public ::testing::Test {
 protected:
  Operations& operations(Operations::Options options = {}) {
    operations_.emplace(std::move(options), Operations::Ports{clock, timers, &records, sink});
    return *operations_;
  }
  // An operation whose n-th attempt ends as the n-th of these, and the last again and again.
  Operation operation(std::vector<AttemptEnd> ends) {
    Operation made;
    made.category = "RETRY_API_REQUEST";
    made.name = "call";
    made.correlation.tenant_id = "acme";
    made.attempt = [this, ends](const AttemptAsk& ask, Operation::Ended told) {
      asked.push_back(ask);
      told(ends[std::min<std::size_t>(asked.size(), ends.size()) - 1]);
    };
    return made;
  }
  Operations::Ticket run(Operations& on, Operation what) {
    return on.run(std::move(what), [this](OperationEnd end) {
      EXPECT_FALSE(ended.has_value()) << "it ends once";
      ended = std::move(end);
    });
  }
  std::vector<audit::Event> events(audit::EventType type) const {
    std::vector<audit::Event> found;
    for (const audit::Event& event : audit.events()) {
      if (event.type == type) found.push_back(event);
    }
    return found;
  }
  static json::Value detail(const audit::Event& event, std::string_view name) {
    for (const auto& [key, value] : event.details) {
      if (key == name) return value;
    }
    return {};
  }
  std::string status_of(const std::string& key) {
    std::string status = "none";
    records.get({.scope = "acme", .key = key}, [&](const Result<idempotency::Record>& record) {
      if (record) status = to_string(record->status);
    });
    return status;
  }

  ManualClock clock;
  ManualTimers timers{clock};
  MemoryRecordStore records{clock};
  MemoryEventSink audit;
  EventSink* sink = &audit;
  std::optional<Operations> operations_;
  std::vector<AttemptAsk> asked;
  std::optional<OperationEnd> ended;
};

TEST_F(OperationsTest, RetrySuccessCaseNeedsNoRetry) {
  run(operations(), operation({good("answer")}));
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->answer.how, How::done);
  EXPECT_EQ(ended->answer.response.body, "answer");
  EXPECT_EQ(ended->attempts, 1);
  EXPECT_EQ(timers.waiting(), 0u) << "nothing of it stays";
  EXPECT_TRUE(events(audit::EventType::retry_attempt).empty());
  EXPECT_EQ(events(audit::EventType::retry_succeeded).size(), 1u);
}

TEST_F(OperationsTest, EveryAttemptIsAFreshCallAfterItsDelay) {
  run(operations(), operation({lost(), lost(), good()}));
  EXPECT_EQ(asked.size(), 1u);
  EXPECT_FALSE(ended.has_value());
  timers.advance(Duration::milliseconds(899));
  EXPECT_EQ(asked.size(), 1u) << "a second, ten percent more or less";
  timers.advance(Duration::milliseconds(201));
  EXPECT_EQ(asked.size(), 2u);
  timers.advance(Duration::milliseconds(2'200));
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->answer.how, How::done);
  EXPECT_EQ(asked[2].number, 3);
  EXPECT_EQ(asked[2].timeout, Duration::seconds(30));
}

TEST_F(OperationsTest, RetryExhaustionIsAValueAndAnEvent) {
  run(operations(), operation({lost()}));
  timers.advance(Duration::minutes(1));
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->answer.how, How::gave_up);
  EXPECT_EQ(ended->answer.reason, retry::Reason::attempts_exhausted);
  EXPECT_EQ(ended->answer.outcome, Outcome::not_applied);
  EXPECT_EQ(ended->attempts, 3);
  EXPECT_EQ(ended->type, "ConnectError");
  EXPECT_EQ(ended->message, "connection refused");
  const auto attempts = events(audit::EventType::retry_attempt);
  ASSERT_EQ(attempts.size(), 2u);
  EXPECT_EQ(detail(attempts[0], "attempt_number"), json::Value(1));
  EXPECT_EQ(detail(attempts[0], "exception_type"), json::Value("ConnectError"));
  const auto exhausted = events(audit::EventType::retry_exhausted);
  ASSERT_EQ(exhausted.size(), 1u);
  EXPECT_EQ(detail(exhausted[0], "total_attempts"), json::Value(3));
  EXPECT_EQ(exhausted[0].correlation.tenant_id, "acme");
}

TEST_F(OperationsTest, AFailureThatIsNotRetriedLeavesAnEventToo) {
  Operation refused =
      operation({{.seen = {retry::Failure::client_error, Outcome::not_applied, false},
                  .type = "ValueError"}});
  run(operations(), std::move(refused));
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->answer.reason, retry::Reason::not_retryable);
  EXPECT_EQ(events(audit::EventType::retry_exhausted).size(), 1u);
}

TEST_F(OperationsTest, EveryDecisionInTheLogIsTakenAgainFromIt) {
  run(operations(), operation({lost(), lost(), good()}));
  timers.advance(Duration::minutes(1));
  int decisions = 0;
  for (const audit::Event& event : audit.events()) {
    const auto read = retry::read_decision(detail(event, "decision"));
    if (!read) continue;
    ++decisions;
    EXPECT_EQ(retry::decide(read->policy, read->facts), read->decision);
  }
  EXPECT_EQ(decisions, 3);
}

TEST_F(OperationsTest, WhatWasDoneUnderAKeyIsReturnedAndNotDoneAgain) {
  Operations& on = operations();
  Operation first = operation({good("")});
  first.key = "k";
  run(on, first);
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->answer.how, How::done);
  ended.reset();
  run(on, first);
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->answer.how, How::replayed) << "an empty result is one";
  EXPECT_EQ(asked.size(), 1u);
  const auto noted = events(audit::EventType::idempotency);
  ASSERT_EQ(noted.size(), 2u);
  EXPECT_EQ(detail(noted[0], "action"), json::Value("record"));
  EXPECT_EQ(detail(noted[1], "action"), json::Value("hit"));
  EXPECT_EQ(detail(noted[1], "idempotency_key"), json::Value("k"));
}

TEST_F(OperationsTest, AKeyOfAnotherIntentIsRefused) {
  Operations& on = operations();
  Operation one = operation({good()});
  one.key = "k";
  one.fingerprint = "one";
  run(on, one);
  ended.reset();
  one.fingerprint = "other";
  run(on, one);
  EXPECT_EQ(ended->answer.how, How::mismatch);
  EXPECT_EQ(asked.size(), 1u);
}

TEST_F(OperationsTest, WhatFailedWithoutEffectMayBeDoneUnderItsKeyLater) {
  Operations& on = operations();
  Operation call = operation({lost(), lost(), lost(), good()});
  call.key = "k";
  run(on, call);
  timers.advance(Duration::minutes(1));
  EXPECT_EQ(status_of("k"), "failed");
  ended.reset();
  run(on, call);
  EXPECT_EQ(ended->answer.how, How::done);
}

TEST_F(OperationsTest, WhatNobodyKnowsIsOnRecordAsThatAndNeverSentAgainBlindly) {
  Operations& on = operations();
  Operation call = operation({silent(), good()});
  call.key = "k";
  run(on, call);
  timers.advance(Duration::hours(1));
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->answer.how, How::unresolved);
  EXPECT_EQ(status_of("k"), "unknown");
  EXPECT_EQ(asked.size(), 1u);
  ended.reset();
  run(on, call);
  EXPECT_EQ(ended->answer.how, How::unresolved);
  EXPECT_EQ(asked.size(), 1u);
}

TEST_F(OperationsTest, WhatCanBeFoundOutIsBeforeItIsSentAgain) {
  Operation call = operation({silent(), good("second")});
  std::vector<Outcome> found = {Outcome::unknown, Outcome::not_applied};
  call.reconcile = [&](const AttemptAsk&, Operation::Ended told) {
    AttemptEnd end = lost();
    end.seen.outcome = found.front();
    if (found.size() > 1) found.erase(found.begin());
    told(end);
  };
  run(operations(), std::move(call));
  timers.advance(Duration::minutes(1));
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->answer.how, How::done);
  EXPECT_EQ(ended->answer.response.body, "second");
  EXPECT_EQ(asked.size(), 2u);
  const auto reconciles = events(audit::EventType::reconcile);
  ASSERT_EQ(reconciles.size(), 4u) << "decided and found, twice";
  for (const std::size_t decided : {std::size_t{0}, std::size_t{2}}) {
    const auto read = retry::read_decision(detail(reconciles[decided], "decision"));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(retry::decide(read->policy, read->facts), read->decision);
  }
  EXPECT_EQ(detail(reconciles[1], "found"), json::Value("unknown"));
  EXPECT_EQ(detail(reconciles[3], "found"), json::Value("not_applied"));
}

TEST_F(OperationsTest, AnAttemptThatIsSilentIsGivenUpAndWhatItSaysLaterIsPassedOver) {
  Operation::Ended late;
  Operation call = operation({good()});
  call.attempt = [&](const AttemptAsk&, Operation::Ended told) { late = std::move(told); };
  run(operations(), std::move(call));
  timers.advance(Duration::seconds(31));
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->answer.how, How::unresolved);
  EXPECT_EQ(ended->type, "timeout");
  late(good());
  EXPECT_EQ(ended->answer.how, How::unresolved);
}

TEST_F(OperationsTest, AnExceptionIsAValueWithItsType) {
  Operation call = operation({good()});
  call.attempt = [](const AttemptAsk&, const Operation::Ended&) {
    throw std::invalid_argument("not a number");
  };
  run(operations(), call);
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->type, "std::invalid_argument");
  EXPECT_EQ(ended->message, "not a number");
  EXPECT_EQ(ended->answer.how, How::unresolved) << "nobody knows what it did before";

  ended.reset();
  call.harmless = true;
  call.policy = retry::Policy{.non_retryable = {"std::invalid_argument"}};
  run(*operations_, call);
  EXPECT_EQ(ended->answer.reason, retry::Reason::listed_non_retryable);
}

TEST_F(OperationsTest, AnUnknownCategoryGetsTheDefaultAndOneWarning) {
  std::vector<std::string> warned;
  Operations& on = operations(
      {.unknown_category = [&](std::string_view category) { warned.emplace_back(category); }});
  for (int i = 0; i < 2; ++i) {
    Operation call = operation({good()});
    call.category = "RETRY_WHATEVER";
    run(on, std::move(call));
    EXPECT_EQ(ended->answer.how, How::done);
    ended.reset();
  }
  EXPECT_EQ(warned, std::vector<std::string>{"RETRY_WHATEVER"});
}

TEST_F(OperationsTest, ADeadOtherSideIsLeftAloneAndFoundAgain) {
  Operations& on = operations({.breaker = {.failures = 3, .wait_min = Duration::seconds(10)}});
  run(on, operation({lost()}));
  timers.advance(Duration::seconds(4));
  ASSERT_TRUE(ended.has_value());
  const std::size_t before = asked.size();
  ended.reset();
  run(on, operation({good()}));
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->answer.reason, retry::Reason::breaker_open);
  EXPECT_EQ(ended->answer.outcome, Outcome::not_applied);
  EXPECT_EQ(asked.size(), before) << "nothing was sent";
  timers.advance(Duration::seconds(11));
  ended.reset();
  run(on, operation({good()}));
  EXPECT_EQ(ended->answer.how, How::done) << "the probe";
  EXPECT_EQ(events(audit::EventType::breaker).size(), 3u) << "opened, probed and closed";
}

TEST_F(OperationsTest, WithoutABudgetNothingIsRetried) {
  Operations& on = operations({.budget = {.ratio_milli = 0, .min_per_second = 0}});
  run(on, operation({lost()}));
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->answer.reason, retry::Reason::budget_exhausted);
  EXPECT_EQ(events(audit::EventType::budget).size(), 1u);
}

TEST_F(OperationsTest, TheClaimIsRenewedWhileAnAttemptIsUnderWay) {
  Operation::Ended late;
  Operation call = operation({good()});
  call.key = "k";
  call.policy = retry::Policy{.attempt_timeout = Duration::minutes(10)};
  call.attempt = [&](const AttemptAsk&, Operation::Ended told) { late = std::move(told); };
  run(operations({.lease = Duration::seconds(30)}), std::move(call));
  timers.advance(Duration::minutes(5));
  EXPECT_EQ(status_of("k"), "in_flight");
  late(good());
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->answer.how, How::done);
  timers.advance(Duration::minutes(5));
  EXPECT_EQ(status_of("k"), "done");
}

TEST_F(OperationsTest, CancellingEndsTheWait) {
  Operations::Ticket ticket = run(operations(), operation({lost()}));
  EXPECT_FALSE(ended.has_value());
  ticket.cancel();
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->answer.how, How::cancelled);
  EXPECT_EQ(ended->answer.outcome, Outcome::not_applied);
  timers.advance(Duration::minutes(1));
  EXPECT_EQ(asked.size(), 1u);
}

TEST_F(OperationsTest, ClosingTheTimersEndsWhatWaits) {
  run(operations(), operation({lost()}));
  timers.close();
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->answer.how, How::cancelled);
}

TEST_F(OperationsTest, ALongWaitIsSleptWhereTheCallerCan) {
  Operation call = operation({lost()});
  call.sleep_from = Duration::milliseconds(500);
  run(operations(), std::move(call));
  ASSERT_TRUE(ended.has_value());
  EXPECT_GE(ended->sleep, Duration::milliseconds(900));
  EXPECT_EQ(ended->facts.attempt, 1);
}

// An operation that sleeps as task `t1`, where it can be written.
class SleepyTest : public OperationsTest {
 protected:
  Operation sleepy(std::vector<AttemptEnd> ends, Result<std::string> written = "t1") {
    Operation call = operation(std::move(ends));
    call.key = "k";
    call.sleep_from = Duration::milliseconds(500);
    call.sleep = [this, written](const SleepAsk& ask, Operation::Written said) {
      asleep = ask;
      status_then = status_of("k");
      said(written);
    };
    return call;
  }
  std::optional<SleepAsk> asleep;
  std::string status_then;
};

TEST_F(SleepyTest, ItIsWrittenWhileItsKeyIsHeldAndToldWhenItIsFree) {
  run(operations(), sleepy({lost()}));
  ASSERT_TRUE(asleep.has_value());
  EXPECT_EQ(status_then, "in_flight");
  EXPECT_EQ(asleep->facts.attempt, 1);
  EXPECT_EQ(asleep->decision, retry::decide(asleep->policy, asleep->facts));
  EXPECT_NE(asleep->fence, 0u);
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->answer.how, How::asleep);
  EXPECT_EQ(ended->sleep, asleep->delay);
  EXPECT_EQ(ended->task, "t1");
  EXPECT_EQ(status_of("k"), "failed") << "free: nothing was applied";
  const auto events_of_it = events(audit::EventType::operation_slept);
  ASSERT_EQ(events_of_it.size(), 1u);
  EXPECT_EQ(detail(events_of_it[0], "task_id"), json::Value("t1"));
  EXPECT_EQ(timers.waiting(), 0u);
}

TEST_F(SleepyTest, GoesOnUnderTheSameKeyThoughWhoSleptDiedBeforeItLetGo) {
  run(operations(), sleepy({lost()}));
  // As it was before it let go.
  records.clear({.scope = "acme", .key = "k"}, true, [](auto&&) {});
  std::uint64_t fence = 0;
  records.begin({.scope = "acme", .key = "k"},
                {.lease = Duration::hours(1), .ttl = Duration::hours(24)},
                [&](const auto& begun) { fence = begun->record.fence; });
  ended.reset();
  Operation after = sleepy({lost(), good("answer")});
  after.resumed = retry::Resumed{.facts = asleep->facts, .slept = asleep->delay};
  after.slept_fence = fence;
  after.task = "t1";
  run(operations(), std::move(after));
  ASSERT_TRUE(ended.has_value()) << "its lease would have lasted for an hour";
  EXPECT_EQ(ended->answer.response.body, "answer");
  EXPECT_EQ(asked.back().number, 2);
  EXPECT_GT(asked.back().fence, fence);
  const auto resumed = events(audit::EventType::operation_resumed);
  ASSERT_EQ(resumed.size(), 1u);
  EXPECT_EQ(detail(resumed[0], "attempt_number"), json::Value(1));
}

TEST_F(SleepyTest, WhatCannotBeWrittenIsOverAndItsKeyFree) {
  run(operations(), sleepy({lost()}, failure(Code::unavailable, "no queue")));
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->answer.how, How::not_slept);
  EXPECT_EQ(ended->answer.outcome, Outcome::not_applied);
  EXPECT_EQ(ended->sleep, Duration());
  EXPECT_EQ(ended->retry_after, asleep->delay);
  EXPECT_EQ(status_of("k"), "failed");
  EXPECT_TRUE(events(audit::EventType::operation_slept).empty());
}

TEST_F(SleepyTest, WaitsForAnOpenBreakerWithoutUsingUpAnAttempt) {
  Operations& on = operations({.breaker = {.failures = 1, .wait_min = Duration::seconds(60)}});
  Operation once = sleepy({lost()});
  once.policy = retry::Policy{.max_attempts = 1};
  once.key = "";
  run(on, std::move(once));
  EXPECT_EQ(ended->answer.reason, retry::Reason::attempts_exhausted);
  ended.reset();
  run(on, sleepy({lost(), good()}));
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->answer.how, How::asleep);
  EXPECT_EQ(asleep->facts.attempt, 0);
  EXPECT_GT(asleep->delay, Duration::seconds(1));
  EXPECT_EQ(asked.size(), 1u);
}

// A sink that has taken `left` events takes no more.
class FullSink final : public EventSink {
 public:
  explicit FullSink(int left) : left_(left) {}
  Result<void> append(audit::Event) override {
    if (left_-- > 0) return {};
    return failure(Code::unavailable, "the audit log is full");
  }
  Result<void> flush() override { return {}; }
  std::uint64_t lag() const override { return 0; }

 private:
  int left_;
};

TEST_F(SleepyTest, WhatTheAuditLogDoesNotTakeDoesNotSleep) {
  FullSink full(0);
  sink = &full;
  run(operations(), sleepy({lost()}));
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->answer.how, How::not_slept);
  EXPECT_FALSE(asleep.has_value());
  EXPECT_TRUE(ended->unaudited.has_value());
}

TEST_F(OperationsTest, ARetryThatTheAuditLogDoesNotTakeIsNotMade) {
  FullSink full(0);
  sink = &full;
  run(operations(), operation({lost(), good()}));
  timers.advance(Duration::minutes(1));
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->answer.how, How::cancelled);
  ASSERT_TRUE(ended->unaudited.has_value());
  EXPECT_EQ(ended->unaudited->message, "the audit log is full");
  EXPECT_EQ(asked.size(), 1u);
}

// A read that takes longer than `hedge_after` and never ends, and one that is quick.
Operation hedged(std::vector<AttemptAsk>& asked) {
  Operation made;
  made.category = "RETRY_KV_GET";
  made.name = "read";
  made.harmless = true;
  made.hedge_after = Duration::milliseconds(100);
  made.attempt = [&asked](const AttemptAsk& ask, Operation::Ended told) {
    asked.push_back(ask);
    if (ask.number > 1) told(good("second"));
  };
  return made;
}

TEST_F(OperationsTest, AHedgeIsOnRecordAndTheFirstGoodAnswerCounts) {
  run(operations(), hedged(asked));
  timers.advance(Duration::milliseconds(99));
  EXPECT_EQ(asked.size(), 1u);
  timers.advance(Duration::milliseconds(1));
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->answer.response.body, "second");
  ASSERT_EQ(events(audit::EventType::hedge).size(), 1u);
  EXPECT_EQ(detail(events(audit::EventType::hedge)[0], "attempt_number"), json::Value(2));
  EXPECT_TRUE(events(audit::EventType::retry_attempt).empty());
  EXPECT_EQ(events(audit::EventType::retry_succeeded).size(), 1u);
  timers.advance(Duration::minutes(5));  // the first is given up at last: nobody hears of it
}

TEST_F(OperationsTest, AHedgeThatTheAuditLogDoesNotTakeIsNotSent) {
  FullSink full(0);
  sink = &full;
  run(operations(), hedged(asked));
  timers.advance(Duration::seconds(1));
  EXPECT_EQ(asked.size(), 1u);
  EXPECT_FALSE(ended.has_value()) << "the first may still answer";
  timers.close();
}

TEST_F(OperationsTest, WhatTheCallerAddsStandsInEveryEvent) {
  Operation call = operation({lost(), good()});
  call.context = {{"desk", "rates"}};
  run(operations(), std::move(call));
  timers.advance(Duration::minutes(1));
  ASSERT_EQ(audit.events().size(), 2u);
  for (const audit::Event& event : audit.events()) {
    EXPECT_EQ(json::print(detail(event, "context")), R"({"desk":"rates"})");
  }
}

TEST_F(OperationsTest, WhatIsOutOfBoundsIsSaidToBe) {
  const auto said = [&](auto change) {
    Operation made = operation({good()});
    made.key = "k";
    change(made);
    const Result<void> checked = check(made);
    return checked ? "" : checked.error().message;
  };
  EXPECT_EQ(said([](Operation&) {}), "");
  EXPECT_NE(said([](Operation& o) { o.context["a"] = std::string(256, 'x'); }), "");
  EXPECT_NE(said([](Operation& o) {
              for (int i = 0; i < 17; ++i) o.context[std::to_string(i)] = "";
            }),
            "");
  EXPECT_EQ(said([](Operation& o) {
              for (int i = 0; i < 16; ++i) o.context[std::to_string(i)] = "";
            }),
            "");
  EXPECT_NE(said([](Operation& o) { o.key = std::string(513, 'k'); }), "");
  EXPECT_NE(said([](Operation& o) { o.correlation.trace_id = std::string(9'000, 't'); }), "");
  EXPECT_NE(said([](Operation& o) { o.policy = retry::Policy{.max_attempts = 0}; }), "");
}

TEST_F(OperationsTest, ThoseWithoutAKeyDoNotAllWaitAlike) {
  Operations& on = operations();
  for (int i = 0; i < 2; ++i) on.run(operation({lost()}), [](OperationEnd) {});
  const auto retries = events(audit::EventType::retry_attempt);
  ASSERT_EQ(retries.size(), 2u);
  EXPECT_NE(json::print(detail(retries[0], "delay_seconds")),
            json::print(detail(retries[1], "delay_seconds")));
  timers.close();
}

// Found by a look that was never taken, nothing is absent.
TEST_F(OperationsTest, ClosingWhileAnAttemptIsUnderWayLeavesItUnknown) {
  Operation call = operation({good()});
  call.key = "k";
  call.attempt = [](const AttemptAsk&, const Operation::Ended&) {};  // the effect may be made
  call.reconcile = [](const AttemptAsk&, Operation::Ended told) { told(lost()); };
  run(operations(), std::move(call));
  timers.close();
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->answer.outcome, Outcome::unknown);
  EXPECT_EQ(status_of("k"), "unknown");
}

// Timers that are over before anything has begun.
class NoTimers final : public Timers {
 public:
  Id after(Duration, Call call) override {
    call(true);
    return {};
  }
  void cancel(Id) override {}
};

TEST_F(OperationsTest, WhatIsNotBegunBecauseTheTimeIsUpIsNotCalled) {
  NoTimers none;
  Operations without(Operations::Options{}, Operations::Ports{clock, none, &records, nullptr});
  run(without, operation({good()}));
  ASSERT_TRUE(ended.has_value());
  EXPECT_TRUE(asked.empty());
  EXPECT_EQ(ended->answer.outcome, Outcome::not_applied);
}

TEST_F(OperationsTest, WhoComesTooLateIsPassedOver) {
  Operation::Ended late;
  Operation call = operation({good()});
  call.attempt = [&](const AttemptAsk&, Operation::Ended told) { late = std::move(told); };
  Operations::Ticket ticket = run(operations(), std::move(call));
  timers.close();
  operations_->drain();
  ASSERT_TRUE(ended.has_value());
  operations_.reset();
  late(good());
  ticket.cancel();
}

TEST_F(OperationsTest, ACancelledOperationKeepsNothing) {
  Operation call = operation({good()});
  call.attempt = [](const AttemptAsk&, const Operation::Ended&) {};
  call.key = "k";
  run(operations(), std::move(call)).cancel();
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(timers.waiting(), 0u);
}

TEST_F(OperationsTest, OnceTheLogTakesNothingAnyMoreNothingIsBegun) {
  class DeadSink final : public EventSink {
   public:
    Result<void> append(audit::Event) override { return alive(); }
    Result<void> flush() override { return alive(); }
    Result<void> alive() const override { return failure(Code::unavailable, "the disk is gone"); }
    std::uint64_t lag() const override { return 0; }
  } dead;
  sink = &dead;
  run(operations(), operation({good()}));
  ASSERT_TRUE(ended.has_value());
  EXPECT_TRUE(asked.empty());
  EXPECT_EQ(ended->answer.outcome, Outcome::not_applied);
  EXPECT_EQ(ended->unaudited->message, "the disk is gone");
}

TEST_F(OperationsTest, ItsEndSaysWhenToComeAgain) {
  AttemptEnd told = lost();
  told.pushback = Duration::days(40);
  run(operations(), operation({told}));
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->answer.reason, retry::Reason::pushback_too_long);
  EXPECT_EQ(ended->retry_after, Duration::days(40));
}

TEST_F(OperationsTest, TheBreakersChangesAreOnRecordWithTheirWaits) {
  Operations& on = operations({.breaker = {.failures = 1}});
  Operation failing = operation({lost()});
  failing.policy = retry::Policy{.max_attempts = 1};
  run(on, failing);
  ended.reset();
  run(on, failing);
  EXPECT_EQ(ended->retry_after, Duration::seconds(1)) << "until the probe";
  timers.advance(Duration::seconds(1));
  ended.reset();
  run(on, operation({good()}));
  const auto changes = events(audit::EventType::breaker);
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(detail(changes[0], "state"), json::Value("open"));
  EXPECT_EQ(json::print(detail(changes[0], "delay_seconds")), "1");
  EXPECT_EQ(detail(changes[1], "state"), json::Value("half_open"));
  EXPECT_EQ(detail(changes[2], "state"), json::Value("closed"));
}

TEST_F(OperationsTest, AnOperationUnderAKeyMayProbeABreakerThatIsOpen) {
  Operations& on = operations({.breaker = {.failures = 1}});
  Operation failing = operation({lost()});
  failing.policy = retry::Policy{.max_attempts = 1};
  run(on, failing);
  timers.advance(Duration::seconds(1));
  Operation keyed = operation({good()});
  keyed.key = "one";
  ended.reset();
  run(on, keyed);
  EXPECT_EQ(ended->answer.how, How::done);
  ended.reset();
  run(on, failing);
  timers.advance(Duration::seconds(1));
  ended.reset();
  run(on, keyed);
  EXPECT_EQ(ended->answer.how, How::replayed) << "nothing was sent, so nothing was probed";
  keyed.key = "two";
  ended.reset();
  run(on, keyed);
  EXPECT_EQ(ended->answer.how, How::done);
}

TEST_F(OperationsTest, AThousandCallersWithOneKeyActOnce) {
  Operations& on = operations();
  std::atomic<int> acts = 0, done = 0, told = 0;
  Operation call;
  call.category = "RETRY_API_REQUEST";
  call.name = "call";
  call.key = "one";
  call.attempt = [&](const AttemptAsk&, Operation::Ended end) {
    ++acts;
    end(good());
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 125; ++i) {
        on.run(call, [&](const OperationEnd& end) {
          done += end.answer.how == How::done ? 1 : 0;
          told += end.answer.how == How::replayed || end.answer.how == How::in_flight ? 1 : 0;
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(acts, 1);
  EXPECT_EQ(done, 1);
  EXPECT_EQ(told, 999);
}

}  // namespace
}  // namespace pawl
