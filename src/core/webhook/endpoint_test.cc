// Goal: a webhook reaches whom the operator named, and nobody behind the firewall by a trick.
// Method: every special range at its ends and beside them; spellings of addresses that other
//         readers take for loopback; URLs that are almost right.
#include "core/webhook/endpoint.h"

#include <gtest/gtest.h>

namespace pawl::webhook {
namespace {

IpAddress ip(std::string_view text) {
  const auto address = parse_ip(text);
  EXPECT_TRUE(address.has_value()) << text;
  return address.value_or(IpAddress());
}

Endpoint sample(std::string url = "https://hooks.example.com/in") {
  return {.name = "billing",
          .url = std::move(url),
          .secret = Secret<std::string>("a secret that is long enough"),
          .events = {"invoice.paid"}};
}

TEST(Reach, OfSpecialAddressesIsNotPublic) {
  for (const char* text : {"0.0.0.0",
                           "0.255.255.255",
                           "10.0.0.0",
                           "10.255.255.255",
                           "100.64.0.0",
                           "100.127.255.255",
                           "127.0.0.1",
                           "127.255.255.255",
                           "169.254.169.254",
                           "172.16.0.0",
                           "172.31.255.255",
                           "192.0.0.1",
                           "192.0.2.1",
                           "192.168.0.1",
                           "192.168.255.255",
                           "198.18.0.0",
                           "198.19.255.255",
                           "198.51.100.1",
                           "203.0.113.1",
                           "224.0.0.1",
                           "255.255.255.255",
                           "::",
                           "::1",
                           "::ffff:127.0.0.1",
                           "::ffff:10.0.0.1",
                           "::127.0.0.1",
                           "64:ff9b::7f00:1",
                           "fc00::1",
                           "fdff::1",
                           "fe80::1",
                           "fec0::1",
                           "ff02::1",
                           "2001::1",
                           "2001:db8::1",
                           "2002:7f00:1::",
                           "100::1"}) {
    EXPECT_FALSE(is_public(ip(text))) << text;
  }
}

TEST(Reach, OfTheirNeighboursIsPublic) {
  for (const char* text :
       {"1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0",
        "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255",
        "2001:4860:4860::8888", "2606:4700::1111", "::ffff:8.8.8.8"}) {
    EXPECT_TRUE(is_public(ip(text))) << text;
  }
}

TEST(Reach, OfANameIsThePublicWorld) {
  for (const char* url :
       {"https://hooks.example.com/", "http://127.1/", "http://0x7f.0.0.1/", "http://0177.0.0.1/",
        "http://2130706433/", "http://localhost.example.com/", "http://127.0.0.1.nip.io/"}) {
    const auto may = reach_of(url);
    EXPECT_FALSE(may(ip("127.0.0.1"))) << url;
    EXPECT_FALSE(may(ip("169.254.169.254"))) << url;
    EXPECT_FALSE(may(ip("::1"))) << url;
    EXPECT_TRUE(may(ip("8.8.8.8"))) << url;
  }
}

TEST(Reach, OfAnAddressIsThatAddressAlone) {
  const auto private_one = reach_of("http://10.1.2.3:8080/in");
  EXPECT_TRUE(private_one(ip("10.1.2.3")));
  EXPECT_FALSE(private_one(ip("10.1.2.4")));
  EXPECT_FALSE(private_one(ip("8.8.8.8")));
  const auto six = reach_of("http://[::1]:8080/in");
  EXPECT_TRUE(six(ip("::1")));
  EXPECT_FALSE(six(ip("127.0.0.1")));
}

TEST(Reach, OfLocalhostIsThisMachine) {
  const auto may = reach_of("http://LocalHost:8080");
  EXPECT_TRUE(may(ip("127.0.0.1")));
  EXPECT_TRUE(may(ip("::1")));
  EXPECT_FALSE(may(ip("10.0.0.1")));
  EXPECT_FALSE(may(ip("8.8.8.8")));
}

TEST(Endpoint, HasAUrlThatMeansOneThing) {
  for (const char* url :
       {"https://hooks.example.com", "http://h/", "HTTPS://h:8443/a/b?c=d", "http://192.0.2.1:80/",
        "http://[2001:db8::1]/", "http://[::1]:1/x", "http://h?x"}) {
    EXPECT_TRUE(check(sample(url))) << url;
  }
  for (const char* url : {"",
                          "h",
                          "ftp://h/",
                          "file:///etc/passwd",
                          "http://",
                          "http:///x",
                          "http://user@h/",
                          "http://user:pw@h/",
                          "http://h:/",
                          "http://h:0/",
                          "http://h:65536/",
                          "http://h:80:80/",
                          "http://[::1/",
                          "http://[::1]x/",
                          "http://[::1]:/",
                          "http://[127.0.0.1]/",
                          "http://h/#x",
                          "http://h /",
                          "http://h\n/",
                          "http://h%00/",
                          "http://h_x/",
                          "http://::1/",
                          "gopher://h/",
                          "http:/h",
                          "http://h\\@evil/"}) {
    EXPECT_FALSE(check(sample(url))) << url;
  }
  EXPECT_FALSE(check(sample("http://h/" + std::string(2'000, 'x'))));
}

TEST(Endpoint, HasANameASecretAndTypes) {
  Endpoint endpoint = sample();
  EXPECT_TRUE(check(endpoint));
  endpoint.name = "";
  EXPECT_FALSE(check(endpoint));
  endpoint.name = "two words";
  EXPECT_FALSE(check(endpoint));
  endpoint = sample();
  endpoint.secret = Secret<std::string>("short");
  EXPECT_FALSE(check(endpoint));
  endpoint = sample();
  endpoint.events = {"invoice.paid", "no type"};
  EXPECT_FALSE(check(endpoint));
}

TEST(Endpoint, WantsTheTypesItNamesOrAll) {
  EXPECT_TRUE(wants(sample(), "invoice.paid"));
  EXPECT_FALSE(wants(sample(), "invoice"));
  EXPECT_FALSE(wants(sample(), "limit.near"));
  Endpoint all = sample();
  all.events.clear();
  EXPECT_TRUE(wants(all, "limit.near"));
}

TEST(Endpoint, HasTheHostOfItsUrl) {
  EXPECT_EQ(host_of("https://hooks.example.com:8443/in?x=http://other/"), "hooks.example.com");
  EXPECT_EQ(host_of("http://[2001:db8::1]:80/"), "2001:db8::1");
}

}  // namespace
}  // namespace pawl::webhook
