// Goal: the header lines are exactly what the drafts ask for, and no time in them is early.
// Method: pinned lines; rounding at the edges of a second.
#include "core/limit/headers.h"

#include <gtest/gtest.h>

namespace pawl::limit {
namespace {

const Policy policy{
    .name = "global",
    .bucket = {.rate = {.count = 100, .period = Duration::minutes(1)}, .burst = 20}};

constexpr Instant now = Instant::from_ns(1'700'000'000'500'000'000);

TEST(Headers, SayPolicyAndStateInDraft10AndLegacyForm) {
  const Verdict verdict{.allowed = true,
                        .limit = 100,
                        .remaining = 20,
                        .retry_after = {},
                        .more_after = Duration::milliseconds(600),
                        .full_after = Duration::milliseconds(600)};
  std::string out;
  append_headers(out, {}, policy, verdict, now);
  EXPECT_EQ(out,
            "RateLimit-Policy: \"global\";q=100;w=60\r\n"
            "RateLimit: \"global\";r=20;t=1\r\n"
            "X-RateLimit-Limit: 100\r\n"
            "X-RateLimit-Remaining: 20\r\n"
            "X-RateLimit-Reset: 1700000002\r\n");
}

TEST(Headers, AppearOnlyInTheDialectsAskedFor) {
  std::string out;
  append_headers(out, {.ratelimit = false, .legacy = false}, policy, {}, now);
  EXPECT_EQ(out, "");
  append_headers(out, {.ratelimit = false, .legacy = true}, policy, {}, now);
  EXPECT_EQ(out.find("RateLimit-Policy"), std::string::npos);
  EXPECT_NE(out.find("X-RateLimit-Limit"), std::string::npos);
}

TEST(Headers, NumbersStayWithinWhatAStructuredFieldMayHold) {
  std::string out;
  append_headers(out, {.ratelimit = true, .legacy = false}, policy,
                 {.remaining = -3, .more_after = Duration::max()}, now);
  EXPECT_NE(out.find(";r=0;t=9223372037\r\n"), std::string::npos) << out;
}

TEST(RetryAfter, IsRoundedUpAndAtLeastOneSecond) {
  EXPECT_EQ(retry_after_seconds({.retry_after = Duration::nanoseconds(1)}), 1);
  EXPECT_EQ(retry_after_seconds({.retry_after = Duration::seconds(2)}), 2);
  EXPECT_EQ(retry_after_seconds({.retry_after = Duration::nanoseconds(2'000'000'001)}), 3);
  EXPECT_EQ(retry_after_seconds({}), 1);
}

}  // namespace
}  // namespace pawl::limit
