// Goal: the loop's connections carry bytes whole and in order, hold a fast sender back, and say
// once that they are over. Method: real sockets on loopback, both ends in one loop, ended by a
// watchdog if stuck.
#include "net/loop.h"

#include <array>
#include <csignal>
#include <gtest/gtest.h>
#include <string>
#include <thread>

namespace pawl::net {
namespace {

const Endpoint any_port = parse_endpoint("127.0.0.1:0").value();

struct Side final : StreamHandler {
  void on_data(std::string_view bytes) override {
    received.append(bytes);
    if (data) data(bytes);
  }
  void on_drained() override {
    if (drained) drained();
  }
  void on_closed() override {
    closed = true;
    if (ended) ended();
  }
  StreamPtr stream;
  std::string received;
  bool closed = false;
  std::function<void(std::string_view)> data;
  std::function<void()> drained;
  std::function<void()> ended;
};

class LoopTest : public ::testing::Test {
 protected:
  // Runs until `stop()`, ten seconds at the most.
  void run() {
    int seconds = 0;
    loop->every(Duration::seconds(1), [&] {
      if (++seconds == 10) {
        ADD_FAILURE() << "nothing happened in time";
        loop->stop();
      }
    });
    loop->run();
  }
  void connect(const Endpoint& where, std::function<void()> connected) {
    loop->connect({to_string(where.address), where.port}, Duration::seconds(5),
                  [this, connected = std::move(connected)](Result<StreamPtr> stream) {
                    ASSERT_TRUE(stream.has_value()) << stream.error().message;
                    client.stream = *stream;
                    client.stream->start(client);
                    connected();
                  });
  }
  void listen_and_connect(std::function<void()> connected) {
    const auto where = loop->listen(any_port, [this](StreamPtr stream) {
      server.stream = std::move(stream);
      server.stream->start(server);
    });
    ASSERT_TRUE(where.has_value());
    EXPECT_NE(where->port, 0);
    connect(*where, std::move(connected));
  }

