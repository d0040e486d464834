// Goal: what a proxy passes on is read from where no client can forge it. Method: a decision that
// the test makes.
#include "admin/authorize.h"

#include <gmock/gmock.h>

#include "admin/admin_fixture.h"

namespace pawl::admin {
namespace {

using ::testing::HasSubstr;

using AuthorizeTest = AdminFixture;

TEST_F(AuthorizeTest, ReadsWhatNginxSays) {
  decision.extra_fields = "RateLimit: x\r\n";
  const Heard heard =
      get("/v1/authorize", "X-Original-URI: /a%zz/b?c=d\r\nX-Original-Method: POST\r\n");
  EXPECT_EQ(heard.status, 200);
  EXPECT_THAT(heard.head, HasSubstr("RateLimit: x\r\n"));
  ASSERT_EQ(questions.size(), 1U);
  EXPECT_EQ(questions[0].method, "POST");
  EXPECT_EQ(questions[0].target, "/a%zz/b?c=d");
  EXPECT_EQ(questions[0].refusal_status, 0);
}

TEST_F(AuthorizeTest, RefusesWithTheStatusNginxUnderstands) {
  get("/v1/authorize?deny=403", "X-Original-URI: /\r\n");
  ASSERT_EQ(questions.size(), 1U);
  EXPECT_EQ(questions[0].method, "GET");
  EXPECT_EQ(questions[0].refusal_status, 403);
  EXPECT_EQ(get("/v1/authorize?deny=200", "X-Original-URI: /\r\n").status, 400);
}

TEST_F(AuthorizeTest, AsksForTheOriginalTarget) {
  EXPECT_EQ(get("/v1/authorize").status, 400);
  EXPECT_EQ(get("/v1/authorize", "X-Original-URI: http://x/\r\n").status, 400);
  EXPECT_TRUE(questions.empty());
}

TEST_F(AuthorizeTest, ReadsWhatEnvoySendsAndNoFieldThatAClientCouldSend) {
  EXPECT_EQ(ask("DELETE", "/v1/authorize/orders/5?deny=403&x", "",
                "X-Original-URI: /public\r\nX-Original-Method: GET\r\nOrigin: http://shop\r\n")
                .status,
            200);
  ASSERT_EQ(questions.size(), 1U);
  EXPECT_EQ(questions[0].method, "DELETE");
  EXPECT_EQ(questions[0].target, "/orders/5?deny=403&x");
  EXPECT_EQ(questions[0].refusal_status, 0);
  get("/v1/authorize/", "Authorization: Bearer of-the-client\r\n");
  EXPECT_EQ(questions.at(1).target, "/");
}

TEST_F(AuthorizeTest, TakesTheAdminTokenFromAFieldOfItsOwn) {
  context.gate.token = Secret<std::string>("s3cret");
  EXPECT_EQ(get("/v1/authorize/x", "Authorization: Bearer s3cret\r\n").status, 401);
  EXPECT_TRUE(questions.empty());
  EXPECT_EQ(get("/v1/authorize/x", "X-Pawl-Token: s3cret\r\n").status, 200);
}

}  // namespace
}  // namespace pawl::admin
