// Goal: the policies in force are told as their owner tells them. Method: a made-up answer.
#include "admin/policies.h"

#include <gtest/gtest.h>

#include "admin/admin_fixture.h"

namespace pawl::admin {
namespace {

class PoliciesTest : public AdminFixture {};

TEST_F(PoliciesTest, AreToldAsTheyAre) {
  context.policies = [] { return json::Object{{"limits", json::Array{"one"}}}; };
  EXPECT_EQ(get("/v1/policies").body, "{\"limits\":[\"one\"]}\n");
}

}  // namespace
}  // namespace pawl::admin
