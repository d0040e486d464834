// Goal: calls of many threads are gathered, bounded, and each ends once. Method: a loop that does
// nothing by itself; what needs a server stands in redis_client_server_test.cc.
#include "adapter/redis/redis_client.h"

#include <gtest/gtest.h>
#include <string>

#include "base/bounds.h"
#include "net/fake.h"
#include "runtime/manual_clock.h"

namespace pawl::redis {
namespace {

constexpr std::string_view ping_bytes = "*1\r\n$4\r\nPING\r\n";

class ClientTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto fake = std::make_unique<net::FakeLoop>();
    loop = fake.get();
    client = Client::make(parse_redis_url("redis://cache").value(), clock, std::move(fake)).value();
  }
  void TearDown() override { end(); }

  void end() {
    if (!client) return;
    loop->hold_posted = false;
    client.reset();
  }

  std::shared_ptr<net::FakeStream> connect() {
    auto stream = loop->accept_connect();
    EXPECT_EQ(stream->take_sent(), ping_bytes);
    stream->receive("+PONG\r\n");
    return stream;
  }
  void call(std::span<const std::string_view> command) {
    client->call(command, "", Duration::seconds(1), [this](Result<Reply> reply) {
      ++ended;
      last = std::move(reply);
    });
  }

  ManualClock clock;
  net::FakeLoop* loop = nullptr;
  std::unique_ptr<Client> client;
  int ended = 0;
  Result<Reply> last = Reply();
};

constexpr std::string_view ping[] = {"PING"};

TEST_F(ClientTest, ManyCallsCostOneWakeUpAndOneWrite) {
  const auto stream = connect();
  loop->hold_posted = true;
  for (int i = 0; i < 100; ++i) call(ping);
  EXPECT_EQ(loop->posted.size(), 1u);
  loop->run_posted();
  EXPECT_EQ(loop->posted.size(), 1u) << "the write";
  EXPECT_EQ(stream->sent, "");
  loop->run_posted();
  EXPECT_EQ(stream->sent.size(), 100 * ping_bytes.size());
  call(ping);
  EXPECT_EQ(loop->posted.size(), 1u) << "the next batch wakes it again";
}

TEST_F(ClientTest, AFullQueueRefusesAtOnce) {
  loop->hold_posted = true;
  for (std::size_t i = 0; i < bounds::redis_calls_max; ++i) call(ping);
  EXPECT_EQ(ended, 0);
  call(ping);
  EXPECT_EQ(ended, 1);
  ASSERT_FALSE(last.has_value());
  EXPECT_EQ(last.error().outcome, Outcome::not_applied);
  EXPECT_EQ(last.error().code, Code::unavailable);
  end();
  EXPECT_EQ(ended, static_cast<int>(bounds::redis_calls_max) + 1);
}

TEST_F(ClientTest, ACommandThatIsTooLargeOrEmptyIsRefused) {
  const std::string large(bounds::redis_command_bytes_max, 'x');
  const std::string_view too_large[] = {"SET", large};
  call(too_large);
  ASSERT_FALSE(last.has_value());
  EXPECT_EQ(last.error().code, Code::invalid);
  EXPECT_EQ(last.error().outcome, Outcome::not_applied);
  call({});
  EXPECT_EQ(ended, 2);
}

TEST_F(ClientTest, TheTimeInTheQueueCountsForTheDeadline) {
  const auto stream = connect();
  loop->hold_posted = true;
  call(ping);
  clock.advance(Duration::seconds(1));
  loop->run_posted();
  loop->run_posted();
  EXPECT_EQ(stream->sent, "");
  EXPECT_EQ(ended, 1);
}

TEST_F(ClientTest, ACallMayMakeTheNext) {
  const auto stream = connect();
  client->call(ping, "", Duration::seconds(1), [this](const Result<Reply>&) { call(ping); });
  stream->receive("+PONG\r\n");
  EXPECT_EQ(stream->sent.size(), 2 * ping_bytes.size());
  stream->receive("+PONG\r\n");
  EXPECT_EQ(ended, 1);
}

TEST_F(ClientTest, ACallMadeWhileTheClientEndsIsRefused) {
  const auto stream = connect();
  client->call(ping, "", Duration::seconds(1),
               [this, ending = client.get()](const Result<Reply>& reply) {
                 EXPECT_EQ(reply.error().outcome, Outcome::unknown);
                 ending->call(ping, "", Duration::seconds(1),
                              [this](Result<Reply> second) { last = std::move(second); });
               });
  end();
  ASSERT_FALSE(last.has_value());
  EXPECT_EQ(last.error().outcome, Outcome::not_applied);
}

TEST_F(ClientTest, HealthTellsSinceWhen) {
  const Instant begin = clock.wall_now();
  EXPECT_EQ(client->health(),
            (Health{.up = false, .detail = "connecting to redis://cache:6379/0", .since = begin}));
  clock.advance(Duration::seconds(1));
  const auto stream = connect();
  EXPECT_TRUE(client->health().up);
  EXPECT_EQ(client->health().since, begin + Duration::seconds(1));
  clock.advance(Duration::seconds(5));
  stream->break_off();
  EXPECT_FALSE(client->health().up);
  EXPECT_EQ(client->health().since, begin + Duration::seconds(6));
}

}  // namespace
}  // namespace pawl::redis
