// Goal: calls go to the right address, with every field signed and no key in sight.
// Method: requests are made and looked at; the signature itself is tested in base/sign_v4_test.cc.
#include "adapter/s3/s3_request.h"

#include <gtest/gtest.h>

namespace pawl {
namespace {

const Instant now = parse_instant("2026-01-25T21:15:00Z").value();
const S3Access access{
    .credentials = {.access_key = "AKIA", .secret_key = Secret<std::string>("hush")},
    .region = "eu-west-1"};

std::string field_of(const HttpRequest& request, std::string_view name) {
  for (const HttpField& field : request.fields) {
    if (field.name == name) return field.value;
  }
  return {};
}

std::string url_of(const std::string& url, S3Ask ask) {
  return s3_request(parse_s3_url(url).value(), access, std::move(ask), now).url;
}

TEST(S3Request, GoesToTheBucketsOwnHostOnAws) {
  EXPECT_EQ(url_of("s3://tasks", {.key = "a/b"}), "https://tasks.s3.eu-west-1.amazonaws.com/a/b");
  EXPECT_EQ(url_of("s3://tasks", {.query = {{"list-type", "2"}, {"prefix", "a/"}}}),
            "https://tasks.s3.eu-west-1.amazonaws.com/?list-type=2&prefix=a%2F");
  EXPECT_EQ(url_of("s3://my.tasks", {.key = "a"}), "https://s3.eu-west-1.amazonaws.com/my.tasks/a");
}

TEST(S3Request, GoesByPathToAnEndpoint) {
  EXPECT_EQ(url_of("s3://tasks?endpoint=http://h:9000", {.key = "a/b"}), "http://h:9000/tasks/a/b");
  EXPECT_EQ(url_of("s3://tasks?endpoint=http://h:9000", {.query = {{"delete", ""}}}),
            "http://h:9000/tasks?delete=");
}

TEST(S3Request, SignsEveryField) {
  const HttpRequest request = s3_request(
      parse_s3_url("s3://tasks?endpoint=http://h:9000").value(), access,
      {.method = "PUT", .key = "a", .fields = {{"if-none-match", "*"}}, .body = "body"}, now);
  EXPECT_EQ(request.method, "PUT");
  EXPECT_EQ(request.body, "body");
  EXPECT_EQ(field_of(request, "if-none-match"), "*");
  EXPECT_EQ(field_of(request, "x-amz-date"), "20260125T211500Z");
  EXPECT_EQ(field_of(request, "x-amz-content-sha256"), to_hex(sha256("body")));
  EXPECT_EQ(field_of(request, "host"), "") << "the client's to send";
  EXPECT_NE(field_of(request, "authorization")
                .find("SignedHeaders=host;if-none-match;x-amz-content-sha256;x-amz-date,"),
            std::string::npos);
}

TEST(S3Request, BringsTheSessionTokenAndNeverTheSecret) {
  S3Access temporary = access;
  temporary.credentials.session_token = Secret<std::string>("token");
  const HttpRequest request =
      s3_request(parse_s3_url("s3://tasks").value(), temporary, {.key = "a"}, now);
  EXPECT_EQ(field_of(request, "x-amz-security-token"), "token");
  EXPECT_NE(field_of(request, "authorization").find("x-amz-security-token"), std::string::npos);
  EXPECT_EQ(request.url.find("AKIA"), std::string::npos);
  for (const HttpField& field : request.fields) {
    EXPECT_EQ(field.value.find("hush"), std::string::npos) << field.name;
  }
}

TEST(S3Request, PutsThePrefixBeforeNames) {
  EXPECT_EQ(s3_key(parse_s3_url("s3://tasks/a/b").value(), "c"), "a/b/c");
  EXPECT_EQ(s3_key(parse_s3_url("s3://tasks").value(), "c"), "c");
}

}  // namespace
}  // namespace pawl
