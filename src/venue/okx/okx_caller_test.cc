// Goal: what is sent to OKX leaves once, signed by its clock, and says until when it counts.
// Method: an OKX that is a function, and time moved by hand.
#include "venue/okx/okx_caller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "venue/okx/okx_fixture.h"

namespace pawl::okx {
namespace {

constexpr const char* time_path = "/api/v5/public/time";
constexpr const char* order_path = "/api/v5/trade/order";

class OkxCaller : public ::testing::Test {
 protected:
  // As the desk does it: what must be known is learnt before it is its turn.
  void change() {
    caller->learn_time([] {});
    caller->change({.path = order_path,
                    .body = R"({"sz":"1"})",
                    .timeout = Duration::seconds(10),
                    .expires = true},
                   [this](Reply reply) { replies.push_back(std::move(reply)); });
  }
  void read(ReadCall call = order_call("BTC-USDT", "", "ref1")) {
    caller->read(std::move(call), [this](Reply reply) { replies.push_back(std::move(reply)); });
  }

  FakeOkx okx;
  std::shared_ptr<Caller> caller = std::make_shared<Caller>(
      Caller::Options{
          .base_url = "http://okx.test/", .credentials = test_credentials, .simulated = true},
      Caller::Ports{okx.http, okx.clock, okx.timers});
  std::vector<Reply> replies;
};

TEST_F(OkxCaller, SignsTheBytesThatItSends) {
  okx.on(order_path, enveloped("0", "[]"));
  change();
  const HttpRequest sent = okx.calls(order_path).at(0);
  EXPECT_EQ(sent.method, "POST");
  EXPECT_EQ(sent.url, "http://okx.test/api/v5/trade/order");
  EXPECT_EQ(sent.deadline, Duration::seconds(10));
  const std::string time = to_string(okx.clock.wall_now());
  EXPECT_EQ(field_of(sent, "OK-ACCESS-TIMESTAMP"), time);
  EXPECT_EQ(field_of(sent, "OK-ACCESS-SIGN"),
            signature(test_credentials.secret_key, time,
                      {.method = "POST", .path = order_path, .body = R"({"sz":"1"})"}));
  EXPECT_EQ(field_of(sent, "OK-ACCESS-KEY"), "the-key");
  EXPECT_EQ(field_of(sent, "Content-Type"), "application/json");
  EXPECT_EQ(field_of(sent, "x-simulated-trading"), "1");
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_TRUE(replies[0].answer);
}

TEST_F(OkxCaller, AReadingCallIsSignedWithItsQueryAndHasNoExpTime) {
  read();
  const HttpRequest sent = okx.calls(order_path).at(0);
  EXPECT_EQ(sent.method, "GET");
  EXPECT_EQ(field_of(sent, "OK-ACCESS-SIGN"),
            signature(test_credentials.secret_key, to_string(okx.clock.wall_now()),
                      {.method = "GET",
                       .path = "/api/v5/trade/order?instId=BTC-USDT&clOrdId=ref1",
                       .body = ""}));
  EXPECT_EQ(field_of(sent, "expTime"), "");
}

TEST_F(OkxCaller, GoesByTheClockOfOkx) {
  okx.skew = Duration::hours(3);
  okx.clock.advance(Duration::nanoseconds(1));
  change();
  const HttpRequest sent = okx.calls(order_path).at(0);
  const Instant told = Instant::from_ns(1'700'000'000'000'000'000) + okx.skew;
  EXPECT_EQ(field_of(sent, "OK-ACCESS-TIMESTAMP"), to_string(told));
  ASSERT_TRUE(replies.at(0).expires);
  EXPECT_EQ(*replies[0].expires, told + Duration::seconds(10));
  EXPECT_EQ(field_of(sent, "expTime"), to_milliseconds(*replies[0].expires));
  EXPECT_TRUE(okx.calls(time_path).at(0).fields.size() == 1) << "it is not signed";
}

TEST_F(OkxCaller, AClockThatIsSetInBetweenChangesNothing) {
  read();
  okx.clock.set_wall(okx.clock.wall_now() + Duration::days(1));
  read();
  const auto sent = okx.calls(order_path);
  EXPECT_EQ(field_of(sent.at(0), "OK-ACCESS-TIMESTAMP"),
            field_of(sent.at(1), "OK-ACCESS-TIMESTAMP"));
}

TEST_F(OkxCaller, AsksForTheTimeOnceAndAgainWhenItIsOld) {
  read();
  read();
  EXPECT_EQ(okx.calls(time_path).size(), 1u);
  okx.clock.advance(Duration::minutes(11));
  read();
  EXPECT_EQ(okx.calls(time_path).size(), 2u);
}

TEST_F(OkxCaller, NothingLeavesWithoutKnowledgeOfTheTime) {
  okx.on(time_path, enveloped("50026", "[]", 500));
  change();
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_EQ(replies[0].answer.error().outcome, Outcome::not_applied);
  EXPECT_TRUE(okx.calls(order_path).empty());
  EXPECT_TRUE(replies[0].answer.error().message.starts_with("the time of OKX is not known"));
}

TEST_F(OkxCaller, SaysWhyTheTimeOfOkxIsNotKnown) {
  const auto why = [&] {
    replies.clear();
    okx.clock.advance(Duration::seconds(1));
    change();
    return replies.at(0).answer.error().message;
  };
  okx.answers[time_path] = [](const HttpRequest&) {
    return std::unexpected(
        Error(Code::unavailable, Outcome::not_applied, "okx.test: connection refused"));
  };
  EXPECT_EQ(why(), "the time of OKX is not known: okx.test: connection refused");
  read();
  EXPECT_EQ(replies.at(1).answer.error().message,
            "the time of OKX is not known: okx.test: connection refused");
  okx.on(time_path, {.status = 200, .body = "<html>", .complete = true});
  EXPECT_THAT(why(), ::testing::HasSubstr("the time of OKX is not known: public/time"));
  replies.clear();
  okx.answers.erase(time_path);
  okx.clock.advance(Duration::seconds(1));
  change();
  okx.on(order_path, enveloped("50036", "[]"));
  change();
  caller->change({.path = order_path},
                 [this](Reply reply) { replies.push_back(std::move(reply)); });
  EXPECT_THAT(replies.at(2).answer.error().message, ::testing::HasSubstr("called the last one"));
}

TEST_F(OkxCaller, ACallThatNobodyGotReadyForSaysSo) {
  caller->change({.path = order_path},
                 [this](Reply reply) { replies.push_back(std::move(reply)); });
  EXPECT_EQ(replies.at(0).answer.error().message,
            "the time of OKX is not known: it was not asked yet");
  EXPECT_TRUE(okx.http.sent.empty());
}

TEST_F(OkxCaller, AnOldKnowledgeOfTheTimeWillDo) {
  read();
  okx.clock.advance(Duration::minutes(11));
  okx.on(time_path, enveloped("50026", "[]", 500));
  change();
  EXPECT_TRUE(replies.back().answer);
}

TEST_F(OkxCaller, AChangeThatMeetsAGateEndsAndTheTimeIsLearntBeforeTheNextTurn) {
  read();
  okx.skew = Duration::minutes(5);
  okx.on(order_path, enveloped("50102", "[]", 401));
  change();
  EXPECT_EQ(okx.calls(order_path).size(), 2u) << "the read, and the change once";
  EXPECT_EQ(code_of(*replies.back().answer), "50102");
  caller->change({.path = order_path},
                 [this](Reply reply) { replies.push_back(std::move(reply)); });
  EXPECT_EQ(replies.back().answer.error().outcome, Outcome::not_applied);
  EXPECT_EQ(okx.calls(order_path).size(), 2u) << "nothing leaves while the time is doubtful";
  okx.on(order_path, enveloped("0", "[]"));
  change();
  const auto sent = okx.calls(order_path);
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(field_of(sent[2], "OK-ACCESS-TIMESTAMP"), to_string(okx.venue_time()));
  EXPECT_EQ(field_of(sent[2], "expTime"), to_milliseconds(*replies.back().expires));
}

TEST_F(OkxCaller, AReadThatMeetsAGateIsSentOnceMoreAndNotTwice) {
  okx.on(order_path, enveloped("50102", "[]", 401));
  read();
  EXPECT_EQ(okx.calls(order_path).size(), 2u);
  EXPECT_EQ(okx.calls(time_path).size(), 2u);
  EXPECT_EQ(code_of(*replies.at(0).answer), "50102");
}

TEST_F(OkxCaller, AsksForTheTimeOnceForAllWhoWait) {
  okx.answers[time_path] = [](const HttpRequest&) { return FakeEndpoints::Reply(); };
  int ready = 0;
  for (int i = 0; i < 20; ++i) caller->learn_time([&] { ++ready; });
  read();
  EXPECT_EQ(okx.http.sent.size(), 1u);
  okx.http.release(0, enveloped("0", R"([{"ts":"1700000000000"}])"));
  EXPECT_EQ(ready, 20);
  EXPECT_EQ(okx.calls(order_path).size(), 1u);
}

TEST_F(OkxCaller, DoesNotAskAgainAtOnceForATimeThatWasNotTold) {
  okx.on(time_path, enveloped("50026", "[]", 500));
  for (int i = 0; i < 5; ++i) change();
  EXPECT_EQ(okx.calls(time_path).size(), 1u);
  okx.clock.advance(Duration::milliseconds(500));
  okx.answers.erase(time_path);
  change();
  EXPECT_EQ(okx.calls(order_path).size(), 1u);
}

TEST_F(OkxCaller, NothingElseIsSentASecondTime) {
  for (const auto& [code, status] : std::map<std::string, int>{
           {"50011", 429}, {"50004", 400}, {"50036", 400}, {"50113", 401}, {"50026", 500}}) {
    okx.http.sent.clear();
    okx.on(order_path, enveloped(code, "[]", status));
    change();
    EXPECT_EQ(okx.calls(order_path).size(), 1u) << code;
  }
  okx.http.sent.clear();
  okx.answers[order_path] = [](const HttpRequest&) {
    return FakeEndpoints::Reply(no_answer(Outcome::unknown));
  };
  change();
  EXPECT_EQ(okx.calls(order_path).size(), 1u);
  EXPECT_EQ(replies.back().answer.error().outcome, Outcome::unknown);
  EXPECT_TRUE(replies.back().expires) << "a copy may be on its way";
}

TEST_F(OkxCaller, AnExpTimeThatWasOverMakesTheClockDoubtful) {
  okx.on(order_path, enveloped("50036", "[]", 400));
  change();
  okx.on(order_path, enveloped("0", "[]"));
  change();
  EXPECT_EQ(okx.calls(time_path).size(), 2u);
}

TEST_F(OkxCaller, ThePacerHearsEveryAnswerToAChangeAndNoneToAReading) {
  std::vector<std::pair<int, std::string>> heard;
  caller->on_heard([&](int status, std::vector<limit::Field> fields, const Correlation&) {
    std::string wait;
    for (const auto& field : fields) {
      if (field.name == "retry-after") wait = field.value;
    }
    heard.emplace_back(status, wait);
  });
  read();
  okx.on(order_path, enveloped("0", "[]"));
  change();
  okx.on(order_path, enveloped("50011", "[]", 429));
  change();
  okx.on(order_path, enveloped("1", R"([{"sCode":"50061"}])"));
  change();
  EXPECT_EQ(heard, (std::vector<std::pair<int, std::string>>{{200, ""}, {429, "2"}, {429, "2"}}));
}

TEST_F(OkxCaller, ThePacerHearsWhoseAnswerItIs) {
  std::string whose;
  caller->on_heard([&](int, std::vector<limit::Field>, const Correlation& ids) {
    whose = ids.external_reference + " " + ids.request_id;
  });
  caller->learn_time([] {});
  okx.on(order_path, enveloped("0", "[]"));
  caller->change({.path = order_path, .ids = {.request_id = "A_1", .external_reference = "A"}},
                 [](const Reply&) {});
  EXPECT_EQ(whose, "A A_1");
}

TEST_F(OkxCaller, ReadingCallsKeepThePaceOfOkx) {
  for (int i = 0; i < 61; ++i) read();
  EXPECT_EQ(okx.calls(order_path).size(), 60u);
  okx.timers.advance(Duration::milliseconds(1'999));
  EXPECT_EQ(okx.calls(order_path).size(), 60u);
  okx.timers.advance(Duration::milliseconds(1));
  EXPECT_EQ(okx.calls(order_path).size(), 61u);
  EXPECT_EQ(replies.size(), 61u);
}

TEST_F(OkxCaller, AReadingThatWasTooFastHoldsTheNextOnesBack) {
  okx.on(order_path, enveloped("50011", "[]", 429));
  read();
  okx.on(order_path, enveloped("51603", "[]"));
  read();
  EXPECT_EQ(okx.calls(order_path).size(), 1u);
  okx.timers.advance(Duration::seconds(2));
  EXPECT_EQ(okx.calls(order_path).size(), 2u);
}

TEST_F(OkxCaller, WhatWaitsWhenTheTimersCloseNeverLeft) {
  for (int i = 0; i < 61; ++i) read();
  okx.timers.close();
  ASSERT_EQ(replies.size(), 61u);
  EXPECT_EQ(replies.back().answer.error().outcome, Outcome::not_applied);
}

TEST_F(OkxCaller, NoErrorHoldsASecret) {
  okx.on(time_path, enveloped("50026", "[]", 500));
  change();
  const std::string message = replies.at(0).answer.error().message;
  for (const char* secret : {"the-key", "the-secret", "the-passphrase"}) {
    EXPECT_EQ(message.find(secret), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace pawl::okx
