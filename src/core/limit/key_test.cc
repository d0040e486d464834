// Goal: a key is a name or a number, and no two keys are taken for one.
// Method: texts by hand, names that look like numbers among them.
#include "core/limit/key.h"

#include <gtest/gtest.h>
#include <set>

namespace pawl::limit {
namespace {

using namespace std::string_literals;

TEST(Key, ANameIsItsOwnText) {
  const std::string name = "acme";
  for (const Key& key : {Key("acme"), Key(name), Key(std::string_view(name))}) {
    EXPECT_FALSE(key.is_id());
    EXPECT_EQ(key.name(), "acme");
    EXPECT_EQ(key.text(), "acme");
  }
  EXPECT_EQ(Key("").text(), "");
}

TEST(Key, ANumberIsANulAndItsDigits) {
  const Key key = KeyId{.high = 0x0123456789abcdef, .low = 0xfedcba9876543210};
  EXPECT_TRUE(key.is_id());
  EXPECT_EQ(key.id(), (KeyId{.high = 0x0123456789abcdef, .low = 0xfedcba9876543210}));
  EXPECT_EQ(key.text(), "\0"s + "0123456789abcdeffedcba9876543210");
  EXPECT_EQ(Key(KeyId{.high = 0, .low = 1}).text(), "\0"s + std::string(31, '0') + "1");
}

TEST(Key, NoTwoKeysHaveOneText) {
  const std::string number = Key(KeyId{.high = 1, .low = 2}).text();
  const std::string escaped = Key(number).text();
  std::set<std::string> texts;
  std::size_t keys = 0;
  for (const Key& key :
       {Key(KeyId{.high = 1, .low = 2}), Key(KeyId{.high = 2, .low = 1}), Key(number), Key(escaped),
        Key(std::string_view(number).substr(1)), Key(""), Key(std::string_view("\0", 1)),
        Key(std::string_view("\0\0", 2)), Key("a"), Key(std::string_view("a\0", 2))}) {
    texts.insert(key.text());
    ++keys;
  }
  EXPECT_EQ(texts.size(), keys);
}

TEST(Key, HashesAsWhatItIs) {
  const std::string bytes(16, '\0');
  const Key number = KeyId{.high = 1, .low = 2};
  EXPECT_EQ(Key("acme").hash(7), hash_of("acme", 7));
  EXPECT_EQ(number.hash(7), hash_of(Hash128{.high = 1, .low = 2}, 7));
  EXPECT_NE(number.hash(7), number.hash(8));
  EXPECT_NE(Key(KeyId()).hash(7), Key(bytes).hash(7)) << "names and numbers are two kinds";
}

}  // namespace
}  // namespace pawl::limit
