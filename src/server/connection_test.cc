// Goal: a connection serves its requests one by one whatever the bytes' timing, refuses what the
// gate refuses, and lets nobody hold it for longer than the bounds. Method: a fake stream and a
// hand-moved clock.
#include "server/connection.h"

#include <gtest/gtest.h>

#include "core/http/hostile_fixture.h"
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

class ConnectionTest : public ::testing::Test, public ConnectionOwner {
 protected:
  ConnectionTest() { connection->start(); }

  std::shared_ptr<RequestHandler> make_handler(Connection&) override {
    ++handlers_made;
    return handler;
  }
  void on_rejected(const http::Rejection& rejection, const IpAddress&) override {
    rejected = std::string(rejection.reason);
  }
  void on_closed(Connection&) override { ++closed; }
  const Timeouts& timeouts() const override { return deadlines; }

  void answer(bool keep_alive = true) {
    connection->send("<answer>");
    connection->finish(keep_alive);
  }
  void receive(std::string_view bytes) { stream->receive(bytes); }
  void pass(Duration time) {
    clock.advance(time);
    connection->tick(clock.steady_now());
  }

  ManualClock clock;
  std::shared_ptr<net::FakeStream> stream = std::make_shared<net::FakeStream>();
  int closed = 0;
  std::string rejected;
  Timeouts deadlines;
  int handlers_made = 0;
  std::shared_ptr<Connection> connection =
      std::make_shared<Connection>(stream, clock, static_cast<ConnectionOwner&>(*this));
  std::shared_ptr<Noting> handler = std::make_shared<Noting>();
};

// Answers every request as soon as it is whole.
struct HostileFixture final : ConnectionOwner, RequestHandler {
  HostileFixture() { connection->start(); }

  std::shared_ptr<RequestHandler> make_handler(Connection&) override {
    return {std::shared_ptr<void>(), this};
  }
  void on_rejected(const http::Rejection& rejection, const IpAddress&) override {
    rejected = std::string(rejection.reason);
  }
  void on_closed(Connection&) override {}
  const Timeouts& timeouts() const override { return deadlines; }
  void on_head(const http::RequestHead& head) override { seen.append(head.target).append(" "); }
  void on_body(std::string_view) override {}
  void on_body_end() override { connection->finish(true); }

