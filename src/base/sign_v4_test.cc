// Goal: calls are signed as AWS signs them.
// Method: the inputs and signatures that AWS published: its test suite of version 4, and the four
// examples in the documentation of S3.
#include "base/sign_v4.h"

#include <gtest/gtest.h>

namespace pawl::aws {
namespace {

constexpr std::string_view empty_hash =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

// The test suite's.
struct Vector {
  std::string_view name;
  Call call;
  std::string_view signature;
};

Call suite_call(std::string method, std::vector<Pair> query, std::vector<Pair> more = {}) {
  Call call{.method = std::move(method),
            .query = std::move(query),
            .fields = {{"host", "example.amazonaws.com"}, {"x-amz-date", "20150830T123600Z"}},
            .payload_hash = std::string(empty_hash)};
  for (Pair& field : more) call.fields.push_back(std::move(field));
  return call;
}

const Credentials suite_credentials{
    .access_key = "AKIDEXAMPLE",
    .secret_key = Secret<std::string>("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")};
const Scope suite_scope{.region = "us-east-1",
                        .service = "service",
                        .time = parse_instant("2015-08-30T12:36:00Z").value()};

TEST(SignV4, SignsTheTestSuiteOfAws) {
  const std::string unreserved =
      "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  Call form = suite_call("POST", {}, {{"content-type", "application/x-www-form-urlencoded"}});
  form.payload_hash = to_hex(sha256("Param1=value1"));
  const Vector vectors[] = {
      {"get-vanilla", suite_call("GET", {}),
       "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
      {"get-vanilla-query-order-key-case",
       suite_call("GET", {{"Param2", "value2"}, {"Param1", "value1"}}),
       "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
      {"get-vanilla-empty-query-key", suite_call("GET", {{"Param1", "value1"}}),
       "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb"},
      {"get-vanilla-query-unreserved", suite_call("GET", {{unreserved, unreserved}}),
       "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"},
      {"get-vanilla-utf8-query", suite_call("GET", {{"ሴ", "bar"}}),
       "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"},
      {"post-vanilla", suite_call("POST", {}),
       "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
      {"post-header-key-sort", suite_call("POST", {}, {{"my-header1", "value1"}}),
       "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"},
      {"post-x-www-form-urlencoded", form,
       "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
  };
  for (const Vector& vector : vectors) {
    const std::string value = authorization(suite_credentials, suite_scope, vector.call);
    EXPECT_TRUE(value.ends_with("Signature=" + std::string(vector.signature)))
        << vector.name << ": " << value;
  }
}

TEST(SignV4, WritesTheWholeField) {
  EXPECT_EQ(authorization(suite_credentials, suite_scope, suite_call("GET", {})),
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
            "SignedHeaders=host;x-amz-date, "
            "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
}

// The documentation's.
std::string documented(Call call) {
  const Credentials credentials{
      .access_key = "AKIAIOSFODNN7EXAMPLE",
      .secret_key = Secret<std::string>("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")};
  const Scope scope{.region = "us-east-1", .time = parse_instant("2013-05-24T00:00:00Z").value()};
  call.fields.push_back({"host", "examplebucket.s3.amazonaws.com"});
  call.fields.push_back({"x-amz-content-sha256", call.payload_hash});
  call.fields.push_back({"x-amz-date", "20130524T000000Z"});
  const std::string value = authorization(credentials, scope, call);
  return value.substr(value.rfind('=') + 1);
}

TEST(SignV4, SignsTheDocumentedCallsOfS3) {
  EXPECT_EQ(documented({.method = "GET",
                        .path = "/test.txt",
                        .fields = {{"range", "bytes=0-9"}},
                        .payload_hash = std::string(empty_hash)}),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  EXPECT_EQ(documented({.method = "PUT",
                        .path = "/test$file.text",
                        .fields = {{"date", "Fri, 24 May 2013 00:00:00 GMT"},
                                   {"x-amz-storage-class", "REDUCED_REDUNDANCY"}},
                        .payload_hash = to_hex(sha256("Welcome to Amazon S3."))}),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
  EXPECT_EQ(
      documented(
          {.method = "GET", .query = {{"lifecycle", ""}}, .payload_hash = std::string(empty_hash)}),
      "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
  EXPECT_EQ(documented({.method = "GET",
                        .query = {{"prefix", "J"}, {"max-keys", "2"}},
                        .payload_hash = std::string(empty_hash)}),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST(SignV4, SortsByTheEncodedNameAndThenTheValue) {
  EXPECT_EQ(canonical_query({{"b", "2"}, {"a", "2"}, {"a", "1"}, {"B", ""}, {"a b", "/"}}),
            "B=&a=1&a=2&a%20b=%2F&b=2");
}

TEST(SignV4, SqueezesBlanksAndJoinsFieldsOfOneName) {
  const std::string canonical =
      canonical_request({.method = "GET",
                         .fields = {{"my", "  a   b "}, {"host", "h"}, {"my", "c"}},
                         .payload_hash = "x"});
  EXPECT_EQ(canonical, "GET\n/\n\nhost:h\nmy:a b,c\n\nhost;my\nx");
}

TEST(SignV4, ReadsTheTimesThatItWrites) {
  const Instant time = parse_instant("2026-02-28T23:59:58Z").value();
  EXPECT_EQ(parse_amz_date(amz_date(time)).value(), time);
  for (const std::string_view text : {"", "20130524T000000", "20130229T000000Z", "20130524T240000Z",
                                      "2013-5-24T00000Z", "20130524 000000Z"}) {
    EXPECT_FALSE(parse_amz_date(text)) << text;
  }
}

}  // namespace
}  // namespace pawl::aws
