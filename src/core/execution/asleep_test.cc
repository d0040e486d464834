// Goal: an operation that slept goes on with what it lay down with, and nothing that anybody puts
//       into a task is taken for one.
// Method: round trips of arbitrary ones; every member broken once.
#include "core/execution/asleep.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace pawl::execution {
namespace {

Asleep sample() {
  Asleep asleep{.input = R"({"amount":"9.99"})",
                .key = "order-17",
                .fingerprint = "f",
                .context = {{"order", "17"}},
                .fence = 7,
                .since = Instant::from_ns(1'700'000'000'123'456'789)};
  asleep.correlation.tenant_id = "acme";
  asleep.correlation.correlation_id = "c-1";
  asleep.correlation.trace_id = "t-1";
  asleep.decided.facts = {.attempt = 2,
                          .seen = {retry::Failure::rate_limited, Outcome::not_applied, true},
                          .elapsed = Duration::seconds(3),
                          .pushback = Duration::seconds(90),
                          .sleep_from = Duration::seconds(30)};
  asleep.decided.decision = retry::decide(asleep.decided.policy, asleep.decided.facts);
  return asleep;
}

void expect_same(const Asleep& a, const Asleep& b) {
  EXPECT_EQ(a.input, b.input);
  EXPECT_EQ(a.key, b.key);
  EXPECT_EQ(a.fingerprint, b.fingerprint);
  EXPECT_EQ(a.correlation.tenant_id, b.correlation.tenant_id);
  EXPECT_EQ(a.correlation.correlation_id, b.correlation.correlation_id);
  EXPECT_EQ(a.correlation.trace_id, b.correlation.trace_id);
  EXPECT_EQ(a.context, b.context);
  EXPECT_EQ(a.decided.facts, b.decided.facts);
  EXPECT_EQ(a.decided.decision, b.decided.decision);
  EXPECT_EQ(a.fence, b.fence);
  EXPECT_EQ(a.since, b.since);
}

TEST(Asleep, IsReadBackAsItWas) {
  EXPECT_EQ(sample().decided.decision.next, retry::Next::sleep);
  const auto read = read_asleep(to_text(sample()));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  expect_same(*read, sample());
}

TEST(Asleep, WhatIsEmptyIsLeftOut) {
  const auto read = read_asleep(to_text({}));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  expect_same(*read, {});
  EXPECT_NE(to_text({}).find(R"("operation":{})"), std::string::npos);
}

TEST(Asleep, TakesNothingElseForOne) {
  const std::string good = to_text(sample());
  const auto broken = [&](std::string_view what, std::string_view by) {
    std::string text = good;
    const auto at = text.find(what);
    EXPECT_NE(at, text.npos) << what;
    return read_asleep(text.replace(at, what.size(), by)).has_value();
  };
  EXPECT_FALSE(read_asleep("").has_value());
  EXPECT_FALSE(read_asleep("{}").has_value());
  EXPECT_FALSE(read_asleep(R"({"input":1,"sleep":{"decision":{}}})").has_value());
  EXPECT_FALSE(broken(R"("input")", R"("inputs")"));
  EXPECT_FALSE(broken(R"("operation")", R"("what")"));
  EXPECT_FALSE(broken(R"("fence":"7")", R"("fence":"seven")"));
  EXPECT_FALSE(broken(R"("fence":"7")", R"("fences":"7")"));
  EXPECT_FALSE(broken(R"("since_ns":"1)", R"("since_ns":"x)"));
  EXPECT_FALSE(broken(R"("order":"17")", R"("order":17)"));
  EXPECT_FALSE(broken(R"("key":"order-17")", R"("key":17)"));
  EXPECT_FALSE(broken(R"("attempt":2)", R"("attempt":-2)"));
}

TEST(Asleep, AnIntentHasOneNameWhateverItsTextsLookLike) {
  EXPECT_EQ(intent_name("pay", "acme", "k").size(), 32u);
  EXPECT_EQ(intent_name("pay", "acme", "k"), intent_name("pay", "acme", "k"));
  EXPECT_NE(intent_name("pay", "acme", "k"), intent_name("pay", "acmek", ""));
  EXPECT_NE(intent_name("pay", "acme", "k"), intent_name("send", "acme", "k"));
  EXPECT_NE(intent_name("a\",\"b", "", ""), intent_name("a", "b", ""));
}

RC_GTEST_PROP(Asleep, ReadsWhateverIsThrownAtIt, (const std::string& noise, std::size_t at)) {
  std::string text = to_text(sample());
  text.replace(at % text.size(), noise.size() % 5, noise);
  if (const auto read = read_asleep(text)) {
    RC_ASSERT(read_asleep(to_text(*read)).has_value());
  }
}

}  // namespace
}  // namespace pawl::execution
