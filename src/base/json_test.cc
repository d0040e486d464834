// Goal: JSON is read strictly, printed without loss, and has one canonical form.
// Method: RFC 8785's published documents; a table of texts that must be refused, with the message;
//         then random values, printed plainly and as messily as the grammar allows.
#include "base/json.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/bounds.h"
#include "base/utf8.h"

namespace pawl::json {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

std::string canonical_of(std::string_view text) {
  return canonical(parse(text).value()).value();
}

TEST(JsonCanonical, IsThatOfThePublishedDocuments) {
  EXPECT_EQ(
      canonical_of("[\n  56,\n  {\n    \"d\": true,\n    \"10\": null,\n    \"1\": [ ]\n  }\n]"),
      R"([56,{"1":[],"10":null,"d":true}])");
  EXPECT_EQ(canonical_of(R"({
    "peach": "This sorting order",
    "péché": "is wrong according to French",
    "pêche": "but canonicalization MUST",
    "sin":   "ignore locale"
  })"),
            R"({"peach":"This sorting order","péché":"is wrong according to French",)"
            R"("pêche":"but canonicalization MUST","sin":"ignore locale"})");
  EXPECT_EQ(canonical_of(R"({
    "1": {"f": {"f": "hi","F": 5} ,"\n": 56.0},
    "10": { },
    "": "empty",
    "a": { },
    "111": [ {"e": "yes","E": "no" } ],
    "A": { }
  })"),
            R"({"":"empty","1":{"\n":56,"f":{"F":5,"f":"hi"}},"10":{},)"
            R"("111":[{"E":"no","e":"yes"}],"A":{},"a":{}})");
  EXPECT_EQ(canonical_of(R"({ "Unnormalized Unicode":"A\u030a" })"),
            "{\"Unnormalized Unicode\":\"A\xCC\x8A\"}");
  EXPECT_EQ(canonical_of(R"({
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  })"),
            R"({"literals":[null,true,false],)"
            R"("numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],)"
            R"("string":"€$\u000f\nA'B\"\\\\\"/"})");
  EXPECT_EQ(canonical_of(R"({
    "\u20ac": "Euro Sign",
    "\r": "Carriage Return",
    "\u000a": "Newline",
    "1": "One",
    "\u0080": "Control\u007f",
    "\ud83d\ude02": "Smiley",
    "\u00f6": "Latin Small Letter O With Diaeresis",
    "\ufb33": "Hebrew Letter Dalet With Dagesh",
    "</script>": "Browser Challenge"
  })"),
            "{\"\\n\":\"Newline\",\"\\r\":\"Carriage Return\",\"1\":\"One\","
            "\"</script>\":\"Browser Challenge\",\"\xC2\x80\":\"Control\x7F\","
            "\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\","
            "\"😂\":\"Smiley\",\"\xEF\xAC\xB3\":\"Hebrew Letter Dalet With Dagesh\"}");
}

TEST(JsonCanonical, EscapesOnlyWhatItMust) {
  EXPECT_EQ(canonical("\0\x01\b\t\n\v\f\r\x1f\"\\/\x7f"s).value(),
            "\"\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u001f\\\"\\\\/\x7F\"");
  EXPECT_EQ(canonical("\xE2\x80\xA8").value(), "\"\xE2\x80\xA8\"");
}

TEST(JsonCanonical, FailsOnANumberThatNoDoubleHolds) {
  const auto result = canonical(parse(R"({"a":[1,{"b":1e400}]})").value());
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, Code::invalid);
  EXPECT_EQ(result.error().message,
            "the number 1e400 is outside the range of a double; write it as a string");
  EXPECT_FALSE(canonical(Number{"one"}).has_value());
}

TEST(JsonParse, KeepsTheDigitsOfANumber) {
  for (const char* text : {"0", "-0", "1.10", "0.1", "1E+2", "123456789012345678901234567890.1"}) {
    EXPECT_EQ(parse(text).value(), Value(Number{text}));
    EXPECT_EQ(print(parse(text).value()), text);
  }
}

TEST(JsonParse, ReadsEveryKindOfValue) {
  EXPECT_TRUE(parse(" \t\r\nnull ").value().is_null());
  EXPECT_TRUE(*parse("true").value().if_bool());
  EXPECT_FALSE(*parse("false").value().if_bool());
  EXPECT_EQ(*parse(R"("a\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00\u0000z")").value().if_string(),
            "a\"\\/\b\f\n\r\té😀\0z"s);
  EXPECT_EQ(parse("[ ]").value(), Value(Array{}));
  EXPECT_EQ(parse("{ }").value(), Value(Object{}));
  EXPECT_EQ(parse(R"([1,[true],{"a":null}])").value(),
            Value(Array{1, Array{true}, Object{{"a", nullptr}}}));
}

