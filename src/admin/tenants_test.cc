// Goal: tenants are told and changed as the book says, and every change is on record first.
// Method: an Admin on a book of one bucket.
#include "admin/tenants.h"

#include <gmock/gmock.h>

#include "admin/admin_fixture.h"

namespace pawl::admin {
namespace {

using ::testing::HasSubstr;

using TenantsTest = AdminFixture;

TEST_F(TenantsTest, ListsThem) {
  EXPECT_EQ(get("/v1/tenants").body,
            R"({"tenants":[{"last_seen":null,"plan":"free","tenant":"acme"},)"
            R"({"last_seen":"1970-01-01T00:00:01.000Z","plan":"free","tenant":"beta"}]})"
            "\n");
  EXPECT_EQ(get("/v1/tenants?limit=1").json().find("tenants")->if_array()->size(), 1U);
}

TEST_F(TenantsTest, TellsUsage) {
  ASSERT_EQ(ask("POST", "/v1/check", R"({"tenant":"a/b","bucket":"orders"})").status, 200);
  EXPECT_EQ(get("/v1/tenants/a%2Fb/usage").body,
            R"({"buckets":[{"bucket":"orders","limit":2,"near":false,"next_plan":null,)"
            R"("plan":"free","remaining":1,"reset_seconds":119,"scope":"tenant","shadow":false,)"
            R"("used":1}],)"
            R"("next_plan":"pro","plan":"free","tenant":"a/b"})"
            "\n");
  tenants.plan = "pro";
  EXPECT_TRUE(get("/v1/tenants/acme/usage").json().find("next_plan")->is_null());
}

TEST_F(TenantsTest, ResetsOnRecord) {
  ask("POST", "/v1/check", R"({"tenant":"acme","bucket":"orders","cost":2})");
  EXPECT_EQ(ask("POST", "/v1/tenants/acme/reset", R"({"bucket":"orders"})").status, 200);
  EXPECT_EQ(last_event(), R"(config tenant reset acme {"bucket":"orders","peer":"192.0.2.7"})");
  EXPECT_THAT(get("/v1/tenants/acme/usage").body, HasSubstr("\"used\":0"));
  EXPECT_EQ(ask("POST", "/v1/tenants/acme/reset").status, 200) << "all of them";
}

TEST_F(TenantsTest, ResetsNoBucketThatIsNotThere) {
  EXPECT_EQ(ask("POST", "/v1/tenants/acme/reset", R"({"bucket":"none"})").status, 404);
  EXPECT_EQ(last_event(), "");
}

TEST_F(TenantsTest, SetsAPlanOnRecord) {
  const Heard set = ask("PUT", "/v1/tenants/acme/plan", R"({"plan":"pro"})");
  EXPECT_EQ(set.body, "{\"plan\":\"pro\",\"tenant\":\"acme\"}\n");
  EXPECT_EQ(tenants.plan, "pro");
  EXPECT_EQ(last_event(), R"(config tenant plan acme {"peer":"192.0.2.7","plan":"pro"})");
}

TEST_F(TenantsTest, SetsNoPlanThatIsNotThereNorPutsItOnRecord) {
  EXPECT_EQ(ask("PUT", "/v1/tenants/acme/plan", R"({"plan":"none"})").status, 404);
  EXPECT_EQ(last_event(), "");
}

}  // namespace
}  // namespace pawl::admin
