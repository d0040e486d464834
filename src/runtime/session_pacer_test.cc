// Goal: the pacer's machine is driven as it asks: asks end once, on time moved by hand, whether the
// caller blocks or not, whether the store answers at once, later, or not at all; pacers on one
// store share one pace.
// Method: a store of one bucket over limit::decide whose answers can be held back or fail, and
// clocks that only the test moves. Blocked threads are released by poll(), never by waiting.
#include "runtime/session_pacer.h"

#include <atomic>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <thread>

#include "adapter/memory/memory_event_sink.h"

namespace pawl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace pacer = limit::pacer;

constexpr Duration second = Duration::seconds(1);

// ManualClock for several threads.
class SharedClock final : public Clock {
 public:
  Instant wall_now() override { return Instant() + Duration::days(20'000) + passed(); }
  SteadyInstant steady_now() override { return SteadyInstant() + Duration::hours(1) + passed(); }
  void advance(Duration by) { passed_ns_ += by.ns(); }

 private:
  Duration passed() const { return Duration::nanoseconds(passed_ns_); }
  std::atomic<std::int64_t> passed_ns_ = 0;
};

// A state for each of the pacer's two counts: the tests here have one session.
class BucketStore final : public CounterStore {
 public:
  explicit BucketStore(Clock& clock) : clock_(clock) {}

  void check(Counts counts, std::int64_t cost, Done<limit::Answer> done) override {
    EXPECT_LE(counts.size(), 2U);
    EXPECT_EQ(counts[0].policy->name, "orders");
    EXPECT_EQ(counts[0].key.name(), "saxo");
    if (broken) return done(std::unexpected(lost()));
    limit::Answer answer;
    {
      const std::lock_guard lock(mutex_);
      std::vector<limit::Member> members;
      for (const Count& count : counts) members.push_back({count.policy, &state_of(count)});
      answer = limit::decide(members, {.cost = cost}, now());
    }
    if (!held) return done(answer);
    waiting.push_back([answer, done = std::move(done)]() mutable { done(answer); });
  }
  void refund(const Count& count, std::int64_t cost, Done<void> done) override {
    ++refunds;
    {
      const std::lock_guard lock(mutex_);
      limit::give_back(*count.policy, state_of(count), {.cost = cost, .charged = now()}, now());
    }
    done({});
  }
  void close(const Count& count, Instant until, Done<void> done) override {
    if (broken) return done(std::unexpected(lost()));
    {
      const std::lock_guard lock(mutex_);
      limit::State& state = state_of(count);
      state.closed_until = std::max(state.closed_until, now().moment + (until - now().wall));
    }
    done({});
  }
  void reserve(Counts, std::int64_t, Duration, Done<Reservation>) override { FAIL(); }
  void settle(Counts, std::uint64_t, Settlement, Done<void>) override { FAIL(); }
  void reset(const Count& count, Done<void> done) override {
    if (broken) return done(std::unexpected(lost()));
    {
      const std::lock_guard lock(mutex_);
      state_of(count) = {};
    }
    done({});
  }

  bool held = false;
  bool broken = false;
  int refunds = 0;
  std::vector<std::move_only_function<void()>> waiting;

 private:
  static Error lost() { return Error(Code::unavailable, Outcome::not_applied, "no connection"); }
  limit::Now now() { return {limit::Moment::from_ns(clock_.steady_now().ns()), clock_.wall_now()}; }

  limit::State& state_of(const Count& count) { return states_[count.policy->name]; }

  Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, limit::State> states_;
};

class SessionPacerTest : public testing::Test {
 protected:
  SessionPacer::Options options() const { return {.session = "saxo"}; }
  SessionPacer::Hooks hooks() {
    return {.note = {}, .wake_at = [this](SteadyInstant at) { wake_at = at; }};
  }
  SessionPacer::Ask within(Duration patience) {
    return {.operation = "place", .deadline = clock.steady_now() + patience};
  }
  // Writes its end down: "name", or "name: error".
  SessionPacer::Done as(const std::string& name) {
    return [this, name](Result<void> end) {
      ends.push_back(end ? name : name + ": " + std::string(to_string(end.error().code)));
    };
  }

  // "operation decision: why, for external_reference", of every event.
  std::vector<std::string> recorded() const {
    std::vector<std::string> lines;
    for (const audit::Event& event : sink.events()) {
      EXPECT_EQ(event.type, audit::EventType::pace);
      std::map<std::string_view, json::Value> details(event.details.begin(), event.details.end());
      lines.push_back(event.operation + " " + *details["decision"].if_string() + ": " +
                      *details["why"].if_string() + " " + event.correlation.external_reference);
    }
    return lines;
  }

  SharedClock clock;
  MemoryEventSink sink;
  BucketStore store{clock};
  SteadyInstant wake_at;
  std::vector<std::string> ends;
};

TEST_F(SessionPacerTest, ASecondOrderWithinOneSecondWaits) {
  SessionPacer session(options(), {clock, store}, hooks());
  session.ask({.operation = "place"}, as("first"));
  session.ask({.operation = "place"}, as("second"));
  EXPECT_THAT(ends, ElementsAre("first"));
  EXPECT_EQ(wake_at - clock.steady_now(), second);
  clock.advance(second - Duration::nanoseconds(1));
  session.poll();
  EXPECT_THAT(ends, ElementsAre("first"));
  EXPECT_EQ(wake_at - clock.steady_now(), Duration::nanoseconds(1));  // told again
  clock.advance(Duration::nanoseconds(1));
  session.poll();
  EXPECT_THAT(ends, ElementsAre("first", "second"));
}

TEST_F(SessionPacerTest, A429WithReset1BacksOff) {
  SessionPacer session(options(), {clock, store}, hooks());
  const std::vector<limit::Field> fields = {{"X-RateLimit-SessionOrders-Remaining", "0"},
                                            {"X-RateLimit-SessionOrders-Reset", "1"},
                                            {"X-RateLimit-AppDay-Remaining", "9"},
                                            {"X-RateLimit-AppDay-Reset", "82332"}};
  session.heard("place", 429, fields);
  session.ask({.operation = "place"}, as("order"));
  EXPECT_THAT(ends, IsEmpty());
  clock.advance(second);
  session.poll();
  EXPECT_THAT(ends, ElementsAre("order"));
}

TEST_F(SessionPacerTest, PacersOnOneStoreShareOnePaceAndEveryClosing) {
  SessionPacer one(options(), {clock, store}, hooks());
  SessionPacer other(options(), {clock, store}, hooks());
  one.ask({.operation = "place"}, as("one"));
  other.ask({.operation = "place"}, as("other"));
  EXPECT_THAT(ends, ElementsAre("one"));
  const std::vector<limit::Field> fields = {{"Retry-After", "3"}};
  one.heard("place", 429, fields);
  clock.advance(second);
  other.poll();
  EXPECT_THAT(ends, ElementsAre("one"));
  EXPECT_EQ(wake_at - clock.steady_now(), second * 2);
  clock.advance(second * 2);
  other.poll();
  EXPECT_THAT(ends, ElementsAre("one", "other"));
}

TEST_F(SessionPacerTest, ReopensForEverybodyOnTheStoreAtThePace) {
  SessionPacer one(options(), {clock, store}, hooks());
  SessionPacer other(options(), {clock, store}, hooks());
  const std::vector<limit::Field> never = {{"Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT"}};
  one.heard("place", 429, never);
  other.heard("place", 429, never);
  one.ask({.operation = "place"}, as("one"));
  other.ask({.operation = "place"}, as("other"));
  one.reopen(as("reopened"));
  EXPECT_THAT(ends, ElementsAre("reopened"));
  SessionPacer third(options(), {clock, store}, hooks());
  third.ask(within(second - Duration::nanoseconds(1)), as("third"));
  EXPECT_THAT(ends, ElementsAre("reopened", "third: refused"));  // not sooner than the pace
  ends.clear();
  clock.advance(second);
  one.poll();
  EXPECT_THAT(ends, ElementsAre("one"));
  clock.advance(bounds::pacer_look_wait);
  other.poll();
  EXPECT_THAT(ends, ElementsAre("one", "other"));
}

TEST_F(SessionPacerTest, SaysWhenTheStoreCouldNotBeReopened) {
  SessionPacer session(options(), {clock, store}, hooks());
  const std::vector<limit::Field> fields = {{"Retry-After", "3600"}};
  session.heard("place", 429, fields);
  store.broken = true;
  session.reopen(as("reopened"));
  EXPECT_THAT(ends, ElementsAre("reopened: unavailable"));
  store.broken = false;
  clock.advance(second);
  session.ask(within(second), as("order"));
  EXPECT_THAT(ends, ElementsAre("reopened: unavailable", "order: refused"));
}

TEST_F(SessionPacerTest, HowLongAWordIsBelievedIsAnOption) {
  SessionPacer session({.session = "saxo", .closing_max = Duration::seconds(30)}, {clock, store},
                       hooks());
  const std::vector<limit::Field> fields = {{"Retry-After", "3600"}};
  session.heard("place", 429, fields);
  session.ask({.operation = "place"}, as("order"));
  EXPECT_EQ(wake_at - clock.steady_now(), Duration::seconds(30));
}

TEST_F(SessionPacerTest, EveryDecisionIsRecordedWithItsReason) {
  SessionPacer session(options(), {clock, store, &sink}, hooks());
  const auto ask = [&](const char* reference, SteadyInstant deadline) {
    session.ask({.operation = "place",
                 .deadline = deadline,
                 .correlation = {.external_reference = reference}},
                as(reference));
  };
  ask("A", SteadyInstant::max());
  ask("B", SteadyInstant::max());
  ask("C", clock.steady_now());
  const std::vector<limit::Field> fields = {{"X-RateLimit-SessionOrders-Limit", "1"},
                                            {"X-RateLimit-SessionOrders-Remaining", "0"},
                                            {"X-RateLimit-SessionOrders-Reset", "30"}};
  session.heard("place", 429, fields);
  session.reopen(as("reopened"));
  EXPECT_THAT(
      recorded(),
      ElementsAre(
          "place allowed: 'place' may leave by 'orders' (1/1s): 0 more may leave at once. A",
          "place waiting: 'place' waits 1s for the pace of 'orders' (1/1s). B",
          "place refused: 'place' was not sent: its deadline is 2024-10-04T00:00:00.000Z, "
          "and the earliest it could leave is 2024-10-04T00:00:01.000Z, by the session's "
          "pace. Ask again with a later deadline; the pace is 1/1s. C",
          "place closed: 'orders' is closed for 30s: the 429 to 'place' says that "
          "'SessionOrders' has 0 of 1 left. ",
          "place waiting: 'place' waits 30s: 'orders' is closed by a server's word. B",
          "reopen reopened: 'orders' was reopened by an operator: the first may leave in "
          "1s. "));
}

TEST_F(SessionPacerTest, TellsWhoseCallEveryNoteAndEventIsAbout) {
  std::vector<std::string> told;
  SessionPacer::Hooks noted = hooks();
  noted.note = [&](const limit::pacer::Note& note, const Correlation& ids) {
    told.push_back(std::to_string(note.index()) + " " + ids.external_reference + " " +
                   ids.request_id);
  };
  SessionPacer session(options(), {clock, store, &sink}, std::move(noted));
  session.ask(
      {.operation = "place", .correlation = {.request_id = "A_1", .external_reference = "A"}},
      as("A"));
  session.ask(
      {.operation = "place", .correlation = {.request_id = "B_1", .external_reference = "B"}},
      as("B"));
  const std::vector<limit::Field> fields = {{"Retry-After", "30"}};
  session.heard("place", 429, fields, {.request_id = "A_1", .external_reference = "A"});
  session.reopen(as("reopened"));
  // Acquired, waits for the pace, refused, reset scheduled, waits for the server, reopened.
  EXPECT_THAT(told, ElementsAre("2 A A_1", "1 B B_1", "4 A A_1", "5 A A_1", "0 B B_1", "6  "));
  std::string found;
  for (const audit::Event& event : sink.events()) {
    EXPECT_EQ(event.correlation.correlation_id, event.correlation.external_reference);
    found += event.correlation.correlation_id + " ";
  }
  EXPECT_EQ(found, "A B A B  ");
}

TEST_F(SessionPacerTest, WhatIsNotOnRecordDoesNotLeave) {
  MemoryEventSink full(0);
  std::vector<std::string> notes;
  SessionPacer session(options(), {clock, store, &full},
                       {.note = [&](const pacer::Note& note, const Correlation&) {
                         if (const auto* lost = std::get_if<pacer::RateLimitUnrecorded>(&note)) {
                           notes.push_back(lost->error.message);
                         }
                       }});
  const Result<void> end = session.acquire({.operation = "place"});
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, Code::unavailable);
  EXPECT_EQ(end.error().outcome, Outcome::not_applied);
  EXPECT_THAT(end.error().message, HasSubstr("the audit log did not take the decision"));
  EXPECT_EQ(notes.size(), 1U);
}

TEST_F(SessionPacerTest, AcquireSaysWhenItWouldHaveBeen) {
  SessionPacer session(options(), {clock, store}, hooks());
  EXPECT_TRUE(session.acquire(within(Duration())));
  const Result<void> late = session.acquire(within(Duration::milliseconds(999)));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::refused);
  EXPECT_EQ(late.error().outcome, Outcome::not_applied);
  EXPECT_THAT(late.error().message, HasSubstr("the earliest it could leave is "
                                              "2024-10-04T00:00:01.000Z"));
}

