// Goal: nobody is counted against a tenant whose name they merely claim. Method: pinned cases.
#include "core/request/tenant.h"

#include <gtest/gtest.h>

namespace pawl::request {
namespace {

const IpAddress client = parse_ip("192.0.2.7").value();
const IpAddress proxy = parse_ip("10.1.2.3").value();

http::Fields fields_with(std::string_view name, std::string_view value) {
  http::Fields fields;
  EXPECT_TRUE(fields.add({name, value}));
  return fields;
}

TEST(Tenant, IsTakenFromTheHeader) {
  const auto tenant = tenant_of({.header = "X-Tenant-Id", .trusted_proxies = {}},
                                fields_with("x-tenant-id", "acme"), client);
  ASSERT_TRUE(tenant);
  EXPECT_EQ(tenant->id, "acme");
  EXPECT_EQ(tenant->name, "acme");
  EXPECT_EQ(tenant->limit_key, "tenant:acme");
}

TEST(Tenant, IsBelievedOnlyFromATrustedProxyWhenSuchAreNamed) {
  const TenantRules rules{.header = "X-Tenant-Id",
                          .trusted_proxies = {parse_prefix("10.0.0.0/8").value()}};
  const http::Fields fields = fields_with("X-Tenant-Id", "acme");
  EXPECT_EQ(tenant_of(rules, fields, proxy)->id, "acme");
  EXPECT_EQ(tenant_of(rules, fields, client)->id, "anonymous@192.0.2.7");
}

TEST(Tenant, MissingMeansTheAddressOrNothing) {
  const http::Fields none;
  EXPECT_EQ(tenant_of({.header = "X", .trusted_proxies = {}}, none, client)->limit_key,
            "address:192.0.2.7");
  EXPECT_FALSE(
      tenant_of({.header = "X", .trusted_proxies = {}, .reject_missing = true}, none, client));
}

TEST(Tenant, CannotTakeTheKeyOfAnAddress) {
  const auto tenant = tenant_of({.header = "X", .trusted_proxies = {}},
                                fields_with("X", "address:192.0.2.7"), client);
  EXPECT_NE(tenant->limit_key,
            tenant_of({.header = "X", .trusted_proxies = {}}, {}, client)->limit_key);
}

TEST(Tenant, ANameGivenTwiceNamesNobody) {
  http::Fields fields = fields_with("X", "acme");
  EXPECT_TRUE(fields.add({"x", "other"}));
  const auto tenant = tenant_of({.header = "X", .trusted_proxies = {}}, fields, client);
  EXPECT_EQ(tenant->name, "");
  EXPECT_EQ(tenant->limit_key, "address:192.0.2.7");
}

TEST(Tenant, ANameOutOfBoundsIsNone) {
  for (const std::string& name : {std::string(), std::string(bounds::tenant_bytes_max + 1, 'a'),
                                  std::string("a b"), std::string("\xc3\xa4")}) {
    EXPECT_FALSE(tenant_of({.header = "X", .trusted_proxies = {}, .reject_missing = true},
                           fields_with("X", name), client))
        << name;
  }
}

}  // namespace
}  // namespace pawl::request
