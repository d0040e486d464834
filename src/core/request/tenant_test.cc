// Goal: nobody is counted against a tenant whose name they merely claim, and a key that proves a
// tenant is believed. Method: pinned cases.
#include "core/request/tenant.h"

#include <gtest/gtest.h>
#include <initializer_list>

#include "base/bounds.h"

namespace pawl::request {
namespace {

const IpAddress client = parse_ip("192.0.2.7").value();
const IpAddress proxy = parse_ip("10.1.2.3").value();

http::Fields fields_with(std::initializer_list<http::Header> headers) {
  http::Fields fields;
  for (const http::Header& header : headers) EXPECT_TRUE(fields.add(header));
  return fields;
}

class TenantTest : public ::testing::Test {
 protected:
  TenantFound fill(std::initializer_list<http::Header> headers, const IpAddress& peer = client) {
    return fill_tenant(tenant, rules, fields_with(headers), peer);
  }
  void trust_proxies() { rules.trusted_proxies = {parse_prefix("10.0.0.0/8").value()}; }
  void know_keys() {
    rules.api_keys = ApiKeys({{.sha256 = sha256("sesame"), .tenant = "acme", .plan = "pro"},
                              {.sha256 = sha256("other"), .tenant = "acme"},
                              {.sha256 = sha256("third"), .tenant = "zenith"}});
  }