  std::unique_ptr<Loop> loop = Loop::make();
  Side client;
  Side server;
};

TEST_F(LoopTest, CarriesBytesBothWays) {
  server.data = [&](std::string_view bytes) { server.stream->send(bytes); };
  client.data = [&](std::string_view) {
    if (client.received == "hello") loop->stop();
  };
  listen_and_connect([&] { client.stream->send("hello"); });
  run();
  EXPECT_EQ(server.received, "hello");
  EXPECT_EQ(to_string(server.stream->peer()), "127.0.0.1");
}

TEST_F(LoopTest, QueuesWhatTheOtherSideDoesNotTakeAndTellsWhenItHas) {
  const std::string large(20 * 1024 * 1024, 'x');
  bool drained = false;
  client.drained = [&] { drained = true; };
  server.data = [&](std::string_view) {
    if (server.received.size() == large.size()) loop->stop();
  };
  listen_and_connect([&] {
    client.stream->send(large);
    EXPECT_GT(client.stream->queued_bytes(), 0u);
  });
  run();
  EXPECT_TRUE(drained);
  EXPECT_EQ(server.received, large);
}

TEST_F(LoopTest, SmallPiecesOfOneTurnGoOutTogether) {
  server.data = [&](std::string_view) { loop->stop(); };
  listen_and_connect([&] {
    for (const char* piece : {"one ", "two ", "three"}) client.stream->send(piece);
  });
  run();
  EXPECT_EQ(server.received, "one two three") << "as the first that was read";
}

// Of all sizes, more than fits into what is sent together or into the system, and between the
// pieces of another connection.
TEST_F(LoopTest, PiecesKeepTheirOrder) {
  std::string all;
  server.data = [&](std::string_view) {
    if (server.received.size() == all.size()) loop->stop();
  };
  listen_and_connect([&] {
    for (int i = 0; all.size() < 8 * 1024 * 1024; ++i) {
      const std::string piece(static_cast<std::size_t>(i * 7919 % 6000 + 1),
                              static_cast<char>('a' + i % 26));
      client.stream->send(piece);
      if (i % 3 == 0 && server.stream) server.stream->send("between");
      all += piece;
    }
    EXPECT_GT(client.stream->queued_bytes(), 0u);
  });
  run();
  EXPECT_TRUE(server.received == all);
}

// Small ones alone: what is sent together is full before the system is, and then does not go whole.
TEST_F(LoopTest, SmallPiecesKeepTheirOrderWhenTheOtherSideTakesTooLittle) {
  std::string all;
  server.data = [&](std::string_view) {
    if (server.received.size() == all.size()) loop->stop();
  };
  listen_and_connect([&] {
    for (int i = 0; all.size() < 16 * 1024 * 1024; ++i) {
      const std::string piece = std::to_string(i) + std::string(1'000, '.');
      client.stream->send(piece);
      all += piece;
    }
    EXPECT_GT(client.stream->queued_bytes(), 0u);
  });
  run();
  EXPECT_TRUE(server.received == all);
}

// Two connections from one client, whose bytes come in one turn of the loop: what the first one's
// handler does to the second counts, though that has been read already.
class TwoOfOneTurnTest : public LoopTest {
 protected:
  void speak_on_both(std::function<void(Side& other)> first) {
    for (std::size_t i = 0; i < 2; ++i) {
      servers[i].data = [this, i, first](std::string_view) {
        if (++told == 1) first(servers[1 - i]);
        if (told == 2) loop->stop();
      };
    }
    const auto where = loop->listen(any_port, [this](StreamPtr stream) {
      Side& side = servers[accepted++];
      side.stream = std::move(stream);
      side.stream->start(side);
    });
    for (Side& side : clients) {
      loop->connect({"127.0.0.1", where.value().port}, Duration::seconds(5),
                    [&side](Result<StreamPtr> stream) {
                      side.stream = *stream;
                      side.stream->start(side);
                    });
    }
    loop->every(Duration::milliseconds(1), [this] {
      const bool ready = accepted == 2 && clients[0].stream && clients[1].stream;
      if (!ready || spoken) return;
      spoken = true;
      for (const Side& side : clients) side.stream->send("hello");
    });
  }

  std::array<Side, 2> clients;
  std::array<Side, 2> servers;
  std::size_t accepted = 0;
  bool spoken = false;
  int told = 0;
};

TEST_F(TwoOfOneTurnTest, OneThatIsHeldBackIsToldAfterwards) {
  std::unique_ptr<Timer> timer;
  bool resumed = false;
  speak_on_both([&](Side& other) {
    other.stream->pause();
    timer = loop->timer([&] {
      resumed = true;
      EXPECT_EQ(other.received, "");
      EXPECT_FALSE(other.stream->is_quiet());
      other.stream->resume();
      EXPECT_EQ(other.received, "");
    });
    timer->start(Duration::milliseconds(20));
  });
  run();
  EXPECT_TRUE(resumed);
  for (const Side& side : servers) EXPECT_EQ(side.received, "hello");
}

TEST_F(TwoOfOneTurnTest, OneThatIsClosedIsToldNothing) {
  std::unique_ptr<Timer> timer;
  speak_on_both([&](Side& other) {
    other.stream->close();
    other.stream.reset();
    timer = loop->timer([this] { loop->stop(); });
    timer->start(Duration::milliseconds(20));
  });
  run();
  EXPECT_EQ(servers[0].received + servers[1].received, "hello");
  EXPECT_FALSE(servers[0].closed || servers[1].closed);
}

TEST_F(LoopTest, WhatWaitsForTheEndOfTheTurnIsSentBeforeAClose) {
  server.ended = [&] { loop->stop(); };
  listen_and_connect([&] {
    client.stream->send("last words");
    client.stream->close();
  });
  run();
  EXPECT_EQ(server.received, "last words");
}

TEST_F(LoopTest, APausedConnectionReadsNothingUntilResumed) {
  bool resumed = false;
  server.data = [&](std::string_view) {
    if (server.received == "one") {
      server.stream->pause();
      client.stream->send("two");
      loop->every(Duration::milliseconds(50), [&] {
        if (!resumed) {
          EXPECT_EQ(server.received, "one");
        }
        resumed = true;
        server.stream->resume();
      });
    } else if (server.received == "onetwo") {
      EXPECT_TRUE(resumed);
      loop->stop();
    }
  };
  listen_and_connect([&] { client.stream->send("one"); });
  run();
  EXPECT_EQ(server.received, "onetwo");
}

// The server stays paused, so that nothing but the look can tell.
TEST_F(LoopTest, ALookTellsWhetherTheOtherSideHasSpokenOrLeft) {
  server.data = [&](std::string_view bytes) {
    if (bytes != "one") return;
    server.stream->pause();
    EXPECT_TRUE(server.stream->is_quiet());
    client.stream->send("two");
    // The bytes need a moment through the system.
    loop->every(Duration::milliseconds(5), [&] {
      if (!server.stream->is_quiet()) loop->stop();
    });
  };
  listen_and_connect([&] { client.stream->send("one"); });
  run();
  EXPECT_EQ(server.received, "one");
  EXPECT_FALSE(server.stream->is_quiet());
}

TEST_F(LoopTest, ALookTellsOfACloseBeforeTheLoopDoes) {
  server.data = [&](std::string_view) {
    server.stream->pause();
    EXPECT_TRUE(server.stream->is_quiet());
    client.stream->close();
    loop->every(Duration::milliseconds(5), [&] {
      if (!server.stream->is_quiet()) loop->stop();
    });
  };
  listen_and_connect([&] { client.stream->send("one"); });
  run();
  EXPECT_FALSE(server.closed);
}

TEST_F(LoopTest, TellsTheOtherSideOfAClose) {
  server.ended = [&] { loop->stop(); };
  listen_and_connect([&] { client.stream->close(); });
  run();
  EXPECT_TRUE(server.closed);
  EXPECT_FALSE(client.closed) << "who closes is not told of it";
}

TEST_F(LoopTest, ALastAnswerArrivesThoughTheOtherSideStillSends) {
  const std::string answer = "goodbye";
  server.data = [&](std::string_view) {
    server.stream->send(answer);
    server.stream->say_goodbye();
  };
  client.ended = [&] { loop->stop(); };
  listen_and_connect([&] { client.stream->send(std::string(1024 * 1024, 'x')); });
  run();
  EXPECT_EQ(client.received, answer);
}

TEST_F(LoopTest, SaysWhyItCannotConnect) {
  const auto where = loop->listen(any_port, [](StreamPtr) {});
  loop->stop_listening();  // so nobody listens there now
  std::string why;
  loop->connect({"127.0.0.1", where->port}, Duration::seconds(5), [&](Result<StreamPtr> stream) {
    ASSERT_FALSE(stream.has_value());
    EXPECT_EQ(stream.error().outcome, Outcome::not_applied);
    why = stream.error().message;
    loop->stop();
  });
  run();
  EXPECT_NE(why.find("Connection refused"), std::string::npos) << why;
}

TEST_F(LoopTest, SeveralLoopsShareOneAddressAndAStrangerDoesNot) {
  const auto where = loop->listen(any_port, [](StreamPtr) {});
  const auto second = Loop::make();
  EXPECT_TRUE(second->listen(*where, [](StreamPtr) {}).has_value());
  const auto nowhere = loop->listen(parse_endpoint("192.0.2.1:80").value(), [](StreamPtr) {});
  ASSERT_FALSE(nowhere.has_value());
  EXPECT_NE(nowhere.error().message.find("192.0.2.1:80"), std::string::npos);
}

TEST_F(LoopTest, ATimerGoesOffOnceAndNotAfterItIsStoppedStartedAnewOrGone) {
  std::string order;
  const auto once = loop->timer([&] { order += "once "; });
  once->start(Duration::milliseconds(1));
  const auto stopped = loop->timer([&] { order += "stopped "; });
  stopped->start(Duration::milliseconds(1));
  stopped->stop();
  auto gone = loop->timer([&] { order += "gone "; });
  gone->start(Duration::milliseconds(1));
  gone.reset();
  const auto anew = loop->timer([&] {
    order += "anew";
    loop->stop();
  });
  anew->start(Duration::milliseconds(1));
  anew->start(Duration::milliseconds(100));
  run();
  EXPECT_EQ(order, "once anew");
}

// The two waits end in the same turn of the loop: the second's handler is already on its way.
TEST_F(LoopTest, ATimerThatIsDestroyedByAnotherDoesNotGoOff) {
  auto victim = loop->timer([] { FAIL() << "it was destroyed before"; });
  const auto first = loop->timer([&] {
    victim.reset();
    loop->post([&] { loop->stop(); });
  });
  first->start(Duration());
  victim->start(Duration::nanoseconds(1));
  run();
}

TEST_F(LoopTest, RunsPostedWorkAndSignalsOnItsThread) {
  std::thread::id posted;
  int signal = 0;
  loop->on_signals({SIGUSR1}, [&](int s) {
    signal = s;
    loop->stop();
  });
  std::thread other([&] {
    loop->post([&] {
      posted = std::this_thread::get_id();
      std::raise(SIGUSR1);
    });
  });
  run();
  other.join();
  EXPECT_EQ(posted, std::this_thread::get_id());
  EXPECT_EQ(signal, SIGUSR1);
}

}  // namespace
}  // namespace pawl::net
