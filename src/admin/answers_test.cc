// Goal: what is asked twice under one key is done once and answered twice. Method: an admin API
// whose tenants count how often they are reset; replies that come late; and Answers alone, with
// little room.
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
  fill_audit();
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

TEST_F(AnswersTest, DoesNothingUnderAKeyOfAnotherRun) {
  context.run = "run-2";
  const auto reset_of = [&](const std::string& run) {
    return ask("POST", "/v1/tenants/acme/reset", R"({"bucket":"orders"})",
               "Idempotency-Key: k1\r\nX-Pawl-Run: " + run + "\r\n");
  };
  const Heard refused = reset_of("run-1");
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.text("code"), "ERR_IDEMPOTENCY_KEY_FORGOTTEN");
  EXPECT_EQ(done(), 0U);
  EXPECT_EQ(reset_of("run-2").status, 200);
  EXPECT_EQ(reset_of("run-1").status, 409) << "though the key is known by now";
  EXPECT_EQ(done(), 1U);
}

TEST_F(AnswersTest, KeepsThoseOfThePanelApartFromThoseOfPrograms) {
  const std::string browser = "Origin: http://127.0.0.1:8081\r\n";
  const auto press = [&](const std::string& key) {
    return ask("POST", "/v1/tenants/acme/reset", R"({"bucket":"none"})",
               browser + "Idempotency-Key: " + key + "\r\n");
  };
  for (std::size_t i = 0; i < bounds::panel_answers_max; ++i) press("key-" + std::to_string(i));
  EXPECT_EQ(press("one-more").status, 503);
  EXPECT_THAT(press("key-0").head, HasSubstr("Idempotent-Replay"));
  EXPECT_EQ(reset("of-a-program").status, 200);
}

TEST_F(AnswersTest, KeepsNothingOfWhatChangesNothing) {
  const std::string order =
      R"({"venue":"okx","inst":"BTC","side":"buy","type":"market","size":"1"})";
  for (int i = 0; i < 2; ++i) {
    const Heard told = ask("POST", "/v1/order-prechecks", order, "Idempotency-Key: k1\r\n");
    EXPECT_EQ(told.status, 404) << "there are no orders here";
    EXPECT_THAT(told.head, Not(HasSubstr("Idempotent-Replay")));
  }
}

// Answers alone: whatever is asked is done at once, and answered with `answer`.
class AnswersRoomTest : public ::testing::Test {
 protected:
  using From = Answers::From;

  AnswersRoomTest() { EXPECT_TRUE(server.listen(Endpoint()).has_value()); }

  // What is sent.
  std::string ask(From asking, const std::string& key) {
    from = asking;
    auto stream = std::make_shared<net::FakeStream>();
    loop.accepted(stream);
    stream->receive("POST / HTTP/1.1\r\nHost: a\r\nIdempotency-Key: " + key + "\r\n\r\n");
    return stream->sent;
  }
  // How often it is done when it is asked for.
  int does(From asking, const std::string& key) {
    const int before = done;
    ask(asking, key);
    return done - before;
  }
  void respond(const server::Request& request, server::Reply reply) {
    auto tap = answers.begin(request, from, reply, clock.steady_now());
    if (!tap) return;
    ++done;
    tap->answered(answer);
    std::move(reply).send(answer);
  }

  ManualClock clock;
  Answers answers{{.keys = 2, .bytes = 1'000'000}, {.keys = 1, .bytes = 1'000}};
  From from = From::program;
  server::Response answer{.status = 201, .body = "{}"};
  int done = 0;
  net::FakeLoop loop;
  server::HttpServer server{loop, clock, {.make_handler = [this](server::Connection& client) {
                              return server::make_responder(
                                  client,
                                  [this](const server::Request& request, server::Reply reply) {
                                    respond(request, std::move(reply));
                                  },
                                  bounds::admin_body_bytes_max);
                            }}};
};

TEST_F(AnswersRoomTest, LetsNoKeyGoWithinItsHour) {
  EXPECT_EQ(does(From::program, "a"), 1);
  clock.advance(Duration::minutes(20));
  EXPECT_EQ(does(From::program, "b"), 1);
  const std::string refused = ask(From::program, "c");
  EXPECT_THAT(refused, HasSubstr("HTTP/1.1 503"));
  EXPECT_THAT(refused, HasSubstr("ERR_OVERLOADED"));
  EXPECT_THAT(refused, HasSubstr("Nothing was done"));
  EXPECT_THAT(refused, HasSubstr("Retry-After: 2400\r\n"));
  EXPECT_EQ(does(From::program, "a") + does(From::program, "b"), 0) << "both are remembered";
  clock.advance(Duration::minutes(40) + Duration::seconds(1));
  EXPECT_EQ(does(From::program, "c"), 1) << "a is over";
  EXPECT_EQ(does(From::program, "b"), 0);
  EXPECT_EQ(answers.size(), 2U);
}

TEST_F(AnswersRoomTest, LeavesThePanelItsRoom) {
  EXPECT_EQ(does(From::program, "a") + does(From::program, "b") + does(From::program, "c"), 2);
  EXPECT_EQ(does(From::panel, "p"), 1);
  EXPECT_EQ(does(From::panel, "q"), 0) << "its room is full too";
  EXPECT_EQ(does(From::program, "p"), 0) << "a key is one, whoever shows it";
}

TEST_F(AnswersRoomTest, DoesNotDoAgainWhatWasTooLargeToKeep) {
  answer.body = std::string(bounds::admin_answer_bytes_max, 'x');
  ask(From::program, "a");
  answer.body += "x";
  EXPECT_THAT(ask(From::program, "b"), HasSubstr("xxx"));
  EXPECT_THAT(ask(From::program, "a"), HasSubstr("xxx"));
  const std::string again = ask(From::program, "b");
  EXPECT_EQ(done, 2);
  EXPECT_THAT(again, HasSubstr("HTTP/1.1 201"));
  EXPECT_THAT(again, HasSubstr("Idempotent-Replay: true"));
  EXPECT_THAT(again, HasSubstr("ERR_IDEMPOTENCY_NOT_REPLAYABLE"));
  EXPECT_THAT(again, HasSubstr("too large to keep"));
}

TEST_F(AnswersRoomTest, DoesNotDoAgainWhatThereWasNoRoomFor) {
  answer.body = std::string(1'001, 'x');
  ask(From::panel, "a");
  EXPECT_THAT(ask(From::panel, "a"), HasSubstr("ERR_IDEMPOTENCY_NOT_REPLAYABLE"));
  EXPECT_EQ(done, 1);
}

TEST_F(AnswersRoomTest, GivesBackTheRoomOfWhatIsOverOrFailed) {
  answer.body = std::string(1'000, 'x');
  ask(From::panel, "a");
  clock.advance(bounds::admin_answer_kept + Duration::seconds(1));
  ask(From::panel, "b");
  EXPECT_THAT(ask(From::panel, "b"), HasSubstr("xxx"));
  clock.advance(bounds::admin_answer_kept + Duration::seconds(1));
  answer.status = 503;
  EXPECT_EQ(does(From::panel, "c") + does(From::panel, "c"), 2);
  EXPECT_EQ(answers.size(), 0U);
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
