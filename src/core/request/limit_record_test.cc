// Goal: from a record alone, a person understands the decision and a program takes it again.
// Method: the fields by name; a decision taken again from what was recorded.
#include "core/request/limit_record.h"

#include <charconv>
#include <gtest/gtest.h>

#include "core/limit/explain.h"

namespace pawl::request {
namespace {

const limit::Policy pace("pace", limit::TokenBucket({1, Duration::seconds(10)}, 1));
const limit::Policy slots("slots", limit::Concurrency{.slots = 1}, {.shadow = true});

const json::Value* find(const std::vector<std::pair<std::string_view, json::Value>>& record,
                        std::string_view name) {
  for (const auto& [field, value] : record) {
    if (field == name) return &value;
  }
  return nullptr;
}

std::int64_t number(const json::Value& text) {
  const std::string& digits = *text.if_string();
  std::int64_t out = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), out);
  return out;
}

struct Decided {
  limit::State pace_state;
  limit::Marks marks;
  limit::State slots_state{.marks = &marks};
  std::vector<limit::Count> counts{{&pace, "tenant:acme"}, {&slots, "everyone"}};
  // Late enough for moments that a double cannot hold.
  limit::Now now{.moment = limit::Moment::from_ns(1'790'000'000'123'456'789),
                 .wall = Instant::from_ns(1'790'000'000'123'456'789)};

  limit::Answer ask() {
    const std::array<limit::Member, 2> members = {{{&pace, &pace_state}, {&slots, &slots_state}}};
    return limit::decide(members, {.cost = 1, .holder = 1}, now);
  }
};

