// Goal: a request passes the gate, finds its route, is checked with it, and is answered as browsers
// may see it; what is not in the table is not served. Method: an Admin on stores in memory, asked
// over a connection.
#include "admin/admin.h"

#include <gmock/gmock.h>

#include "admin/admin_fixture.h"
#include "admin/openapi.h"

namespace pawl::admin {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using AdminTest = AdminFixture;

TEST_F(AdminTest, ProbesNeedNoToken) {
  context.gate.token = Secret<std::string>("s3cret");
  EXPECT_EQ(get("/healthz").body, "{\"status\":\"ok\"}\n");
  degraded = "a \"store\" is lost";
  EXPECT_EQ(get("/healthz").body,
            "{\"detail\":\"a \\\"store\\\" is lost\",\"status\":\"degraded\"}\n");
  EXPECT_EQ(get("/readyz").status, 200);
  ready = failure(Code::unavailable, "it is draining");
  const Heard not_ready = get("/readyz");
  EXPECT_EQ(not_ready.status, 503);
  EXPECT_EQ(not_ready.body, "{\"detail\":\"it is draining\",\"status\":\"not ready\"}\n");
}

TEST_F(AdminTest, EverythingElseAsksForTheTokenAndTellsStrangersNothing) {
  context.gate.token = Secret<std::string>("s3cret");
  metrics.counter("pawl_test_total", "A test.").add(3);
  for (const char* target : {"/metrics", "/openapi.json", "/v1/tenants", "/v1/none", "/"}) {
    EXPECT_EQ(get(target).status, 401) << target;
    EXPECT_EQ(ask("POST", target).status, 401) << target;
  }
  EXPECT_EQ(refreshed, 0);
  const Heard numbers = get("/metrics", "Authorization: Bearer s3cret\r\n");
  EXPECT_EQ(numbers.status, 200);
  EXPECT_THAT(numbers.body, HasSubstr("pawl_test_total 3"));
  EXPECT_EQ(refreshed, 1);
  EXPECT_EQ(get("/v1/none", "Authorization: Bearer s3cret\r\n").status, 404);
}

TEST_F(AdminTest, EveryAnswerKeepsBrowsersFromDoingHarm) {
  context.gate.token = Secret<std::string>("s3cret");
  for (const char* target : {"/healthz", "/v1/tenants"}) {
    EXPECT_THAT(
        get(target).head,
        AllOf(HasSubstr("Content-Security-Policy: default-src 'none'"),
              HasSubstr("frame-ancestors 'none'"), HasSubstr("Cache-Control: no-store"),
              HasSubstr("X-Content-Type-Options: nosniff"), Not(HasSubstr("Access-Control"))))
        << target;
  }
}

TEST_F(AdminTest, SaysWhatIsNotServedAndHowAPathIsAsked) {
  EXPECT_EQ(get("/v1/nothing").code(), "ERR_NOT_FOUND");
  const Heard wrong = ask("POST", "/v1/tenants");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_THAT(wrong.head, HasSubstr("Allow: GET, HEAD\r\n"));
  const Heard options = ask("OPTIONS", "/v1/tenants", "", "Origin: http://127.0.0.1:8081\r\n");
  EXPECT_EQ(options.status, 405);
  EXPECT_THAT(options.head, Not(HasSubstr("Access-Control")));
}

TEST_F(AdminTest, ChecksParametersAndBodiesWithItsTable) {
  EXPECT_THAT(get("/v1/tenants?limit=0").text("detail"), HasSubstr("limit: found 0"));
  EXPECT_THAT(get("/v1/tenants?x=1").text("detail"), HasSubstr("allowed: limit"));
  const char* plan = "/v1/tenants/acme/plan";
  EXPECT_THAT(ask("PUT", plan, "{").text("detail"), HasSubstr("line 1"));
  EXPECT_THAT(ask("PUT", plan).text("detail"), HasSubstr("plan: found nothing"));
  EXPECT_THAT(ask("PUT", plan, "{\"plan\":1}").text("detail"), HasSubstr("plan: found"));
  EXPECT_THAT(ask("PUT", plan, R"({"plan":"pro","x":1})").text("detail"), HasSubstr("not known"));
  EXPECT_EQ(tenants.plan, "free");
}

TEST_F(AdminTest, TheDocumentHasEveryRouteAndItsAnswers) {
  const Heard told = get("/openapi.json");
  ASSERT_EQ(told.status, 200);
  const json::Value document = told.json();
  EXPECT_EQ(*document.find("openapi")->if_string(), "3.1.0");
  const json::Value* paths = document.find("paths");
  const json::Value* plan = paths->find("/v1/tenants/{tenant}/plan")->find("put");
  ASSERT_NE(plan, nullptr);
  for (const char* status : {"200", "400", "401", "403", "404", "413", "429", "503"}) {
    EXPECT_NE(plan->find("responses")->find(status), nullptr) << status;
  }
  EXPECT_NE(plan->find("requestBody"), nullptr);
  EXPECT_NE(paths->find("/v1/authorize/{path}")->find("delete"), nullptr);
  EXPECT_EQ(paths->find("/healthz")->find("get")->find("responses")->find("401"), nullptr);
  for (const char* path : {"/healthz",
                           "/readyz",
                           "/metrics",
                           "/openapi.json",
                           "/v1/tenants",
                           "/v1/tenants/{tenant}/usage",
                           "/v1/tenants/{tenant}/reset",
                           "/v1/check",
                           "/v1/reserve",
                           "/v1/commit",
                           "/v1/cancel",
                           "/v1/renew",
                           "/v1/authorize",
                           "/v1/idempotency",
                           "/v1/idempotency/stats",
                           "/v1/idempotency/{tenant}/{key}",
                           "/v1/idempotency/{tenant}/{key}/settle",
                           "/v1/audit",
                           "/v1/events",
                           "/v1/webhooks/deliveries",
                           "/v1/webhooks/events"}) {
    EXPECT_NE(paths->find(path), nullptr) << path;
  }
}

TEST_F(AdminTest, AHeadIsAnsweredAsAGetWithoutItsBody) {
  const Heard head = ask("HEAD", "/v1/tenants");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.body, "");
}

}  // namespace
}  // namespace pawl::admin
