// Goal: no code that leaves open what became of an order is taken for a refusal. Method: the tables
// of venues' facts, code by code, and the codes that nobody listed.
#include "venue/okx/okx_codes.h"

#include <gtest/gtest.h>
#include <string>

namespace pawl::okx {
namespace {

using order::Sent;

TEST(OkxCodes, NobodyKnowsWhatBecameOfAnOrderThatTimedOut) {
  for (const char* code : {"50001", "50004", "50005", "50013", "50026", "51149", "51054"}) {
    for (const int status : {200, 400, 500, 503}) {
      EXPECT_EQ(sent_of(status, code), Sent::unknown) << code << " with " << status;
    }
  }
}

TEST(OkxCodes, ACodeThatIsNotListedIsUnknown) {
  for (const char* code :
       {"1", "2", "50999", "58000", "60000", "51603", "-1", "999999999999", "x"}) {
    EXPECT_EQ(sent_of(200, code), Sent::unknown) << code;
  }
}

TEST(OkxCodes, WhatRefusesAnOrderIsRefused) {
  for (const char* code : {"51000", "51001", "51004", "51005", "51006", "51007", "51008", "51010",
                           "51015", "51020", "51100", "51121", "51187", "51169", "51170", "51148",
                           "51205", "51133", "51139", "51024", "50014", "50027"}) {
    EXPECT_EQ(sent_of(200, code), Sent::refused) << code;
    EXPECT_EQ(sent_of(400, code), Sent::refused) << code;
    EXPECT_EQ(sent_of(500, code), Sent::unknown) << code << " with a status that says otherwise";
  }
}

TEST(OkxCodes, TheGateRefuses) {
  for (int code = 50100; code <= 50114; ++code) {
    const Sent wanted = code == 50102 ? Sent::not_sent : Sent::refused;
    EXPECT_EQ(sent_of(401, std::to_string(code)), wanted) << code;
  }
  EXPECT_EQ(sent_of(401, "50119"), Sent::refused);
  EXPECT_EQ(sent_of(401, "50120"), Sent::refused);
  EXPECT_EQ(sent_of(401, ""), Sent::refused);
  EXPECT_EQ(sent_of(403, ""), Sent::refused);
}

TEST(OkxCodes, ACallThatCameTooLateWasNotTaken) {
  EXPECT_EQ(sent_of(200, "50036"), Sent::not_sent);
  EXPECT_EQ(sent_of(400, "50036"), Sent::not_sent);
}

TEST(OkxCodes, ARateLimitMayBeTriedAgain) {
  EXPECT_EQ(sent_of(429, "50011"), Sent::rate_limited);
  EXPECT_EQ(sent_of(200, "50061"), Sent::rate_limited);
  EXPECT_EQ(sent_of(429, ""), Sent::rate_limited);
  EXPECT_EQ(sent_of(429, "50061"), Sent::rate_limited);
}

TEST(OkxCodes, ADuplicateMeansThatTheFirstCopyArrived) {
  EXPECT_EQ(sent_of(200, "51016"), Sent::duplicate);
  EXPECT_EQ(sent_of(200, "50071"), Sent::duplicate);
}

TEST(OkxCodes, WithoutACodeTheStatusSaysWhatItCan) {
  EXPECT_EQ(sent_of(500, ""), Sent::unknown);
  EXPECT_EQ(sent_of(502, "<html>"), Sent::unknown);
  EXPECT_EQ(sent_of(200, ""), Sent::unknown);
  EXPECT_EQ(sent_of(302, ""), Sent::unknown);
  EXPECT_EQ(sent_of(400, ""), Sent::unknown);
  EXPECT_EQ(sent_of(408, ""), Sent::unknown);
  EXPECT_EQ(sent_of(404, ""), Sent::refused);
}

TEST(OkxCodes, KnowsTheCodesOfOrdersThatAreOver) {
  EXPECT_TRUE(is_over("51400"));
  EXPECT_TRUE(is_over("51503"));
  EXPECT_FALSE(is_over("51008"));
  EXPECT_FALSE(is_over(""));
}

}  // namespace
}  // namespace pawl::okx
