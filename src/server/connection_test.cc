// Goal: a connection serves its requests one by one whatever the bytes' timing, refuses what the
// gate refuses, and lets nobody hold it for longer than the bounds. Method: a fake stream and a
// hand-moved clock.
#include "server/connection.h"

#include <gtest/gtest.h>

#include "net/fake.h"
#include "runtime/manual_clock.h"

namespace pawl::server {
namespace {

// Notes what it is told; answers when the test says so.
struct Noting final : RequestHandler {
  void on_head(const http::RequestHead& head) override {
    seen += "[" + std::string(head.method) + " " + std::string(head.target) + "]";
    if (at_head) at_head();
  }
  void on_body(std::string_view piece) override { seen += piece; }
  void on_body_end() override {
    seen += ".";
    if (at_end) at_end();
  }
  void on_drained() override { seen += "(drained)"; }
  void on_gone(int status) override {
    seen += status == 0 ? "(gone)" : "(told " + std::to_string(status) + ")";
  }
  std::string seen;
  std::function<void()> at_head;
  std::function<void()> at_end;
};

class ConnectionTest : public ::testing::Test {
 protected:
  ConnectionTest() { connection->start(handler); }

  void answer(bool keep_alive = true) {
    connection->send("<answer>");
    connection->finish(keep_alive);
  }
  void receive(std::string_view bytes) { stream->receive(bytes); }

