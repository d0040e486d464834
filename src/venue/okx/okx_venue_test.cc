// Goal: OKX is asked for what the desk wants, and its answers say what is certain. Method: an OKX
// that is a function.
#include "venue/okx/okx_venue.h"

#include <gtest/gtest.h>
#include <optional>

#include "base/websocket_frame.h"
#include "core/http/head.h"
#include "net/loop.h"
#include "venue/okx/okx_fixture.h"

namespace pawl::okx {
namespace {

using order::Answer;
using order::Life;
using order::Sent;

constexpr const char* order_path = "/api/v5/trade/order";
constexpr const char* batch_path = "/api/v5/trade/batch-orders";
constexpr const char* config_path = "/api/v5/account/config";

// Keeps the one answer there is.
template <class T>
auto into(std::optional<T>& kept) {
  return [&kept](T value) { kept = std::move(value); };
}

class OkxVenueTest : public ::testing::Test {
 protected:
  OkxVenueTest() { okx.on(config_path, enveloped("0", R"([{"posMode":"net_mode"}])")); }

  static OkxOptions options() {
    return {.base_url = "http://okx.test", .credentials = test_credentials};
  }
  static PlaceAsk ask(const std::string& reference) {
    return {.order = {.venue = "okx",
                      .instrument = "BTC-USDT",
                      .size = parse_decimal("2").value(),
                      .price = parse_decimal("2.15").value()},
            .reference = reference,
            .timeout = Duration::seconds(10)};
  }
  static ChangeAsk change(const std::string& order_id) {
    return {.order = ask("ref1").order,
            .reference = "ref1",
            .order_id = order_id,
            .timeout = Duration::seconds(5)};
  }
  std::vector<Answer> place(std::vector<PlaceAsk> asks) {
    std::optional<std::vector<Answer>> answers;
    venue->ready(Leaving::order, [](const Result<void>&) {});
    venue->place(std::move(asks), into(answers));
    return answers.value();
  }
  Answer cancel(const std::string& order_id) {
    std::optional<Answer> answer;
    venue->ready(Leaving::change, [](const Result<void>&) {});
    venue->cancel(change(order_id), into(answer));
    return answer.value();
  }
  void order_is(std::string_view state) {
    okx.answers[order_path] = [row = order_row("77", "ref1", state)](const HttpRequest&) {
      return enveloped("0", "[" + row + "]");
    };
  }

  FakeOkx okx;
  CountingEntropy entropy;
  std::unique_ptr<OkxVenue> venue =
      OkxVenue::open(options(), {okx.http, okx.clock, okx.timers, entropy}).value();
};

TEST_F(OkxVenueTest, PlacesAnOrderThatExpires) {
  okx.on(order_path, enveloped("0", R"([{"clOrdId":"ref1","ordId":"77","sCode":"0"}])"));
  const auto answers = place({ask("ref1")});
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].sent, Sent::accepted);
  EXPECT_EQ(answers[0].order_id, "77");
  EXPECT_EQ(answers[0].expires, okx.clock.wall_now() + Duration::seconds(10));
  EXPECT_EQ(okx.calls(order_path).at(0).body,
            R"({"clOrdId":"ref1","instId":"BTC-USDT","ordType":"limit","px":"2.15","side":"buy",)"
            R"("sz":"2","tdMode":"cash"})");
}

TEST_F(OkxVenueTest, SeveralOrdersAreOneCall) {
  okx.on(batch_path, enveloped("2", R"([{"clOrdId":"ref1","ordId":"77","sCode":"0"},)"
                                    R"({"clOrdId":"ref2","ordId":"","sCode":"51008"}])"));
  const auto answers = place({ask("ref1"), ask("ref2")});
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].sent, Sent::accepted);
  EXPECT_EQ(answers[1].sent, Sent::refused);
  EXPECT_EQ(okx.calls(batch_path).size(), 1u);
  EXPECT_NE(field_of(okx.calls(batch_path)[0], "expTime"), "");
  EXPECT_EQ(venue->traits().batch_max, 20u);
}

