// Goal: replies are read whole wherever their bytes are cut, and a hostile server costs neither
// memory nor trust. Method: replies written out, fed at once and byte by byte; oversized ones.
#include "adapter/redis/resp.h"

#include <gtest/gtest.h>
#include <string>

#include "base/bounds.h"

namespace pawl::redis {
namespace {

Reply read(std::string_view bytes) {
  ReplyReader reader;
  reader.feed(bytes);
  auto reply = reader.next();
  EXPECT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_TRUE(reply && reply->has_value());
  return reply && *reply ? **reply : Reply();
}

std::string problem(std::string_view bytes) {
  ReplyReader reader;
  reader.feed(bytes);
  for (int i = 0; i < 10; ++i) {
    const auto reply = reader.next();
    if (!reply) {
      EXPECT_FALSE(reader.next().has_value()) << "an error stays";
      return reply.error().message;
    }
    if (!*reply) break;
  }
  return "";
}

TEST(Reply, HasOneOfSixKinds) {
  EXPECT_EQ(read("+OK\r\n"), Reply(Reply::Kind::status, "OK"));
  EXPECT_EQ(read("-ERR no\r\n"), Reply(Reply::Kind::error, "ERR no"));
  EXPECT_EQ(read(":-42\r\n"), Reply(std::int64_t{-42}));
  EXPECT_EQ(read(":9223372036854775807\r\n"), Reply(std::int64_t{9223372036854775807}));
  EXPECT_EQ(read("$3\r\na\r\n\r\n"), Reply(Reply::Kind::string, "a\r\n"));
  EXPECT_EQ(read("$0\r\n\r\n"), Reply(Reply::Kind::string, ""));
  EXPECT_TRUE(read("$-1\r\n").is_nil());
  EXPECT_TRUE(read("*-1\r\n").is_nil());
  EXPECT_EQ(read("*0\r\n"), Reply(std::vector<Reply>()));
}

TEST(Reply, GivesWhatItIsAndNothingElse) {
  const Reply number = read(":7\r\n");
  ASSERT_NE(number.integer(), nullptr);
  EXPECT_EQ(*number.integer(), 7);
  EXPECT_EQ(number.text(), nullptr);
  EXPECT_TRUE(number.items().empty());
  const Reply array = read("*2\r\n$1\r\na\r\n*1\r\n:1\r\n");
  EXPECT_EQ(array.integer(), nullptr);
  ASSERT_EQ(array.items().size(), 2u);
  EXPECT_EQ(*array.items()[0].text(), "a");
  EXPECT_EQ(*array.items()[1].items()[0].integer(), 1);
}

TEST(Reply, PrintsOnOneLine) {
  EXPECT_EQ(to_string(read("*5\r\n:1\r\n$1\r\na\r\n+OK\r\n$-1\r\n*1\r\n-ERR x\r\n")),
            "[1, \"a\", OK, (nil), [ERR x]]");
}

TEST(ReplyReader, ReadsTheSameWhereverTheBytesAreCut) {
  const std::string bytes =
      "*4\r\n$20\r\n01234567890123456789\r\n:12\r\n*2\r\n+in\r\n$-1\r\n-E x\r\n:5\r\n$2\r\nok\r\n";
  const std::string expected = "[\"01234567890123456789\", 12, [in, (nil)], E x]5\"ok\"";
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    ReplyReader reader;
    std::string found;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      reader.feed(std::string_view(bytes).substr(at, piece));
      for (auto reply = reader.next(); reply.value(); reply = reader.next()) {
        found += to_string(**reply);
      }
    }
    EXPECT_EQ(found, expected) << piece;
  }
}

