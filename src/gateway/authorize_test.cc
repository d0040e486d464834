// Goal: another proxy gets the decision that the gateway would have taken, and it is on record.
// Method: the real engine, settings and stores in memory.
#include "gateway/authorize.h"

#include <gmock/gmock.h>

#include "base/sha256.h"
#include "gateway/proxy_fixture.h"

namespace pawl::gateway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class AuthorizerTest : public ProxyTest {
 protected:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  AuthorizerTest() {
    config.limits.buckets = {paced("orders", 0)};
    config.limits.buckets[0].match.path = request::PathPattern::parse("/orders/**").value();
    apply();
  }
  server::Response ask(std::string method, std::string target, Fields fields, int refusal = 0) {
    const server::Request request{.method = "GET",
                                  .target = "/v1/authorize",
                                  .headers = std::move(fields),
                                  .body = {},
                                  .peer = IpAddress::v4({127, 0, 0, 1})};
    server::Response out;
    int answers = 0;
    authorizer.decide({.method = std::move(method),
                       .target = std::move(target),
                       .refusal_status = refusal,
                       .request = &request},
                      [&](server::Response response) {
                        out = std::move(response);
                        ++answers;
                      });
    EXPECT_EQ(answers, 1);
    return out;
  }

  Authorizer authorizer{{.loop = loop,
                         .engine = engine,
                         .clock = clock,
                         .entropy = entropy,
                         .tenants = *tenants,
                         .settings = [this] { return context.settings; }}};
};

TEST_F(AuthorizerTest, AllowsWithTheRateFieldsThenRefuses) {
  const auto allowed = ask("POST", "/orders/1?x", {{"Host", "shop"}, {"X-Tenant-Id", "acme"}});
  EXPECT_EQ(allowed.status, 200);
  EXPECT_THAT(allowed.extra_fields,
              AllOf(HasSubstr("RateLimit: \"orders\";r=0"), HasSubstr("X-Request-Id: ")));
  EXPECT_EQ(outcome(), "unknown") << "what becomes of it is not seen here";
  EXPECT_EQ(sink.events().back().operation, "POST /orders/1");
  EXPECT_EQ(sink.events().back().correlation.tenant_id, "acme");
  const auto refused = ask("GET", "/orders/2", {{"X-Tenant-Id", "acme"}});
  EXPECT_EQ(refused.status, 429);
  EXPECT_THAT(refused.extra_fields, HasSubstr("Retry-After: "));
  EXPECT_THAT(refused.body, HasSubstr("\"violated-policies\":[\"orders\"]"));
  EXPECT_EQ(outcome(), "not_applied");
  EXPECT_EQ(ask("GET", "/orders/2", {{"X-Tenant-Id", "acme"}}, 403).status, 403);
}

TEST_F(AuthorizerTest, CountsAsTheGatewayDoes) {
  config.limits.buckets[0].burst = 4;
  apply();
  for (int i = 0; i < 6; ++i) ask("GET", "/orders/1", {{"X-Tenant-Id", "acme"}});
  ask("GET", "/public", {{"X-Tenant-Id", "zoe"}});
  EXPECT_EQ(telemetry.allowed.value(), 6U) << "that which no bucket matches included";
  EXPECT_EQ(telemetry.refused.value(), 1U);
  ASSERT_EQ(near.size(), 1U);
  EXPECT_EQ(near[0].tenant, "acme");
  const auto seen = tenants->list(10, "");
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[1].tenant, "zoe") << "though no bucket matched";
}

TEST_F(AuthorizerTest, CountsOnlyWhatTheBucketsMatch) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ask("GET", "/public", {{"X-Tenant-Id", "acme"}}).status, 200);
  }
}

TEST_F(AuthorizerTest, CountsAStrangerByTheAddressThatTheProxySaw) {
  const Fields one = {{"X-Forwarded-For", "9.9.9.9, 192.0.2.1"}};
  const Fields two = {{"X-Forwarded-For", "192.0.2.1, 192.0.2.2"}};
  EXPECT_EQ(ask("GET", "/orders/1", one).status, 200);
  EXPECT_EQ(ask("GET", "/orders/1", two).status, 200);
  EXPECT_EQ(ask("GET", "/orders/1", one).status, 429);
  EXPECT_EQ(sink.events().back().correlation.tenant_id, "anonymous@192.0.2.1");
}

TEST_F(AuthorizerTest, CountsAStrangerBehindSeveralTrustedProxiesByItsOwnAddress) {
  config.tenants.trusted_proxies = {parse_prefix("10.0.0.0/8").value()};
  apply();
  const Fields one = {{"X-Forwarded-For", "9.9.9.9, 192.0.2.1, 10.1.1.1"}, {"X-Tenant-Id", "a"}};
  const Fields two = {{"X-Forwarded-For", "192.0.2.2, 10.1.1.1"}};
  EXPECT_EQ(ask("GET", "/orders/1", one).status, 200);
  EXPECT_EQ(sink.events().back().correlation.tenant_id, "anonymous@192.0.2.1")
      << "who asks is not trusted in what it says of tenants";
  EXPECT_EQ(ask("GET", "/orders/1", two).status, 200);
  EXPECT_EQ(ask("GET", "/orders/1", one).status, 429);
}

TEST_F(AuthorizerTest, BelievesATenantHeaderOfATrustedProxyAlone) {
  config.tenants.missing = config::MissingTenant::reject;
  config.tenants.trusted_proxies = {parse_prefix("10.0.0.0/8").value()};
  apply();
  const Fields fields = {{"X-Tenant-Id", "acme"}, {"X-Forwarded-For", "10.1.1.1"}};
  EXPECT_EQ(ask("GET", "/orders/1", fields).status, 401) << "who asks is not of that network";
  config.tenants.trusted_proxies = {parse_prefix("127.0.0.1").value()};
  apply();
  EXPECT_EQ(ask("GET", "/orders/1", fields).status, 200);
}

TEST_F(AuthorizerTest, TellsAKeyThatNobodyHasFromNone) {
  config.tenants.missing = config::MissingTenant::reject;
  config.tenants.api_keys = {{.sha256 = to_hex(sha256("mine")), .tenant = "acme"}};
  apply();
  const server::Response none = ask("GET", "/orders/1", {});
  const server::Response wrong = ask("GET", "/orders/1", {{"X-Api-Key", "guessed"}});
  EXPECT_EQ(none.status, 401);
  EXPECT_EQ(wrong.status, 401);
  EXPECT_THAT(none.body, HasSubstr("X-Tenant-Id"));
  EXPECT_THAT(wrong.body, HasSubstr("API key"));
  EXPECT_NE(none.body, wrong.body);
  EXPECT_EQ(ask("GET", "/orders/1", {{"X-Api-Key", "mine"}}).status, 200);
}

TEST_F(AuthorizerTest, RefusesWhatItsOwnGateWould) {
  for (const char* target : {"/a b", "http://x/", "a", "/a HTTP/1.1 x"}) {
    EXPECT_EQ(ask("GET", target, {}).status, 400) << target;
  }
  EXPECT_EQ(ask("G ET", "/", {}).status, 400);
  EXPECT_TRUE(sink.events().empty());
}

TEST_F(AuthorizerTest, LeavesOutWhatBelongsToTheProxysOwnConnection) {
  EXPECT_EQ(
      ask("POST", "/orders/1",
          {{"Content-Length", "7"}, {"Transfer-Encoding", "chunked"}, {"Connection", "close"}})
          .status,
      200);
}

}  // namespace
}  // namespace pawl::gateway