TEST_F(OkxVenueTest, AnAnswerThatNeverCameIsUnknownForEachOrderOfTheBatch) {
  okx.answers[batch_path] = [](const HttpRequest&) {
    return FakeEndpoints::Reply(no_answer(Outcome::unknown));
  };
  for (const Answer& answer : place({ask("ref1"), ask("ref2")})) {
    EXPECT_EQ(answer.sent, Sent::unknown);
    EXPECT_TRUE(answer.expires);
  }
}

TEST_F(OkxVenueTest, WhatNeverLeftMayBeSentAgain) {
  okx.answers[order_path] = [](const HttpRequest&) {
    return FakeEndpoints::Reply(no_answer(Outcome::not_applied));
  };
  EXPECT_EQ(place({ask("ref1")}).at(0).sent, Sent::not_sent);
}

TEST_F(OkxVenueTest, AmendsWithAnExpTime) {
  okx.on("/api/v5/trade/amend-order", enveloped("0", R"([{"ordId":"77","sCode":"0"}])"));
  ChangeAsk amended = change("77");
  amended.change.price = parse_decimal("2.20").value();
  std::optional<Answer> answer;
  venue->ready(Leaving::order, [](const Result<void>&) {});
  venue->modify(amended, into(answer));
  EXPECT_EQ(answer.value().sent, Sent::accepted);
  const HttpRequest sent = okx.calls("/api/v5/trade/amend-order").at(0);
  EXPECT_EQ(sent.body, R"({"instId":"BTC-USDT","newPx":"2.20","ordId":"77"})");
  EXPECT_NE(field_of(sent, "expTime"), "");
  answer.reset();
  venue->modify(change("77"), into(answer));
  EXPECT_EQ(answer.value().sent, Sent::refused) << "nothing is to be changed";
}

TEST_F(OkxVenueTest, Cancels) {
  okx.on("/api/v5/trade/cancel-order", enveloped("0", R"([{"ordId":"77","sCode":"0"}])"));
  EXPECT_EQ(cancel("77").sent, Sent::accepted);
  const HttpRequest sent = okx.calls("/api/v5/trade/cancel-order").at(0);
  EXPECT_EQ(sent.body, R"({"instId":"BTC-USDT","ordId":"77"})");
  EXPECT_EQ(field_of(sent, "expTime"), "") << "OKX has none for a cancel";
}

TEST_F(OkxVenueTest, ACancelOfAnOrderThatIsOverIsAccepted) {
  okx.on("/api/v5/trade/cancel-order", enveloped("1", R"([{"ordId":"77","sCode":"51400"}])"));
  order_is("filled");
  EXPECT_EQ(cancel("77").sent, Sent::accepted);
  order_is("canceled");
  EXPECT_EQ(cancel("77").sent, Sent::accepted);
  order_is("live");
  EXPECT_EQ(cancel("77").sent, Sent::unknown) << "OKX contradicts itself";
  okx.on(order_path, enveloped("51603", "[]"));
  EXPECT_EQ(cancel("77").sent, Sent::accepted) << "it had an id, and is gone";
  okx.on(order_path, enveloped("50026", "[]", 500));
  EXPECT_EQ(cancel("77").sent, Sent::unknown);
}

TEST_F(OkxVenueTest, ACancelByAWrongIdIsNotTakenForDone) {
  okx.on("/api/v5/trade/cancel-order", enveloped("1", R"([{"ordId":"","sCode":"51400"}])"));
  okx.answers[order_path] = [](const HttpRequest& request) {
    const bool by_id = request.url.find("ordId=12345") != std::string::npos;
    return by_id ? enveloped("51603", "[]")
                 : enveloped("0", "[" + order_row("77", "ref1", "live") + "]");
  };
  const Answer answer = cancel("12345");
  EXPECT_EQ(answer.sent, Sent::unknown);
  EXPECT_EQ(answer.order_id, "77") << "it says whose id it is";
}

TEST_F(OkxVenueTest, ACancelOfAnOrderThatNeverWasIsRefused) {
  okx.on("/api/v5/trade/cancel-order", enveloped("1", R"([{"ordId":"","sCode":"51400"}])"));
  EXPECT_EQ(cancel("").sent, Sent::refused);
}

