// Goal: what comes over the order channel is understood, whatever it is. Method: messages as OKX
// writes them, and rubbish.
#include "venue/okx/okx_talk.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/websocket_frame.h"
#include "venue/okx/okx_fixture.h"

namespace pawl::okx {
namespace {

using Kind = ChannelWord::Kind;

TEST(OkxTalk, ReadsTheAddressOfAChannel) {
  const auto url = parse_channel_url("wss://ws.okx.com:8443/ws/v5/private").value();
  EXPECT_TRUE(url.is_tls);
  EXPECT_EQ(url.target, (Target{.host = "ws.okx.com", .port = 8443}));
  EXPECT_EQ(url.path, "/ws/v5/private");
  const auto plain = parse_channel_url("ws://127.0.0.1/ws").value();
  EXPECT_FALSE(plain.is_tls);
  EXPECT_EQ(plain.target.port, 80);
  EXPECT_EQ(parse_channel_url("wss://okx.test").value().target.port, 443);
  for (const char* none : {"", "http://okx.test", "wss://", "wss://a:b@okx.test/ws",
                           "wss://okx.test/a b", "wss://okx.test/a\r\nX: y", "wss://a,b/ws"}) {
    EXPECT_FALSE(parse_channel_url(none)) << none;
  }
}

TEST(OkxTalk, AsksForAWebSocket) {
  const auto url = parse_channel_url("wss://okx.test:8443/ws/v5/private").value();
  EXPECT_EQ(upgrade_request(url, "a2V5"),
            "GET /ws/v5/private HTTP/1.1\r\nHost: okx.test:8443\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: a2V5\r\n\r\n");
}

std::string judged(std::string_view answer) {
  http::ResponseHead head;
  const auto progress = http::parse_response(answer, false, head);
  if (!progress) return std::string(progress.error().reason);
  return why_not_upgraded(head, "dGhlIHNhbXBsZSBub25jZQ==");
}

TEST(OkxTalk, TakesNothingElseForAWebSocket) {
  // The key and its answer are those of RFC 6455, section 1.3.
  const std::string good =
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: keep-alive, "
      "Upgrade\r\n"
      "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n";
  EXPECT_EQ(judged(good + "\r\n"), "");
  EXPECT_EQ(judged("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"), "it answers with status 503");
  EXPECT_EQ(judged("HTTP/1.1 101 Yes\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n"),
            "it speaks something else than WebSocket");
  EXPECT_EQ(judged("HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                   "Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n"),
            "its Sec-WebSocket-Accept is that of another handshake");
  EXPECT_EQ(judged(good + "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"),
            "it wants an extension that was not offered");
}

TEST(OkxTalk, KnowsTheWordsOfOkx) {
  EXPECT_EQ(word_of(R"({"event":"login","code":"0","msg":"","connId":"a"})").kind, Kind::logged_in);
  const ChannelWord refused = word_of(R"({"event":"error","code":"60009","msg":"Login failed."})");
  EXPECT_EQ(refused.kind, Kind::refused);
  EXPECT_EQ(refused.says, "60009: Login failed.");
  EXPECT_EQ(word_of(R"({"event":"login","code":"60009","msg":""})").kind, Kind::refused);
  EXPECT_EQ(word_of(R"({"event":"subscribe","arg":{"channel":"orders"}})").kind, Kind::subscribed);
  EXPECT_EQ(word_of(R"({"event":"notice","code":"64008","msg":"soon"})").kind, Kind::leaving);
  EXPECT_EQ(word_of(R"({"event":"notice","code":"64000","msg":"?"})").kind, Kind::other);
  EXPECT_EQ(word_of("pong").kind, Kind::other);
}

TEST(OkxTalk, ReadsTheOrdersOfAPush) {
  const ChannelWord word =
      word_of(R"({"arg":{"channel":"orders","instType":"ANY","uid":"1"},"data":[)" +
              order_row("77", "ref1", "filled") + R"(,{"ordId":"78"}]})");
  EXPECT_EQ(word.kind, Kind::orders);
  ASSERT_EQ(word.orders.size(), 1u);
  EXPECT_EQ(word.orders[0].order_id, "77");
  EXPECT_EQ(word.orders[0].life, order::Life::filled);
  EXPECT_EQ(word.unread, 1u);
}

TEST(OkxTalk, WhatNobodyAskedForIsNothing) {
  for (const char* text : {"", "{", "null", "7", "[]", "{}", R"({"event":7})", R"({"data":[]})",
                           R"({"arg":{"channel":"account"},"data":[{}]})",
                           R"({"arg":{"channel":"orders"},"data":{}})"}) {
    EXPECT_EQ(word_of(text).kind, Kind::other) << text;
  }
}

TEST(OkxTalk, SubscribesToAllOrders) {
  const auto message = json::parse(subscription()).value();
  const json::Value& arguments = message.find("args")->if_array()->at(0);
  EXPECT_EQ(*arguments.find("channel"), json::Value("orders"));
  EXPECT_EQ(*arguments.find("instType"), json::Value("ANY"));
}

}  // namespace
}  // namespace pawl::okx
