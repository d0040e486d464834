// Goal: a request finds its route and no other, and its parameters are as the route says or it is
// refused. Method: a small table.
#include "admin/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pawl::admin {
namespace {

using ::testing::HasSubstr;
using In = Parameter::In;

Routes example() {
  const Parameter tenant{"tenant", "", schema::text(1, 5), In::path};
  return {
      {.method = "GET",
       .path = "/v1/tenants",
       .id = "list",
       .summary = "",
       .parameters = {{"limit", "", schema::whole(1, 10)}, {"force", "", schema::truth()}},
       .handle = {}},
      {.method = "GET",
       .path = "/v1/tenants/{tenant}/usage",
       .id = "usage",
       .summary = "",
       .parameters = {tenant},
       .handle = {}},
      {.method = "PUT",
       .path = "/v1/tenants/{tenant}/usage",
       .id = "set",
       .summary = "",
       .parameters = {tenant},
       .handle = {}},
      {.method = "*",
       .path = "/v1/rest/{path}",
       .id = "rest",
       .summary = "",
       .takes_rest = true,
       .handle = {}},
  };
}

class RouterTest : public ::testing::Test {
 protected:
  std::string_view id(std::string_view method, std::string_view target) {
    found = router.find(method, target);
    return found.route == nullptr ? "" : found.route->id;
  }
  Result<Values> parameters(std::string_view target) {
    found = router.find("GET", target);
    return read_parameters(found, target);
  }

  Routes routes = example();
  Router router{routes};
  Found found;
};

TEST_F(RouterTest, FindsByMethodAndPath) {
  EXPECT_EQ(id("GET", "/v1/tenants"), "list");
  EXPECT_EQ(id("HEAD", "/v1/tenants?limit=1"), "list");
  EXPECT_EQ(id("GET", "/v1/tenants/acme/usage"), "usage");
  EXPECT_EQ(id("PUT", "/v1/tenants/a%2Fb/usage"), "set");
  EXPECT_EQ(id("PATCH", "/v1/rest/a//b?c=%zz"), "rest");
  EXPECT_EQ(found.names.front().second, "a//b?c=%zz");
  EXPECT_EQ(id("GET", "/v1/rest/"), "rest");
}

TEST_F(RouterTest, FindsNothingBeside) {
  for (const char* target :
       {"/", "", "*", "/v1", "/v1/", "/v1/tenants/", "/v1//tenants", "/V1/tenants", "/v1/%74enants",
        "/v1/tenants/acme", "/v1/tenants//usage", "/v1/tenants/acme/usage/",
        "/v1/tenants/a/b/usage", "/v1/rest", "v1/tenants", "/v1/tenants/../tenants"}) {
    EXPECT_EQ(id("GET", target), "") << target;
    EXPECT_EQ(found.allow, "") << target;
  }
}

TEST_F(RouterTest, SaysWhichMethodsAPathHas) {
  EXPECT_EQ(id("POST", "/v1/tenants/acme/usage"), "");
  EXPECT_EQ(found.allow, "GET, HEAD, PUT");
}

TEST_F(RouterTest, ReadsParametersAsTheRouteSays) {
  EXPECT_EQ(parameters("/v1/tenants?limit=10&force=true").value(),
            (Values{{"limit", json::Number{"10"}}, {"force", true}}));
  EXPECT_EQ(parameters("/v1/tenants/a%2Fb/usage").value(), (Values{{"tenant", "a/b"}}));
}

TEST_F(RouterTest, NamesTheParameterThatDoesNotFit) {
  const std::pair<const char*, const char*> cases[] = {
      {"/v1/tenants?limit=0", "limit: found 0"},
      {"/v1/tenants?limit=11", "limit: found 11"},
      {"/v1/tenants?limit=-1", "limit: found a value of type string"},
      {"/v1/tenants?limit=", "limit: found a value of type string"},
      {"/v1/tenants?limit=99999999999999999999", "limit: found a value of type number"},
      {"/v1/tenants?force=yes", "force: found"},
      {"/v1/tenants?limits=1", "not known; allowed: limit, force"},
      {"/v1/tenants?limit=1&limit=1", "twice"},
      {"/v1/tenants/toolong/usage", "tenant: found 7 bytes"},
      {"/v1/tenants/%zz/usage", "%"},
      {"/v1/tenants/a/usage?tenant=b", "tenant: it stands in the path"},
  };
  for (const auto& [target, expected] : cases) {
    const Result<Values> read = parameters(target);
    ASSERT_FALSE(read.has_value()) << target;
    EXPECT_THAT(read.error().message, HasSubstr(expected)) << target;
  }
}

}  // namespace
}  // namespace pawl::admin