TEST(JsonParse, SaysWhereAndWhatIsWrong) {
  struct Row {
    std::string_view text;
    std::string_view message;
  };
  const std::string_view no_number =
      "line 1, column 1: not a JSON number: it needs a digit before and after any '.', a digit in "
      "any exponent, and no leading zero";
  for (const Row& row : {
           Row{"", "line 1, column 1: expected a value, found the end of the text"},
           Row{" \n ", "line 2, column 2: expected a value, found the end of the text"},
           Row{"nul", "line 1, column 1: expected a value, found 'n'"},
           Row{"True", "line 1, column 1: expected a value, found 'T'"},
           Row{"'a'", "line 1, column 1: expected a value, found '''"},
           Row{"NaN", "line 1, column 1: expected a value, found 'N'"},
           Row{"+1", "line 1, column 1: expected a value, found '+'"},
           Row{".5", "line 1, column 1: expected a value, found '.'"},
           Row{"\xEF\xBB\xBF{}", "line 1, column 1: expected a value, found byte 0xef"},
           Row{"\v1", "line 1, column 1: expected a value, found byte 0x0b"},
           Row{"// x\n1", "line 1, column 1: expected a value, found '/'"},
           Row{"truefalse", "line 1, column 5: expected the end of the text, found 'f'"},
           Row{"1 2", "line 1, column 3: expected the end of the text, found '2'"},
           Row{"{}\0"sv, "line 1, column 3: expected the end of the text, found byte 0x00"},
           Row{"-", no_number},
           Row{"01", no_number},
           Row{"1.", no_number},
           Row{"1e", no_number},
           Row{"1-2", no_number},
           Row{"[1",
               "line 1, column 3: expected ',' or ']' after an element, found the end of the "
               "text"},
           Row{"[1 2]", "line 1, column 4: expected ',' or ']' after an element, found '2'"},
           Row{"[1,]", "line 1, column 4: expected a value, found ']'"},
           Row{"[,1]", "line 1, column 2: expected a value, found ','"},
           Row{"{a:1}", "line 1, column 2: expected a member name in double quotes, found 'a'"},
           Row{"{\"a\":1,}",
               "line 1, column 8: expected a member name in double quotes, found '}'"},
           Row{"{\"a\" 1}", "line 1, column 6: expected ':' after a member name, found '1'"},
           Row{"{\"a\":}", "line 1, column 6: expected a value, found '}'"},
           Row{"{\"a\":1\n \"b\":2}",
               "line 2, column 2: expected ',' or '}' after a member, found '\"'"},
           Row{"{\"é\":1,\n\"é\":1,\"\\u00e9\":2}",
               "line 2, column 1: this member name appears twice in its object"},
           Row{"[\"é\",\"open]", "line 1, column 6: this string has no closing '\"'"},
           Row{"\"a\nb\"",
               "line 1, column 3: a control character inside a string must be escaped, "
               "found byte 0x0a"},
           Row{"\"\x7F\x1F\"",
               "line 1, column 3: a control character inside a string must be "
               "escaped, found byte 0x1f"},
           Row{"\"é\xC3\"", "line 1, column 3: a string must be UTF-8, found byte 0xc3"},
           Row{"\"\xED\xA0\x80\"", "line 1, column 2: a string must be UTF-8, found byte 0xed"},
           Row{"\"\\x\"", "line 1, column 3: expected one of \"\\/bfnrtu after '\\', found 'x'"},
           Row{"\"\\",
               "line 1, column 3: expected one of \"\\/bfnrtu after '\\', found the end of "
               "the text"},
           Row{"\"\\u12g4\"",
               "line 1, column 6: expected four hexadecimal digits after '\\u', "
               "found 'g'"},
           Row{"\"\\u12",
               "line 1, column 6: expected four hexadecimal digits after '\\u', found "
               "the end of the text"},
           Row{"\"a\\ud83d\"", "line 1, column 3: a surrogate without its other half"},
           Row{"\"a\\ud83dx\"", "line 1, column 3: a surrogate without its other half"},
           Row{"\"a\\ud83d\\n\"", "line 1, column 3: a surrogate without its other half"},
           Row{"\"a\\ud83d\\ud83d\"", "line 1, column 3: a surrogate without its other half"},
           Row{"\"a\\ude00\"", "line 1, column 3: a surrogate without its other half"},
           Row{"\"\\ud83d\\u00\"",
               "line 1, column 12: expected four hexadecimal digits after "
               "'\\u', found '\"'"},
       }) {
    const auto parsed = parse(row.text);
    ASSERT_FALSE(parsed.has_value()) << row.text;
    EXPECT_EQ(parsed.error().code, Code::invalid);
    EXPECT_EQ(parsed.error().message, row.message) << row.text;
  }
}