TEST_F(OkxVenueTest, ReadsAllSources) {
  okx.on("/api/v5/trade/orders-history",
         enveloped("0", "[" + order_row("77", "ref1", "filled") + "]"));
  std::optional<order::Reading> reading;
  venue->read({.order = ask("ref1").order,
               .reference = "ref1",
               .since = okx.clock.wall_now(),
               .now = okx.clock.wall_now()},
              into(reading));
  ASSERT_TRUE(reading);
  EXPECT_TRUE(reading->whole) << reading->why_not_whole;
  ASSERT_EQ(reading->orders.size(), 1u);
  EXPECT_EQ(reading->orders[0].order_id, "77");
  EXPECT_EQ(reading->venue_time, okx.venue_time());
}

TEST_F(OkxVenueTest, LooksAtOneOrder) {
  order_is("partially_filled");
  std::optional<Result<order::VenueOrder>> order;
  venue->look({.order = ask("ref1").order, .reference = "ref1"}, into(order));
  EXPECT_EQ(order->value().life, Life::working);
  okx.on(order_path, enveloped("51603", "[]"));
  venue->look({.order = ask("ref1").order, .reference = "ref1"}, into(order));
  EXPECT_EQ(order->error().code, Code::not_found);
  okx.on(order_path, enveloped("0", "[]"));
  venue->look({.order = ask("ref1").order, .reference = "ref1"}, into(order));
  EXPECT_EQ(order->error().code, Code::unavailable);
}

TEST_F(OkxVenueTest, PagesThroughTheHistory) {
  okx.on("/api/v5/trade/orders-pending",
         enveloped("0", "[" + order_row("77", "ref1", "live") + "]"));
  std::optional<Result<HistoryPage>> page;
  const Instant now = okx.clock.wall_now();
  venue->history(now - Duration::days(1), now + Duration::days(1), "", into(page));
  EXPECT_EQ(page->value().orders.size(), 1u);
  EXPECT_NE(page->value().note, "");
  int pages = 1;
  while (!page->value().next.empty() && ++pages < 100) {
    venue->history(now - Duration::days(1), now, std::string(page->value().next), into(page));
  }
  EXPECT_EQ(pages, 6);
  venue->history(now, now, "rubbish", into(page));
  EXPECT_EQ(page->error().code, Code::invalid);
}

TEST_F(OkxVenueTest, ReduceOnlyIsEnforcedOnceTheAccountIsKnownToBeNet) {
  order::Order order = ask("ref1").order;
  order.instrument = "BTC-USDT-SWAP";
  order.reduce_only = true;
  EXPECT_FALSE(venue->enforces_reduce_only(order)) << "nobody has asked yet";
  bool ready = false;
  venue->ready(Leaving::order, [&](const Result<void>&) { ready = true; });
  EXPECT_TRUE(ready);
  EXPECT_TRUE(venue->enforces_reduce_only(order));
}

TEST_F(OkxVenueTest, AnAccountThatCannotBeReadEnforcesNothing) {
  okx.on(config_path, enveloped("0", R"([{"posMode":"sideways"}])"));
  bool ready = false;
  venue->ready(Leaving::order, [&](const Result<void>&) { ready = true; });
  EXPECT_TRUE(ready);
  order::Order order = ask("ref1").order;
  order.instrument = "BTC-USDT-SWAP";
  order.reduce_only = true;
  EXPECT_FALSE(venue->enforces_reduce_only(order));
}

TEST_F(OkxVenueTest, WhatWaitsForAnAnswerThatNeverComesGoesWithIt) {
  okx.answers["/api/v5/public/time"] = [](const HttpRequest&) { return FakeEndpoints::Reply(); };
  auto waits = std::make_shared<int>();
  const std::weak_ptr<int> seen = waits;
  venue->ready(Leaving::order, [waits = std::move(waits)](const Result<void>&) {});
  EXPECT_FALSE(seen.expired());
  venue.reset();
  okx.http.held.clear();
  EXPECT_TRUE(seen.expired());
}

