// Goal: a decision that was written can be taken again from what was written, and nothing else
//       passes for one.
// Method: a pinned record; random policies and facts written and read back; parts left out, members
//         spoilt or added.
#include "core/retry/decision_record.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace pawl::retry {
namespace {

RecordedDecision sample() {
  const Policy policy = {.max_attempts = 5,
                         .base_delay = Duration::milliseconds(500),
                         .delays = {Duration::seconds(1), Duration::seconds(2)},
                         .deadline = Duration::minutes(1)};
  Facts facts;
  facts.attempt = 2;
  facts.seen = {Failure::server_error, Outcome::unknown, true};
  facts.harmless = true;
  facts.key = 0xffff'ffff'ffff'fff1;
  facts.elapsed = Duration::milliseconds(1'250);
  return {.policy = policy, .facts = facts, .decision = decide(policy, facts)};
}

json::Value written(const RecordedDecision& decided) {
  return decision_record(decided.policy, decided.facts, decided.decision);
}

TEST(DecisionRecord, IsWrittenAsDocumented) {
  EXPECT_EQ(json::print(written(sample())),
            R"({"delay_ns":")" + std::to_string(sample().decision.delay.ns()) +
                R"(","facts":{"attempt":2,"elapsed_ns":"1250000000","failure":"server_error",)"
                R"("harmless":true,"key":"18446744073709551601","outcome":"unknown"},)"
                R"("next":"backoff","outcome":"unknown","policy":{"base_delay_ns":"500000000",)"
                R"("deadline_ns":"60000000000","delays_ns":["1000000000","2000000000"],)"
                R"("max_attempts":5},"reason":"retry_backoff"})");
}

// Differs from the default in every member.
RecordedDecision unlike_the_default() {
  const Policy policy = {.max_attempts = 5,
                         .base_delay = Duration::milliseconds(1),
                         .max_delay = Duration::milliseconds(2),
                         .min_delay = Duration::milliseconds(3),
                         .multiplier_milli = 1'001,
                         .jitter = Jitter::full,
                         .jitter_milli = 7,
                         .delays = {Duration::milliseconds(4)},
                         .deadline = Duration::milliseconds(5),
                         .attempt_timeout = Duration::milliseconds(6)};
  const Facts facts = {.attempt = 2,
                       .seen = {Failure::conflict, Outcome::unknown, false},
                       .listed = Listed::retryable,
                       .reconciles = 1,
                       .found = Outcome::not_applied,
                       .may_be_applied = true,
                       .harmless = true,
                       .can_reconcile = true,
                       .key = 9,
                       .previous_delay = Duration::milliseconds(7),
                       .elapsed = Duration::milliseconds(8),
                       .pushback = Duration::milliseconds(9),
                       .sleep_from = Duration::milliseconds(10),
                       .budget_allows = false,
                       .breaker_open = true,
                       .probe_in = Duration::milliseconds(11),
                       .cancelled = true};
  return {.policy = policy, .facts = facts, .decision = {}};
}

TEST(DecisionRecord, WritesWhateverIsNotAsByDefault) {
  const json::Value record = written(unlike_the_default());
  EXPECT_EQ(record.find("policy")->if_object()->size(), 10u);
  EXPECT_EQ(record.find("facts")->if_object()->size(), 19u);
}

// A log is read by later versions too: what it leaves out must mean the same for ever.
TEST(DecisionRecord, WhatItLeavesOutNeverChanges) {
  const json::Value record = decision_record(Policy(), Facts(), Decision());
  EXPECT_EQ(json::print(*record.find("policy")), "{}");
  EXPECT_EQ(json::print(*record.find("facts")), "{}");
  const Policy pinned = {.max_attempts = 3,
                         .base_delay = Duration::seconds(1),
                         .max_delay = Duration::seconds(30),
                         .min_delay = {},
                         .multiplier_milli = 2'000,
                         .jitter = Jitter::proportional,
                         .jitter_milli = 100,
                         .delays = {},
                         .deadline = {},
                         .attempt_timeout = Duration::seconds(30),
                         .retryable = {},
                         .non_retryable = {}};
  EXPECT_EQ(Policy(), pinned);
  const Facts facts = {.attempt = 0,
                       .seen = {Failure::unknown, Outcome::not_applied, true},
                       .listed = Listed::neither,
                       .reconciles = 0,
                       .found = Outcome::unknown,
                       .may_be_applied = false,
                       .harmless = false,
                       .can_reconcile = false,
                       .key = 0,
                       .previous_delay = {},
                       .elapsed = {},
                       .pushback = {},
                       .sleep_from = Duration::max(),
                       .budget_allows = true,
                       .breaker_open = false,
                       .probe_in = {},
                       .cancelled = false};
  EXPECT_EQ(Facts(), facts);
}

TEST(DecisionRecord, IsReadBackAsItWasAndDecidesAlike) {
  const RecordedDecision decided = sample();
  const auto read = read_decision(json::parse(json::print(written(decided))).value());
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->policy, decided.policy);
  EXPECT_EQ(read->facts, decided.facts);
  EXPECT_EQ(read->decision, decided.decision);
  EXPECT_EQ(decide(read->policy, read->facts), decided.decision);
}