TEST(JsonParse, RefusesADuplicateMemberInEachObjectOnItsOwn) {
  EXPECT_TRUE(parse(R"({"a":{"a":1},"b":{"a":1}})").has_value());
  EXPECT_FALSE(parse(R"([{"a":{"a":1,"a":1}}])").has_value());
}

std::string nested(std::size_t depth, std::string_view open, std::string_view close) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text.append(open);
  text.append("1");
  for (std::size_t i = 0; i < depth; ++i) text.append(close);
  return text;
}

TEST(JsonParse, HasABoundForDepth) {
  EXPECT_TRUE(parse(nested(bounds::json_depth_max, "[", "]")).has_value());
  EXPECT_TRUE(parse(nested(bounds::json_depth_max, "{\"a\":", "}")).has_value());
  EXPECT_EQ(parse(nested(bounds::json_depth_max + 1, "[", "]")).error().message,
            "line 1, column 65: nested more than 64 levels deep");
  EXPECT_FALSE(parse(nested(bounds::json_depth_max + 1, "{\"a\":", "}")).has_value());
  EXPECT_FALSE(parse(std::string(1'000'000, '[')).has_value());
}

TEST(JsonParse, HasABoundForLength) {
  const std::string most(bounds::json_bytes_max - 1, ' ');
  EXPECT_TRUE(parse(most + "1").has_value());
  EXPECT_EQ(parse(most + " 1").error().message,
            "a JSON text of 16777217 bytes; at most 16777216 are read");
}

TEST(JsonPrint, IsOneLineInCanonicalOrder) {
  EXPECT_EQ(print(parse("{ \"b\" : [1.10, null],\n\"a\" : {\"\\n\":true} }").value()),
            R"({"a":{"\n":true},"b":[1.10,null]})");
}

TEST(JsonPrint, AbortsOnANumberThatIsNone) {
  EXPECT_DEATH(print(Number{"1,2"}), "");
}

TEST(JsonAppendQuoted, LeavesNothingThatEndsALineOrMovesACursor) {
  std::string out = "x=";
  append_quoted(out, "a\r\n\x1b[31m\x7f\xC2\x9B\xC2\x85\xE2\x80\xA8\xE2\x80\xA9é\xC2\xA0\"");
  EXPECT_EQ(out, R"(x="a\r\n\u001b[31m\u007f\u009b\u0085\u2028\u2029é)"
                 "\xC2\xA0"
                 R"(\"")");
}

TEST(JsonAppendQuoted, PutsAMarkForEachByteThatIsNoText) {
  std::string out;
  append_quoted(out, "a\xFF\xC3z\xF0\x9F");
  EXPECT_EQ(out, "\"a\uFFFD\uFFFDz\uFFFD\uFFFD\"");
}

