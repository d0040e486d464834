// Goal: only calls that the key has signed, now and as they came, pass the gate.
// Method: calls that are signed, and then changed in one thing.
#include "emulator/core/s3_gate.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "base/md5.h"
#include "emulator/core/s3_fixture.h"

namespace pawl::emulator {
namespace {

const S3Settings settings;

std::string code_of(const Call& call, Instant now = s3_now) {
  return check_s3_call(settings, call, now).code;
}
Call put_call() {
  return signed_s3_call(unsigned_s3_call("PUT", "/pawl/a%20b?x=1&a=%2F", "body"));
}
void set_field(Call& call, std::string_view name, std::string value) {
  for (Field& field : call.fields) {
    if (field.name == name) field.value = std::move(value);
  }
}

TEST(S3Gate, LetsASignedCallPass) {
  EXPECT_EQ(code_of(put_call()), "");
  EXPECT_EQ(code_of(signed_s3_call(unsigned_s3_call("PUT", "/pawl/a", "body"),
                                   {.payload_hash = std::string(aws::unsigned_payload)})),
            "");
}

TEST(S3Gate, RefusesACallThatIsNotSigned) {
  EXPECT_EQ(code_of(unsigned_s3_call("GET", "/pawl/a")), "AccessDenied");
  Call odd = put_call();
  set_field(odd, "authorization", "Basic dXNlcg==");
  EXPECT_EQ(code_of(odd), "AuthorizationHeaderMalformed");
}

TEST(S3Gate, RefusesWhatWasChangedOnTheWay) {
  const auto changed = [](auto change) {
    Call call = put_call();
    change(call);
    return code_of(call);
  };
  const std::string no = "SignatureDoesNotMatch";
  EXPECT_EQ(changed([](Call& call) { call.method = "GET"; }), no);
  EXPECT_EQ(changed([](Call& call) { call.path = "/pawl/b"; }), no);
  EXPECT_EQ(changed([](Call& call) { call.query = "x=2&a=%2F"; }), no);
  EXPECT_EQ(changed([](Call& call) { set_field(call, "host", "other"); }), no);
  EXPECT_EQ(changed([](Call& call) { call.body = "other"; }), "XAmzContentSHA256Mismatch");
}

TEST(S3Gate, TellsTheLogWhatItSigned) {
  Call call = put_call();
  call.method = "GET";
  const S3Refusal refusal = check_s3_call(settings, call, s3_now);
  EXPECT_TRUE(refusal.note.starts_with("signed here: GET\n/pawl/a%20b\na=%2F&x=1\nhost:"))
      << refusal.note;
  EXPECT_EQ(refusal.note.find("emulated-secret"), std::string::npos);
}

TEST(S3Gate, RefusesAnotherKeyOrSecretOrToken) {
  S3Settings other;
  other.credentials.access_key = "another";
  const Call call = unsigned_s3_call("GET", "/pawl/a");
  EXPECT_EQ(code_of(signed_s3_call(call, {.settings = other})), "InvalidAccessKeyId");
  other = {};
  other.credentials.secret_key = Secret<std::string>("another");
  EXPECT_EQ(code_of(signed_s3_call(call, {.settings = other})), "SignatureDoesNotMatch");
  other = {};
  other.credentials.session_token = Secret<std::string>("token");
  EXPECT_EQ(code_of(signed_s3_call(call, {.settings = other})), "InvalidToken");
  EXPECT_EQ(check_s3_call(other, signed_s3_call(call, {.settings = other}), s3_now).code, "");
}

TEST(S3Gate, RefusesAnotherRegion) {
  S3Settings other;
  other.region = "eu-west-1";
  EXPECT_EQ(code_of(signed_s3_call(unsigned_s3_call("GET", "/pawl/a"), {.settings = other})),
            "AuthorizationHeaderMalformed");
}

TEST(S3Gate, RefusesAClockThatDiffersByOverFifteenMinutes) {
  for (const Duration apart : {Duration::minutes(14), Duration::minutes(-14)}) {
    EXPECT_EQ(code_of(put_call(), s3_now + apart), "");
  }
  for (const Duration apart : {Duration::minutes(16), Duration::minutes(-16)}) {
    EXPECT_EQ(code_of(put_call(), s3_now + apart), "RequestTimeTooSkewed");
  }
}

TEST(S3Gate, WantsEveryFieldOfAmazonSigned) {
  Call call = put_call();
  call.fields.push_back({.name = "x-amz-acl", .value = "public-read"});
  EXPECT_EQ(code_of(call), "AccessDenied");
}

TEST(S3Gate, ChecksTheBodysSums) {
  const auto with = [](std::string sum) {
    return code_of(signed_s3_call(
        unsigned_s3_call("PUT", "/pawl/a", "body", {{.name = "content-md5", .value = sum}})));
  };
  EXPECT_EQ(with(to_base64(md5("body"))), "");
  EXPECT_EQ(with(to_base64(md5("other"))), "BadDigest");
  EXPECT_EQ(code_of(signed_s3_call(unsigned_s3_call("PUT", "/pawl/a", "body"),
                                   {.payload_hash = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"})),
            "NotImplemented");
}

TEST(S3Gate, IsOpenWhenItIsTold) {
  S3Settings open;
  open.authenticates = false;
  EXPECT_EQ(check_s3_call(open, unsigned_s3_call("GET", "/pawl/a"), s3_now).code, "");
}

TEST(S3Gate, DecodesAddresses) {
  const S3Target target =
      s3_target(unsigned_s3_call("GET", "/pawl/a%2Fb/c?prefix=x%20y&z")).value();
  EXPECT_EQ(target.bucket, "pawl");
  EXPECT_EQ(target.key, "a/b/c");
  EXPECT_EQ(target.parameter("prefix"), "x y");
  EXPECT_EQ(target.parameter("z"), "");
  EXPECT_EQ(target.parameter("none"), std::nullopt);
  EXPECT_EQ(s3_target(unsigned_s3_call("GET", "/pawl/%zz")), std::nullopt);
}

}  // namespace
}  // namespace pawl::emulator
