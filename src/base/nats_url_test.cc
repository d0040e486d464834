// Goal: a URL means one thing, mistakes are named, and a password never shows. Method: examples of
// each form; every error is searched for the password.
#include "base/nats_url.h"

#include <gtest/gtest.h>

namespace pawl::nats {
namespace {

NatsUrl good(std::string_view text) {
  auto url = parse_nats_url(text);
  EXPECT_TRUE(url.has_value()) << text << ": " << url.error().message;
  return url ? *url : NatsUrl();
}

std::string problem(std::string_view text) {
  const auto url = parse_nats_url(text);
  EXPECT_FALSE(url.has_value()) << text;
  return url ? "" : url.error().message;
}

TEST(NatsUrl, ReadsEveryPart) {
  const NatsUrl url = good("nats://pawl:s3cret@nats.internal:4333,[2001:db8::1],c/pawl_records-1");
  EXPECT_FALSE(url.tls);
  EXPECT_EQ(url.servers,
            (std::vector<Target>{{"nats.internal", 4333}, {"2001:db8::1", 4222}, {"c", 4222}}));
  EXPECT_EQ(url.user, "pawl");
  EXPECT_EQ(url.password.reveal(), "s3cret");
  EXPECT_EQ(url.name, "pawl_records-1");
  EXPECT_EQ(url.ca_file, "");
}

TEST(NatsUrl, NeedsAHostAndANameAlone) {
  const NatsUrl url = good("NATS://localhost/audit");
  EXPECT_EQ(url.servers, (std::vector<Target>{{"localhost", 4222}}));
  EXPECT_TRUE(url.user.empty() && url.password.empty());
}

TEST(NatsUrl, ReadsATokenAsAPasswordWithoutAUser) {
  const NatsUrl url = good("nats://:t%40ken@h/b");
  EXPECT_TRUE(url.user.empty());
  EXPECT_EQ(url.password.reveal(), "t@ken");
}

TEST(NatsUrl, ReadsTlsWithItsAuthorities) {
  const NatsUrl url = good("tls://h/b?ca=%2Fetc/ssl/my%20ca.pem");
  EXPECT_TRUE(url.tls);
  EXPECT_EQ(url.ca_file, "/etc/ssl/my ca.pem");
  EXPECT_EQ(good("tls://h/b").ca_file, "");
}

TEST(NatsUrl, NamesWhatIsWrong) {
  const struct {
    std::string text;
    const char* says;
  } cases[] = {
      {"", "begins with nats://"},
      {"localhost:4222/b", "begins with nats://"},
      {"redis://localhost/b", "begins with nats://"},
      {"nats:///b", "host must be"},
      {"nats://h,/b", "host must be"},
      {"nats://h:0/b", "port must be"},
      {"nats://h", "name of a bucket"},
      {"nats://h/", "name of a bucket"},
      {"nats://h/a.b", "name of a bucket"},
      {"nats://h/a/b", "name of a bucket"},
      {"nats://h/>", "name of a bucket"},
      {"nats://h/" + std::string(65, 'b'), "name of a bucket"},
      {"nats://h/b?ca=x", "tls://"},
      {"tls://h/b?cert=x", "ca=FILE"},
      {"nats://user@h/b", "no password"},
      {"nats://:%zz@h/b", "two hex digits"},
      {"nats://h/b#x", "%23"},
  };
  for (const auto& [text, says] : cases) {
    EXPECT_NE(problem(text).find(says), std::string::npos) << text << ": " << problem(text);
  }
  std::string many = "nats://h";
  for (int i = 0; i < 16; ++i) many += ",h";
  EXPECT_NE(problem(many + "/b").find("too many servers"), std::string::npos);
}

TEST(NatsUrl, NoTextEverHoldsThePassword) {
  for (const char* text :
       {"nats://u:hunter2@h:x/b", "nats://u:hun/ter2@h/b", "nats://u:hun?ter2@h/b",
        "nats://u:hunter2/@h/b", "nats://u:hunter2", "hunter2@h", "nats://u:hunter2%@h/b",
        "nats://u:hunter2@h/not.a.name", "nats://u:hunter2,x@h,/b"}) {
    const std::string said = problem(text);
    for (const char* part : {"hunter", "hun/ter", "ter2"}) {
      EXPECT_EQ(said.find(part), std::string::npos) << said;
    }
  }
  EXPECT_EQ(to_string(good("nats://pawl:hunter2@h/b")), "nats://h:4222/b");
  EXPECT_EQ(to_string(good("tls://:hunter2@a:1,[::1]:2/b?ca=x")), "tls://a:1,[::1]:2/b");
}

}  // namespace
}  // namespace pawl::nats
