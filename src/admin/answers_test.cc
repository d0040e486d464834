// Goal: what is asked twice under one key is done once and answered twice. Method: an admin API
// whose tenants count how often they are reset; and replies that come late.
#include "admin/answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admin/admin_fixture.h"
#include "base/bounds_panel.h"

namespace pawl::admin {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class AnswersTest : public AdminFixture {
 protected:
  Heard reset(const std::string& key, const std::string& body = R"({"bucket":"orders"})") {
    return ask("POST", "/v1/tenants/acme/reset", body, "Idempotency-Key: " + key + "\r\n");
  }
  std::size_t done() const { return audit.events().size(); }
};

TEST_F(AnswersTest, DoesOnceWhatIsAskedTwice) {
  const Heard first = reset("k1");
  EXPECT_EQ(first.status, 200);
  EXPECT_THAT(first.head, Not(HasSubstr("Idempotent-Replay")));
  const Heard second = reset("k1");
  EXPECT_EQ(second.status, 200);
  EXPECT_EQ(second.body, first.body);
  EXPECT_THAT(second.head, HasSubstr("Idempotent-Replay: true"));
  EXPECT_EQ(done(), 1U);
  reset("k2");
  EXPECT_EQ(done(), 2U);
}

TEST_F(AnswersTest, RefusesAKeyThatWasUsedForSomethingElse) {
  reset("k1");
  const Heard other = reset("k1", "{}");
  EXPECT_EQ(other.status, 422);
  EXPECT_EQ(other.text("code"), "ERR_IDEMPOTENCY_MISMATCH");
  EXPECT_EQ(reset(std::string(256, 'a')).status, 400);
  EXPECT_EQ(done(), 1U);
}

TEST_F(AnswersTest, TriesAgainWhereTheStoreWasAway) {
  while (audit.append({.type = audit::EventType::config,
                       .timestamp = {},
                       .operation = "full",
                       .correlation = {},
                       .details = {}})) {
  }
  EXPECT_EQ(reset("k1").status, 503);
  const Heard again = reset("k1");
  EXPECT_EQ(again.status, 503);
  EXPECT_THAT(again.head, Not(HasSubstr("Idempotent-Replay"))) << "it was tried anew";
}

TEST_F(AnswersTest, TellsARefusalAgain) {
  const Heard refused = reset("k1", R"({"bucket":"none"})");
  EXPECT_EQ(refused.status, 404);
  EXPECT_EQ(reset("k1", R"({"bucket":"none"})").body, refused.body);
}

TEST_F(AnswersTest, ForgetsAfterAnHour) {
  reset("k1");
  clock.advance(bounds::admin_answer_kept + Duration::seconds(1));
  EXPECT_THAT(reset("k1").head, Not(HasSubstr("Idempotent-Replay")));
  EXPECT_EQ(done(), 2U);
}

TEST_F(AnswersTest, KeepsNoMoreThanItsBound) {
  const auto refused = [&](std::size_t i) {
    return reset("key-" + std::to_string(i), R"({"bucket":"none"})").head;
  };
  for (std::size_t i = 0; i < bounds::admin_answers_max + 5; ++i) {
    clock.advance(Duration::milliseconds(1));
    refused(i);
  }
  EXPECT_THAT(refused(0), Not(HasSubstr("Idempotent-Replay"))) << "the oldest is gone";
  EXPECT_THAT(refused(bounds::admin_answers_max + 4), HasSubstr("Idempotent-Replay"));
}

// The first one's answer comes late: the second waits for it.
class LateAnswersTest : public AdminFixture {
 protected:
  LateAnswersTest() {
    context.resume = [this](std::move_only_function<void()> then) {
      waiting.push_back(std::move(then));
    };
  }
  static std::string wire_of(const std::string& key) {
    return wire("POST", "/v1/tenants/acme/reset", R"({"bucket":"orders"})",
                "Idempotency-Key: " + key + "\r\n");
  }
  void answer_all() {
    for (auto& then : std::exchange(waiting, {})) then();
  }

  std::vector<std::move_only_function<void()>> waiting;
};

TEST_F(LateAnswersTest, AnswersAllWhoAskedMeanwhile) {
  const auto first = connect();
  const auto second = connect();
  first->receive(wire_of("k1"));
  second->receive(wire_of("k1"));
  EXPECT_EQ(waiting.size(), 1U) << "the second is not done";
  EXPECT_THAT(second->sent, IsEmpty());
  answer_all();
  EXPECT_EQ(read(first->sent).status, 200);
  EXPECT_EQ(read(second->sent).status, 200);
  EXPECT_THAT(read(second->sent).head, HasSubstr("Idempotent-Replay: true"));
  EXPECT_THAT(read(first->sent).head, Not(HasSubstr("Idempotent-Replay")));
}

TEST_F(LateAnswersTest, RefusesThoseItHasNoRoomFor) {
  std::vector<std::shared_ptr<net::FakeStream>> clients;
  for (std::size_t i = 0; i < bounds::admin_answer_waiters_max + 2; ++i) {
    clients.push_back(connect());
    clients.back()->receive(wire_of("k1"));
  }
  const Heard last = read(clients.back()->sent);
  EXPECT_EQ(last.status, 409);
  EXPECT_EQ(last.text("code"), "ERR_IDEMPOTENCY_IN_FLIGHT");
  EXPECT_THAT(last.head, HasSubstr("Retry-After: 1"));
  answer_all();
}

}  // namespace
}  // namespace pawl::admin