  TenantRules rules{.header = "X-Tenant-Id", .trusted_proxies = {}};
  Tenant tenant;
};

TEST_F(TenantTest, IsTakenFromTheHeader) {
  EXPECT_EQ(fill({{"x-tenant-id", "acme"}}), TenantFound::yes);
  EXPECT_EQ(tenant.name, "acme");
  EXPECT_EQ(tenant.id, "acme");
  EXPECT_EQ(tenant.plan, "");
  EXPECT_EQ(tenant.address, "192.0.2.7");
  EXPECT_EQ(tenant.limit_key, "tenant:acme");
  EXPECT_EQ(tenant.api_key_key, "tenant:acme");
  EXPECT_EQ(tenant.address_key, "address:192.0.2.7");
  EXPECT_EQ(tenant_key("acme"), tenant.limit_key);
}

TEST_F(TenantTest, IsBelievedOnlyFromATrustedProxyWhenSuchAreNamed) {
  trust_proxies();
  fill({{"X-Tenant-Id", "acme"}}, proxy);
  EXPECT_EQ(tenant.id, "acme");
  fill({{"X-Tenant-Id", "acme"}}, client);
  EXPECT_EQ(tenant.id, "anonymous@192.0.2.7");
}

TEST_F(TenantTest, IsBelievedFromNobodyWhenThereAreKeysAndNoProxyIsNamed) {
  know_keys();
  fill({{"X-Tenant-Id", "acme"}});
  EXPECT_EQ(tenant.name, "");
  trust_proxies();
  fill({{"X-Tenant-Id", "acme"}}, proxy);
  EXPECT_EQ(tenant.name, "acme");
  EXPECT_EQ(tenant.api_key_key, "tenant:acme");
}

TEST_F(TenantTest, MissingMeansTheAddressOrNothing) {
  EXPECT_EQ(fill({}), TenantFound::yes);
  EXPECT_EQ(tenant.limit_key, "address:192.0.2.7");
  EXPECT_EQ(tenant.api_key_key, "address:192.0.2.7");
  rules.reject_missing = true;
  EXPECT_EQ(fill({}), TenantFound::missing);
}

TEST_F(TenantTest, CannotTakeTheKeyOfAnAddress) {
  fill({{"X-Tenant-Id", "address:192.0.2.7"}});
  const std::string claimed = tenant.limit_key;
  fill({});
  EXPECT_NE(tenant.limit_key, claimed);
}

TEST_F(TenantTest, CannotBeCalledWhatAnAnonymousClientIsCalled) {
  fill({{"X-Tenant-Id", "anonymous@192.0.2.99"}});
  EXPECT_EQ(tenant.name, "");
  EXPECT_EQ(tenant.id, "anonymous@192.0.2.7");
}

TEST_F(TenantTest, TheClientOfATrustedProxyIsWhomItNames) {
  trust_proxies();
  fill({{"X-Forwarded-For", "192.0.2.99"}}, proxy);
  EXPECT_EQ(tenant.address, "192.0.2.99");
  EXPECT_EQ(tenant.peer, "10.1.2.3");
  EXPECT_EQ(tenant.address_key, "address:192.0.2.99");
  EXPECT_EQ(tenant.limit_key, "address:192.0.2.99");
  EXPECT_EQ(tenant.id, "anonymous@192.0.2.99");
  fill({{"X-Tenant-Id", "acme"}, {"X-Forwarded-For", "192.0.2.99:4711"}}, proxy);
  EXPECT_EQ(tenant.limit_key, "tenant:acme");
  EXPECT_EQ(tenant.address_key, "address:192.0.2.99");
  fill({}, proxy);
  EXPECT_EQ(tenant.address, "10.1.2.3");
}

TEST_F(TenantTest, NobodyElseIsBelievedInWhomTheyName) {
  fill({{"X-Forwarded-For", "192.0.2.99"}});
  EXPECT_EQ(tenant.address, "192.0.2.7");
  trust_proxies();
  fill({{"X-Forwarded-For", "192.0.2.99"}}, client);
  EXPECT_EQ(tenant.address, "192.0.2.7");
  // What a client writes itself stands before what the proxies add.
  fill({{"X-Forwarded-For", "192.0.2.1, 192.0.2.99, 10.7.7.7"}}, proxy);
  EXPECT_EQ(tenant.address, "192.0.2.99");
  fill({{"X-Forwarded-For", "192.0.2.1"}, {"x-forwarded-for", "192.0.2.99,10.7.7.7"}}, proxy);
  EXPECT_EQ(tenant.address, "192.0.2.99");
  fill({{"X-Forwarded-For", "192.0.2.1, who knows, 10.7.7.7"}}, proxy);
  EXPECT_EQ(tenant.address, "10.7.7.7");
}

TEST_F(TenantTest, ANameGivenTwiceNamesNobody) {
  fill({{"X-Tenant-Id", "acme"}, {"x-tenant-id", "other"}});
  EXPECT_EQ(tenant.name, "");
  EXPECT_EQ(tenant.limit_key, "address:192.0.2.7");
}

TEST_F(TenantTest, ANameOutOfBoundsIsNone) {
  rules.reject_missing = true;
  for (const std::string& name :
       {std::string(), std::string(bounds::tenant_bytes_max + 1, 'a'), std::string("a b"),
        std::string("\xc3\xa4"), std::string("."), std::string("..")}) {
    EXPECT_EQ(fill({{"X-Tenant-Id", name}}), TenantFound::missing) << name;
    EXPECT_FALSE(is_tenant_name(name));
  }
  EXPECT_TRUE(is_tenant_name("..."));
}

TEST_F(TenantTest, IsProvedByAKeyHoweverItIsSent) {
  know_keys();
  rules.reject_missing = true;
  for (const http::Header& header : {http::Header{"x-api-key", "sesame"},
                                     {"Authorization", "Bearer sesame"},
                                     {"authorization", "bearer  sesame"}}) {
    EXPECT_EQ(fill({header}), TenantFound::yes) << header.value;
    EXPECT_EQ(tenant.name, "acme");
    EXPECT_EQ(tenant.id, "acme");
    EXPECT_EQ(tenant.plan, "pro");
    EXPECT_EQ(tenant.limit_key, "tenant:acme");
    EXPECT_EQ(tenant.api_key_key, "key:" + to_hex(sha256("sesame")).substr(0, 16));
  }
}

TEST_F(TenantTest, HasKeysThatAreCountedApartAndATenantThatIsNot) {
  know_keys();
  fill({{"X-Api-Key", "sesame"}});
  const Tenant first = tenant;
  fill({{"X-Api-Key", "other"}});
  EXPECT_EQ(tenant.limit_key, first.limit_key);
  EXPECT_NE(tenant.api_key_key, first.api_key_key);
  EXPECT_EQ(tenant.plan, "");
}

TEST_F(TenantTest, AKeyCountsForMoreThanAName) {
  know_keys();
  trust_proxies();
  fill({{"X-Tenant-Id", "acme"}, {"X-Api-Key", "third"}}, proxy);
  EXPECT_EQ(tenant.name, "zenith");
}

TEST_F(TenantTest, AnApiKeyThatNobodyHasIsRefused) {
  know_keys();
  for (const std::string& key :
       {std::string("sesam"), std::string("Sesame"), std::string(), to_hex(sha256("sesame")),
        std::string(bounds::api_key_bytes_max + 1, 'a')}) {
    EXPECT_EQ(fill({{"X-Api-Key", key}, {"Authorization", "Bearer sesame"}}),
              TenantFound::unknown_key)
        << key;
  }
  EXPECT_EQ(fill({{"X-Api-Key", "sesame"}, {"x-api-key", "sesame"}}), TenantFound::unknown_key);
}

TEST_F(TenantTest, ABearerThatNobodyHasMayBeTheUpstreamsOwn) {
  know_keys();
  for (const std::string_view value : {"Bearer unknown", "Bearer", "Basic sesame", "sesame", ""}) {
    EXPECT_EQ(fill({{"Authorization", value}}), TenantFound::yes) << value;
    EXPECT_EQ(tenant.name, "") << value;
  }
  rules.reject_missing = true;
  EXPECT_EQ(fill({{"Authorization", "Bearer unknown"}}), TenantFound::missing);
}

TEST_F(TenantTest, AKeyMeansNothingWhereThereAreNone) {
  EXPECT_EQ(fill({{"X-Api-Key", "sesame"}, {"X-Tenant-Id", "acme"}}), TenantFound::yes);
  EXPECT_EQ(tenant.name, "acme");
}

TEST_F(TenantTest, KnowsEveryKeyOfMany) {
  std::vector<ApiKey> keys;
  for (int i = 0; i < 1'000; ++i) {
    keys.push_back({.sha256 = sha256(std::to_string(i)), .tenant = "t" + std::to_string(i)});
  }
  const ApiKeys known(std::move(keys));
  for (int i = 0; i < 1'000; ++i) {
    const ApiKey* key = known.find(std::to_string(i));
    ASSERT_NE(key, nullptr);
    EXPECT_EQ(key->tenant, "t" + std::to_string(i));
  }
  EXPECT_EQ(known.find("1000"), nullptr);
}

TEST_F(TenantTest, AWholeNetworkOfIpv6IsOneClient) {
  fill({}, parse_ip("2001:db8:1:2:aaaa::1").value());
  EXPECT_EQ(tenant.address_key, "address:2001:db8:1:2::/64");
  EXPECT_EQ(tenant.limit_key, tenant.address_key);
  EXPECT_EQ(tenant.id, "anonymous@2001:db8:1:2:aaaa::1");
  EXPECT_EQ(tenant.address, "2001:db8:1:2:aaaa::1");
  const std::string first = tenant.address_key;
  fill({}, parse_ip("2001:db8:1:2:bbbb::9").value());
  EXPECT_EQ(tenant.address_key, first);
  fill({}, parse_ip("2001:db8:1:3::1").value());
  EXPECT_NE(tenant.address_key, first);
  rules.ipv6_prefix = 128;
  fill({}, parse_ip("2001:db8:1:2:aaaa::1").value());
  EXPECT_EQ(tenant.address_key, "address:2001:db8:1:2:aaaa::1");
}

TEST_F(TenantTest, KeepsNothingOfTheRequestBefore) {
  know_keys();
  fill({{"X-Api-Key", "sesame"}});
  fill({});
  EXPECT_EQ(tenant.name, "");
  EXPECT_EQ(tenant.plan, "");
  EXPECT_EQ(tenant.api_key_key, "address:192.0.2.7");
  fill({{"X-Api-Key", "sesame"}});
  EXPECT_EQ(fill({{"X-Api-Key", "wrong"}}, proxy), TenantFound::unknown_key);
  EXPECT_EQ(tenant.name + tenant.id + tenant.plan + tenant.limit_key + tenant.api_key_key, "");
  EXPECT_EQ(tenant.address, "10.1.2.3");
}

TEST_F(TenantTest, TakesNoMoreMemoryOnceItHasBeenFilled) {
  const http::Fields fields = fields_with({{"X-Tenant-Id", "a-tenant-with-a-rather-long-name"}});
  const IpAddress peer = parse_ip("2001:db8:1111:2222:3333:4444:5555:6666").value();
  fill_tenant(tenant, rules, fields, peer);
  const char* const before = tenant.limit_key.data();
  const char* const address = tenant.address_key.data();
  fill_tenant(tenant, rules, fields_with({}), peer);
  fill_tenant(tenant, rules, fields, peer);
  EXPECT_EQ(tenant.limit_key.data(), before);
  EXPECT_EQ(tenant.address_key.data(), address);
}

}  // namespace
}  // namespace pawl::request