TEST_F(SessionPacerTest, AcquireLetsNothingOutWhenItsThreadWokeLate) {
  SessionPacer session(
      options(), {clock, store, &sink},
      {.note = [this](const pacer::Note&, const Correlation&) { clock.advance(second * 2); }});
  const Result<void> late = session.acquire(within(second));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::refused);
  EXPECT_EQ(late.error().outcome, Outcome::not_applied);
  EXPECT_THAT(recorded(), ElementsAre(HasSubstr("allowed"), HasSubstr("this thread woke after")));
}

TEST_F(SessionPacerTest, WithoutTheStoreNobodyLeaves) {
  std::vector<std::string> notes;
  const auto note = [&](const pacer::Note& what, const Correlation&) {
    if (const auto* failed = std::get_if<pacer::RateLimitStoreFailed>(&what)) {
      notes.push_back(failed->error.message);
    }
  };
  SessionPacer session(options(), {clock, store}, {.note = note});
  store.broken = true;
  const Result<void> refused = session.acquire({.operation = "place"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::unavailable);
  EXPECT_EQ(refused.error().outcome, Outcome::not_applied);
  session.heard("place", 429, {});
  EXPECT_THAT(notes, ElementsAre("no connection", "no connection"));
  store.broken = false;
  session.ask({.operation = "place"}, as("order"));
  EXPECT_THAT(ends, IsEmpty());  // closed all the same
  clock.advance(second);
  session.poll();
  EXPECT_THAT(ends, ElementsAre("order"));
}

TEST_F(SessionPacerTest, WhatIsWithdrawnIsNotCalledAndItsChargeComesBack) {
  SessionPacer session(options(), {clock, store}, hooks());
  store.held = true;
  const auto ticket = session.ask({.operation = "place"}, as("withdrawn"));
  EXPECT_TRUE(session.withdraw(ticket));
  EXPECT_FALSE(session.withdraw(ticket));
  store.waiting.at(0)();
  EXPECT_EQ(store.refunds, 1);
  store.held = false;
  const auto next = session.ask({.operation = "place"}, as("next"));
  EXPECT_FALSE(session.withdraw(next));
  EXPECT_THAT(ends, ElementsAre("next"));
}

TEST_F(SessionPacerTest, CancelsGoFirst) {
  SessionPacer session(options(), {clock, store}, hooks());
  for (const char* name : {"a", "b", "c"}) session.ask({.operation = "place"}, as(name));
  session.ask({.operation = "cancel", .urgent = true}, as("cancel"));
  for (int i = 0; i < 3; ++i) {
    clock.advance(second);
    session.poll();
  }
  EXPECT_THAT(ends, ElementsAre("a", "cancel", "b", "c"));
}

TEST_F(SessionPacerTest, ACancelOfAnotherProcessGoesFirst) {
  SessionPacer placing(options(), {clock, store}, hooks());
  SessionPacer cancelling(options(), {clock, store}, hooks());
  for (const char* name : {"1", "2", "3"}) placing.ask({.operation = "place"}, as(name));
  cancelling.ask({.operation = "cancel", .urgent = true}, as("cancel"));
  EXPECT_THAT(ends, ElementsAre("1"));
  clock.advance(second);
  placing.poll();  // it asks the store first
  EXPECT_THAT(ends, ElementsAre("1"));
  cancelling.poll();
  EXPECT_THAT(ends, ElementsAre("1", "cancel"));
  clock.advance(second);
  placing.poll();
  EXPECT_THAT(ends, ElementsAre("1", "cancel", "2")) << "they are held back for no longer";
}

TEST_F(SessionPacerTest, CallbacksMayCallBack) {
  SessionPacer session(options(), {clock, store}, hooks());
  session.ask({.operation = "place"}, [&](const Result<void>& end) {
    EXPECT_TRUE(end);
    session.heard("place", 200, {});
    session.ask(within(Duration::milliseconds(1)), as("again"));
    session.poll();
  });
  EXPECT_THAT(ends, ElementsAre("again: refused"));
}

TEST_F(SessionPacerTest, AnAnswerOfTheStoreMayComeAfterTheEnd) {
  store.held = true;
  int notes = 0;
  {
    SessionPacer session(options(), {clock, store},
                         {.note = [&](const pacer::Note&, const Correlation&) { ++notes; }});
    session.ask({.operation = "place"}, as("order"));
  }
  store.waiting.at(0)();
  EXPECT_THAT(ends, IsEmpty());
  EXPECT_EQ(notes, 0);
}

TEST_F(SessionPacerTest, ABlockedCallerIsLetOutByAPoll) {
  std::promise<void> waits;
  SessionPacer session(options(), {clock, store},
                       {.note = [&](const pacer::Note& note, const Correlation&) {
                         if (std::holds_alternative<pacer::RateLimitTokenWait>(note)) {
                           waits.set_value();
                         }
                       }});
  ASSERT_TRUE(session.acquire({.operation = "place"}));
  Result<void> end = failure(Code::internal, "not called");
  std::thread blocked([&] { end = session.acquire({.operation = "place"}); });
  waits.get_future().wait();
  clock.advance(second);
  session.poll();
  blocked.join();
  EXPECT_TRUE(end);
}

TEST_F(SessionPacerTest, ABlockedCallerWatchesTheClockItself) {
  SessionPacer session(options(), {clock, store},
                       // As if the wait were over as soon as it began.
                       {.note = {}, .wake_at = [&](SteadyInstant) { clock.advance(second); }});
  EXPECT_TRUE(session.acquire({.operation = "place"}));
  EXPECT_TRUE(session.acquire({.operation = "place"}));
}

TEST_F(SessionPacerTest, ManyThreadsLeaveOneASecond) {
  constexpr int threads = 8;
  constexpr int calls = 5;
  const SteadyInstant start = clock.steady_now();
  SessionPacer session(options(), {clock, store}, {});
  std::atomic<int> left = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < threads; ++i) {
    callers.emplace_back([&, urgent = i % 2 == 0] {
      for (int call = 0; call < calls; ++call) {
        EXPECT_TRUE(session.acquire({.operation = "place", .urgent = urgent}));
        ++left;
      }
    });
  }
  while (left < threads * calls) {
    const SteadyInstant now = clock.steady_now();
    EXPECT_LE(left, 1 + (now - start).ns() / second.ns());
    clock.advance(Duration::milliseconds(10));
    session.poll();
    std::this_thread::yield();
  }
  for (std::thread& caller : callers) caller.join();
}

}  // namespace
}  // namespace pawl
