// Goal: what an endpoint answers ends a delivery, or has it come again when the endpoint said.
// Method: every class of status, with and without Retry-After; the schedule added up.
#include "core/webhook/delivery.h"

#include <gtest/gtest.h>

namespace pawl::webhook {
namespace {

constexpr Instant noon = Instant::from_ns(1'700'000'000'000'000'000);

Heard heard(int status, std::vector<limit::Field> fields = {}) {
  return hear(status, fields, noon);
}

TEST(Delivery, IsAcknowledgedByEverySuccess) {
  for (const int status : {200, 201, 202, 204, 299}) {
    EXPECT_EQ(heard(status).seen.outcome, Outcome::applied) << status;
  }
}

TEST(Delivery, IsNotTriedAgainWhereItWillNeverBeTaken) {
  for (const int status : {400, 401, 403, 404, 405, 409, 410, 413, 415, 422, 451}) {
    EXPECT_FALSE(heard(status).seen.retryable) << status;
    EXPECT_NE(heard(status).seen.outcome, Outcome::applied) << status;
  }
}

TEST(Delivery, IsTriedAgainWhereThatMayHelp) {
  for (const int status : {301, 302, 307, 408, 425, 429, 500, 502, 503, 504, 599}) {
    EXPECT_TRUE(heard(status).seen.retryable) << status;
    EXPECT_NE(heard(status).seen.outcome, Outcome::applied) << status;
  }
}

TEST(Delivery, WaitsForWhatTheEndpointSaid) {
  for (const int status : {429, 503}) {
    EXPECT_EQ(heard(status, {{"retry-after", "120"}}).pushback, Duration::seconds(120));
    EXPECT_EQ(heard(status, {{"retry-after", "Tue, 14 Nov 2023 22:14:20 GMT"}}).pushback,
              Duration::minutes(1));
    EXPECT_EQ(heard(status).pushback, Duration());
    EXPECT_EQ(heard(status, {{"retry-after", "soon"}}).pushback, Duration());
  }
  EXPECT_EQ(heard(500, {{"retry-after", "120"}}).pushback, Duration());
  EXPECT_EQ(heard(200, {{"retry-after", "120"}}).pushback, Duration());
}

TEST(Delivery, IsTriedForThreeDays) {
  const retry::Policy policy = delivery_policy();
  EXPECT_TRUE(check(policy));
  Duration all;
  for (const Duration delay : policy.delays) all = all + delay;
  EXPECT_GE(all, Duration::days(3));
  EXPECT_EQ(policy.max_attempts, 10);
  EXPECT_EQ(policy.delays.front(), Duration::seconds(5));
}

TEST(Delivery, HasAKeyOfItsOwn) {
  EXPECT_EQ(record_key("billing", "evt_1"), "webhook billing evt_1");
}

TEST(DeliveryState, IsReadByItsName) {
  for (const State state : {State::pending, State::acknowledged, State::given_up}) {
    EXPECT_EQ(state_of(to_string(state)), state);
  }
  EXPECT_FALSE(state_of("lost"));
}

}  // namespace
}  // namespace pawl::webhook
