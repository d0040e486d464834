// Goal: instants are written and read as RFC 3339 and RFC 9110 say, and nothing else passes.
// Method: the examples of both documents, tables of what must be refused, random instants there and
//         back, and random damage to a good text.
#include <gtest/gtest.h>
#include <limits>
#include <rapidcheck/gtest.h>

#include "base/calendar.h"
#include "pawl/time.h"

namespace pawl {
namespace {

constexpr std::int64_t ns_a_second = 1'000'000'000;

TEST(Instant, PrintsInUtcWithMilliseconds) {
  EXPECT_EQ(to_string(Instant()), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(to_string(Instant::from_ns(1'769'375'700 * ns_a_second)), "2026-01-25T21:15:00.000Z");
  EXPECT_EQ(to_string(Instant::from_ns(999'999'999)), "1970-01-01T00:00:00.999Z");
  EXPECT_EQ(to_string(Instant::from_ns(-1)), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(to_string(Instant::max()), "2262-04-11T23:47:16.854Z");
}

TEST(Instant, ReadsTheExamplesOfRfc3339) {
  const auto at = [](const char* text) { return parse_instant(text).value().ns(); };
  EXPECT_EQ(at("1985-04-12T23:20:50.52Z"), 482'196'050 * ns_a_second + 520'000'000);
  EXPECT_EQ(at("1996-12-19T16:39:57-08:00"), at("1996-12-20T00:39:57Z"));
  EXPECT_EQ(at("1937-01-01T12:00:27.87+00:20"), at("1937-01-01T11:40:27.870Z"));
}

TEST(Instant, ReadsFractionsAndOffsets) {
  const auto at = [](const char* text) { return parse_instant(text).value().ns(); };
  EXPECT_EQ(at("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(at("1970-01-01t00:00:00z"), 0);
  EXPECT_EQ(at("1970-01-01T00:00:00-00:00"), 0);
  EXPECT_EQ(at("1970-01-01T00:00:00.1Z"), 100'000'000);
  EXPECT_EQ(at("1970-01-01T00:00:00.000000001Z"), 1);
  EXPECT_EQ(at("1970-01-01T00:00:00.123456789Z"), 123'456'789);
  EXPECT_EQ(at("1969-12-31T23:59:59.999999999Z"), -1);
  EXPECT_EQ(at("1970-01-01T23:59:00+23:59"), 0);
  EXPECT_EQ(at("1969-12-31T00:01:00-23:59"), 0);
  EXPECT_EQ(at("2262-04-11T23:47:16.854775807Z"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(at("1677-09-21T00:12:43.145224192Z"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(at("2024-02-29T00:00:00Z"), at("2024-02-28T00:00:00Z") + 86'400 * ns_a_second);
}

void expect_refused(const Result<Instant>& parsed, std::string_view text, std::string_view why) {
  ASSERT_FALSE(parsed.has_value()) << text;
  EXPECT_EQ(parsed.error().code, Code::invalid);
  EXPECT_EQ(parsed.error().message, "'" + std::string(text) + "' " + std::string(why));
}

TEST(Instant, RefusesWhatIsNotOne) {
  for (const char* text : {"",
                           "2026",
                           "2026-01-25",
                           "2026-01-25T21:15:00",
                           "2026-01-25T21:15Z",
                           "2026-01-25 21:15:00Z",
                           "2026-1-25T21:15:00Z",
                           "26-01-25T21:15:00Z",
                           "+2026-01-25T21:15:00Z",
                           "-026-01-25T21:15:00Z",
                           " 2026-01-25T21:15:00Z",
                           "2026-01-25T21:15:00Z ",
                           "2026-01-25T21:15:00.Z",
                           "2026-01-25T21:15:00,5Z",
                           "2026-01-25T21:15:00.1234567890Z",
                           "2026-01-25T21:15:00.5",
                           "2026-01-25T21:15:00+01",
                           "2026-01-25T21:15:00+0100",
                           "2026-01-25T21:15:00+1:00",
                           "2026-01-25T21:15:00+24:00",
                           "2026-01-25T21:15:00+01:60",
                           "2026-01-25T21:15:00Z+01:00",
                           "2026-01-25T2a:15:00Z",
                           "2026-W04-7T21:15:00Z",
                           "1769375700"}) {
    expect_refused(parse_instant(text), text,
                   "is not an instant; write it as in 2026-01-25T21:15:00Z or "
                   "2026-01-25T22:15:00.5+01:00");
  }
  for (const char* text :
       {"2023-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-04-31T00:00:00Z",
        "2026-00-01T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-00T00:00:00Z"}) {
    expect_refused(parse_instant(text), text, "names a day that does not exist");
  }
  for (const char* text :
       {"2026-01-25T24:00:00Z", "2026-01-25T21:60:00Z", "2016-12-31T23:59:60Z"}) {
    expect_refused(parse_instant(text), text,
                   "names a time of day that does not exist; leap seconds are not known here");
  }
  for (const char* text : {"0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z",
                           "2262-04-11T23:47:16.854775808Z", "1677-09-21T00:12:43.145224191Z",
                           "2262-04-11T23:47:16-00:01", "1677-09-21T00:12:44+00:01"}) {
    expect_refused(parse_instant(text), text,
                   "is too far away: an instant lies between the years 1677 and 2262");
  }
}

RC_GTEST_PROP(Instant, EveryPrintedInstantReadsBackToTheMillisecond, (std::int64_t ns)) {
  // Rounded down to a millisecond, the very first instants would lie before the range.
  RC_PRE(ns > std::numeric_limits<std::int64_t>::min() + 1'000'000);
  const std::int64_t below = ns % 1'000'000 + (ns % 1'000'000 < 0 ? 1'000'000 : 0);
  RC_ASSERT(parse_instant(to_string(Instant::from_ns(ns))).value().ns() == ns - below);
}

TEST(HttpDate, ReadsTheThreeFormsOfRfc9110) {
  const auto instant = Instant::from_ns(784'111'777 * ns_a_second);
  EXPECT_EQ(http_date(instant), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(http_date(instant + Duration::milliseconds(999)), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").value(), instant);
  EXPECT_EQ(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT").value(), instant);
  EXPECT_EQ(parse_http_date("Sun Nov  6 08:49:37 1994").value(), instant);
  EXPECT_EQ(parse_http_date("Sun Nov 16 08:49:37 1994").value(), instant + Duration::days(10));
}

TEST(HttpDate, TakesATwoDigitYearFrom1970To2069) {
  const auto year = [](const char* text) {
    return to_civil(parse_http_date(text).value()).date.year;
  };
  EXPECT_EQ(year("Thursday, 01-Jan-70 00:00:00 GMT"), 1970);
  EXPECT_EQ(year("Friday, 01-Jan-99 00:00:00 GMT"), 1999);
  EXPECT_EQ(year("Saturday, 01-Jan-00 00:00:00 GMT"), 2000);
  EXPECT_EQ(year("Tuesday, 01-Jan-69 00:00:00 GMT"), 2069);
}

TEST(HttpDate, RefusesWhatIsNotOne) {
  for (const char* text : {"",
                           "Sun",
                           "Sun, 06 Nov 1994",
                           "Sun, 6 Nov 1994 08:49:37 GMT",
                           "Sun, 06 Nov 94 08:49:37 GMT",
                           "sun, 06 Nov 1994 08:49:37 GMT",
                           "Sun, 06 nov 1994 08:49:37 GMT",
                           "Sun, 06 Nov 1994 08:49:37 gmt",
                           "Sun, 06 Nov 1994 08:49:37 UTC",
                           "Sun, 06 Nov 1994 08:49:37 +0000",
                           "Sun, 06 Nov 1994 08:49:37",
                           "Sun,06 Nov 1994 08:49:37 GMT",
                           "Sun, 06 Nov 1994 8:49:37 GMT",
                           "Sun, 06 Nov 1994 08:49:37 GMT ",
                           "Sun, 06 Nov 1994 08:49 GMT",
                           " Sun, 06 Nov 1994 08:49:37 GMT",
                           "Sunday, 06 Nov 1994 08:49:37 GMT",
                           "Sun, 06-Nov-94 08:49:37 GMT",
                           "Sunday, 06-Nov-1994 08:49:37 GMT",
                           "Sun Nov 06 08:49:37 1994 GMT",
                           "Sun Nov 6 08:49:37 1994",
                           "Sun Nov  16 08:49:37 1994",
                           "Xyz, 06 Nov 1994 08:49:37 GMT",
                           "1994-11-06T08:49:37Z",
                           "784111777"}) {
    expect_refused(parse_http_date(text), text,
                   "is not a date of HTTP, as in Sun, 06 Nov 1994 08:49:37 GMT");
  }
  expect_refused(parse_http_date("Thu, 30 Feb 2023 00:00:00 GMT"), "Thu, 30 Feb 2023 00:00:00 GMT",
                 "names a day that does not exist");
  expect_refused(parse_http_date("Sun, 06 Nov 1994 24:00:00 GMT"), "Sun, 06 Nov 1994 24:00:00 GMT",
                 "names a time of day that does not exist; leap seconds are not known here");
  expect_refused(parse_http_date("Fri, 31 Dec 9999 23:59:59 GMT"), "Fri, 31 Dec 9999 23:59:59 GMT",
                 "is too far away: an instant lies between the years 1677 and 2262");
}

RC_GTEST_PROP(HttpDate, EveryPrintedDateReadsBackToTheSecond, ()) {
  const auto seconds = *rc::gen::inRange<std::int64_t>(-9'000'000'000, 9'000'000'000);
  const auto instant = Instant::from_ns(seconds * ns_a_second);
  RC_ASSERT(parse_http_date(http_date(instant)).value() == instant);
}

RC_GTEST_PROP(HttpDate, NoDamageMakesEitherReaderFall, ()) {
  std::string text = *rc::gen::element<std::string>(
      "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
      "2026-01-25T22:15:00.5+01:00");
  text.resize(*rc::gen::inRange<std::size_t>(0, text.size() + 1));
  for (int left = *rc::gen::inRange(0, 3); left > 0 && !text.empty(); --left) {
    text[*rc::gen::inRange<std::size_t>(0, text.size())] = *rc::gen::arbitrary<char>();
  }
  for (const auto& parsed : {parse_http_date(text), parse_instant(text)}) {
    RC_ASSERT((parsed.has_value() || parsed.error().code == Code::invalid));
  }
}

}  // namespace
}  // namespace pawl
