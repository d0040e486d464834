// Goal: programs get decisions of the limits, on record before they are told, and settle what they
// reserved once. Method: an Admin on counts in memory, a hand-moved clock, a log that is full.
#include "admin/limits.h"

#include <gmock/gmock.h>

#include "admin/admin_fixture.h"

namespace pawl::admin {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LimitsTest : public AdminFixture {
 protected:
  Heard check(int cost = 1, bool peek = false) {
    return ask("POST", "/v1/check",
               R"({"tenant":"acme","bucket":"orders","cost":)" + std::to_string(cost) +
                   (peek ? R"(,"peek":true})" : "}"));
  }
  Heard reserve(int cost) {
    return ask("POST", "/v1/reserve",
               R"({"tenant":"acme","bucket":"orders","hold_ms":60000,"cost":)" +
                   std::to_string(cost) + "}");
  }
  Heard settle(const std::string& how, const std::string& token, const std::string& more = "") {
    return ask("POST", "/v1/" + how, R"({"reservation":")" + token + "\"" + more + "}");
  }
};

TEST_F(LimitsTest, AllowsAndRefusesWith200) {
  EXPECT_EQ(check().text("remaining"), "1");
  EXPECT_EQ(check().text("allowed"), "true");
  EXPECT_THAT(last_event(),
              AllOf(HasSubstr("limit POST /v1/check acme {"), HasSubstr("\"peer\":\"192.0.2.7\"")));
  const Heard refused = check();
  EXPECT_EQ(refused.status, 200);
  EXPECT_EQ(refused.text("allowed"), "false");
  EXPECT_EQ(refused.text("policy"), "orders");
  EXPECT_NE(refused.text("retry_after_ms"), "0");
}

TEST_F(LimitsTest, PeeksWithoutChargeOrRecord) {
  EXPECT_EQ(check(2, true).text("allowed"), "true");
  EXPECT_EQ(last_event(), "");
  EXPECT_EQ(check(2).text("allowed"), "true");
}

TEST_F(LimitsTest, CountsDecisionsAsTheGatewayDoes) {
  check(2);
  check();
  reserve(1);
  EXPECT_THAT(tenants.seen,
              ElementsAre("acme orders allowed", "acme orders refused", "acme orders refused"));
  check(1, true);
  EXPECT_EQ(tenants.seen.size(), 3U) << "a look is no decision";
}

TEST_F(LimitsTest, SettlesAReservationOnce) {
  const std::string token = reserve(2).text("reservation");
  EXPECT_EQ(check().text("allowed"), "false");
  EXPECT_EQ(settle("renew", token, R"(,"hold_ms":1000)").status, 200);
  EXPECT_EQ(settle("commit", token, R"(,"actual":1)").body, "{\"settled\":true}\n");
  EXPECT_EQ(settle("commit", token, R"(,"actual":1)").code(), "ERR_NOT_FOUND");
  EXPECT_EQ(check().text("allowed"), "true") << "one came back";
}

TEST_F(LimitsTest, CancelsAReservation) {
  const std::string token = reserve(2).text("reservation");
  EXPECT_EQ(settle("cancel", token).status, 200);
  EXPECT_EQ(check(2).text("allowed"), "true");
  EXPECT_EQ(reserve(1).text("reservation"), "null");
}

TEST_F(LimitsTest, RefusesWhatMakesNoSense) {
  EXPECT_EQ(ask("POST", "/v1/check", "{}").status, 400);
  EXPECT_EQ(ask("POST", "/v1/check", R"({"tenant":"a b","bucket":"orders"})").status, 400);
  EXPECT_EQ(ask("POST", "/v1/check", R"({"tenant":"acme","bucket":"none"})").status, 404);
  EXPECT_EQ(ask("POST", "/v1/reserve", R"({"tenant":"acme","bucket":"orders"})").status, 400);
  EXPECT_EQ(settle("cancel", "v1.made.up").status, 400);
  EXPECT_EQ(settle("cancel", "v1.00000000deadbeef.orders.61636d65").status, 404);
}

TEST_F(LimitsTest, TellsNothingThatTheLogDoesNotTakeAndChargesNothing) {
  while (audit.append({.type = audit::EventType::request,
                       .timestamp = {},
                       .operation = "fill",
                       .correlation = {},
                       .details = {}})) {
  }
  EXPECT_EQ(check(2).status, 503);
  EXPECT_EQ(reserve(2).status, 503);
  EXPECT_EQ(ask("PUT", "/v1/tenants/acme/plan", R"({"plan":"pro"})").status, 503);
  EXPECT_EQ(tenants.plan, "free");
  EXPECT_EQ(check(2, true).text("remaining"), "2");
}

TEST_F(LimitsTest, AnswersWhenTheStoreHasAndCanWaitForThat) {
  std::vector<std::move_only_function<void()>> waiting;
  context.resume = [&](std::move_only_function<void()> action) {
    waiting.push_back(std::move(action));
  };
  const auto stream = connect();
  stream->receive(wire("POST", "/v1/check", R"({"tenant":"acme","bucket":"orders"})", ""));
  EXPECT_EQ(stream->sent, "");
  admin.drain();  // the store has answered, so it ends
  ASSERT_EQ(waiting.size(), 1U);
  waiting.front()();
  EXPECT_EQ(read(stream->sent).text("allowed"), "true");
}

TEST_F(LimitsTest, ForgetsAClientThatLeftBeforeTheAnswer) {
  std::vector<std::move_only_function<void()>> waiting;
  context.resume = [&](std::move_only_function<void()> action) {
    waiting.push_back(std::move(action));
  };
  const auto stream = connect();
  stream->receive(wire("POST", "/v1/check", R"({"tenant":"acme","bucket":"orders"})", ""));
  stream->break_off();
  waiting.at(0)();
  EXPECT_EQ(stream->sent, "");
}

}  // namespace
}  // namespace pawl::admin
