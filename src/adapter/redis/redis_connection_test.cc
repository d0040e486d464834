// Goal: commands leave together and are answered in order; whatever happens, each call ends once,
// in time, with an outcome that is true. Method: the test plays the server and moves the clock.
#include "adapter/redis/redis_connection.h"

#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>

#include "base/bounds.h"
#include "net/fake.h"
#include "runtime/manual_clock.h"

namespace pawl::redis {
namespace {

const std::string ping = "*1\r\n$4\r\nPING\r\n";

std::string get(int number) {
  const std::string key = std::to_string(number);
  const std::string_view words[] = {"GET", key};
  std::string bytes;
  append_command(bytes, words);
  return bytes;
}

class ConnectionTest : public ::testing::Test, protected Connection::Owner {
 protected:
  void make() { connection = Connection::make(around(), {"cache", 6379}, *this); }
  // Up and greeted.
  std::shared_ptr<net::FakeStream> up() {
    if (!connection) make();
    auto stream = loop.accept_connect();
    EXPECT_EQ(stream->take_sent(), ping);
    stream->receive("+PONG\r\n");
    EXPECT_EQ(connection->state(), Connection::State::up);
    return stream;
  }
  void send(int number, Duration deadline = Duration::seconds(1)) {
    const std::string bytes = get(number);
    connection->send({.bytes = bytes,
                      .deadline = clock.steady_now() + deadline,
                      .slot = static_cast<std::uint16_t>(number)});
  }
  void advance(Duration by) {
    clock.advance(by);
    loop.advance(by);
  }
  const Error& error_of(int number) {
    const auto found = answers.find(number);
    EXPECT_TRUE(found != answers.end() && !found->second) << number;
    static const Error none(Code::internal, Outcome::applied, "no error");
    return found != answers.end() && !found->second ? found->second.error() : none;
  }

  Surroundings around() { return {.loop = loop, .clock = clock, .url = url, .tls = nullptr}; }
  void on_answer(Connection&, Call call, Result<Reply> reply) override {
    EXPECT_FALSE(answers.contains(call.slot)) << "a call ends once";
    order += std::to_string(call.slot) + " ";
    answers.emplace(call.slot, std::move(reply));
    states_before = states;
  }
  void on_state(Connection&) override { ++states; }

