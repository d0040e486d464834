// Goal: an event is one line, whatever is in it, and the line gives back what was put in.
// Method: pinned lines; a list of hostile values, and random bytes, each written in both formats
//         and read back: JSON with json::parse, text with the reader below.
#include "log/format.h"

#include <gtest/gtest.h>
#include <limits>
#include <rapidcheck/gtest.h>
#include <string>
#include <type_traits>
#include <vector>

#include "base/bounds.h"
#include "base/json.h"
#include "base/secret.h"
#include "base/utf8.h"

namespace pawl::log {
namespace {

using namespace std::string_view_literals;

const Instant at = parse_instant("2026-01-25T21:15:00.123Z").value();
const Correlation nobody;

std::string line_of(std::initializer_list<Field> fields, Format as,
                    const Correlation& correlation = nobody) {
  return format({at, Level::info, "rate_limit_waiting", fields, correlation}, as);
}

// What one field's value looks like in a line of text.
std::string in_text(const Field& field) {
  const std::string line = line_of({field}, Format::text);
  return line.substr(line.find('=') + 1);
}

json::Value in_json(const Field& field) {
  const auto line = json::parse(line_of({field}, Format::json));
  EXPECT_TRUE(line.has_value()) << line.error().message;
  const json::Value* value = line ? line->find(field.name()) : nullptr;
  return value ? *value : json::Value();
}

// The reader of a quoted or bare value, as somebody's log tool would write it.
std::string read_text(std::string_view value) {
  if (!value.starts_with('"')) return std::string(value);
  std::string out;
  for (std::size_t i = 1; i + 1 < value.size(); ++i) {
    if (value[i] != '\\') {
      out += value[i];
      continue;
    }
    const char kind = value[++i];
    const std::size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : 0;
    if (digits == 0) {
      out += kind == 'n' ? '\n' : kind == 'r' ? '\r' : kind == 't' ? '\t' : kind;
      continue;
    }
    const auto code = std::stoul(std::string(value.substr(i + 1, digits)), nullptr, 16);
    kind == 'x' ? out.push_back(static_cast<char>(code))
                : append_utf8(out, static_cast<char32_t>(code));
    i += digits;
  }
  return out;
}

// Nothing in it ends a line, moves a cursor or breaks a reader of UTF-8.
testing::AssertionResult is_one_clean_line(std::string_view line) {
  while (!line.empty()) {
    const auto [code, bytes] = first_utf8_character(line);
    if (bytes == 0) return testing::AssertionFailure() << "no UTF-8 in it";
    const bool dirty =
        code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0x2028 || code == 0x2029;
    if (dirty) return testing::AssertionFailure() << "U+" << std::hex << int(code);
    line.remove_prefix(bytes);
  }
  return testing::AssertionSuccess();
}

TEST(Format, WritesTextAsTheManualShowsIt) {
  EXPECT_EQ(line_of({{"operation", "order"}, {"wait_seconds", 0.52}}, Format::text,
                    {.tenant_id = "acme"}),
            "2026-01-25T21:15:00.123Z INFO  rate_limit_waiting operation=order wait_seconds=0.52 "
            "tenant_id=acme");
}

TEST(Format, WritesJsonAsOneObject) {
  EXPECT_EQ(line_of({{"operation", "order"}, {"wait_seconds", 0.52}}, Format::json,
                    {.tenant_id = "acme"}),
            R"({"ts":"2026-01-25T21:15:00.123Z","level":"info","event":"rate_limit_waiting",)"
            R"("operation":"order","wait_seconds":0.52,"tenant_id":"acme"})");
}

TEST(Format, AlignsTheEventsOfAllLevels) {
  for (const Level level : {Level::trace, Level::debug, Level::info, Level::warn, Level::error}) {
    const std::string line = format({at, level, "started", {}, nobody}, Format::text);
    EXPECT_EQ(line.find("started"), 31u) << line;
  }
  EXPECT_EQ(format({at, Level::warn, "started", {}, nobody}, Format::text),
            "2026-01-25T21:15:00.123Z WARN  started");
  EXPECT_EQ(format({at, Level::error, "started", {}, nobody}, Format::text),
            "2026-01-25T21:15:00.123Z ERROR started");
}

TEST(Format, WritesNumbersAndBooleansBare) {
  EXPECT_EQ(line_of({{"a", -5},
                     {"b", std::numeric_limits<std::int64_t>::min()},
                     {"c", std::numeric_limits<std::uint64_t>::max()},
                     {"d", 1e22},
                     {"e", 0.1},
                     {"f", true},
                     {"g", false}},
                    Format::text),
            "2026-01-25T21:15:00.123Z INFO  rate_limit_waiting a=-5 b=-9223372036854775808 "
            "c=18446744073709551615 d=1e+22 e=0.1 f=true g=false");
  EXPECT_EQ(in_json({"n", 1e22}), json::Value(json::Number("1e+22")));
  EXPECT_EQ(in_json({"n", true}), json::Value(true));
}

TEST(Format, WritesNumbersThatJsonDoesNotHaveAsStrings) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(in_json({"n", infinity}), json::Value("inf"));
  EXPECT_EQ(in_json({"n", -infinity}), json::Value("-inf"));
  EXPECT_EQ(in_json({"n", std::numeric_limits<double>::quiet_NaN()}), json::Value("nan"));
  EXPECT_EQ(in_text({"n", -infinity}), "-inf");
}

TEST(Format, QuotesInTextWhatWouldBeReadWrongly) {
  EXPECT_EQ(in_text({"v", "plain-/:,.{}'é€😀"}), "plain-/:,.{}'é€😀");
  EXPECT_EQ(in_text({"v", ""}), R"("")");
  EXPECT_EQ(in_text({"v", "two words"}), R"("two words")");
  EXPECT_EQ(in_text({"v", "a=b"}), R"("a=b")");
  EXPECT_EQ(in_text({"v", R"(say "hi")"}), R"("say \"hi\"")");
  EXPECT_EQ(in_text({"v", R"(C:\x)"}), R"("C:\\x")");
}

struct Hostile {
  std::string_view what;
  std::string_view bytes;
  std::string_view text;  // how it stands in a text line
};

const Hostile hostile[] = {
    {"line feed", "a\nb", R"("a\nb")"},
    {"carriage return", "a\rb", R"("a\rb")"},
    {"a forged line", "x\n2026-01-25T21:15:00.123Z ERROR forged",
     R"("x\n2026-01-25T21:15:00.123Z ERROR forged")"},
    {"a forged field", "x tenant_id=other", R"("x tenant_id=other")"},
    {"a forged JSON member", R"(x","level":"error)", R"("x\",\"level\":\"error")"},
    {"tab", "\t", R"("\t")"},
    {"NUL", "a\0b"sv, R"("a\x00b")"},
    {"backspace", "\b", R"("\x08")"},
    {"vertical tab and form feed", "\v\f", R"("\x0b\x0c")"},
    {"terminal colour", "\x1B[31mred", R"("\x1b[31mred")"},
    {"terminal title", "\x1B]0;x\a", R"("\x1b]0;x\x07")"},
    {"DEL", "\x7F", R"("\x7f")"},
    {"NEL (C1)", "\xC2\x85", R"("\u0085")"},
    {"CSI (C1)", "\xC2\x9B", R"("\u009b")"},
    {"line separator", "\xE2\x80\xA8", R"("\u2028")"},
    {"paragraph separator", "\xE2\x80\xA9", R"("\u2029")"},
    {"text turned around", "\xE2\x80\xAE", R"("\u202e")"},
    {"isolate", "\xE2\x81\xA6", R"("\u2066")"},
    {"backslash n, spelt out", R"(\n)", R"("\\n")"},
    {"lone continuation", "\x80", R"("\x80")"},
    {"raw C1 byte", "\x9B", R"("\x9b")"},
    {"overlong line feed", "\xC0\x8A", R"("\xc0\x8a")"},
    {"surrogate", "\xED\xA0\x80", R"("\xed\xa0\x80")"},
    {"past the last code point", "\xF4\x90\x80\x80", R"("\xf4\x90\x80\x80")"},
    {"cut short", "abc\xE2\x80", R"("abc\xe2\x80")"},
    {"lead, then a line feed", "\xE2\n", R"("\xe2\n")"},
    {"0xFE 0xFF", "\xFE\xFF", R"("\xfe\xff")"},
};

TEST(Format, StaysOneLineAgainstEveryHostileValue) {
  for (const auto& [what, bytes, text] : hostile) {
    SCOPED_TRACE(what);
    const Field field("v", bytes);
    EXPECT_EQ(in_text(field), text);
    EXPECT_EQ(read_text(in_text(field)), bytes);
    EXPECT_TRUE(is_one_clean_line(line_of({field}, Format::text)));
    EXPECT_TRUE(is_one_clean_line(line_of({field}, Format::json)));
    const json::Value value = in_json(field);
    ASSERT_NE(value.if_string(), nullptr);
    if (is_utf8(bytes)) {
      EXPECT_EQ(*value.if_string(), bytes);
    } else {
      EXPECT_NE(value.if_string()->find("\uFFFD"), std::string::npos);
    }
  }
}

TEST(Format, EscapesCorrelationToo) {
  const Correlation correlation = {.tenant_id = "a\nb", .trace_id = "x y"};
  EXPECT_TRUE(line_of({}, Format::text, correlation)
                  .ends_with(R"(rate_limit_waiting tenant_id="a\nb" trace_id="x y")"));
  EXPECT_TRUE(
      line_of({}, Format::json, correlation).ends_with(R"("tenant_id":"a\nb","trace_id":"x y"})"));
}

RC_GTEST_PROP(Format, GivesBackAnyBytes, (const std::vector<std::uint8_t>& raw)) {
  const std::string bytes(raw.begin(), raw.end());
  const Field field("v", bytes);
  RC_ASSERT(bool(is_one_clean_line(line_of({field}, Format::text))));
  RC_ASSERT(read_text(in_text(field)) == bytes);
  RC_ASSERT(bool(is_one_clean_line(line_of({field}, Format::json))));
  const json::Value value = in_json(field);
  RC_ASSERT(value.if_string() != nullptr);
  if (is_utf8(bytes)) RC_ASSERT(*value.if_string() == bytes);
}

TEST(Format, LeavesAValueOfTheGreatestSizeWhole) {
  const std::string value(bounds::log_field_bytes_max, 'a');
  EXPECT_EQ(in_text({"v", value}), value);
}

TEST(Format, CutsALongerValueAndSaysByHowMuch) {
  const std::string kept(bounds::log_field_bytes_max, 'a');
  const std::string value = kept + std::string(17, 'b');
  EXPECT_EQ(in_text({"v", value}), "\"" + kept + "…(+17 bytes)\"");
  EXPECT_EQ(in_json({"v", value}), json::Value(kept + "…(+17 bytes)"));
}

TEST(Format, CutsBetweenCharactersOnly) {
  for (const std::string character : {"é", "€", "😀"}) {
    for (std::size_t inside = 1; inside < character.size(); ++inside) {
      const std::string kept(bounds::log_field_bytes_max - inside, 'a');
      EXPECT_EQ(in_json({"v", kept + character}),
                json::Value(kept + "…(+" + std::to_string(character.size()) + " bytes)"));
    }
    const std::string whole =
        std::string(bounds::log_field_bytes_max - character.size(), 'a') + character;
    EXPECT_EQ(in_json({"v", whole + "z"}), json::Value(whole + "…(+1 bytes)"));
  }
}

TEST(Format, CutsWhatIsNoTextAtTheBound) {
  const std::string value(bounds::log_field_bytes_max + 3, '\x80');
  EXPECT_TRUE(in_text({"v", value}).ends_with("\\x80…(+3 bytes)\""));
}

TEST(Format, NumbersANameThatComesTwice) {
  const std::initializer_list<Field> fields = {
      {"tenant_id", "a"}, {"event", "b"}, {"n", 1}, {"n", 2}};
  const Correlation correlation = {.tenant_id = "c"};
  EXPECT_TRUE(line_of(fields, Format::text, correlation)
                  .ends_with(" tenant_id=a event.2=b n=1 n.2=2 tenant_id.2=c"));
  EXPECT_TRUE(json::parse(line_of(fields, Format::json, correlation)).has_value());
}

TEST(Format, WritesEveryCorrelationField) {
  const Correlation correlation = {.tenant_id = "acme",
                                   .request_id = "r1",
                                   .external_reference = "order-7",
                                   .correlation_id = "c1",
                                   .trace_id = "t1"};
  EXPECT_EQ(line_of({}, Format::text, correlation),
            "2026-01-25T21:15:00.123Z INFO  rate_limit_waiting external_reference=order-7 "
            "request_id=r1 tenant_id=acme correlation_id=c1 trace_id=t1");
}

TEST(Format, TellsSuppressedRepeatsLast) {
  const Line line = {at, Level::error, "store_down", {}, nobody, 7};
  EXPECT_EQ(format(line, Format::text),
            "2026-01-25T21:15:00.123Z ERROR store_down repeats_suppressed=7");
}

static_assert(!std::is_constructible_v<Field, Name, Secret<std::string>>,
              "a secret must not be loggable");
static_assert(!std::is_constructible_v<Field, Name, const void*>,
              "a pointer must not be logged as a bool");
static_assert(!std::is_constructible_v<Name, std::string>, "input must not become a name");

}  // namespace
}  // namespace pawl::log