TEST(DecisionRecord, EveryPartIsNeededAndNoOtherMemberIsTaken) {
  const json::Value whole = written(sample());
  for (const auto& [name, value] : *whole.if_object()) {
    json::Object object = *whole.if_object();
    object.erase(name);
    const auto read = read_decision(object);
    ASSERT_FALSE(read.has_value()) << name;
    EXPECT_NE(read.error().message.find(name), std::string::npos) << read.error().message;
  }
  for (const std::string part : {"policy", "facts"}) {
    json::Object inner = *whole.find(part)->if_object();
    inner["mood"] = 1;
    json::Object object = *whole.if_object();
    object[part] = std::move(inner);
    EXPECT_FALSE(read_decision(object).has_value()) << part;
  }
}

TEST(DecisionRecord, WhatMakesNoSenseIsNoDecision) {
  const auto spoilt = [](const std::string& part, const std::string& name, json::Value value) {
    json::Object object = *written(sample()).if_object();
    if (part.empty()) {
      object[name] = std::move(value);
    } else {
      json::Object inner = *object[part].if_object();
      inner[name] = std::move(value);
      object[part] = std::move(inner);
    }
    return read_decision(object).has_value();
  };
  EXPECT_FALSE(spoilt("", "next", "perhaps"));
  EXPECT_FALSE(spoilt("", "reason", "whim"));
  EXPECT_FALSE(spoilt("", "delay_ns", "1e9"));
  EXPECT_FALSE(spoilt("", "delay_ns", " 1"));
  EXPECT_FALSE(spoilt("facts", "attempt", "2"));
  EXPECT_FALSE(spoilt("facts", "attempt", json::Number{"2.5"}));
  EXPECT_FALSE(spoilt("facts", "key", "-1"));
  EXPECT_FALSE(spoilt("facts", "harmless", "yes"));
  EXPECT_FALSE(spoilt("policy", "max_attempts", 0));
  EXPECT_FALSE(spoilt("policy", "delays_ns", json::Array{1}));
  EXPECT_FALSE(read_decision(json::Value("text")).has_value());
}

RC_GTEST_PROP(DecisionRecord, EveryDecisionIsTakenAgainFromItsRecord, ()) {
  Policy policy;
  policy.max_attempts = *rc::gen::inRange(1, 10);
  policy.jitter = static_cast<Jitter>(*rc::gen::inRange(0, 5));
  policy.base_delay = Duration::milliseconds(*rc::gen::inRange(1, 5'000));
  policy.deadline = Duration::seconds(*rc::gen::inRange(0, 100));
  Facts facts;
  facts.attempt = *rc::gen::inRange(0, 11);
  facts.seen = {static_cast<Failure>(*rc::gen::inRange(0, 8)),
                static_cast<Outcome>(*rc::gen::inRange(1, 4)), *rc::gen::arbitrary<bool>()};
  facts.listed = static_cast<Listed>(*rc::gen::inRange(0, 3));
  facts.found = static_cast<Outcome>(*rc::gen::inRange(1, 4));
  facts.reconciles = *rc::gen::inRange(0, 7);
  facts.key = *rc::gen::arbitrary<std::uint64_t>();
  facts.harmless = *rc::gen::arbitrary<bool>();
  facts.can_reconcile = *rc::gen::arbitrary<bool>();
  facts.budget_allows = *rc::gen::arbitrary<bool>();
  facts.breaker_open = *rc::gen::arbitrary<bool>();
  facts.cancelled = *rc::gen::arbitrary<bool>();
  facts.pushback = Duration::milliseconds(*rc::gen::inRange(0, 100'000));
  facts.elapsed = Duration::milliseconds(*rc::gen::inRange(0, 100'000));
  const Decision decision = decide(policy, facts);
  const auto read =
      read_decision(json::parse(json::print(decision_record(policy, facts, decision))).value());
  RC_ASSERT(read.has_value());
  RC_ASSERT(read->facts == facts);
  RC_ASSERT(decide(read->policy, read->facts) == decision);
}

}  // namespace
}  // namespace pawl::retry