  net::FakeLoop loop;
  ManualClock clock;
  RedisUrl url;
  std::map<int, Result<Reply>> answers;
  std::string order;
  int states = 0;
  int states_before = 0;  // the last answer
  std::shared_ptr<Connection> connection;
};

TEST_F(ConnectionTest, AnswersComeInTheOrderOfTheCalls) {
  const auto stream = up();
  for (const int i : {1, 2, 3}) send(i);
  EXPECT_EQ(stream->take_sent(), get(1) + get(2) + get(3));
  stream->receive("$1\r\na\r\n-ERR wrong\r\n");
  stream->receive(":3\r\n");
  EXPECT_EQ(order, "1 2 3 ");
  EXPECT_EQ(to_string(answers.at(1).value()), "\"a\"");
  EXPECT_TRUE(answers.at(2).value().is_error());
  EXPECT_EQ(*answers.at(3).value().integer(), 3);
}

TEST_F(ConnectionTest, ASplitReplyWaitsForItsRest) {
  const auto stream = up();
  send(1);
  for (const char c : std::string_view("$5\r\nhello\r")) stream->receive({&c, 1});
  EXPECT_TRUE(answers.empty());
  stream->receive("\n");
  EXPECT_EQ(to_string(answers.at(1).value()), "\"hello\"");
}

TEST_F(ConnectionTest, AllCommandsOfOneTurnLeaveInOneWrite) {
  const auto stream = up();
  loop.hold_posted = true;
  for (const int i : {1, 2, 3}) send(i);
  EXPECT_EQ(stream->sent, "");
  loop.run_posted();
  EXPECT_EQ(stream->sent, get(1) + get(2) + get(3));
}

TEST_F(ConnectionTest, CommandsWaitForTheFirstAttemptAndLeaveWhenItSucceeds) {
  make();
  send(1);
  const auto stream = loop.accept_connect();
  send(2);
  EXPECT_EQ(stream->take_sent(), ping) << "nothing before the greeting is over";
  stream->receive("+PONG\r\n");
  EXPECT_EQ(stream->take_sent(), get(1) + get(2));
  stream->receive(":1\r\n:2\r\n");
  EXPECT_EQ(order, "1 2 ");
}

TEST_F(ConnectionTest, LogsInAndChoosesTheDatabaseInOneWrite) {
  url.user = "pawl";
  url.password = Secret<std::string>("s3cret");
  url.database = 7;
  make();
  const auto stream = loop.accept_connect();
  EXPECT_EQ(stream->take_sent(),
            "*3\r\n$4\r\nAUTH\r\n$4\r\npawl\r\n$6\r\ns3cret\r\n"
            "*2\r\n$6\r\nSELECT\r\n$1\r\n7\r\n" +
                ping);
  stream->receive("+OK\r\n+OK\r\n");
  EXPECT_EQ(connection->state(), Connection::State::connecting);
  stream->receive("+PONG\r\n");
  EXPECT_EQ(connection->state(), Connection::State::up);
  EXPECT_EQ(connection->trouble(), "");
}

TEST_F(ConnectionTest, ARefusedLoginSaysWhyAndNotThePassword) {
  url.password = Secret<std::string>("s3cret");
  make();
  send(1);
  const auto stream = loop.accept_connect();
  EXPECT_EQ(stream->take_sent(), "*2\r\n$4\r\nAUTH\r\n$6\r\ns3cret\r\n" + ping);
  stream->receive("-WRONGPASS invalid username-password pair\r\n");
  EXPECT_EQ(connection->state(), Connection::State::down);
  EXPECT_TRUE(stream->closed);
  EXPECT_EQ(error_of(1).outcome, Outcome::not_applied);
  EXPECT_EQ(error_of(1).message,
            "redis cache:6379: the server refuses AUTH: WRONGPASS invalid username-password pair");
}

TEST_F(ConnectionTest, AServerThatLoadsOrWantsAPasswordIsNotUp) {
  for (const char* refusal : {"-LOADING Redis is loading\r\n", "-NOAUTH Authentication\r\n"}) {
    connection.reset();
    make();
    loop.accept_connect()->receive(refusal);
    EXPECT_EQ(connection->state(), Connection::State::down) << refusal;
  }
}

TEST_F(ConnectionTest, ABreakFailsWhatLeftAsUnknownAndTheRestAsNotApplied) {
  const auto stream = up();
  send(1);
  stream->stalled = true;
  send(2);  // the stream has it, so nobody knows
  send(3);
  send(4);
  stream->break_off();
  EXPECT_EQ(order, "1 2 3 4 ");
  EXPECT_EQ(error_of(1).outcome, Outcome::unknown);
  EXPECT_EQ(error_of(2).outcome, Outcome::unknown);
  EXPECT_EQ(error_of(3).outcome, Outcome::not_applied);
  EXPECT_EQ(error_of(4).outcome, Outcome::not_applied);
  for (const int i : {1, 2, 3, 4}) {
    EXPECT_EQ(error_of(i).code, Code::unavailable);
    EXPECT_NE(error_of(i).message.find("redis cache:6379"), std::string::npos);
  }
}

TEST_F(ConnectionTest, WhatWaitedBehindASlowServerLeavesWhenItHasTakenTheRest) {
  const auto stream = up();
  stream->stalled = true;
  send(1);
  send(2);
  EXPECT_EQ(stream->queued_bytes(), get(1).size());
  stream->drain();
  EXPECT_EQ(stream->take_sent(), get(1) + get(2));
}

TEST_F(ConnectionTest, ADeadlineEndsACallThatLeftAsUnknownAndItsLateAnswerIsDropped) {
  const auto stream = up();
  send(1, Duration::milliseconds(50));
  send(2, Duration::milliseconds(200));
  advance(Duration::milliseconds(49));
  EXPECT_EQ(order, "");
  advance(Duration::milliseconds(1));
  EXPECT_EQ(order, "1 ");
  EXPECT_EQ(error_of(1).outcome, Outcome::unknown);
  stream->receive(":1\r\n:2\r\n");
  EXPECT_EQ(order, "1 2 ");
  EXPECT_EQ(*answers.at(2).value().integer(), 2);
}

TEST_F(ConnectionTest, DeadlinesNeedNotBeInTheOrderOfTheCalls) {
  const auto stream = up();
  send(1, Duration::milliseconds(300));
  send(2, Duration::milliseconds(100));
  send(3, Duration::milliseconds(200));
  for (int i = 0; i < 3; ++i) advance(Duration::milliseconds(100));
  EXPECT_EQ(order, "2 3 1 ");
}

TEST_F(ConnectionTest, ACommandWhoseDeadlinePassesBeforeItLeftNeverLeaves) {
  const auto stream = up();
  stream->stalled = true;
  send(1);
  send(2, Duration::milliseconds(10));
  send(3, Duration::milliseconds(500));
  send(4, Duration::milliseconds(10));
  advance(Duration::milliseconds(10));
  EXPECT_EQ(order, "2 4 ");
  EXPECT_EQ(error_of(2).outcome, Outcome::not_applied);
  EXPECT_EQ(error_of(4).outcome, Outcome::not_applied);
  stream->drain();
  EXPECT_EQ(stream->take_sent(), get(1) + get(3));
  stream->receive(":1\r\n:3\r\n");
  EXPECT_EQ(order, "2 4 1 3 ");
}

TEST_F(ConnectionTest, ManyThatExpireAtOnceLeaveTheOthersWholeAndInOrder) {
  const auto stream = up();
  stream->stalled = true;
  send(0);
  constexpr int many = 5'000;
  std::string rest;
  for (int i = 1; i <= many; ++i) {
    const bool stays = i % 7 == 0;
    send(i, stays ? Duration::seconds(1) : Duration::milliseconds(10));
    if (stays) rest += get(i);
  }
  advance(Duration::milliseconds(10));
  EXPECT_EQ(answers.size(), static_cast<std::size_t>(many - many / 7));
  stream->drain();
  EXPECT_TRUE(stream->take_sent() == get(0) + rest);
  stream->receive(":0\r\n");
  for (int i = 7; i <= many; i += 7) {
    stream->receive(":" + std::to_string(i) + "\r\n");
    ASSERT_EQ(*answers.at(i).value().integer(), i);
  }
  EXPECT_EQ(connection->calls(), 0u);
}

// The loop was busy: the timer has not gone off yet when the commands are about to leave.
TEST_F(ConnectionTest, NothingLeavesLate) {
  const auto stream = up();
  loop.hold_posted = true;
  send(1, Duration::milliseconds(10));
  send(2, Duration::milliseconds(30));
  clock.advance(Duration::milliseconds(20));
  loop.run_posted();
  EXPECT_EQ(stream->take_sent(), get(2));
  EXPECT_EQ(error_of(1).outcome, Outcome::not_applied);
}

TEST_F(ConnectionTest, ADeadlineHoldsWhileConnectingToo) {
  make();
  send(1, Duration::milliseconds(10));
  advance(Duration::milliseconds(10));
  EXPECT_EQ(error_of(1).outcome, Outcome::not_applied);
  const auto stream = loop.accept_connect();
  stream->receive("+PONG\r\n");
  EXPECT_EQ(stream->take_sent(), ping);
}

TEST_F(ConnectionTest, ASilentServerIsGivenUp) {
  const auto stream = up();
  advance(Duration::minutes(10));
  for (int i = 0; i < 60 && !stream->closed; ++i) {
    send(i, Duration::milliseconds(100));
    advance(Duration::milliseconds(100));
  }
  EXPECT_TRUE(stream->closed);
  EXPECT_EQ(answers.size(), 50u) << "it is given up after five seconds, not before";
}

TEST_F(ConnectionTest, ASlowServerThatStillSpeaksIsNotGivenUp) {
  const auto stream = up();
  for (int i = 0; i < 100; ++i) {
    send(i, Duration::milliseconds(100));
    advance(Duration::milliseconds(100));
    stream->receive(":0\r\n");  // each answer comes just too late
  }
  EXPECT_FALSE(stream->closed);
  EXPECT_EQ(answers.size(), 100u);
}

TEST_F(ConnectionTest, ThatItBrokeIsToldBeforeTheCallsItBroke) {
  const auto stream = up();
  const int states_up = states;
  send(1);
  stream->break_off();
  EXPECT_EQ(error_of(1).outcome, Outcome::unknown);
  EXPECT_EQ(states_before, states_up + 1);
}

TEST_F(ConnectionTest, WhileDownCallsFailAtOnceWithTheReason) {
  make();
  loop.refuse_connect();
  EXPECT_EQ(connection->state(), Connection::State::down);
  send(1);
  EXPECT_EQ(error_of(1).outcome, Outcome::not_applied);
  EXPECT_EQ(error_of(1).code, Code::unavailable);
  EXPECT_EQ(error_of(1).message, "redis cache:6379: not connected: refused");
}

TEST_F(ConnectionTest, TriesAgainWithGrowingWaitsUpToTheLongest) {
  make();
  loop.refuse_connect();
  std::vector<std::int64_t> waits;
  for (int attempt = 0; attempt < 12; ++attempt) {
    std::int64_t waited = 0;
    while (loop.connecting.empty()) {
      advance(Duration::milliseconds(1));
      ASSERT_LE(++waited, bounds::redis_backoff_max.milliseconds_up());
    }
    waits.push_back(waited);
    loop.refuse_connect();
  }
  EXPECT_LE(waits.front(), 50);
  EXPECT_GE(waits.front(), 25);
  EXPECT_GE(waits.back(), 1000);
  EXPECT_GT(std::set<std::int64_t>(waits.end() - 5, waits.end()).size(), 1u) << "they are spread";
}

TEST_F(ConnectionTest, ComesBackByItself) {
  make();
  loop.refuse_connect();
  advance(Duration::milliseconds(50));
  const auto stream = up();
  send(1);
  stream->receive(":1\r\n");
  EXPECT_TRUE(answers.at(1).has_value());
}

TEST_F(ConnectionTest, AConnectionThatWasGoodIsSoughtAgainAtOnceAndCallsWaitForIt) {
  const auto stream = up();
  advance(Duration::seconds(1));
  stream->break_off();
  EXPECT_EQ(connection->state(), Connection::State::connecting);
  send(1);
  advance(Duration());
  const auto second = up();
  EXPECT_EQ(second->take_sent(), get(1));
}

TEST_F(ConnectionTest, AConnectionThatFlapsIsNotSoughtInATightLoop) {
  auto stream = up();
  stream->break_off();
  EXPECT_EQ(connection->state(), Connection::State::down);
  advance(Duration());
  EXPECT_TRUE(loop.connecting.empty());
}

TEST_F(ConnectionTest, AGreetingThatNeverEndsIsAnError) {
  make();
  const auto stream = loop.accept_connect();
  advance(bounds::redis_connect_deadline);
  EXPECT_TRUE(stream->closed);
  EXPECT_EQ(connection->state(), Connection::State::down);
}

TEST_F(ConnectionTest, WhatIsNotTheProtocolBreaksTheConnection) {
  const auto stream = up();
  send(1);
  send(2);
  stream->receive(":1\r\nHTTP/1.1 200 OK\r\n");
  EXPECT_TRUE(answers.at(1).has_value());
  EXPECT_EQ(error_of(2).outcome, Outcome::unknown);
  EXPECT_NE(error_of(2).message.find("not the Redis protocol"), std::string::npos);
  EXPECT_TRUE(stream->closed);
}

TEST_F(ConnectionTest, AnAnswerNobodyAskedForBreaksTheConnection) {
  const auto stream = up();
  stream->receive("+SURPRISE\r\n");
  EXPECT_TRUE(stream->closed);
  EXPECT_NE(connection->trouble().find("nobody asked"), std::string::npos);
}

// A reply to what has not left cannot be one.
TEST_F(ConnectionTest, AnAnswerBeforeItsCommandLeftBreaksTheConnection) {
  const auto stream = up();
  loop.hold_posted = true;
  send(1);
  stream->receive("+OK\r\n");
  EXPECT_EQ(error_of(1).outcome, Outcome::not_applied);
}

TEST_F(ConnectionTest, CallsAndBytesAreBounded) {
  const auto stream = up();
  stream->stalled = true;
  send(1);
  const std::string large(bounds::redis_queue_bytes_max, 'x');
  connection->send({.bytes = large, .slot = 2});
  EXPECT_FALSE(answers.contains(2)) << "the most that fits";
  connection->send({.bytes = "y", .slot = 3});
  EXPECT_EQ(error_of(3).outcome, Outcome::not_applied);
  EXPECT_NE(error_of(3).message.find("too many"), std::string::npos);
}

TEST_F(ConnectionTest, ManyCallsInFlightKeepTheirOrder) {
  const auto stream = up();
  constexpr int many = 5'000;
  int answered = 0;
  for (int i = 0; i < many; ++i) {
    send(i);
    if (i % 3 == 0) continue;
    stream->receive(":" + std::to_string(answered) + "\r\n");
    EXPECT_EQ(*answers.at(answered).value().integer(), answered);
    ++answered;
  }
  for (; answered < many; ++answered) stream->receive(":" + std::to_string(answered) + "\r\n");
  EXPECT_EQ(answers.size(), static_cast<std::size_t>(many));
  EXPECT_EQ(*answers.at(many - 1).value().integer(), many - 1);
  EXPECT_EQ(connection->calls(), 0u);
}

TEST_F(ConnectionTest, ClosingFailsEverythingAndSaysNoMore) {
  const auto stream = up();
  send(1);
  stream->stalled = true;
  send(2);
  send(3);
  connection->close();
  EXPECT_TRUE(stream->closed);
  EXPECT_EQ(error_of(1).outcome, Outcome::unknown);
  EXPECT_EQ(error_of(3).outcome, Outcome::not_applied);
  advance(Duration::minutes(1));
  EXPECT_TRUE(loop.connecting.empty());
  send(4);
  EXPECT_EQ(error_of(4).outcome, Outcome::not_applied);
}

TEST_F(ConnectionTest, AnAttemptThatOutlivesTheConnectionIsClosed) {
  make();
  connection.reset();
  EXPECT_TRUE(loop.accept_connect()->closed);
}

}  // namespace
}  // namespace pawl::redis
