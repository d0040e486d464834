// Goal: probes are open, everything else asks for the token when there is one.
#include "gateway/admin.h"

#include <gtest/gtest.h>

namespace pawl::gateway {
namespace {

class AdminTest : public ::testing::Test {
 protected:
  int status(std::string method, std::string target, std::string authorization = "") {
    server::Request request{
        .method = std::move(method), .target = std::move(target), .headers = {}, .body = {}};
    if (!authorization.empty()) request.headers.emplace_back("authorization", authorization);
    response = answer_admin(context, request);
    return response.status;
  }

  metrics::Registry registry;
  Result<void> ready;
  std::string degraded;
  int refreshed = 0;
  AdminContext context{.metrics = registry,
                       .token = Secret<std::string>("s3cret"),
                       .ready = [this] { return ready; },
                       .degraded = [this] { return degraded; },
                       .refresh = [this] { ++refreshed; }};
  server::Response response;
};

TEST_F(AdminTest, ProbesNeedNoToken) {
  EXPECT_EQ(status("GET", "/healthz"), 200);
  EXPECT_EQ(status("HEAD", "/readyz?x"), 200);
  ready = failure(Code::unavailable, "it is draining");
  EXPECT_EQ(status("GET", "/readyz"), 503);
  EXPECT_EQ(response.body, "{\"detail\":\"it is draining\",\"status\":\"not ready\"}\n");
  EXPECT_EQ(status("GET", "/healthz"), 200);
  EXPECT_EQ(response.body, "{\"status\":\"ok\"}\n");
  degraded = "a \"store\" is lost";
  EXPECT_EQ(status("GET", "/healthz"), 200) << "it serves, if less well";
  EXPECT_EQ(response.body, "{\"detail\":\"a \\\"store\\\" is lost\",\"status\":\"degraded\"}\n");
}

TEST_F(AdminTest, MetricsNeedTheToken) {
  registry.counter("pawl_test_total", "A test.").add(3);
  EXPECT_EQ(status("GET", "/metrics"), 401);
  EXPECT_EQ(response.body.find("pawl_test_total"), std::string::npos);
  EXPECT_EQ(status("GET", "/metrics", "Bearer s3cre"), 401);
  EXPECT_EQ(status("GET", "/metrics", "Bearer s3cret2"), 401);
  EXPECT_EQ(status("GET", "/metrics", "s3cret"), 401);
  EXPECT_EQ(refreshed, 0);
  EXPECT_EQ(status("GET", "/metrics", "Bearer s3cret"), 200);
  EXPECT_NE(response.body.find("pawl_test_total 3"), std::string::npos);
  EXPECT_EQ(refreshed, 1);
}

TEST_F(AdminTest, WithoutATokenNoneIsAskedFor) {
  context.token = Secret<std::string>();
  EXPECT_EQ(status("GET", "/metrics"), 200);
}

TEST_F(AdminTest, OtherPathsAndMethodsAreRefused) {
  EXPECT_EQ(status("GET", "/", "Bearer s3cret"), 404);
  EXPECT_EQ(status("GET", "/"), 401) << "what exists is not told to strangers";
  EXPECT_EQ(status("POST", "/metrics", "Bearer s3cret"), 405);
}

}  // namespace
}  // namespace pawl::gateway
