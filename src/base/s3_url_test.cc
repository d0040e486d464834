// Goal: a URL of S3 means one place or is refused, and no key is ever repeated.
// Method: examples, right and wrong.
#include "base/s3_url.h"

#include <gtest/gtest.h>

namespace pawl {
namespace {

TEST(S3Url, NamesABucketOfAws) {
  EXPECT_EQ(parse_s3_url("s3://tasks").value(), S3Url{.bucket = "tasks"});
  EXPECT_EQ(parse_s3_url("s3://tasks/a/b/?region=eu-west-1").value(),
            (S3Url{.bucket = "tasks", .prefix = "a/b", .region = "eu-west-1"}));
}

TEST(S3Url, NamesAnotherStoreByItsEndpoint) {
  EXPECT_EQ(parse_s3_url("s3://tasks/q?endpoint=http://127.0.0.1:9000&region=us-east-1&etag=bare")
                .value(),
            (S3Url{.bucket = "tasks",
                   .prefix = "q",
                   .endpoint = "http://127.0.0.1:9000",
                   .region = "us-east-1",
                   .bare_etags = true}));
  EXPECT_EQ(parse_s3_url("s3://tasks?endpoint=https%3A%2F%2Fstore.test").value().endpoint,
            "https://store.test");
  EXPECT_EQ(parse_s3_url("s3://tasks?endpoint=http://[::1]:9000").value().endpoint,
            "http://[::1]:9000");
}

TEST(S3Url, LeavesTheUsualPortOut) {
  EXPECT_EQ(parse_s3_url("s3://tasks?endpoint=HTTPS://Store.test:443/").value().endpoint,
            "https://store.test");
  EXPECT_EQ(parse_s3_url("s3://tasks?endpoint=http://store.test:80").value().endpoint,
            "http://store.test");
  EXPECT_EQ(parse_s3_url("s3://tasks?endpoint=http://store.test:443").value().endpoint,
            "http://store.test:443");
}

TEST(S3Url, SaysWhatIsWrong) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"http://tasks", "begins with s3://"},
      {"s3://", "names of 3 to 63 characters"},
      {"s3://ab", "names of 3 to 63 characters"},
      {"s3://Tasks", "names of 3 to 63 characters"},
      {"s3://-tasks", "names of 3 to 63 characters"},
      {"s3://a..b", "names of 3 to 63 characters"},
      {"s3://tasks//a", "a prefix has"},
      {"s3://tasks/a//", "a prefix has"},
      {"s3://tasks/../a", "a prefix has"},
      {"s3://tasks/a b", "a prefix has"},
      {"s3://tasks?region=US", "region="},
      {"s3://tasks?etag=quoted", "radosgw"},
      {"s3://tasks?zone=a", "only endpoint=, region= and etag="},
      {"s3://tasks?endpoint=127.0.0.1:9000", "http:// or https://"},
      {"s3://tasks?endpoint=http://", "a host and a port"},
      {"s3://tasks?endpoint=http://host:0x", "a host and a port"},
      {"s3://tasks?endpoint=http://host/path", "nothing behind"},
      {"s3://tasks?endpoint=%zz", "two hex digits"},
  };
  for (const auto& [text, expected] : cases) {
    const Result<S3Url> url = parse_s3_url(text);
    ASSERT_FALSE(url) << text;
    EXPECT_NE(url.error().message.find(expected), std::string::npos)
        << text << ": " << url.error().message;
  }
}

TEST(S3Url, RepeatsNoKey) {
  for (const std::string_view text :
       {"s3://AKIAKEY:hushhush@tasks", "s3://tasks?secret_key=hushhush",
        "s3://tasks?endpoint=http://AKIAKEY:hushhush@host:9000"}) {
    const Result<S3Url> url = parse_s3_url(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().message.find("hush"), std::string::npos) << url.error().message;
    EXPECT_NE(url.error().message.find("AWS_SECRET_ACCESS_KEY"), std::string::npos);
  }
}

TEST(S3Url, IsPrintedForPeople) {
  EXPECT_EQ(to_string(S3Url{.bucket = "b", .prefix = "p", .endpoint = "http://h:1"}),
            "s3://b/p at http://h:1");
  EXPECT_EQ(to_string(S3Url{.bucket = "b"}), "s3://b");
}

}  // namespace
}  // namespace pawl