TEST(JsonValue, IsMadeFromPlainValues) {
  EXPECT_EQ(print(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(print(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(print(7U), "7");
  EXPECT_EQ(print(Value::number(0.1)), "0.1");
  EXPECT_EQ(print(Value::number(-0.0)), "0");
  EXPECT_EQ(print("text"), R"("text")");
  EXPECT_EQ(print(true), "true");
  EXPECT_EQ(print(Value()), "null");
}

TEST(JsonValue, IsNullForATextThatStandsForNone) {
  EXPECT_EQ(print(text_or_null("")), "null");
  EXPECT_EQ(print(text_or_null("a")), R"("a")");
}

TEST(JsonValue, FindsAMember) {
  const Value value = Object{{"a", 1}, {"b", nullptr}};
  EXPECT_EQ(*value.find("a"), Value(1));
  EXPECT_TRUE(value.find("b")->is_null());
  EXPECT_EQ(value.find("c"), nullptr);
  EXPECT_EQ(Value(Array{1}).find("a"), nullptr);
}

rc::Gen<char32_t> any_character() {
  return rc::gen::suchThat(
      rc::gen::oneOf(rc::gen::inRange<char32_t>(0, 0x80), rc::gen::inRange<char32_t>(0x80, 0x2100),
                     rc::gen::inRange<char32_t>(0xE000, 0x10400),
                     rc::gen::inRange<char32_t>(0, 0x110000)),
      [](char32_t code) { return code < 0xD800 || code > 0xDFFF; });
}

std::string text_of(const std::vector<char32_t>& characters) {
  std::string text;
  for (const char32_t code : characters) append_utf8(text, code);
  return text;
}

rc::Gen<std::string> any_text() {
  return rc::gen::map(rc::gen::container<std::vector<char32_t>>(any_character()), text_of);
}

Value any_value(int depth) {
  switch (*rc::gen::inRange(0, depth > 0 ? 8 : 6)) {
    case 0:
      return nullptr;
    case 1:
      return *rc::gen::arbitrary<bool>();
    case 2:
      return *rc::gen::arbitrary<std::int64_t>();
    case 3:
      return Value::number(*rc::gen::arbitrary<double>());
    case 4:
      return Number{*rc::gen::element("1.10"s, "-0"s, "1E+5"s, "0.000"s, "12e-7"s)};
    case 5:
      return *any_text();
    case 6: {
      Array elements;
      for (int left = *rc::gen::inRange(0, 4); left > 0; --left) {
        elements.push_back(any_value(depth - 1));
      }
      return elements;
    }
    default: {
      Object members;
      for (int left = *rc::gen::inRange(0, 4); left > 0; --left) {
        members.insert_or_assign(*any_text(), any_value(depth - 1));
      }
      return members;
    }
  }
}

RC_GTEST_PROP(JsonPrint, IsReadBackAsTheSameValue, ()) {
  const Value value = any_value(3);
  RC_ASSERT(parse(print(value)).value() == value);
}

RC_GTEST_PROP(JsonCanonical, IsAFixedPoint, ()) {
  const std::string once = canonical(any_value(3)).value();
  RC_ASSERT(canonical_of(once) == once);
}

std::string any_space() {
  return *rc::gen::container<std::string>(rc::gen::element(' ', '\t', '\n', '\r'));
}

void append_messily(std::string& out, char32_t unit) {
  static constexpr std::string_view digits[] = {"0123456789abcdef", "0123456789ABCDEF"};
  out.append("\\u");
  for (int shift = 12; shift >= 0; shift -= 4) {
    out.push_back(digits[*rc::gen::inRange(0, 2)][unit >> shift & 15]);
  }
}

// Any character may be escaped, those above U+FFFF as two surrogates.
std::string messy_string(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const auto [code, bytes] = first_utf8_character(text);
    const bool must = code < 0x20 || code == '"' || code == '\\';
    if (!must && *rc::gen::arbitrary<bool>()) {
      out.append(text, 0, bytes);
    } else if (code < 0x10000) {
      append_messily(out, code);
    } else {
      append_messily(out, 0xD800 + ((code - 0x10000) >> 10));
      append_messily(out, 0xDC00 + ((code - 0x10000) & 0x3FF));
    }
    text.remove_prefix(bytes);
  }
  return out + "\"";
}

std::string messy(const Value& value) {
  std::vector<std::string> parts;
  std::string ends;
  if (const Array* elements = value.if_array()) {
    for (const Value& element : *elements) parts.push_back(messy(element));
    ends = "[]";
  } else if (const Object* members = value.if_object()) {
    for (const auto& [name, member] : *members) {
      parts.push_back(any_space() + messy_string(name) + any_space() + ":" + messy(member));
    }
    for (std::size_t i = parts.size(); i > 1; --i) {
      std::swap(parts[i - 1], parts[*rc::gen::inRange<std::size_t>(0, i)]);
    }
    ends = "{}";
  } else if (const std::string* text = value.if_string()) {
    return any_space() + messy_string(*text) + any_space();
  } else {
    return any_space() + print(value) + any_space();
  }
  std::string out = any_space() + ends[0] + any_space();
  for (std::size_t i = 0; i < parts.size(); ++i) out += (i > 0 ? "," : "") + parts[i];
  return out + any_space() + ends[1] + any_space();
}

RC_GTEST_PROP(JsonCanonical, DoesNotDependOnOrderSpaceOrEscapes, ()) {
  const Value value = any_value(2);
  const std::string text = messy(value);
  RC_ASSERT(canonical_of(text) == canonical(value).value());
}

std::u16string to_utf16(const std::vector<char32_t>& characters) {
  std::u16string units;
  for (const char32_t code : characters) {
    if (code < 0x10000) {
      units.push_back(static_cast<char16_t>(code));
    } else {
      units.push_back(static_cast<char16_t>(0xD800 + ((code - 0x10000) >> 10)));
      units.push_back(static_cast<char16_t>(0xDC00 + ((code - 0x10000) & 0x3FF)));
    }
  }
  return units;
}

RC_GTEST_PROP(JsonMemberOrder, IsThatOfUtf16CodeUnits, ()) {
  const auto any = rc::gen::container<std::vector<char32_t>>(rc::gen::oneOf(
      any_character(),
      rc::gen::element<char32_t>('a', 0xE9, 0xE000, 0xFFFF, 0x10000, 0x10FFFF, 0xD7FF)));
  const auto a = *any;
  const auto b = *any;
  RC_ASSERT(MemberOrder()(text_of(a), text_of(b)) == (to_utf16(a) < to_utf16(b)));
}

}  // namespace
}  // namespace pawl::json
