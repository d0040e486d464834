// Goal: what a store keeps of an intent reads back as it was, and what it could not have kept is
//       refused by name.
// Method: round trips of random progress; every member of a text taken away, changed or added.
#include "core/order/intent_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/bounds.h"

namespace pawl::order {
namespace {

using ::testing::HasSubstr;

Progress some_progress() {
  return {.status = Status::reconciling,
          .attempts = 2,
          .request_id = "r_place_1_a",
          .order_id = "77",
          .life = Life::working,
          .reason = "because",
          .expires = Instant::from_ns(1'764'763'200'123'456'789),
          .sealed = true,
          .evidence = {{Instant::from_ns(-5), "place attempt 1", "unknown, 503: \"x\""}}};
}

TEST(IntentText, IsPinned) {
  EXPECT_EQ(json::print(to_json(some_progress())),
            R"({"attempts":2,"evidence":[{"at":"-5","says":"unknown, 503: \"x\"",)"
            R"("source":"place attempt 1"}],"expires":"1764763200123456789","life":"working",)"
            R"("order_id":"77","reason":"because","request_id":"r_place_1_a","sealed":true,)"
            R"("status":"reconciling"})");
}

std::string any_line() {
  return line_of(*rc::gen::arbitrary<std::string>());
}

RC_GTEST_PROP(IntentText, ReadsBackAsItWas, ()) {
  Progress progress = some_progress();
  progress.status = static_cast<Status>(*rc::gen::inRange(0, 5));
  progress.life = static_cast<Life>(*rc::gen::inRange(0, 5));
  progress.attempts = *rc::gen::inRange(1, bounds::retry_attempts_max + 1);
  progress.order_id = any_line();
  progress.reason = any_line();
  progress.sealed = *rc::gen::arbitrary<bool>();
  progress.unsent = progress.status == Status::rejected && *rc::gen::arbitrary<bool>();
  progress.expires.reset();
  if (*rc::gen::arbitrary<bool>()) {
    progress.expires = Instant::from_ns(*rc::gen::arbitrary<std::int64_t>());
  }
  for (int i = *rc::gen::inRange(0, 100); i > 0; --i) {
    add_evidence(progress, {Instant::from_ns(i), any_line(), any_line()});
  }
  const std::string text = json::print(to_json(progress));
  RC_ASSERT(text.size() <= bounds::order_progress_bytes_max);
  const auto again = progress_of(json::parse(text).value());
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == progress);
}

TEST(IntentText, NamesTheMemberThatIsMissingOrMakesNoSense) {
  const json::Object whole = *to_json(some_progress()).if_object();
  for (const auto& [name, value] : whole) {
    json::Object without = whole;
    without.erase(name);
    if (name != "expires") {
      EXPECT_THAT(progress_of(without).error().message, HasSubstr("'" + name + "'"));
    }
    for (const json::Value& strange :
         {json::Value(json::Object{}), json::Value(), json::Value(-1), json::Value("\n")}) {
      json::Object changed = whole;
      changed[name] = strange;
      EXPECT_FALSE(progress_of(changed)) << name << " " << json::print(strange);
    }
  }
}

TEST(IntentText, RefusesWhatNobodyWrote) {
  const auto refused = [](std::string_view name, json::Value value) {
    json::Object changed = *to_json(some_progress()).if_object();
    changed[std::string(name)] = std::move(value);
    return !progress_of(changed).has_value();
  };
  EXPECT_TRUE(refused("colour", "red"));
  EXPECT_TRUE(refused("attempts", 0));
  EXPECT_TRUE(refused("attempts", bounds::retry_attempts_max + 1));
  EXPECT_TRUE(refused("reason", std::string(bounds::order_text_bytes_max + 1, 'a')));
  EXPECT_TRUE(refused("request_id", std::string(bounds::request_id_bytes_max + 1, 'a')));
  EXPECT_TRUE(refused("unsent", true)) << "only what is rejected can be";
  EXPECT_TRUE(refused("expires", "1e9"));
  EXPECT_TRUE(refused("expires", "99999999999999999999"));
  json::Object row{{"at", "1"}, {"source", "s"}, {"says", "t"}};
  EXPECT_FALSE(refused("evidence", json::Array{row}));
  EXPECT_TRUE(refused("evidence", json::Array(bounds::order_evidence_max + 1, row)));
  row["more"] = true;
  EXPECT_TRUE(refused("evidence", json::Array{row}));
  EXPECT_FALSE(progress_of(json::Value("text")));
  EXPECT_FALSE(progress_of(json::Value()));
}

TEST(IntentText, SaysThatNothingLeftOnlyWhereItIsSo) {
  Progress progress = some_progress();
  progress.status = Status::rejected;
  EXPECT_EQ(to_json(progress).find("unsent"), nullptr)
      << "as it was before there was a word for it";
  progress.unsent = true;
  json::Object kept = *to_json(progress).if_object();
  EXPECT_EQ(progress_of(kept).value(), progress);
  for (const json::Value& strange : {json::Value(false), json::Value(1), json::Value("true")}) {
    kept["unsent"] = strange;
    EXPECT_THAT(progress_of(kept).error().message, HasSubstr("'unsent'"));
  }
}

TEST(IntentText, ShowsEvidenceToPeople) {
  const Evidence evidence{Instant::from_ns(1'764'763'200'123'456'789), "orders-history", "absent"};
  EXPECT_EQ(json::print(to_json(evidence)),
            R"({"at":"2025-12-03T12:00:00.123Z","says":"absent","source":"orders-history"})");
}

}  // namespace
}  // namespace pawl::order