  ManualClock clock;
  std::shared_ptr<net::FakeStream> stream = std::make_shared<net::FakeStream>();
  int closed = 0;
  std::string rejected;
  std::shared_ptr<Connection> connection = std::make_shared<Connection>(
      stream, clock,
      Connection::Events{
          .closed = [this](Connection&) { ++closed; },
          .rejected = [this](const http::Rejection& r,
                             const IpAddress&) { rejected = std::string(r.reason); }});
  std::shared_ptr<Noting> handler = std::make_shared<Noting>();
};

constexpr std::string_view get = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n";
constexpr std::string_view post = "POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody";

TEST_F(ConnectionTest, HandsOverHeadAndBodyHoweverTheyAreCut) {
  handler->at_end = [this] { answer(); };
  for (const char c : post) receive({&c, 1});
  receive(post);
  EXPECT_EQ(handler->seen, "[POST /b]body.[POST /b]body.");
  EXPECT_EQ(stream->sent, "<answer><answer>");
  EXPECT_EQ(closed, 0);
}

TEST_F(ConnectionTest, ServesPipelinedRequestsOneAfterTheOther) {
  receive(std::string(get) + std::string(post) + std::string(get));
  EXPECT_EQ(handler->seen, "[GET /a].");
  EXPECT_TRUE(stream->paused) << "requests sent ahead must be held back";
  answer();
  EXPECT_EQ(handler->seen, "[GET /a].[POST /b]body.");
  answer();
  EXPECT_EQ(handler->seen, "[GET /a].[POST /b]body.[GET /a].");
  answer();
  EXPECT_FALSE(stream->paused);
  EXPECT_EQ(stream->sent, "<answer><answer><answer>");
}

TEST_F(ConnectionTest, ClosesWhenTheClientAskedForIt) {
  handler->at_end = [this] { answer(connection->may_keep_alive()); };
  receive("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(stream->said_goodbye);
  EXPECT_EQ(closed, 1);
}

TEST_F(ConnectionTest, RefusesAnAmbiguousHeadAndCloses) {
  receive("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(handler->seen, "");
  EXPECT_EQ(rejected, "both Content-Length and Transfer-Encoding");
  EXPECT_TRUE(stream->sent.starts_with("HTTP/1.1 400 Bad Request\r\n")) << stream->sent;
  EXPECT_NE(stream->sent.find("ERR_BAD_REQUEST"), std::string::npos);
  EXPECT_NE(stream->sent.find("Connection: close"), std::string::npos);
  EXPECT_TRUE(stream->said_goodbye);
}

TEST_F(ConnectionTest, RefusesAnAmbiguousBodyAndTellsTheHandler) {
  receive("POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n4;x\r\n");
  EXPECT_EQ(handler->seen, "[POST /c](told 400)");
  EXPECT_EQ(rejected, "a chunk extension");
  EXPECT_TRUE(stream->sent.starts_with("HTTP/1.1 400 "));
}

TEST_F(ConnectionTest, AnAmbiguousBodyAfterTheAnswerBeganJustEndsTheConnection) {
  handler->at_head = [this] { connection->send("<half an answer>"); };
  receive("POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n4;x\r\n");
  EXPECT_EQ(stream->sent, "<half an answer>");
  EXPECT_TRUE(stream->closed);
}

TEST_F(ConnectionTest, InvitesTheBodyThatWaits) {
  const std::string head =
      "POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n";
  receive(head);
  EXPECT_EQ(stream->take_sent(), "HTTP/1.1 100 Continue\r\n\r\n");
  receive("body");
  EXPECT_EQ(handler->seen, "[POST /b]body.");
}

TEST_F(ConnectionTest, DoesNotInviteABodyItHasRefused) {
  handler->at_head = [this] {
    connection->discard_body();
    answer(connection->may_keep_alive());
  };
  receive("POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(stream->sent, "<answer>");
  EXPECT_TRUE(stream->said_goodbye) << "nobody can tell whether the body will come";
}

TEST_F(ConnectionTest, DropsASmallUnwantedBodyAndGoesOn) {
  handler->at_head = [this] {
    connection->discard_body();
    answer(connection->may_keep_alive());
  };
  receive(std::string(post) + std::string(get));
  EXPECT_EQ(handler->seen, "[POST /b][GET /a]");
  EXPECT_EQ(closed, 0);
}

TEST_F(ConnectionTest, ClosesRatherThanReadALargeUnwantedBody) {
  handler->at_head = [this] {
    connection->discard_body();
    answer(connection->may_keep_alive());
  };
  receive("POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 999999\r\n\r\n");
  EXPECT_TRUE(stream->said_goodbye);
}

TEST_F(ConnectionTest, TellsTheHandlerWhenTheClientLeaves) {
  receive(get);
  stream->break_off();
  EXPECT_EQ(handler->seen, "[GET /a].(gone)");
  EXPECT_EQ(closed, 1);
  answer();
  EXPECT_EQ(stream->sent, "<answer>") << "finishing after the end is harmless";
}

TEST_F(ConnectionTest, AClientThatLeavesBetweenRequestsTroublesNobody) {
  stream->break_off();
  EXPECT_EQ(handler->seen, "");
  EXPECT_EQ(closed, 1);
}

TEST_F(ConnectionTest, AHeadMustArriveInTimeHoweverItDribbles) {
  for (int i = 0; i < 5; ++i) {
    receive("G");
    clock.advance(Duration::milliseconds(1200));
  }
  connection->tick(clock.steady_now());
  EXPECT_EQ(rejected, "the head did not arrive in time");
  EXPECT_EQ(closed, 1);
}

TEST_F(ConnectionTest, AnIdleConnectionIsClosedInTheEnd) {
  clock.advance(bounds::http_idle_deadline);
  connection->tick(clock.steady_now());
  EXPECT_EQ(closed, 0);
  clock.advance(Duration::seconds(1));
  connection->tick(clock.steady_now());
  EXPECT_TRUE(stream->closed);
}

TEST_F(ConnectionTest, ABodyThatStopsIsGivenUpUnlessWeHoldItBack) {
  receive("POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbo");
  connection->pause_input();
  clock.advance(bounds::http_idle_deadline + Duration::seconds(1));
  connection->tick(clock.steady_now());
  EXPECT_EQ(closed, 0);
  connection->resume_input();
  clock.advance(bounds::http_idle_deadline + Duration::seconds(1));
  connection->tick(clock.steady_now());
  EXPECT_EQ(handler->seen, "[POST /b]bo(gone)");
  EXPECT_EQ(closed, 1);
}

TEST_F(ConnectionTest, AClientThatTakesNothingIsGivenUp) {
  receive(get);
  stream->stalled = true;
  connection->send("<large answer>");
  connection->tick(clock.steady_now());
  clock.advance(bounds::http_idle_deadline + Duration::seconds(1));
  connection->tick(clock.steady_now());
  EXPECT_EQ(handler->seen, "[GET /a].(gone)");
  EXPECT_TRUE(stream->closed);
}

TEST_F(ConnectionTest, DrainsAfterTheCurrentRequest) {
  receive(get);
  connection->drain();
  EXPECT_EQ(closed, 0);
  EXPECT_FALSE(connection->may_keep_alive());
  answer(connection->may_keep_alive());
  EXPECT_EQ(stream->sent, "<answer>");
  EXPECT_EQ(closed, 1);
}

TEST_F(ConnectionTest, DrainsEvenWhenTheAnswerHadPromisedToGoOn) {
  receive(get);
  connection->drain();
  answer(true);
  EXPECT_EQ(stream->sent, "<answer>");
  EXPECT_TRUE(stream->said_goodbye);
}

TEST_F(ConnectionTest, LeavesOnlyWhenTheClientHasTakenEverything) {
  receive(get);
  stream->stalled = true;
  answer(false);
  EXPECT_FALSE(stream->ended());
  EXPECT_EQ(closed, 0) << "a drain must wait for it";
  receive(get);
  EXPECT_EQ(handler->seen, "[GET /a].") << "no request after the last answer";
  stream->drain();
  EXPECT_EQ(stream->sent, "<answer>");
  EXPECT_TRUE(stream->said_goodbye);
  EXPECT_EQ(closed, 1);
}

TEST_F(ConnectionTest, AClientThatTakesNothingWhileWeLeaveIsGivenUp) {
  receive(get);
  stream->stalled = true;
  answer(false);
  connection->tick(clock.steady_now());
  clock.advance(bounds::http_idle_deadline + Duration::seconds(1));
  connection->tick(clock.steady_now());
  EXPECT_TRUE(stream->closed);
  EXPECT_EQ(closed, 1);
}

TEST_F(ConnectionTest, AClientThatSendsAheadAndReadsNothingCannotPileUpAnswers) {
  handler->at_end = [this] {
    connection->send(std::string(bounds::send_queue_bytes_max, 'x'));
    connection->finish(true);
  };
  stream->stalled = true;
  for (int i = 0; i < 10; ++i) receive(get);
  EXPECT_EQ(handler->seen, "[GET /a].[GET /a].");
  EXPECT_TRUE(stream->paused);
  stream->drain();
  EXPECT_NE(handler->seen, "[GET /a].[GET /a].") << "it goes on when the client reads";
}

TEST_F(ConnectionTest, AGrowingQueueIsNoSignOfLife) {
  receive(get);
  stream->stalled = true;
  for (int i = 0; i < 3; ++i) {
    connection->send("<more>");
    connection->tick(clock.steady_now());
    clock.advance(Duration::seconds(30));
  }
  connection->tick(clock.steady_now());
  EXPECT_TRUE(stream->closed);
}

TEST_F(ConnectionTest, DrainsAtOnceWhenIdle) {
  connection->drain();
  EXPECT_EQ(closed, 1);
}

}  // namespace
}  // namespace pawl::server
