// Goal: a URL means one thing, mistakes are named, and a password never shows. Method: examples of
// each form; every error is searched for the password.
#include "base/redis_url.h"

#include <gtest/gtest.h>

namespace pawl::redis {
namespace {

RedisUrl good(std::string_view text) {
  auto url = parse_redis_url(text);
  EXPECT_TRUE(url.has_value()) << text << ": " << url.error().message;
  return url ? *url : RedisUrl();
}

std::string problem(std::string_view text) {
  const auto url = parse_redis_url(text);
  EXPECT_FALSE(url.has_value()) << text;
  return url ? "" : url.error().message;
}

TEST(RedisUrl, ReadsEveryPart) {
  const RedisUrl url = good("redis://pawl:s3cret@cache.internal:7000/3");
  EXPECT_FALSE(url.tls);
  EXPECT_FALSE(url.cluster);
  EXPECT_EQ(url.servers, (std::vector<Target>{{"cache.internal", 7000}}));
  EXPECT_EQ(url.user, "pawl");
  EXPECT_EQ(url.password.reveal(), "s3cret");
  EXPECT_EQ(url.database, 3);
  EXPECT_EQ(url.ca_file, "");
}

TEST(RedisUrl, HasDefaultsForAllButTheHost) {
  for (const char* text : {"redis://localhost", "REDIS://localhost/", "redis://localhost:6379/0"}) {
    const RedisUrl url = good(text);
    EXPECT_EQ(url.servers, (std::vector<Target>{{"localhost", 6379}})) << text;
    EXPECT_TRUE(url.user.empty() && url.password.empty()) << text;
    EXPECT_EQ(url.database, 0) << text;
  }
}

TEST(RedisUrl, ReadsTlsWithItsAuthorities) {
  const RedisUrl url = good("rediss://h/2?ca=%2Fetc/ssl/my%20ca.pem");
  EXPECT_TRUE(url.tls);
  EXPECT_EQ(url.ca_file, "/etc/ssl/my ca.pem");
  EXPECT_EQ(url.database, 2);
  EXPECT_EQ(good("rediss://h?ca=ca.pem").ca_file, "ca.pem");
}

TEST(RedisUrl, ReadsTheNodesOfACluster) {
  const RedisUrl url = good("rediss+cluster://:pw@a:7000,[2001:db8::1]:7001,c/0");
  EXPECT_TRUE(url.tls && url.cluster);
  EXPECT_EQ(url.servers, (std::vector<Target>{{"a", 7000}, {"2001:db8::1", 7001}, {"c", 6379}}));
  EXPECT_EQ(url.password.reveal(), "pw");
  EXPECT_TRUE(good("redis+cluster://a").cluster);
}

TEST(RedisUrl, APasswordMayHoldAnythingThatIsEscaped) {
  const RedisUrl url = good("redis://a%40b:%2F%3f%23:@x%25@h");
  EXPECT_EQ(url.user, "a@b");
  EXPECT_EQ(url.password.reveal(), "/?#:@x%");
}

TEST(RedisUrl, NamesWhatIsWrong) {
  const struct {
    const char* text;
    const char* says;
  } cases[] = {
      {"", "begins with redis://"},
      {"localhost:6379", "begins with redis://"},
      {"http://localhost", "begins with redis://"},
      {"redis://", "host must be"},
      {"redis:///1", "host must be"},
      {"redis://h:", "port must be"},
      {"redis://h:0", "port must be"},
      {"redis://h:65536", "port must be"},
      {"redis://h:12x", "port must be"},
      {"redis://h o", "host must be"},
      {"redis://[::1", "IPv6"},
      {"redis://[1.2.3.4]", "IPv6"},
      {"redis://[::1]x", "after ]"},
      {"redis://a,b", "redis+cluster"},
      {"redis+cluster://a,", "host must be"},
      {"redis+cluster://a/1", "database 0 only"},
      {"redis://h/x", "number of a database"},
      {"redis://h/-1", "number of a database"},
      {"redis://h/1/2", "number of a database"},
      {"redis://h/99999999999999999999", "number of a database"},
      {"redis://h?ca=x", "rediss://"},
      {"rediss://h?cert=x", "ca=FILE"},
      {"rediss://h?ca=", "ca=FILE"},
      {"rediss://h?ca=a&ca=b", "ca=FILE"},
      {"rediss://h?ca=%00", "zero byte"},
      {"redis://user@h", "no password"},
      {"redis://user:@h", "no password"},
      {"redis://:%zz@h", "two hex digits"},
      {"redis://:%4@h", "two hex digits"},
      {"redis://h#x", "%23"},
  };
  for (const auto& [text, says] : cases) {
    EXPECT_NE(problem(text).find(says), std::string::npos) << text << ": " << problem(text);
  }
}

TEST(RedisUrl, NoTextEverHoldsThePassword) {
  for (const char* text : {"redis://u:hunter2@h:x", "redis://u:hun/ter2@h", "redis://u:hun?ter2@h",
                           "redis://u:hunter2/@h", "redis://u:hunter2", "hunter2@h",
                           "redis://u:hunter2%@h", "redis+cluster://u:hunter2,x@h,"}) {
    const std::string said = problem(text);
    for (const char* part : {"hunter", "hun/ter", "ter2"}) {
      EXPECT_EQ(said.find(part), std::string::npos) << said;
    }
  }
  EXPECT_EQ(to_string(good("redis://pawl:hunter2@h/1")), "redis://h:6379/1");
  EXPECT_EQ(to_string(good("rediss+cluster://:hunter2@a:1,[::1]:2?ca=x")),
            "rediss+cluster://a:1,[::1]:2");
}

}  // namespace
}  // namespace pawl::redis