TEST_F(OkxVenueTest, AsksForTheModeOnceForAllWhoWait) {
  okx.answers[config_path] = [](const HttpRequest&) { return FakeEndpoints::Reply(); };
  int ready = 0;
  for (int i = 0; i < 20; ++i) venue->ready(Leaving::order, [&](const Result<void>&) { ++ready; });
  EXPECT_EQ(okx.calls(config_path).size(), 1u);
  EXPECT_EQ(ready, 0);
  venue->ready(Leaving::change, [&](const Result<void>&) { ready = 100; });
  EXPECT_EQ(ready, 100) << "a cancel needs the time alone";
  okx.http.release(0, enveloped("0", R"([{"posMode":"net_mode"}])"));
  EXPECT_EQ(ready, 120);
}

TEST_F(OkxVenueTest, DoesNotAskAgainAtOnceForAModeThatWasNotTold) {
  okx.on(config_path, enveloped("50026", "[]", 500));
  int ready = 0;
  for (int i = 0; i < 20; ++i) venue->ready(Leaving::order, [&](const Result<void>&) { ++ready; });
  EXPECT_EQ(ready, 20);
  EXPECT_EQ(okx.calls(config_path).size(), 1u);
  okx.clock.advance(Duration::seconds(5));
  venue->ready(Leaving::order, [&](const Result<void>&) { ++ready; });
  EXPECT_EQ(okx.calls(config_path).size(), 2u);
}

TEST_F(OkxVenueTest, SaysThatAGateTurnedItAway) {
  for (const char* code : {"50102", "50036"}) {
    okx.on(order_path, enveloped(code, "[]", 401));
    okx.on("/api/v5/trade/cancel-order", enveloped(code, "[]", 401));
    const auto answers = place({ask("ref1")});
    EXPECT_EQ(answers.at(0).sent, Sent::not_sent);
    EXPECT_TRUE(answers.at(0).turned_away) << code;
    EXPECT_TRUE(cancel("77").turned_away) << code;
  }
}

TEST_F(OkxVenueTest, APrecheckSaysWhatItKnows) {
  std::optional<Result<Precheck>> checked;
  venue->precheck(ask("ref1"), into(checked));
  EXPECT_TRUE(checked->value().ok);
  EXPECT_EQ(checked->value().details.at(0),
            (std::pair<std::string, std::string>("instrument_type", "SPOT")));
  PlaceAsk stop = ask("ref1");
  stop.order.type = order::Type::stop;
  venue->precheck(stop, into(checked));
  EXPECT_FALSE(checked->value().ok);
}

TEST_F(OkxVenueTest, APrecheckOfAReduceOnlyOrderLooksAtThePosition) {
  PlaceAsk reducing = ask("ref1");
  reducing.order.instrument = "BTC-USDT-SWAP";
  reducing.order.reduce_only = true;
  reducing.order.side = order::Side::sell;
  std::optional<Result<Precheck>> checked;
  venue->precheck(reducing, into(checked));
  EXPECT_FALSE(checked->value().ok);
  EXPECT_EQ(checked->value().code, "51169");
  okx.on("/api/v5/account/positions", enveloped("0", R"([{"posSide":"net","pos":"-2"}])"));
  venue->precheck(reducing, into(checked));
  EXPECT_FALSE(checked->value().ok) << "a sale adds to a short position";
  okx.on("/api/v5/account/positions", enveloped("0", R"([{"posSide":"net","pos":"2"}])"));
  venue->precheck(reducing, into(checked));
  EXPECT_TRUE(checked->value().ok);
  EXPECT_EQ(checked->value().details.back().second, "net 2");
}