TEST(LimitRecord, SaysWhatWasDecidedAndWhy) {
  Decided world;
  world.ask();
  const limit::Answer answer = world.ask();
  const auto record = limit_record(world.counts, answer, 1);
  EXPECT_EQ(*find(record, "policy"), "pace");
  EXPECT_EQ(*find(record, "cost"), 1);
  EXPECT_EQ(*find(record, "allowed"), true);
  EXPECT_EQ(*find(record, "retry_after_ms"), 0);
  EXPECT_EQ(*find(record, "why"), limit::explain(world.counts, answer));
  const json::Array& policies = *find(record, "policies")->if_array();
  ASSERT_EQ(policies.size(), 2u);
  EXPECT_EQ(*policies[0].find("name"), "pace");
  EXPECT_EQ(*policies[0].find("algorithm"), "token_bucket");
  EXPECT_EQ(*policies[0].find("rule"), "1/10s burst 1");
  EXPECT_EQ(*policies[0].find("key"), "tenant:acme");
  EXPECT_EQ(*policies[0].find("allowed"), true);
  EXPECT_EQ(*policies[0].find("limit"), 1);
  EXPECT_EQ(*policies[0].find("remaining"), 0);
  EXPECT_EQ(policies[0].find("shadow"), nullptr);
  EXPECT_EQ(policies[0].find("retry_after_ms"), nullptr) << "it was allowed";
  EXPECT_EQ(*policies[1].find("shadow"), true);
  EXPECT_EQ(*policies[1].find("allowed"), false);
  EXPECT_EQ(*policies[1].find("retry_after_ms"), 60'000);
  EXPECT_EQ(policies[1].find("before"), nullptr) << "marks are no cell";
}

TEST(LimitRecord, IsEnoughToDecideAgain) {
  Decided world;
  world.ask();
  world.ask();
  const limit::Answer answer = world.ask();
  ASSERT_FALSE(answer.allowed);
  const auto record = limit_record(world.counts, answer, 1);
  EXPECT_EQ(*find(record, "retry_after_ms"), 10'000);

  const json::Array& before =
      *(*find(record, "policies")->if_array())[0].find("before")->if_array();
  const json::Array& now = *find(record, "now_ns")->if_array();
  limit::State state{.cell = {.a = number(before[0]), .b = number(before[1])}};
  const limit::Member member{&pace, &state};
  const limit::Answer again = limit::decide(
      {&member, 1}, {.cost = 1},
      {.moment = limit::Moment::from_ns(number(now[0])), .wall = Instant::from_ns(number(now[1]))});
  EXPECT_FALSE(again.allowed);
  EXPECT_EQ(again.retry_after, answer.retry_after);
}

// The record as a reader of the log has it.
json::Value whole(const std::vector<std::pair<std::string_view, json::Value>>& record) {
  json::Object object;
  for (const auto& [name, value] : record) object.emplace(name, value);
  return object;
}

const limit::Zones no_zones = [](std::string_view) -> Result<Zone> {
  return failure(Code::invalid, "none");
};

TEST(LimitRecord, IsReadBackAsItWas) {
  Decided world;
  world.ask();
  world.ask();
  const limit::Answer answer = world.ask();
  const auto read = read_limit(whole(limit_record(world.counts, answer, 1)), no_zones);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->cost, 1);
  EXPECT_EQ(read->now.moment, world.now.moment);
  EXPECT_EQ(read->now.wall, world.now.wall);
  EXPECT_FALSE(read->derived);
  ASSERT_EQ(read->policies.size(), 2u);
  EXPECT_EQ(read->policies[0].cell, pace);
  EXPECT_EQ(read->policies[0].before, answer.verdicts[0].before);
  EXPECT_FALSE(read->policies[1].cell.has_value()) << "marks are not on record";
  EXPECT_TRUE(read->policies[1].shadow);
  EXPECT_FALSE(read->decision.allowed);
  EXPECT_EQ(read->decision.wait_ms, 10'000);
  EXPECT_EQ(read->decision.binding, 0u);
  EXPECT_EQ(read->decision.said[0], said(answer.verdicts[0]));
  EXPECT_EQ(read->decision.said[1], said(answer.verdicts[1]));
}

TEST(LimitRecord, SaysWhenItIsNotOneDecision) {
  Decided world;
  limit::Answer answer = world.ask();
  EXPECT_EQ(find(limit_record(world.counts, answer, 1), "derived"), nullptr);
  answer.as_decided = false;
  const auto record = limit_record(world.counts, answer, 1);
  EXPECT_EQ(*find(record, "derived"), true);
  EXPECT_TRUE(read_limit(whole(record), no_zones).value().derived);
}

TEST(LimitRecord, NamesTheMemberThatMakesNoSense) {
  Decided world;
  const json::Value record = whole(limit_record(world.counts, world.ask(), 1));
  for (const char* name : {"cost", "now_ns", "allowed", "retry_after_ms", "policies", "policy"}) {
    json::Object without = *record.if_object();
    without.erase(name);
    const auto read = read_limit(without, no_zones);
    ASSERT_FALSE(read.has_value()) << name;
    EXPECT_NE(read.error().message.find("'" + std::string(name)), std::string::npos)
        << read.error().message;
  }
  for (const char* name :
       {"name", "algorithm", "rule", "allowed", "limit", "remaining", "before"}) {
    json::Object spoilt = *record.if_object();
    json::Array policies = *spoilt["policies"].if_array();
    json::Object policy = *policies[0].if_object();
    policy.erase(name);
    policies[0] = policy;
    spoilt["policies"] = policies;
    const auto read = read_limit(spoilt, no_zones);
    ASSERT_FALSE(read.has_value()) << name;
    EXPECT_NE(read.error().message.find("policies[0]." + std::string(name)), std::string::npos)
        << read.error().message;
  }
}

TEST(LimitRecord, SaysNeverAndWritesAnIdAsHex) {
  limit::Answer answer;
  answer.retry_after = Duration::max();
  answer.verdicts.add({.limit = 1, .retry_after = Duration::max()});
  const std::vector<limit::Count> counts{{&pace, limit::KeyId{.high = 1, .low = 0xab}}};
  const auto record = limit_record(counts, answer, 9);
  EXPECT_EQ(*find(record, "retry_after_ms"), "never");
  const json::Value& policy = (*find(record, "policies")->if_array())[0];
  EXPECT_EQ(*policy.find("key"), "000000000000000100000000000000ab");
}

}  // namespace
}  // namespace pawl::request
