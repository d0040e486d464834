// Goal: only what the server certainly did not keep counts as not kept. Method: answers as servers
// give them, and some that make no sense.
#include "adapter/nats/put_answer.h"

#include <gtest/gtest.h>

namespace pawl::nats {
namespace {

using Verdict = PutAnswer::Verdict;

std::string refusal(const std::string& code, const std::string& words) {
  return R"({"error":{"code":400,"err_code":)" + code + R"(,"description":")" + words +
         R"("},"stream":"S","seq":0})";
}

TEST(PutAnswer, AnAcknowledgementGivesTheSequence) {
  const PutAnswer answer = read_put_answer(R"({"stream":"S", "seq":18446744073709551615})");
  EXPECT_EQ(answer.verdict, Verdict::kept);
  EXPECT_EQ(answer.sequence, 18446744073709551615u);
  EXPECT_TRUE(answer.outcome() == Outcome::applied);
}

TEST(PutAnswer, AWrongSequenceMeansSomebodyWasFaster) {
  const PutAnswer answer = read_put_answer(refusal("10071", "wrong last sequence: 5"));
  EXPECT_EQ(answer.verdict, Verdict::overtaken);
  EXPECT_EQ(answer.words, "wrong last sequence: 5");
  EXPECT_TRUE(answer.outcome() == Outcome::not_applied);
}

TEST(PutAnswer, ALimitRefusesAndAFailedDiskIsUnclear) {
  EXPECT_EQ(read_put_answer(refusal("10077", "maximum bytes exceeded")).verdict, Verdict::refused);
  EXPECT_EQ(read_put_answer(refusal("10060", "expected stream does not match")).verdict,
            Verdict::refused);
  const PutAnswer disk = read_put_answer(refusal("10077", "write /data: no space left on device"));
  EXPECT_EQ(disk.verdict, Verdict::unclear);
  EXPECT_TRUE(disk.outcome() == Outcome::unknown);
}

TEST(PutAnswer, WhatMakesNoSenseIsUnclear) {
  for (const char* text : {"", "x", "{}", "[]", R"({"seq":0})", R"({"seq":-1})", R"({"seq":"1"})",
                           R"({"seq":1.5})", R"({"error":{}})", R"({"error":7,"seq":1})"}) {
    EXPECT_EQ(read_put_answer(text).verdict, Verdict::unclear) << text;
  }
}

}  // namespace
}  // namespace pawl::nats
