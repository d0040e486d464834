// Goal: strangers, other sites and guessers stay outside; probes and proxies get in. Method: tables
// of requests, a hand-moved time.
#include "admin/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bounds.h"

namespace pawl::admin {
namespace {

using ::testing::HasSubstr;

class GateTest : public ::testing::Test {
 protected:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  // The status it is refused with; 0: it is let in.
  int refused(std::string method, Fields fields, Access access = Access::token) {
    const server::Request request{.method = std::move(method),
                                  .target = "/",
                                  .headers = std::move(fields),
                                  .body = {},
                                  .peer = peer};
    const auto response = gate.refuse(settings, request, access, now);
    told = response ? response->extra_fields + response->body : "";
    return response ? response->status : 0;
  }
  int with_token(std::string token) {
    return refused("GET", {{"Authorization", "Bearer " + token}});
  }

  GateSettings settings;
  Gate gate;
  SteadyInstant now = SteadyInstant() + Duration::seconds(100);
  IpAddress peer = IpAddress::v4({192, 0, 2, 1});
  std::string told;
};

TEST_F(GateTest, TakesAddressesAndNamesOfTheMachineForItsHost) {
  settings.hosts = {"pawl.internal"};
  for (const char* host : {"127.0.0.1", "127.0.0.1:8081", "10.1.2.3:80", "[::1]:8081", "[::1]",
                           "localhost", "LocalHost:8081", "a.localhost", "Pawl.Internal:8081"}) {
    EXPECT_EQ(refused("GET", {{"Host", host}}), 0) << host;
  }
  for (const char* host :
       {"evil.example", "evil.example:8081", "notlocalhost", "127.0.0.1.evil.com", "[::1].evil.com",
        "localhost.evil.com", "pawl.internal.evil.com", "[::1", "127.1", ":8081"}) {
    EXPECT_EQ(refused("GET", {{"Host", host}}), 403) << host;
    EXPECT_EQ(refused("GET", {{"Host", host}}, Access::open), 403) << host;
    EXPECT_EQ(refused("GET", {{"Host", host}}, Access::proxy), 0) << "it is the client's";
  }
  EXPECT_EQ(refused("GET", {}), 0);
}

TEST_F(GateTest, LetsNoOtherSiteChangeAnything) {
  settings.hosts = {"panel.internal"};
  const std::string host = "127.0.0.1:8081";
  const auto with = [&](std::string name, std::string value) {
    return refused("POST", {{"Host", host}, {std::move(name), std::move(value)}});
  };
  EXPECT_EQ(with("Origin", "http://127.0.0.1:8081"), 0);
  EXPECT_EQ(with("Origin", "https://panel.internal"), 0);
  EXPECT_EQ(with("Sec-Fetch-Site", "same-origin"), 0);
  EXPECT_EQ(with("Sec-Fetch-Site", "none"), 0);
  for (const char* origin : {"null", "http://evil.example", "http://127.0.0.1:9999",
                             "http://127.0.0.1", "http://evil.example:8081", "127.0.0.1:8081"}) {
    EXPECT_EQ(with("Origin", origin), 403) << origin;
  }
  EXPECT_EQ(with("Sec-Fetch-Site", "cross-site"), 403);
  EXPECT_EQ(with("Sec-Fetch-Site", "same-site"), 403);
  EXPECT_EQ(refused("DELETE", {{"Host", host}, {"Origin", "http://evil.example"}}), 403);
  EXPECT_EQ(refused("GET", {{"Host", host}, {"Origin", "http://evil.example"}}), 0)
      << "it cannot read the answer";
}

TEST_F(GateTest, AsksForTheTokenWhereOneIsSet) {
  EXPECT_EQ(refused("GET", {}), 0);
  settings.token = Secret<std::string>("s3cret");
  EXPECT_EQ(refused("GET", {}), 401);
  EXPECT_THAT(told, HasSubstr("WWW-Authenticate: Bearer"));
  EXPECT_EQ(refused("GET", {}, Access::open), 0);
  EXPECT_EQ(with_token("s3cre"), 401);
  EXPECT_EQ(with_token("s3cret2"), 401);
  EXPECT_EQ(with_token("s3cret"), 0);
  EXPECT_EQ(refused("GET", {{"authorization", "bearer s3cret"}}), 0);
  EXPECT_EQ(refused("GET", {{"Authorization", "s3cret"}}), 401);
  EXPECT_EQ(refused("GET", {{"X-Pawl-Token", "s3cret"}}), 401);
}

TEST_F(GateTest, TakesTheTokenOfAProxyFromAFieldOfItsOwn) {
  settings.token = Secret<std::string>("s3cret");
  EXPECT_EQ(refused("POST", {{"X-Pawl-Token", "s3cret"}, {"Origin", "null"}}, Access::proxy), 0);
  EXPECT_EQ(refused("GET", {{"Authorization", "Bearer s3cret"}}, Access::proxy), 401);
}

TEST_F(GateTest, ShutsAGuesserOutWhateverItThenSends) {
  settings.token = Secret<std::string>("s3cret");
  for (int i = 0; i < bounds::lockout_failures; ++i) EXPECT_EQ(with_token("guess"), 401);
  EXPECT_EQ(with_token("s3cret"), 429);
  EXPECT_THAT(told, HasSubstr("Retry-After: 60\r\n"));
  EXPECT_EQ(refused("GET", {}, Access::open), 0) << "probes go on";
  peer = IpAddress::v4({192, 0, 2, 2});
  EXPECT_EQ(with_token("s3cret"), 0) << "others are let in";
  peer = IpAddress::v4({192, 0, 2, 1});
  now = now + bounds::lockout_wait;
  EXPECT_EQ(with_token("s3cret"), 0);
}

TEST_F(GateTest, CountsNoMissingTokenAndForgetsBeforeASuccess) {
  settings.token = Secret<std::string>("s3cret");
  for (int i = 0; i < 3 * bounds::lockout_failures; ++i) EXPECT_EQ(refused("GET", {}), 401);
  for (int i = 0; i < bounds::lockout_failures - 1; ++i) EXPECT_EQ(with_token("guess"), 401);
  EXPECT_EQ(with_token("s3cret"), 0);
  EXPECT_EQ(with_token("guess"), 401);
  EXPECT_EQ(with_token("s3cret"), 0);
}

}  // namespace
}  // namespace pawl::admin
