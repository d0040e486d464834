// Goal: RFC 9651 is read as it is written: every kind of item, and nothing beside it.
// Method: pinned values, then tables of texts that must be refused as a whole.
#include "core/limit/structured_fields.h"

#include <gtest/gtest.h>
#include <string>
#include <utility>

namespace pawl::structured {
namespace {

using Kind = BareItem::Kind;

BareItem integer(std::int64_t number) {
  return {.kind = Kind::integer, .number = number};
}

BareItem text(Kind kind, std::string value) {
  return {.kind = kind, .number = 0, .text = std::move(value)};
}

TEST(StructuredFields, AListHasItemsWithParameters) {
  const auto list = parse_list(R"("burst";q=100; w=60 , daily;q=1000;x,7)");
  ASSERT_TRUE(list);
  EXPECT_EQ(
      *list,
      (List{
          {.bare = text(Kind::string, "burst"),
           .parameters = {{.key = "q", .value = integer(100)}, {.key = "w", .value = integer(60)}}},
          {.bare = text(Kind::token, "daily"),
           .parameters = {{.key = "q", .value = integer(1000)}, {.key = "x", .value = BareItem{}}}},
          {.bare = integer(7)}}));
}

TEST(StructuredFields, ADictionaryHasKeysWhoseValueMayBeLeftOut) {
  const auto dictionary = parse_dictionary("limit=100;a=1, *x.y_z-0;b,\treset=30");
  ASSERT_TRUE(dictionary);
  ASSERT_EQ(dictionary->size(), 3U);
  EXPECT_EQ(find(*dictionary, "limit")->bare, integer(100));
  EXPECT_EQ(*find(*dictionary, "limit")->find("a"), integer(1));
  EXPECT_EQ(find(*dictionary, "*x.y_z-0")->bare, (BareItem{.kind = Kind::boolean, .number = 1}));
  EXPECT_NE(find(*dictionary, "*x.y_z-0")->find("b"), nullptr);
  EXPECT_EQ(find(*dictionary, "reset")->bare, integer(30));
  EXPECT_EQ(find(*dictionary, "remaining"), nullptr);
}

TEST(StructuredFields, OfARepeatedKeyTheLastOneCounts) {
  EXPECT_EQ(find(*parse_dictionary("a=1, b=2, a=3"), "a")->bare, integer(3));
  EXPECT_EQ(*parse_list("x;a=1;a=2")->front().find("a"), integer(2));
}

TEST(StructuredFields, NothingIsAnEmptyListAndAnEmptyDictionary) {
  EXPECT_TRUE(parse_list("").value().empty());
  EXPECT_TRUE(parse_list("   ").value().empty());
  EXPECT_TRUE(parse_dictionary("").value().empty());
}

TEST(StructuredFields, EveryKindOfItemIsRead) {
  struct Example {
    std::string_view written;
    BareItem expected;
  };
  const Example examples[] = {
      {"0", integer(0)},
      {"-0", integer(0)},
      {"0042", integer(42)},
      {"-7", integer(-7)},
      {"999999999999999", integer(999'999'999'999'999)},
      {"1.5", {.kind = Kind::decimal, .number = 1500}},
      {"-0.25", {.kind = Kind::decimal, .number = -250}},
      {"999999999999.999", {.kind = Kind::decimal, .number = 999'999'999'999'999}},
      {R"("")", text(Kind::string, "")},
      {R"("a \"b\" \\c")", text(Kind::string, R"(a "b" \c)")},
      {"*a/b:c!", text(Kind::token, "*a/b:c!")},
      {":aGk=:", text(Kind::bytes, "aGk=")},
      {"::", text(Kind::bytes, "")},
      {"?1", {.kind = Kind::boolean, .number = 1}},
      {"?0", {.kind = Kind::boolean, .number = 0}},
      {"@1659578233", {.kind = Kind::date, .number = 1'659'578'233}},
      {R"(%"f%c3%bcr 5%25")", text(Kind::display_string, "f\xc3\xbcr 5%")},
  };
  for (const auto& [written, expected] : examples) {
    const auto list = parse_list(written);
    ASSERT_TRUE(list && list->size() == 1) << written;
    EXPECT_EQ(list->front().bare, expected) << written;
    // The same behind a key, where something may follow.
    const std::string parameter = "x;k=" + std::string(written) + ";z";
    EXPECT_EQ(*parse_list(parameter).value().front().find("k"), expected) << written;
  }
}

TEST(StructuredFields, AListThatBreaksARuleIsRefusedAsAWhole) {
  for (const std::string_view written :
       {// Around the items.
        ",", "a,", "a,,b", "a b", "a, b ,", "\ta", "a;", "a;=1", "a;Q=1", "a; q =1", "a;q= 1",
        "a ;q=1", "a=1", "(a b)", "a;q=(1)", "a;1=2", "a;q=",
        // Numbers.
        "-", "--1", "+1", "1.", ".5", "1.2345", "1234567890123.1", "1000000000000000",
        "99999999999999999999", "0x10", "1e3", "1_000", "1 000", "1.2.3",
        // Strings, bytes and the rest.
        "\"", "\"a", R"("a\n")", R"("a\)", "\"\t\"", "\"\x7f\"", "\"\xc3\xa9\"", ":a",
        ":a=b:", ":a===:", ":a b:", "?", "?2", "?true", "@", "@1.5", "@a", "%", "%a",
        R"(%"%C3%BC")", R"(%"%c3")", R"(%"%c")", R"(%"a)", "'a'", "{", "\xc3\xa9"}) {
    EXPECT_FALSE(parse_list(written)) << written;
  }
}

TEST(StructuredFields, ADictionaryThatBreaksARuleIsRefusedAsAWhole) {
  for (const std::string_view written :
       {"a=", "=1", "a=1,", "a=1 b=2", "A=1", "\"a\"=1", "1=a", "a =1", "a= 1", "a=1;", "a=(1)"}) {
    EXPECT_FALSE(parse_dictionary(written)) << written;
  }
}

}  // namespace
}  // namespace pawl::structured