TEST(ReplyReader, ReadsManyRepliesOfOneFeed) {
  ReplyReader reader;
  std::string bytes;
  for (int i = 0; i < 10'000; ++i) bytes += ":" + std::to_string(i) + "\r\n";
  reader.feed(bytes);
  for (int i = 0; i < 10'000; ++i) ASSERT_EQ(*reader.next().value().value().integer(), i);
  EXPECT_FALSE(reader.next().value().has_value());
}

TEST(ReplyReader, WhatIsNotTheProtocolIsAnError) {
  for (const char* bytes : {"HTTP/1.1 400 Bad Request\r\n", "?\r\n", ":x\r\n", "$x\r\n", "$-2\r\n",
                            "*-2\r\n", "*1\r\n?"}) {
    EXPECT_NE(problem(bytes).find("not the Redis protocol"), std::string::npos) << bytes;
  }
}

TEST(ReplyReader, DepthIsBounded) {
  std::string deep;
  for (int i = 0; i < 7; ++i) deep += "*1\r\n";
  EXPECT_EQ(problem(deep + ":1\r\n"), "");
  EXPECT_NE(problem(deep + "*1\r\n*1\r\n:1\r\n"), "");
}

TEST(ReplyReader, ItemsAreBoundedOverAllLevels) {
  const std::string most = std::to_string(bounds::redis_reply_items_max);
  EXPECT_EQ(problem("*" + most + "\r\n"), "");
  EXPECT_NE(problem("*" + std::to_string(bounds::redis_reply_items_max + 1) + "\r\n"), "");
  EXPECT_NE(problem("*2147483647\r\n"), "");
  const std::string half = std::to_string(bounds::redis_reply_items_max / 2);
  EXPECT_NE(problem("*3\r\n*" + half + "\r\n*" + half + "\r\n*" + half + "\r\n"), "")
      << "the second one never gets that far, and the sum counts";
}

// The sum again, with items that are all there.
TEST(ReplyReader, ManySmallArraysInOneReplyCountTogether) {
  const std::size_t each = bounds::redis_reply_items_max / 4;
  std::string inner = "*" + std::to_string(each) + "\r\n";
  for (std::size_t i = 0; i < each; ++i) inner += ":1\r\n";
  EXPECT_EQ(problem("*3\r\n" + inner + inner + inner), "");
  EXPECT_NE(problem("*4\r\n" + inner + inner + inner + inner), "");
}

TEST(ReplyReader, BytesAreBoundedBeforeTheReplyIsWhole) {
  ReplyReader reader;
  reader.feed("$999999999999\r\n");
  const std::string chunk(1024 * 1024, 'x');
  std::size_t fed = 0;
  while (reader.next().has_value()) {
    reader.feed(chunk);
    fed += chunk.size();
    ASSERT_LE(fed, bounds::redis_reply_bytes_max + 2 * chunk.size());
  }
  EXPECT_GE(fed, bounds::redis_reply_bytes_max);
  EXPECT_FALSE(reader.next().has_value());
}

TEST(ReplyReader, BytesOfManyStringsCountTogether) {
  ReplyReader reader;
  const std::string item = "$1048576\r\n" + std::string(1048576, 'x') + "\r\n";
  reader.feed("*100\r\n");
  int fed = 0;
  while (reader.next().has_value() && fed < 100) {
    reader.feed(item);
    ++fed;
  }
  EXPECT_EQ(fed, 17);
}

TEST(ReplyReader, TheBoundsStartAnewWithEveryReply) {
  ReplyReader reader;
  const std::string large = "$6000000\r\n" + std::string(6'000'000, 'x') + "\r\n";
  for (int i = 0; i < 4; ++i) {
    reader.feed(large);
    ASSERT_EQ(reader.next().value().value().text()->size(), 6'000'000u);
  }
}

TEST(Command, IsWrittenWithItsLengths) {
  std::string out = "before";
  const std::string_view words[] = {"SET", "", std::string_view("a\0\r\n", 4)};
  append_command(out, words);
  EXPECT_EQ(out, std::string("before*3\r\n$3\r\nSET\r\n$0\r\n\r\n$4\r\na\0\r\n\r\n", 35));
}

}  // namespace
}  // namespace pawl::redis