  ManualClock clock;
  Timeouts deadlines;
  std::string seen;
  std::string rejected;
  std::shared_ptr<net::FakeStream> stream = std::make_shared<net::FakeStream>();
  std::shared_ptr<Connection> connection =
      std::make_shared<Connection>(stream, clock, static_cast<ConnectionOwner&>(*this));
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

constexpr std::string_view waiting =
    "POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n";

TEST_F(ConnectionTest, LeavesTheInvitationToAHandlerThatWantsIt) {
  handler->at_head = [this] { connection->hold_invitation(); };
  receive(waiting);
  EXPECT_EQ(stream->sent, "");
  EXPECT_FALSE(connection->may_keep_alive()) << "nobody can tell whether the body will come";
  connection->invite_body();
  EXPECT_EQ(stream->take_sent(), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_TRUE(connection->may_keep_alive());
  connection->invite_body();
  EXPECT_EQ(stream->sent, "") << "once is enough";
  receive("body");
  EXPECT_EQ(handler->seen, "[POST /b]body.");
  connection->invite_body();
  EXPECT_EQ(stream->sent, "");
}

TEST_F(ConnectionTest, DoesNotInviteWhatCameWithoutWaiting) {
  handler->at_head = [this] { connection->hold_invitation(); };
  receive(std::string(waiting) + "bo");
  connection->invite_body();
  EXPECT_EQ(stream->sent, "");
  EXPECT_EQ(handler->seen, "[POST /b]bo");
}

TEST_F(ConnectionTest, HoldingAnInvitationIsForOneRequest) {
  handler->at_head = [this] { connection->hold_invitation(); };
  receive(waiting);
  answer(true);
  receive("body");
  handler->at_head = nullptr;
  receive(waiting);
  EXPECT_EQ(stream->sent, "<answer>HTTP/1.1 100 Continue\r\n\r\n");
}

TEST_F(ConnectionTest, HasTheTrailersOfABodyThatHasEnded) {
  std::string trailers;
  handler->at_end = [&] { trailers = connection->trailers(); };
  receive(
      "POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      "2\r\nhi\r\n0\r\nDigest: x\r\n\r\n");
  EXPECT_EQ(trailers, "Digest: x\r\n");
}

TEST_F(ConnectionTest, ATunnelPassesEverythingOnUntilItIsEnded) {
  receive(std::string(get) + "early");
  connection->send("<101>");
  connection->become_tunnel();
  EXPECT_EQ(handler->seen, "[GET /a].early");
  EXPECT_FALSE(stream->paused);
  receive(get);
  EXPECT_EQ(handler->seen, "[GET /a].early" + std::string(get)) << "no HTTP is spoken here";
  pass(Duration::hours(1));
  EXPECT_FALSE(stream->ended()) << "it may be silent for as long as it likes";
  connection->send("bye");
  connection->finish(false);
  EXPECT_EQ(stream->sent, "<101>bye");
  EXPECT_TRUE(stream->said_goodbye);
}

TEST_F(ConnectionTest, ATunnelMayBeginWhileTheRequestIsRead) {
  handler->at_end = [this] {
    connection->send("<101>");
    connection->become_tunnel();
  };
  receive(std::string(get) + "early");
  EXPECT_EQ(handler->seen, "[GET /a].early");
}

TEST_F(ConnectionTest, ATunnelHoldsTheSenderBackAndTellsOfTheEnd) {
  receive(get);
  connection->become_tunnel();
  connection->pause_input();
  receive("held");
  EXPECT_EQ(handler->seen, "[GET /a].");
  connection->resume_input();
  stream->hand_on();
  EXPECT_EQ(handler->seen, "[GET /a].held");
  stream->break_off();
  EXPECT_EQ(handler->seen, "[GET /a].held(gone)");
}

// It is held back and read from by nobody, so its end is not found by reading.
TEST_F(ConnectionTest, AClientThatBreaksOffWhileItIsHeldBackIsGoneInEveryState) {
  const auto anew = [this] {
    stream = std::make_shared<net::FakeStream>();
    connection = std::make_shared<Connection>(stream, clock, static_cast<ConnectionOwner&>(*this));
    handler = std::make_shared<Noting>();
    closed = 0;
    connection->start();
  };
  anew();  // in a request
  receive(get);
  connection->pause_input();
  stream->break_off();
  EXPECT_EQ(handler->seen, "[GET /a].(gone)");
  EXPECT_EQ(closed, 1);
  anew();  // a tunnel
  receive(get);
  connection->become_tunnel();
  connection->pause_input();
  stream->break_off();
  EXPECT_EQ(handler->seen, "[GET /a].(gone)");
  EXPECT_EQ(closed, 1);
  anew();  // answered, with something left to be taken
  stream->stalled = true;
  receive(get);
  stream->pause();
  answer(false);
  EXPECT_EQ(closed, 0);
  stream->break_off();
  EXPECT_EQ(closed, 1);
}

// What a handler holds may hold the connection in turn.
TEST_F(ConnectionTest, LetsItsHandlerGoWhenItIsOverButNotFromUnderAnEvent) {
  for (const bool aborts : {true, false}) {
    stream = std::make_shared<net::FakeStream>();
    connection = std::make_shared<Connection>(stream, clock, static_cast<ConnectionOwner&>(*this));
    handler = std::make_shared<Noting>();
    const std::weak_ptr<Noting> known = handler;
    connection->start();
    handler->at_end = [&, held = connection] {
      handler.reset();
      aborts ? connection->abort() : answer(false);
      EXPECT_FALSE(known.expired()) << "it is still in this call";
    };
    receive(get);
    EXPECT_TRUE(known.expired());
  }
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

TEST_F(ConnectionTest, ABodyThatDribblesIsGivenUp) {
  receive("POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 99999\r\n\r\n");
  for (int i = 0; i < 60 && closed == 0; ++i) {
    receive("x");
    pass(Duration::seconds(2));
  }
  EXPECT_EQ(closed, 1);
}

TEST_F(ConnectionTest, ASlowBodyMayTakeItsTime) {
  receive("POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 99999\r\n\r\n");
  for (int i = 0; i < 300; ++i) {
    receive(std::string(40, 'x'));
    pass(Duration::seconds(2));
  }
  EXPECT_EQ(closed, 0);
}

TEST_F(ConnectionTest, AClientThatTakesAnAnswerInCrumbsIsGivenUp) {
  receive(get);
  stream->stalled = true;
  connection->send(std::string(10'000, 'x'));
  for (int i = 0; i < 60 && closed == 0; ++i) {
    stream->take_queued(1);
    pass(Duration::seconds(2));
  }
  EXPECT_EQ(closed, 1);
}

TEST_F(ConnectionTest, AClientThatTakesAnAnswerSlowlyMayTakeItsTime) {
  receive(get);
  stream->stalled = true;
  connection->send(std::string(30'000, 'x'));
  for (int i = 0; i < 300; ++i) {
    stream->take_queued(40);
    pass(Duration::seconds(2));
  }
  EXPECT_EQ(closed, 0);
}

TEST_F(ConnectionTest, KeepsToTheDeadlinesOfItsOwner) {
  deadlines = {.head = Duration::seconds(1), .idle = Duration::seconds(3)};
  pass(Duration::milliseconds(2999));
  receive("G");
  pass(Duration::milliseconds(999));
  EXPECT_EQ(closed, 0);
  pass(Duration::milliseconds(2));
  EXPECT_EQ(rejected, "the head did not arrive in time");
}

TEST_F(ConnectionTest, WhileItIdlesItHasNoHandler) {
  EXPECT_EQ(handlers_made, 0);
  receive(get);
  answer();
  receive(get);
  answer();
  EXPECT_EQ(handlers_made, 1);
  pass(Duration::milliseconds(1001));
  EXPECT_EQ(handler.use_count(), 1) << "only the test has it";
  receive(get);
  EXPECT_EQ(handlers_made, 2);
  EXPECT_EQ(handler->seen, "[GET /a].[GET /a].[GET /a].");
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

// Behind a good request, whole and byte by byte: the good one is served, the hostile one answered
// with a refusal, and nothing of what follows is read.
TEST(HostileConnection, RefusesEachOfTheListBehindAGoodRequest) {
  std::vector<http::Hostile> all = http::hostile_heads();
  for (http::Hostile& body : http::hostile_bodies()) {
    all.push_back({http::post_with("Transfer-Encoding: chunked\r\n") + body.bytes, body.reason});
  }
  EXPECT_GE(all.size(), 37u);
  for (const auto& [bytes, reason] : all) {
    for (const std::size_t step : {std::size_t{1}, std::size_t{1} << 20}) {
      HostileFixture fixture;
      const std::string sent =
          std::string(get) + bytes + "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n";
      for (std::size_t at = 0; at < sent.size(); at += step) {
        fixture.stream->receive(std::string_view(sent).substr(at, step));
      }
      EXPECT_EQ(fixture.rejected, reason) << bytes;
      EXPECT_TRUE(fixture.stream->ended()) << bytes;
      EXPECT_TRUE(fixture.seen.starts_with("/a ")) << bytes;
      EXPECT_EQ(fixture.seen.find("smuggled"), std::string::npos) << bytes;
    }
  }
}

TEST_F(ConnectionTest, DrainsAtOnceWhenIdle) {
  connection->drain();
  EXPECT_EQ(closed, 1);
}

}  // namespace
}  // namespace pawl::server
