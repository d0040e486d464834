// Goal: what makes sense is read as it is, and the first member that does not is told.
// Method: one object with every kind of member; each spoilt in turn.
#include "base/member_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pawl {
namespace {

using ::testing::ElementsAre;

json::Value parsed(std::string_view text) {
  return json::parse(text).value();
}

TEST(MemberReader, ReadsEveryKindOfMember) {
  const json::Value object =
      parsed(R"({"word":"w","truth":true,"number":7,"id":"18446744073709551615","time":"1500",)"
             R"("forever":"never","times":["1","never"],"integers":["-9223372036854775808","5"],)"
             R"("array":[1],"object":{"a":1}})");
  MemberReader reader(object);
  EXPECT_EQ(reader.word("word"), "w");
  EXPECT_TRUE(reader.truth("truth"));
  EXPECT_EQ(reader.number("number", 7), 7);
  EXPECT_EQ(reader.id("id"), 18'446'744'073'709'551'615U);
  EXPECT_EQ(reader.time("time"), Duration::nanoseconds(1500));
  EXPECT_EQ(reader.time("forever"), Duration::max());
  EXPECT_THAT(reader.times("times"), ElementsAre(Duration::nanoseconds(1), Duration::max()));
  EXPECT_THAT(reader.integers("integers", 2),
              ElementsAre(std::numeric_limits<std::int64_t>::min(), 5));
  EXPECT_EQ(reader.array("array").size(), 1U);
  EXPECT_EQ(reader.object("object"), parsed(R"({"a":1})"));
  EXPECT_TRUE(reader.has("word"));
  EXPECT_FALSE(reader.has("words"));
  EXPECT_EQ(reader.wrong(), "");
}

TEST(MemberReader, RemembersTheFirstThatMakesNoSense) {
  const json::Value object = parsed(R"({"a":1,"b":"x","c":-1,"d":1.5,"e":["1",2],"f":"-1"})");
  const auto wrong = [&](auto read) {
    MemberReader reader(object);
    read(reader);
    (void)reader.truth("last");
    return reader.wrong();
  };
  EXPECT_EQ(wrong([](MemberReader& r) { (void)r.word("a"); }), "a");
  EXPECT_EQ(wrong([](MemberReader& r) { (void)r.word("absent"); }), "absent");
  EXPECT_EQ(wrong([](MemberReader& r) { (void)r.truth("a"); }), "a");
  EXPECT_EQ(wrong([](MemberReader& r) { (void)r.number("a", 0); }), "a") << "too large";
  EXPECT_EQ(wrong([](MemberReader& r) { (void)r.number("c", 9); }), "c") << "negative";
  EXPECT_EQ(wrong([](MemberReader& r) { (void)r.number("d", 9); }), "d") << "a fraction";
  EXPECT_EQ(wrong([](MemberReader& r) { (void)r.number("b", 9); }), "b");
  EXPECT_EQ(wrong([](MemberReader& r) { (void)r.id("b"); }), "b");
  EXPECT_EQ(wrong([](MemberReader& r) { (void)r.time("f"); }), "f") << "negative";
  EXPECT_EQ(wrong([](MemberReader& r) { (void)r.times("e"); }), "e");
  EXPECT_EQ(wrong([](MemberReader& r) { (void)r.integers("e", 2); }), "e");
  EXPECT_EQ(wrong([](MemberReader& r) { (void)r.integers("b", 0); }), "b");
  EXPECT_EQ(wrong([](MemberReader& r) { (void)r.array("b"); }), "b");
  EXPECT_EQ(wrong([](MemberReader& r) { (void)r.object("b"); }), "b");
  EXPECT_EQ(wrong([](MemberReader&) {}), "last");
}

TEST(MemberReader, WantsAsManyIntegersAsAreAskedFor) {
  const json::Value object = parsed(R"({"pair":["1","2"]})");
  for (const std::size_t count : {1U, 3U}) {
    MemberReader reader(object);
    EXPECT_EQ(reader.integers("pair", count).size(), count);
    EXPECT_EQ(reader.wrong(), "pair");
  }
}

TEST(MemberReader, TellsOfMembersThatNobodyRead) {
  const json::Value object = parsed(R"({"a":"x","b":true})");
  MemberReader reader(object);
  (void)reader.word("a");
  EXPECT_EQ(reader.wrong_among(1), "of another name");
  (void)reader.truth("b");
  EXPECT_EQ(reader.wrong_among(2), "");
  (void)reader.word("c");
  EXPECT_EQ(reader.wrong_among(3), "c");
  const json::Value none;
  EXPECT_EQ(MemberReader(none).wrong_among(0), "of another name") << "it is no object";
}

}  // namespace
}  // namespace pawl
