// Goal: what pawl has decided comes out again, and whatever was changed in a record does not.
// Method: records made by the writers of both kinds, from decisions over random states; each number
//         and word of a record edited in turn.
#include "core/audit/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/audit/chain.h"
#include "core/audit/retry_event.h"
#include "core/limit/decide.h"
#include "core/retry/decision_record.h"

namespace pawl::audit {
namespace {

using How = Replayed::How;
using ::testing::HasSubstr;

const limit::Zones no_zones = [](std::string_view name) -> Result<Zone> {
  return failure(Code::invalid, "unknown time zone '" + std::string(name) + "'");
};

Event event_of(EventType type) {
  return {.type = type, .timestamp = {}, .operation = {}, .correlation = {}, .details = {}};
}

// As the log has it, numbers in the form of a double's.
json::Value as_logged(const Event& event) {
  return json::parse(draft(event).value().text).value();
}

std::string told(const Replayed& replayed) {
  return json::print(replayed.recorded) + " / " + json::print(replayed.again) + replayed.why;
}

// ---- retries

Event retry_event(const retry::Policy& policy, const retry::Facts& facts) {
  const retry::Decision decision = retry::decide(policy, facts);
  const RetrySubject subject{.category = "RETRY_API_REQUEST", .operation = "o"};
  Event event;
  if (decision.next == retry::Next::done) {
    event = to_event(RetrySucceeded{.subject = subject, .total_attempts = facts.attempt});
  } else if (decision.next == retry::Next::backoff || decision.next == retry::Next::sleep) {
    event = to_event(RetryAttempt{.subject = subject,
                                  .attempt_number = facts.attempt,
                                  .max_attempts = policy.max_attempts,
                                  .delay = decision.delay});
  } else if (decision.next == retry::Next::reconcile) {
    event = to_event(ReconcileAhead{
        .subject = subject, .attempt_number = facts.attempt, .delay = decision.delay});
  } else {
    event = to_event(RetryExhausted{.subject = subject, .total_attempts = facts.attempt});
  }
  event.details.emplace_back("decision", retry::decision_record(policy, facts, decision));
  return event;
}

retry::Facts failed_once() {
  retry::Facts facts;
  facts.attempt = 1;
  facts.seen = {retry::Failure::rate_limited, Outcome::not_applied, true};
  facts.key = 0x1234'5678'9abc'def0;
  return facts;
}

// The same record with one member of it, or of an object in it, replaced.
json::Value edited(const json::Value& record, std::vector<std::string> path, json::Value value) {
  if (path.empty()) return value;
  const std::string name = path.front();
  path.erase(path.begin());
  if (const json::Array* items = record.if_array()) {
    json::Array copy = *items;
    json::Value& item = copy.at(static_cast<std::size_t>(std::stoi(name)));
    item = edited(item, std::move(path), std::move(value));
    return copy;
  }
  json::Object copy = *record.if_object();
  copy[name] = edited(copy[name], std::move(path), std::move(value));
  return copy;
}

json::Value without(const json::Value& record, const std::string& name) {
  json::Object copy = *record.if_object();
  copy.erase(name);
  return copy;
}

TEST(Replay, TakesARetryDecisionAgain) {
  retry::Policy policy;
  retry::Facts facts = failed_once();
  EXPECT_EQ(replay(as_logged(retry_event(policy, facts)), no_zones).how, How::agrees);
  facts.sleep_from = Duration::milliseconds(1);
  EXPECT_EQ(replay(as_logged(retry_event(policy, facts)), no_zones).how, How::agrees) << "sleep";
  facts.attempt = 3;
  EXPECT_EQ(replay(as_logged(retry_event(policy, facts)), no_zones).how, How::agrees) << "give up";
  facts.seen.outcome = Outcome::unknown;
  EXPECT_EQ(replay(as_logged(retry_event(policy, facts)), no_zones).how, How::agrees)
      << "unresolved";
  facts.can_reconcile = true;
  EXPECT_EQ(replay(as_logged(retry_event(policy, facts)), no_zones).how, How::agrees)
      << "reconcile";
  facts.seen = {retry::Failure::none, Outcome::applied, false};
  EXPECT_EQ(replay(as_logged(retry_event(policy, facts)), no_zones).how, How::agrees) << "done";
}

TEST(Replay, FindsADelayThatWasEdited) {
  const json::Value record = as_logged(retry_event({}, failed_once()));
  const Replayed inner = replay(edited(record, {"decision", "delay_ns"}, "1000000000"), no_zones);
  EXPECT_EQ(inner.how, How::differs);
  EXPECT_EQ(*inner.recorded.find("delay_ns"), "1000000000");
  EXPECT_EQ(*inner.again.find("delay_ns"), *record.find("decision")->find("delay_ns"));
  const Replayed outer = replay(edited(record, {"delay_seconds"}, 1), no_zones);
  EXPECT_EQ(outer.how, How::differs);
  EXPECT_EQ(*outer.recorded.find("delay_seconds"), 1);
  const json::Value both =
      edited(edited(record, {"delay_seconds"}, 1), {"decision", "delay_ns"}, "1000000000");
  EXPECT_EQ(replay(both, no_zones).how, How::differs);
}

TEST(Replay, FindsEveryOtherEditOfARetry) {
  const json::Value record = as_logged(retry_event({}, failed_once()));
  const std::vector<std::pair<std::vector<std::string>, json::Value>> edits = {
      {{"event_type"}, "retry_exhausted"},
      {{"attempt_number"}, 2},
      {{"max_attempts"}, 4},
      {{"decision", "next"}, "give_up"},
      {{"decision", "reason"}, "retry_pushback"},
      {{"decision", "outcome"}, "unknown"},
      {{"decision", "facts", "attempt"}, 2},
      {{"decision", "facts", "key"}, "1"},
      {{"decision", "facts", "pushback_ns"}, "9000000000"},
      {{"decision", "policy", "max_attempts"}, 1},
      {{"decision", "policy", "base_delay_ns"}, "2000000000"},
  };
  for (const auto& [path, value] : edits) {
    EXPECT_EQ(replay(edited(record, path, value), no_zones).how, How::differs) << path.back();
  }
}

TEST(Replay, DoesNotPassOverADecisionThatCannotBeRead) {
  const json::Value record = as_logged(retry_event({}, failed_once()));
  const Replayed replayed = replay(edited(record, {"decision", "delay_ns"}, "soon"), no_zones);
  EXPECT_EQ(replayed.how, How::differs);
  EXPECT_THAT(replayed.why, HasSubstr("delay_ns"));
}

// A record of each kind that holds a retry's decision.
std::vector<json::Value> every_kind_of_decision() {
  retry::Facts facts = failed_once();
  std::vector<json::Value> records = {as_logged(retry_event({}, facts))};
  facts.attempt = 3;
  records.push_back(as_logged(retry_event({}, facts)));
  facts.seen.outcome = Outcome::unknown;
  facts.can_reconcile = true;
  records.push_back(as_logged(retry_event({}, facts)));
  facts.seen = {retry::Failure::none, Outcome::applied, false};
  records.push_back(as_logged(retry_event({}, facts)));
  return records;
}

TEST(Replay, DoesNotPassOverARetryWhoseDecisionWasTakenOut) {
  std::vector<json::Value> types;
  for (const json::Value& record : every_kind_of_decision()) {
    ASSERT_EQ(replay(record, no_zones).how, How::agrees);
    const Replayed replayed = replay(without(record, "decision"), no_zones);
    EXPECT_EQ(replayed.how, How::differs) << json::print(record);
    EXPECT_THAT(replayed.why, HasSubstr("pawl writes one"));
    types.push_back(*record.find("event_type"));
  }
  EXPECT_THAT(types, ::testing::ElementsAre("retry_attempt", "retry_exhausted", "reconcile",
                                            "retry_succeeded"));
}

TEST(Replay, DoesNotPassOverADecisionThatWasGivenAnotherKind) {
  for (const json::Value& record : every_kind_of_decision()) {
    for (const EventType type : all_event_types()) {
      if (*record.find("event_type") == to_string(type)) continue;
      const Replayed replayed = replay(edited(record, {"event_type"}, to_string(type)), no_zones);
      EXPECT_EQ(replayed.how, How::differs) << to_string(type) << " of " << json::print(record);
    }
    for (const json::Value& none : {json::Value("retry_attemptx"), json::Value(7), json::Value()}) {
      EXPECT_EQ(replay(edited(record, {"event_type"}, none), no_zones).how, How::differs);
    }
  }
}

TEST(Replay, KnowsWhatAReconciliationFoundFromWhatWasDecided) {
  for (const Outcome outcome : {Outcome::applied, Outcome::not_applied, Outcome::unknown}) {
    const json::Value found = as_logged(to_event(Reconciliation{.subject = {}, .found = outcome}));
    EXPECT_EQ(replay(found, no_zones).how, How::no_decision) << to_string(outcome);
    EXPECT_EQ(replay(without(found, "found"), no_zones).how, How::differs);
    EXPECT_EQ(replay(edited(found, {"found"}, "perhaps"), no_zones).how, How::differs);
  }
  const json::Value decided = every_kind_of_decision()[2];
  EXPECT_EQ(replay(without(decided, "delay_seconds"), no_zones).how, How::differs);
}

// ---- limits

const limit::Policy pace("pace", limit::TokenBucket({1, Duration::seconds(10)}, 1));
const limit::Policy window("window", limit::SlidingWindow{{3, Duration::minutes(1)}});
const limit::Policy month("month", limit::Calendar{.count = 4, .rule = {}});
const limit::Policy shadow("shadow", limit::TokenBucket({1, Duration::hours(1)}, 0),
                           {.shadow = true});
const limit::Policy slots("slots", limit::Concurrency{.slots = 2});

// One key of some policies, asked again and again.
struct World {
  explicit World(std::vector<const limit::Policy*> policies_) : policies(std::move(policies_)) {
    for (std::size_t i = 0; i < policies.size(); ++i) {
      states[i].marks = &marks[i];
      members.push_back({policies[i], &states[i]});
      counts.push_back({policies[i], "tenant:acme"});
    }
  }

