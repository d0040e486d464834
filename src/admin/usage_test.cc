// Goal: the usage of many tenants comes in pages, and that of one as a line. Method: the tenants of
// the fixture, a hand-moved time.
#include "admin/usage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admin/admin_fixture.h"

namespace pawl::admin {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class UsageTest : public AdminFixture {
 protected:
  void use(const std::string& tenant) {
    ask("POST", "/v1/check", R"({"tenant":")" + tenant + R"(","bucket":"orders"})");
  }
};

TEST_F(UsageTest, ComesInPages) {
  use("acme");
  const Heard first = get("/v1/usage?limit=1");
  EXPECT_EQ(first.status, 200);
  EXPECT_THAT(first.body, AllOf(HasSubstr(R"("next":"acme")"), HasSubstr(R"("used":1)"),
                                HasSubstr(R"("last_seen":null)"), Not(HasSubstr("beta"))));
  const Heard second = get("/v1/usage?limit=1&after=acme");
  EXPECT_THAT(second.body, AllOf(HasSubstr(R"("tenant":"beta")"), HasSubstr(R"("used":0)")));
  EXPECT_THAT(get("/v1/usage?after=beta").body, HasSubstr(R"({"next":null,"tenants":[]})"));
}

TEST_F(UsageTest, RemembersWhatWasUsed) {
  EXPECT_THAT(get("/v1/tenants/acme/history").body, HasSubstr(R"("buckets":[])"));
  admin.sample();
  use("acme");
  for (int i = 0; i < 10; ++i) {
    clock.advance(Duration::seconds(1));
    admin.sample();
  }
  const std::string told = get("/v1/tenants/acme/history?span=15m").body;
  EXPECT_THAT(told, AllOf(HasSubstr(R"("bucket":"orders")"), HasSubstr(R"("limit":[2,2])"),
                          HasSubstr(R"("used":[0,1])")));
  EXPECT_THAT(get("/v1/tenants/nobody/history").body, HasSubstr(R"("times":[])"));
}

}  // namespace
}  // namespace pawl::admin
