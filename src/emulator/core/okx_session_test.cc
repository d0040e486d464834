// Goal: whoever speaks to the emulated OKX over a WebSocket hears what the venue would say.
// Method: messages handed in as texts, with a clock moved by hand.
#include "emulator/core/okx_session.h"

#include <gtest/gtest.h>

#include "emulator/core/okx_fixture.h"

namespace pawl::emulator {
namespace {

class OkxSessions : public OkxFixture {
 protected:
  json::Value say(std::string_view text) {
    const std::vector<std::string> answers = session.hear(text, now);
    EXPECT_EQ(answers.size(), 1U);
    return answers.empty() ? json::Value() : *json::parse(answers.front());
  }
  json::Value log_in(std::string_view passphrase = "emulated-passphrase") {
    const std::string timestamp = std::to_string(now.ns() / 1'000'000'000);
    const OkxKey& key = exchange.settings().keys.front();
    return say(R"({"op":"login","args":[{"apiKey":")" + key.key + R"(","passphrase":")" +
               std::string(passphrase) + R"(","timestamp":")" + timestamp + R"(","sign":")" +
               okx_signature(key.secret, timestamp, "GET/users/self/verify") + R"("}]})");
  }
  json::Value subscribe(std::string_view argument) {
    return say(R"({"op":"subscribe","args":[)" + std::string(argument) + "]}");
  }
  // What is told of a swap order.
  std::vector<std::string> told_of_swap() {
    place(swap_order("buy", "1"));
    return session.tell(*json::parse(exchange.take_pushes().back().text));
  }

  OkxSession session{exchange.settings(), 0xabc};
};

TEST_F(OkxSessions, AnswerAPing) {
  EXPECT_EQ(session.hear("ping", now), std::vector<std::string>{"pong"});
}

TEST_F(OkxSessions, LogInAndSubscribe) {
  const json::Value in = log_in();
  EXPECT_EQ(member_of(in, "event"), "login");
  EXPECT_EQ(member_of(in, "code"), "0");
  EXPECT_EQ(member_of(in, "connId"), "00000abc");
  const json::Value subscribed = subscribe(R"({"channel":"orders","instType":"ANY"})");
  EXPECT_EQ(member_of(subscribed, "event"), "subscribe");
  EXPECT_EQ(member_of(*subscribed.find("arg"), "channel"), "orders");

  const std::vector<std::string> told = told_of_swap();
  ASSERT_EQ(told.size(), 1U);
  const json::Value push = *json::parse(told.front());
  EXPECT_EQ(member_of(*push.find("arg"), "instType"), "ANY");
  EXPECT_EQ(member_of(push.find("data")->if_array()->front(), "state"), "filled");
}

TEST_F(OkxSessions, TellOnlyOfWhatWasSubscribedTo) {
  log_in();
  subscribe(R"({"channel":"orders","instType":"SPOT"})");
  EXPECT_TRUE(told_of_swap().empty());
  subscribe(R"({"channel":"orders","instType":"SWAP","instId":"ETH-USDT-SWAP"})");
  EXPECT_TRUE(told_of_swap().empty());
  const std::string wanted = R"({"channel":"orders","instType":"SWAP","instId":"BTC-USDT-SWAP"})";
  subscribe(wanted);
  subscribe(wanted);
  EXPECT_EQ(told_of_swap().size(), 1U) << "once, however often it was asked for";
  EXPECT_EQ(member_of(say(R"({"op":"unsubscribe","args":[)" + wanted + "]}"), "event"),
            "unsubscribe");
  EXPECT_TRUE(told_of_swap().empty());
}

TEST_F(OkxSessions, RefuseWhatTheVenueRefuses) {
  const std::string orders = R"({"channel":"orders","instType":"ANY"})";
  EXPECT_EQ(member_of(subscribe(orders), "code"), "60011") << "before the login";
  EXPECT_EQ(member_of(log_in("wrong"), "code"), "60024");
  EXPECT_EQ(member_of(subscribe(orders), "code"), "60011");
  log_in();
  EXPECT_EQ(member_of(subscribe(R"({"channel":"weather"})"), "code"), "60018");
  EXPECT_EQ(member_of(subscribe(R"({"channel":"orders"})"), "code"), "60018") << "of which type?";
  for (const std::string_view noise : {"", "{", "[]", R"({"op":"dance","args":[{}]})",
                                       R"({"op":"subscribe"})", R"({"op":"login","args":[]})"}) {
    EXPECT_EQ(member_of(say(noise), "code"), "60012") << noise;
  }
}

TEST_F(OkxSessions, TakeOnlySoManyRequestsAnHour) {
  log_in();
  const std::string orders = R"({"channel":"orders","instType":"ANY"})";
  for (int i = 1; i < 480; ++i) ASSERT_EQ(member_of(subscribe(orders), "event"), "subscribe");
  EXPECT_EQ(member_of(subscribe(orders), "code"), "60014");
  now = now + Duration::hours(1);
  EXPECT_EQ(member_of(subscribe(orders), "event"), "subscribe");
}

TEST_F(OkxSessions, EchoTheIdOfARequest) {
  log_in();
  const json::Value answer =
      say(R"({"id":"77","op":"subscribe","args":[{"channel":"orders","instType":"ANY"}]})");
  EXPECT_EQ(member_of(answer, "id"), "77");
}

}  // namespace
}  // namespace pawl::emulator