  json::Value ask(Duration later, std::int64_t cost = 1) {
    now.moment = now.moment + later;
    now.wall = now.wall + later;
    answer = limit::decide(members, {.cost = cost, .holder = ++holder}, now);
    Event event = event_of(EventType::limit);
    event.details = request::limit_record(counts, answer, cost);
    return as_logged(event);
  }

  std::vector<const limit::Policy*> policies;
  std::array<limit::State, bounds::limit_policies_max> states;
  std::array<limit::Marks, bounds::limit_policies_max> marks;
  std::vector<limit::Member> members;
  std::vector<limit::Count> counts;
  limit::Now now{.moment = limit::Moment::from_ns(1'790'000'000'123'456'789),
                 .wall = Instant::from_ns(1'790'000'000'123'456'789)};
  std::uint64_t holder = 0;
  limit::Answer answer;
};

RC_GTEST_PROP(Replay, TakesEveryDecisionOfALimitAgain, ()) {
  std::vector<const limit::Policy*> policies;
  for (const limit::Policy* each : {&pace, &slots, &window, &shadow, &month}) {
    if (*rc::gen::arbitrary<bool>()) policies.push_back(each);
  }
  policies.push_back(&window);
  if (std::ranges::count(policies, &window) > 1) policies.pop_back();
  World world(policies);
  for (int i = 0; i < 12; ++i) {
    const Duration later =
        *rc::gen::element(Duration(), Duration::nanoseconds(7), Duration::seconds(4),
                          Duration::minutes(1), -Duration::seconds(3), Duration::hours(1));
    const json::Value record = world.ask(later, *rc::gen::inRange<std::int64_t>(0, 4));
    const Replayed replayed = replay(record, no_zones);
    RC_LOG() << json::print(record) << "\n" << told(replayed);
    RC_ASSERT(replayed.how == How::agrees);
  }
}

TEST(Replay, FindsEveryEditOfALimit) {
  World world({&pace, &window, &shadow});
  world.ask({});
  world.ask({});
  const json::Value record = world.ask(Duration::seconds(1));
  ASSERT_FALSE(world.answer.allowed);
  ASSERT_EQ(replay(record, no_zones).how, How::agrees);
  const std::vector<std::pair<std::vector<std::string>, json::Value>> edits = {
      {{"allowed"}, true},
      {{"retry_after_ms"}, 1},
      {{"retry_after_ms"}, "never"},
      {{"policy"}, "window"},
      {{"cost"}, 2},
      {{"now_ns", "0"}, "1790000009123456789"},
      {{"policies", "0", "allowed"}, true},
      {{"policies", "0", "limit"}, 2},
      {{"policies", "0", "remaining"}, 1},
      {{"policies", "0", "retry_after_ms"}, 10},
      {{"policies", "0", "rule"}, "1/10s burst 2"},
      {{"policies", "0", "algorithm"}, "sliding_window"},
      {{"policies", "0", "before", "0"}, "1"},
      {{"policies", "0", "shadow"}, true},
      {{"policies", "1", "remaining"}, 2},
      {{"policies", "2", "shadow"}, false},
  };
  for (const auto& [path, value] : edits) {
    EXPECT_EQ(replay(edited(record, path, value), no_zones).how, How::differs)
        << path.back() << " " << told(replay(edited(record, path, value), no_zones));
  }
}

TEST(Replay, TellsBothDecisionsOfALimit) {
  World world({&pace});
  const json::Value record = edited(world.ask({}), {"policies", "0", "remaining"}, 7);
  const Replayed replayed = replay(record, no_zones);
  EXPECT_EQ(json::print(replayed.recorded),
            R"({"allowed":true,"policies":[{"allowed":true,"limit":1,"name":"pace",)"
            R"("remaining":7,"retry_after_ms":0}],"policy":"pace","retry_after_ms":0})");
  EXPECT_EQ(json::print(replayed.again),
            R"({"allowed":true,"policies":[{"allowed":true,"limit":1,"name":"pace",)"
            R"("remaining":1,"retry_after_ms":0}],"policy":"pace","retry_after_ms":0})");
}

TEST(Replay, DoesNotPassOverALimitThatCannotBeRead) {
  World world({&pace, &month});
  const json::Value record = world.ask({});
  const std::vector<std::pair<std::vector<std::string>, json::Value>> edits = {
      {{"cost"}, -1},
      {{"cost"}, 2'000'000'000},
      {{"now_ns", "0"}, "9223372036854775807"},
      {{"now_ns", "0"}, "-1"},
      {{"now_ns"}, nullptr},
      {{"policies"}, json::Array{}},
      {{"policies"}, json::Array(9, *record.find("policies")->if_array()->begin())},
      {{"policy"}, "other"},
      {{"retry_after_ms"}, "soon"},
      {{"policies", "0", "rule"}, "1/0s"},
      {{"policies", "0", "before", "0"}, "-9223372036854775808"},
      {{"policies", "0", "before", "1"}, "-1"},
      {{"policies", "1", "before", "1"}, "9223372036854775807"},
  };
  for (const auto& [path, value] : edits) {
    const Replayed replayed = replay(edited(record, path, value), no_zones);
    EXPECT_EQ(replayed.how, How::differs) << path.front();
    EXPECT_NE(replayed.why, "") << path.front();
  }
}

TEST(Replay, DoesNotDecideOnWhatNoRecordHolds) {
  EXPECT_THAT(replay(World({&slots}).ask({}), no_zones).why, HasSubstr("marks"));

  World closed({&pace});
  closed.states[0].closed_until = closed.now.moment + Duration::minutes(1);
  const json::Value record = closed.ask({});
  EXPECT_EQ(*record.find("derived"), true);
  EXPECT_EQ(replay(record, no_zones).how, How::not_replayable);

  World carried({&pace});
  carried.states[0] = {.cell = {.a = (carried.now.moment + Duration::seconds(20)).ns()},
                       .carried_for = Duration::minutes(1)};
  EXPECT_EQ(replay(carried.ask({}), no_zones).how, How::not_replayable);

  const json::Value in_a_zone =
      edited(World({&month}).ask({}), {"policies", "0", "rule"}, "4 a month in Europe/Zurich");
  EXPECT_EQ(replay(in_a_zone, no_zones).how, How::not_replayable);
  EXPECT_THAT(replay(in_a_zone, no_zones).why, HasSubstr("Europe/Zurich"));

  Event paced = event_of(EventType::pace);
  EXPECT_EQ(replay(as_logged(paced), no_zones).how, How::differs) << "it decides nothing";
  paced.details.emplace_back("decision", "waiting");
  EXPECT_EQ(replay(as_logged(paced), no_zones).how, How::not_replayable);
}

TEST(Replay, KnowsWhatIsNoDecision) {
  for (const EventType type :
       {EventType::request, EventType::config, EventType::rejected, EventType::idempotency,
        EventType::breaker, EventType::budget, EventType::hedge, EventType::operation_slept,
        EventType::operation_resumed}) {
    EXPECT_EQ(replay(as_logged(event_of(type)), no_zones).how, How::no_decision) << to_string(type);
  }
}

TEST(Replay, DoesNotPassOverWhatIsNoRecord) {
  for (const char* text : {"\"text\"", "7", "[1]", "{}", R"({"event_type":"other"})",
                           R"({"event_type":"limit"})", R"({"event_type":"reconcile"})"}) {
    const Replayed replayed = replay(json::parse(text).value(), no_zones);
    EXPECT_EQ(replayed.how, How::differs) << text;
    EXPECT_NE(replayed.why, "") << text;
  }
}

}  // namespace
}  // namespace pawl::audit