TEST_F(OkxVenueTest, AProbeSaysThatTheKeyWorks) {
  okx.skew = Duration::milliseconds(1'500);
  std::optional<Result<std::string>> probed;
  venue->probe(into(probed));
  EXPECT_EQ(probed->value(),
            "OKX answers (demo), and the key works; positions are net, its clock is 1500 ms ahead "
            "of this machine's");
  okx.on(config_path, enveloped("50111", "[]", 401));
  venue->probe(into(probed));
  EXPECT_EQ(probed->error().code, Code::refused);
}

TEST_F(OkxVenueTest, SettingsThatCannotWorkAreRefused) {
  const auto refusal = [&](const std::function<void(OkxOptions&)>& spoil) {
    OkxOptions spoiled = options();
    spoil(spoiled);
    const auto opened =
        OkxVenue::open(std::move(spoiled), {okx.http, okx.clock, okx.timers, entropy});
    return opened ? "opened" : opened.error().message;
  };
  EXPECT_EQ(refusal([](OkxOptions& o) { o.base_url = "okx.com"; }),
            "the venue okx has no good base_url: it must be an address of http(s)");
  EXPECT_NE(refusal([](OkxOptions& o) { o.credentials.api_key = {}; }), "opened");
  EXPECT_NE(refusal([](OkxOptions& o) { o.credentials.secret_key = {}; }), "opened");
  EXPECT_NE(refusal([](OkxOptions& o) {
              o.credentials.passphrase = Secret<std::string>("two\r\nlines");
            }),
            "opened");
  EXPECT_NE(refusal([](OkxOptions& o) { o.ws_url = "http://okx.test"; }), "opened");
  EXPECT_EQ(refusal([](OkxOptions& o) { o.ws_url = "wss://okx.test/ws/v5/private"; }), "opened");
}

TEST_F(OkxVenueTest, TheSessionIsNamedByTheAccountAndNotByItsKey) {
  EXPECT_TRUE(venue->traits().session.starts_with("okx-"));
  EXPECT_EQ(venue->traits().session.find("the-key"), std::string::npos);
}

// The other side of one order channel, on a real loop.
class ChannelServer final : public net::StreamHandler {
 public:
  explicit ChannelServer(net::StreamPtr stream) : stream_(std::move(stream)) {
    stream_->start(*this);
  }
  void on_data(std::string_view bytes) override {
    if (!upgraded_) {
      asked_ += bytes;
      http::RequestHead head;
      if (http::parse_request(asked_, head) != http::HeadProgress::complete) return;
      upgraded_ = true;
      return stream_->send(
          "HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
          "Sec-WebSocket-Accept: " +
          websocket::accept_of(*head.fields.find("sec-websocket-key")) + "\r\n\r\n");
    }
    while (auto message = reader_.feed(bytes).value()) answer(message->payload);
  }
  void on_drained() override {}
  void on_closed() override {}

 private:
  void answer(std::string_view asked) {
    if (asked.find("login") != std::string_view::npos) {
      return say(R"({"event":"login","code":"0"})");
    }
    say(R"({"event":"subscribe","arg":{"channel":"orders"}})");
    say(R"({"arg":{"channel":"orders"},"data":[)" + order_row("77", "ref1", "filled") + "]}");
  }
  void say(std::string_view text) {
    stream_->send(websocket::frame(websocket::Opcode::text, text));
  }

  net::StreamPtr stream_;
  std::string asked_;
  bool upgraded_ = false;
  websocket::FrameReader reader_{websocket::From::client};
};

TEST(OkxVenueOnALoop, WatchesOrdersOnAThreadOfItsOwn) {
  const auto loop = net::Loop::make();
  std::unique_ptr<ChannelServer> server;
  const auto where = loop->listen(
      parse_endpoint("127.0.0.1:0").value(),
      [&](net::StreamPtr stream) { server = std::make_unique<ChannelServer>(std::move(stream)); });
  const auto too_long = loop->timer([&] { loop->stop(); });
  too_long->start(Duration::seconds(30));
  FakeOkx okx;
  CountingEntropy entropy;
  auto venue = OkxVenue::open({.base_url = "http://okx.test",
                               .ws_url = "ws://" + to_string(where.value()) + "/ws/v5/private",
                               .credentials = test_credentials},
                              {okx.http, okx.clock, okx.timers, entropy})
                   .value();
  std::optional<order::VenueOrder> told;  // the loop's thread alone
  const auto tell = [&](order::VenueOrder order) {
    loop->post([&told, &loop, order = std::move(order)] {
      told = order;
      loop->stop();
    });
  };
  venue->watch(tell);
  venue->watch(tell);
  loop->run();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->order_id, "77");
  EXPECT_EQ(told->life, Life::filled);
  venue.reset();
}

TEST_F(OkxVenueTest, WithoutAChannelNobodyIsTold) {
  venue->watch([](const order::VenueOrder&) { ADD_FAILURE(); });
  EXPECT_TRUE(okx.http.sent.empty());
}

}  // namespace
}  // namespace pawl::okx
