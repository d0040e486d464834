// Goal: what the log keeps of a decision is enough to take it again, and reads back as it was.
// Method: round trips over random facts; every member taken away or spoilt.
#include "core/order/decision_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace pawl::order {
namespace {

using ::testing::HasSubstr;

Duration any_time() {
  return Duration::nanoseconds(*rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000));
}
bool any_flag() {
  return *rc::gen::arbitrary<bool>();
}

Ended any_ended() {
  Ended ended;
  ended.attempt = *rc::gen::inRange(1, 6);
  ended.sent = static_cast<Sent>(*rc::gen::inRange(0, 6));
  ended.turned_away = any_flag();
  ended.has_order_id = any_flag();
  ended.not_completed = any_flag();
  ended.retry_after = any_time();
  ended.withdrawn = any_flag();
  ended.repeatable = any_flag();
  ended.unknown_before = any_flag();
  ended.key = *rc::gen::arbitrary<std::uint64_t>();
  return ended;
}

Read any_read() {
  Read read;
  read.attempt = *rc::gen::inRange(1, 6);
  read.readings = *rc::gen::inRange(1, 40);
  read.orders = *rc::gen::inRange<std::size_t>(0, 3);
  read.strangers = *rc::gen::inRange<std::size_t>(0, 3);
  read.probable = *rc::gen::inRange<std::size_t>(0, 3);
  read.venue_refused = any_flag();
  read.whole = any_flag();
  read.readable = any_flag();
  read.expired = any_flag();
  read.quiet = any_time();
  read.absent_before = any_flag();
  read.since_absent = any_time();
  read.elapsed = any_time();
  read.sealed = any_flag();
  read.withdrawn = any_flag();
  return read;
}

RC_GTEST_PROP(OrderDecisionRecord, ReadsBackAsItWas, ()) {
  Settings settings;
  settings.settle = any_time() + Duration::nanoseconds(1);
  settings.retry.max_attempts = *rc::gen::inRange(1, 10);
  const DecisionFacts facts = any_flag() ? DecisionFacts(any_ended()) : DecisionFacts(any_read());
  const Decision decision = decide(settings, facts);
  const auto text = json::canonical(decision_record(settings, facts, decision));
  const json::Value logged = json::parse(*text).value();
  RC_ASSERT(is_order_decision(logged));
  const auto read = read_decision(logged);
  RC_ASSERT(read.has_value());
  RC_ASSERT(read->settings == settings);
  RC_ASSERT(read->facts == facts);
  RC_ASSERT(read->decision == decision);
}

// Every member of it, of `settings` and `facts` too, spoilt in turn.
void spoil_each(const json::Object& whole, const json::Object& part, std::string_view inside) {
  for (const auto& [name, value] : part) {
    json::Object less = part;
    less.erase(name);
    json::Object strange = part;
    strange[name] = json::Array{};
    for (const json::Object& changed : {less, strange}) {
      json::Object record = whole;
      if (inside.empty()) {
        record = changed;
      } else {
        record[std::string(inside)] = changed;
      }
      EXPECT_FALSE(read_decision(record)) << inside << " " << name;
    }
  }
}

TEST(OrderDecisionRecord, SaysWhatIsMissing) {
  for (const DecisionFacts& facts : {DecisionFacts(Ended{}), DecisionFacts(Read{})}) {
    const json::Value record = decision_record({}, facts, {});
    ASSERT_TRUE(read_decision(record));
    const json::Object whole = *record.if_object();
    spoil_each(whole, whole, "");
    spoil_each(whole, *whole.at("settings").if_object(), "settings");
    spoil_each(whole, *whole.at("facts").if_object(), "facts");
    json::Object more = whole;
    json::Object odd = *whole.at("facts").if_object();
    odd["colour"] = "red";
    more["facts"] = odd;
    EXPECT_THAT(read_decision(more).error().message, HasSubstr("another name"));
  }
  EXPECT_FALSE(read_decision(json::Value("text")));
  EXPECT_FALSE(is_order_decision(json::Object{{"policy", json::Object{}}}));
}

TEST(OrderDecisionRecord, RefusesSettingsThatNobodyCouldHave) {
  Settings settings;
  settings.retry.max_attempts = 0;
  EXPECT_FALSE(read_decision(decision_record(settings, Ended{}, {})));
}

}  // namespace
}  // namespace pawl::order
