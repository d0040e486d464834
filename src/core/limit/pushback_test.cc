// Goal: every dialect is read as its servers mean it; what is malformed is left out and counted;
// nobody is told to come too early, nor to wait for the wrong dimension.
// Method: answers as real servers send them; tables of hostile lines; the edges between delta and
// epoch; and readings written by a small renderer of each dialect, which must come back as they
// were.
#include "core/limit/pushback.h"

#include <array>
#include <gtest/gtest.h>
#include <initializer_list>
#include <rapidcheck/gtest.h>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bounds.h"

namespace pawl::limit {
namespace {

// 2023-11-14T22:13:20.5Z
constexpr Instant now = Instant::from_ns(1'700'000'000'500'000'000);

constexpr Instant in(std::int64_t seconds) {
  return now + Duration::seconds(seconds);
}

constexpr Instant epoch(std::int64_t seconds) {
  return Instant() + Duration::seconds(seconds);
}

Pushback parse(std::initializer_list<Field> fields) {
  return parse_pushback(std::span(fields.begin(), fields.size()), now);
}

using Readings = std::vector<Reading>;

// Draft 08 to 10

TEST(PushbackDraft10, PoliciesAndTheirStateMeetUnderTheirName) {
  const Pushback found =
      parse({{"RateLimit-Policy", R"("burst";q=100;w=60, "daily";q=1000;w=86400)"},
             {"RateLimit", R"("burst";r=50;t=30)"}});
  EXPECT_EQ(found.readings,
            (Readings{{.dimension = "burst",
                       .limit = 100,
                       .remaining = 50,
                       .resets_at = in(30),
                       .window = Duration::seconds(60)},
                      {.dimension = "daily", .limit = 1000, .window = Duration::days(1)}}));
  EXPECT_EQ(found.malformed, 0);
  EXPECT_EQ(found.retry_at, std::nullopt);
}

TEST(PushbackDraft10, LinesOfOneNameAreOneList) {
  EXPECT_EQ(parse({{"ratelimit", R"("a";r=1)"}, {"RATELIMIT", R"("b";r=2;t=3)"}}).readings,
            (Readings{{.dimension = "a", .remaining = 1},
                      {.dimension = "b", .remaining = 2, .resets_at = in(3)}}));
}

TEST(PushbackDraft10, PartitionKeysExtensionsAndBlanksDoNotDisturb) {
  const Pushback found =
      parse({{"RateLimit-Policy", R"("5-in-1min"; q=5; w=60; pk=:NmE0NmVjN2Y=:; pawl-x=1.5)"},
             {"RateLimit", R"(  "5-in-1min"; r=4; t=60; pk=:NmE0NmVjN2Y=:; pawl-y;pawl-z=@17 )"}});
  EXPECT_EQ(found.readings, (Readings{{.dimension = "5-in-1min",
                                       .limit = 5,
                                       .remaining = 4,
                                       .resets_at = in(60),
                                       .window = Duration::seconds(60)}}));
  EXPECT_EQ(found.malformed, 0);
}

TEST(PushbackDraft10, ATokenIsAcceptedAsAName) {
  EXPECT_EQ(parse({{"RateLimit-Policy", "quota;q=100"}, {"RateLimit", "quota;r=9;t=2"}}).readings,
            (Readings{{.dimension = "quota", .limit = 100, .remaining = 9, .resets_at = in(2)}}));
}

TEST(PushbackDraft10, NamesThatDifferInCaseAreTwoPolicies) {
  EXPECT_EQ(parse({{"RateLimit", R"("a";r=1, "A";r=2)"}}).readings.size(), 2U);
}

TEST(PushbackDraft10, TheUnitIsKeptUnlessItIsRequests) {
  const Pushback found =
      parse({{"RateLimit-Policy",
              R"("a";q=1;qu="requests", "b";q=2;qu="request", "c";q=3;qu="content-bytes")"}});
  EXPECT_EQ(found.readings, (Readings{{.dimension = "a", .limit = 1},
                                      {.dimension = "b", .limit = 2},
                                      {.dimension = "c", .limit = 3, .unit = "content-bytes"}}));
}

TEST(PushbackDraft10, TheComingNamesAreReadWhereTheyCanMeanNothingElse) {
  EXPECT_EQ(parse({{"RateLimit", R"("x";a=0;w=30;c=5)"}}).readings,
            (Readings{{.dimension = "x", .remaining = 0, .resets_at = in(30)}}));
  EXPECT_EQ(parse({{"RateLimit", R"("x";r=7;a=0;w=30)"}}).readings,
            (Readings{{.dimension = "x", .remaining = 7}}));
}

TEST(PushbackDraft10, ATimeOfZeroIsASecond) {
  EXPECT_EQ(parse({{"RateLimit", R"("x";r=0;t=0)"}}).readings,
            (Readings{{.dimension = "x", .remaining = 0, .resets_at = in(1)}}));
}

TEST(PushbackDraft10, ATimeIsADeltaHoweverLarge) {
  const Pushback found =
      parse({{"RateLimit", R"("x";r=0;t=1000000000, "y";r=0;t=999999999999999)"}});
  EXPECT_EQ(found.readings.at(0).resets_at, in(1'000'000'000));
  EXPECT_EQ(found.readings.at(1).resets_at, Instant::max());
}

TEST(PushbackDraft10, AMemberThatMakesNoSenseIsLeftOutAlone) {
  for (const std::string_view bad :
       {R"("x")", R"("x";t=3)", R"("x";r=-1)", R"("x";r=1;t=-1)", R"("x";r=1.5)", R"("x";r="1")",
        R"("x";r)", R"("x";r=1;t=1.5)", "7;r=1", ":eA==:;r=1", "?1;r=1"}) {
    const Pushback found = parse({{"RateLimit", R"("a";r=1, )" + std::string(bad)}});
    EXPECT_EQ(found.readings, (Readings{{.dimension = "a", .remaining = 1}})) << bad;
    EXPECT_EQ(found.malformed, 1) << bad;
  }
  for (const std::string_view bad :
       {R"("x")", R"("x";w=1)", R"("x";q=-1)", R"("x";q=1;w=0)", R"("x";q=1;w=-5)",
        R"("x";q=1;w=1.5)", R"("x";q=1;qu=7)", R"("x";q=1.0)", "7", "7;w=0", "-7;w=1",
        "7;w=1;name=3", "1.5;w=1"}) {
    const Pushback found = parse({{"RateLimit-Policy", R"("a";q=1, )" + std::string(bad)}});
    EXPECT_EQ(found.readings, (Readings{{.dimension = "a", .limit = 1}})) << bad;
    EXPECT_EQ(found.malformed, 1) << bad;
  }
}

TEST(PushbackDraft10, ALineThatIsNoStructuredFieldIsLeftOutAsAWhole) {
  for (const std::string_view bad :
       {"", " ", ",", R"("a";r=1,)", R"("a";r=1;)", R"("a;r=1)", R"("a" ;r=1)", "\"\xc3\xa9\";r=1",
        R"("a";r=0001000000000000)", "=", "50"}) {
    for (const std::string_view name : {"RateLimit", "RateLimit-Policy"}) {
      const Pushback found = parse({{name, bad}, {name, R"("ok";q=1;r=2)"}});
      ASSERT_EQ(found.readings.size(), 1U) << bad;
      EXPECT_EQ(found.readings.front().dimension, "ok") << bad;
      EXPECT_EQ(found.malformed, 1) << bad;
    }
  }
}

// The older drafts

TEST(PushbackDraft07, ADictionaryAndNamelessPolicies) {
  const Pushback found =
      parse({{"RateLimit", "limit=100, remaining=50, reset=30"},
             {"RateLimit-Policy", "100;w=60;comment=\"sliding window\", 5000;w=3600"}});
  EXPECT_EQ(
      found.readings,
      (Readings{
          {.limit = 100, .remaining = 50, .resets_at = in(30), .window = Duration::minutes(1)},
          {.limit = 5000, .window = Duration::hours(1)}}));
  EXPECT_EQ(found.malformed, 0);
}

TEST(PushbackDraft07, ANamelessPolicyStandsOnce) {
  EXPECT_EQ(parse({{"RateLimit", "limit=10"},
                   {"RateLimit-Policy", "10;w=1, 10;w=60"},
                   {"RateLimit-Policy", "10;w=60, 10;w=1"}})
                .readings,
            (Readings{{.limit = 10, .window = Duration::seconds(1)},
                      {.limit = 10, .window = Duration::minutes(1)}}));
}

TEST(PushbackDraft07, ADictionaryThatMakesNoSenseIsLeftOut) {
  for (const std::string_view bad :
       {"limit=-1", "limit=\"5\", remaining=1", "limit=5, remaining=x", "limit=5, reset=1.5",
        "limit", "other=5", "limit=5, remaining=4, reset=-1", "limit=5,"}) {
    const Pushback found = parse({{"RateLimit", bad}});
    EXPECT_EQ(found, (Pushback{.malformed = 1})) << bad;
  }
}

TEST(PushbackDraft06, AFieldForEachPart) {
  const Pushback found = parse({{"RateLimit-Limit", "100"},
                                {"RateLimit-Remaining", "0"},
                                {"RateLimit-Reset", "7"},
                                {"RateLimit-Policy", "100;w=60"}});
  EXPECT_EQ(
      found.readings,
      (Readings{
          {.limit = 100, .remaining = 0, .resets_at = in(7), .window = Duration::minutes(1)}}));
}

TEST(PushbackPolli03, PoliciesStandBehindTheLimit) {
  const Pushback found = parse({{"X-RateLimit-Limit", R"(10, 10;w=1;name="per-ip", 1000;w=3600)"},
                                {"X-RateLimit-Remaining", "4"},
                                {"X-RateLimit-Reset", "1"}});
  EXPECT_EQ(found.readings,
            (Readings{{.limit = 10, .remaining = 4, .resets_at = in(1)},
                      {.dimension = "per-ip", .limit = 10, .window = Duration::seconds(1)},
                      {.limit = 1000, .window = Duration::hours(1)}}));
  EXPECT_EQ(found.malformed, 0);
  EXPECT_EQ(parse({{"X-RateLimit-Limit", "10, 10;w=1, 10;w=1"}}).readings,
            (Readings{{.limit = 10, .window = Duration::seconds(1)}}));
  EXPECT_EQ(parse({{"X-RateLimit-Limit", "10;w=1"}}).readings, (Readings{{.limit = 10}}));
  EXPECT_EQ(parse({{"X-RateLimit-Limit", "10, 20;w=0"}}),
            (Pushback{.readings = {{.limit = 10}}, .malformed = 1}));
}

// Without a draft

TEST(PushbackLegacy, ResetIsAnEpochOrADelta) {
  for (const auto& [limit, remaining, reset] :
       {std::array<std::string_view, 3>{"X-RateLimit-Limit", "X-RateLimit-Remaining",
                                        "X-RateLimit-Reset"},
        {"x-rate-limit-limit", "x-rate-limit-remaining", "x-rate-limit-reset"}}) {
    EXPECT_EQ(parse({{limit, "60"}, {remaining, "59"}, {reset, "1700000060"}}).readings,
              (Readings{{.limit = 60, .remaining = 59, .resets_at = epoch(1'700'000'060)}}));
    EXPECT_EQ(parse({{limit, "60"}, {remaining, "59"}, {reset, "60"}}).readings,
              (Readings{{.limit = 60, .remaining = 59, .resets_at = in(60)}}));
  }
}

TEST(PushbackLegacy, TheValueItselfTellsEpochFromDelta) {
  struct Example {
    std::string_view written;
    Instant expected;
  };
  const Example examples[] = {
      {"0", in(1)},
      {"1", in(1)},
      {"2", in(2)},
      {"1.001", in(2)},
      {"999999999", in(999'999'999)},
      {"1000000000", in(1)},  // an epoch, and long past
      {"1700000000", in(1)},
      {"1700000001", in(1)},  // half a second from now
      {"1700000002", epoch(1'700'000'002)},
      {"1700000060.25", epoch(1'700'000'061)},
      {"1700000060123", epoch(1'700'000'060) + Duration::milliseconds(123)},
      {"9223372036", epoch(9'223'372'036)},
      {"9223372037", Instant::max()},  // 2262
      {"999999999999", Instant::max()},
      {"1000000000000", in(1)},  // milliseconds, and long past
      {"999999999999999", Instant::max()},
  };
  for (const auto& [written, expected] : examples) {
    const Pushback found = parse({{"X-RateLimit-Reset", written}});
    EXPECT_EQ(found.readings, (Readings{{.resets_at = expected}})) << written;
    EXPECT_EQ(found.malformed, 0) << written;
  }
}

TEST(PushbackLegacy, ANumberThatIsNoneIsLeftOutAndCounted) {
  for (const std::string_view bad : {"",
                                     " ",
                                     "-1",
                                     "+1",
                                     "1 0",
                                     "0x10",
                                     "1e3",
                                     "ten",
                                     "1_000",
                                     "1.",
                                     ".5",
                                     "1;",
                                     "1,",
                                     ",1",
                                     "1,,2",
                                     "1, x",
                                     "\"1\"",
                                     "1000000000000000",
                                     "99999999999999999999",
                                     "1\xc2\xa0",
                                     "?1",
                                     "@1700000000",
                                     "-0.5",
                                     "inf",
                                     "nan"}) {
    for (const std::string_view part : {"Limit", "Remaining", "Reset", "Used"}) {
      const std::string plain = "X-RateLimit-" + std::string(part);
      const std::string saxo = "X-RateLimit-SessionOrders-" + std::string(part);
      EXPECT_EQ(parse({{plain, bad}, {saxo, bad}}), (Pushback{.malformed = 2})) << bad;
    }
  }
  EXPECT_EQ(parse({{"X-RateLimit-Limit", "1.5"}, {"X-RateLimit-Remaining", "1.5"}}).malformed, 2);
}

TEST(PushbackLegacy, OfTwoServersTheStricterHolds) {
  const Reading strict{.limit = 10, .remaining = 0, .resets_at = in(60)};
  EXPECT_EQ(parse({{"X-RateLimit-Limit", "10"},
                   {"X-RateLimit-Limit", "100"},
                   {"X-RateLimit-Remaining", "5"},
                   {"X-RateLimit-Remaining", "0"},
                   {"X-RateLimit-Reset", "60"},
                   {"X-RateLimit-Reset", "1"}})
                .readings,
            Readings{strict});
  // As a proxy on the way joins them.
  EXPECT_EQ(parse({{"X-RateLimit-Limit", "100, 10"},
                   {"X-RateLimit-Remaining", "0, 5"},
                   {"X-RateLimit-Reset", "1, 60"}})
                .readings,
            Readings{strict});
}

TEST(PushbackLegacy, ARemainderAboveTheLimitIsKept) {
  EXPECT_EQ(parse({{"X-RateLimit-Limit", "10"}, {"X-RateLimit-Remaining", "25"}}),
            (Pushback{.readings = {{.limit = 10, .remaining = 25}}}));
}

TEST(PushbackGithub, TheResourceNamesTheLimit) {
  EXPECT_EQ(parse({{"x-ratelimit-limit", "5000"},
                   {"x-ratelimit-remaining", "4999"},
                   {"x-ratelimit-reset", "1700003600"},
                   {"x-ratelimit-used", "1"},
                   {"x-ratelimit-resource", "core"}}),
            (Pushback{.readings = {{.dimension = "core",
                                    .limit = 5000,
                                    .remaining = 4999,
                                    .resets_at = epoch(1'700'003'600)}}}));
  EXPECT_EQ(parse({{"X-RateLimit-Limit", "5"}, {"X-RateLimit-Resource", "no name"}}),
            (Pushback{.readings = {{.limit = 5}}, .malformed = 1}));
}

TEST(PushbackGithub, WhatIsUsedIsNotLeft) {
  EXPECT_EQ(parse({{"X-RateLimit-Used", "60"}, {"X-RateLimit-Limit", "60"}}).readings,
            (Readings{{.limit = 60, .remaining = 0}}));
  EXPECT_EQ(parse({{"X-RateLimit-Used", "70"}, {"X-RateLimit-Limit", "60"}}).readings,
            (Readings{{.limit = 60, .remaining = 0}}));
  EXPECT_EQ(parse({{"X-RateLimit-Used", "50"},
                   {"X-RateLimit-Limit", "60"},
                   {"X-RateLimit-Remaining", "12"}})
                .readings,
            (Readings{{.limit = 60, .remaining = 10}}));
  // Of how many, nobody knows.
  EXPECT_EQ(parse({{"X-RateLimit-Used", "50"}}), Pushback{});
}

constexpr std::array<Field, 9> saxo_refusal = {
    Field{"X-RateLimit-AppDay-Limit", "10000000"}, {"X-RateLimit-AppDay-Remaining", "9999874"},
    {"X-RateLimit-AppDay-Reset", "82332"},         {"X-RateLimit-Session-Limit", "120"},
    {"X-RateLimit-Session-Remaining", "118"},      {"X-RateLimit-Session-Reset", "60"},
    {"X-RateLimit-SessionOrders-Limit", "1"},      {"X-RateLimit-SessionOrders-Remaining", "0"},
    {"X-RateLimit-SessionOrders-Reset", "1"}};

TEST(PushbackSaxo, EveryDimensionHasItsReading) {
  const Pushback found = parse_pushback(saxo_refusal, now);
  EXPECT_EQ(
      found.readings,
      (Readings{{.dimension = "AppDay",
                 .limit = 10'000'000,
                 .remaining = 9'999'874,
                 .resets_at = in(82'332)},
                {.dimension = "Session", .limit = 120, .remaining = 118, .resets_at = in(60)},
                {.dimension = "SessionOrders", .limit = 1, .remaining = 0, .resets_at = in(1)}}));
  EXPECT_EQ(found.malformed, 0);
}

TEST(PushbackSaxo, AnyDimensionInAnyCaseAsTheServerWroteItFirst) {
  EXPECT_EQ(parse({{"x-ratelimit-refdatainstrumentsminute-remaining", "3"},
                   {"X-RATELIMIT-RefDataInstrumentsMinute-LIMIT", "9"},
                   {"X-RateLimit-Some-New-Thing-Reset", "4"}})
                .readings,
            (Readings{{.dimension = "refdatainstrumentsminute", .limit = 9, .remaining = 3},
                      {.dimension = "Some-New-Thing", .resets_at = in(4)}}));
}

TEST(PushbackKong, AWindowIsADimension) {
  const Pushback found = parse({{"X-RateLimit-Limit-Minute", "5"},
                                {"X-RateLimit-Remaining-Minute", "4"},
                                {"X-RateLimit-Limit-hour", "100"},
                                {"X-RateLimit-Remaining-hour", "99"},
                                {"RateLimit-Limit", "5"},
                                {"RateLimit-Remaining", "4"},
                                {"RateLimit-Reset", "47"}});
  EXPECT_EQ(
      found.readings,
      (Readings{{.dimension = "Minute", .limit = 5, .remaining = 4, .window = Duration::minutes(1)},
                {.dimension = "hour", .limit = 100, .remaining = 99, .window = Duration::hours(1)},
                {.limit = 5, .remaining = 4, .resets_at = in(47)}}));
  EXPECT_EQ(parse({{"X-RateLimit-Limit-Second", "1"},
                   {"X-RateLimit-Limit-Day", "2"},
                   {"X-RateLimit-Limit-Month", "3"},
                   {"X-RateLimit-Limit-Year", "4"}})
                .readings,
            (Readings{{.dimension = "Second", .limit = 1, .window = Duration::seconds(1)},
                      {.dimension = "Day", .limit = 2, .window = Duration::days(1)},
                      {.dimension = "Month", .limit = 3, .window = Duration::days(31)},
                      {.dimension = "Year", .limit = 4, .window = Duration::days(366)}}));
}

// What is not about limits, what is old, what is too much

TEST(Pushback, OtherFieldsArePassedOver) {
  EXPECT_EQ(parse({{"Content-Type", "text/plain"},
                   {"X-RateLimit", "5"},
                   {"X-RateLimit-", "5"},
                   {"X-RateLimit-Bucket", "abc"},
                   {"X-RateLimit--Limit", "5"},
                   {"RateLimit-Partition", "x"},
                   {"X-RateLimited-Limit", "5"},
                   {"XX-RateLimit-Limit", "5"},
                   {"", ""}})
                .readings,
            Readings{});
  EXPECT_EQ(parse({{"X-RateLimit-Bucket", "abc"}, {"X-RateLimit-Limits", "-"}}), Pushback{});
}

TEST(Pushback, AnAnswerOutOfACacheTellsOnlyWhenToComeBack) {
  EXPECT_EQ(parse({{"Age", "3"},
                   {"RateLimit", R"("a";r=0;t=5)"},
                   {"RateLimit-Policy", "nonsense;"},
                   {"X-RateLimit-Remaining", "0"},
                   {"Retry-After", "5"}}),
            (Pushback{.retry_at = in(5)}));
  EXPECT_EQ(parse({{"Age", "0"}, {"X-RateLimit-Remaining", "0"}}).readings,
            (Readings{{.remaining = 0}}));
}

TEST(Pushback, ReadingsBeyondTheBoundAreCounted) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < bounds::limit_readings_max + 5; ++i) {
    names.push_back("X-RateLimit-D" + std::to_string(i) + "-Remaining");
  }
  std::vector<Field> fields;
  for (const std::string& name : names) fields.push_back({name, "0"});
  Pushback found = parse_pushback(fields, now);
  EXPECT_EQ(found.readings.size(), bounds::limit_readings_max);
  EXPECT_EQ(found.malformed, 5);
  // Those that are known are read on.
  fields.push_back({"X-RateLimit-D0-Reset", "9"});
  fields.push_back({"RateLimit-Policy", "5;w=1"});
  found = parse_pushback(fields, now);
  EXPECT_EQ(found.readings.front().resets_at, in(9));
  EXPECT_EQ(found.malformed, 6);
}

TEST(Pushback, NamesAndLinesBeyondTheirBoundAreCounted) {
  const std::string longest(bounds::limit_dimension_bytes_max, 'd');
  for (const std::string& dimension : {longest, longest + "d"}) {
    const std::string name = "X-RateLimit-" + dimension + "-Limit";
    const std::string policy = '"' + dimension + "\";q=1";
    const Pushback found = parse({{name, "1"}, {"RateLimit-Policy", policy}});
    EXPECT_EQ(found.malformed, dimension == longest ? 0 : 2);
    EXPECT_EQ(found.readings.size(), dimension == longest ? 1U : 0U);
  }
  const std::string blanks(bounds::http_header_bytes_max, ' ');
  for (const std::string_view name :
       {"Retry-After", "x-amz-retry-after", "RateLimit", "X-RateLimit-Limit"}) {
    EXPECT_EQ(parse({{name, blanks + "1"}}), (Pushback{.malformed = 1})) << name;
  }
  EXPECT_EQ(parse({{"Content-Type", blanks}}), Pushback{});
}

TEST(Pushback, ADimensionThatIsNoTokenIsLeftOut) {
  EXPECT_EQ(parse({{"X-RateLimit-a b-Limit", "1"}, {"X-RateLimit-\xc3\xa9-Limit", "1"}}),
            (Pushback{.malformed = 2}));
}

// Retry-After

TEST(PushbackRetryAfter, IsADelayInSecondsRoundedUp) {
  struct Example {
    std::string_view written;
    Instant expected;
  };
  const Example examples[] = {{"0", now},
                              {"120", in(120)},
                              {" 5\t", in(5)},
                              {"007", in(7)},
                              {"1.5", in(2)},
                              {"0.0000000001", in(1)},
                              {"3.000", in(3)},
                              {"999999999", in(999'999'999)},
                              {"9223372037", Instant::max()},
                              {"1000000000000000000", Instant::max()},
                              {"99999999999999999999999999.9", Instant::max()}};
  for (const auto& [written, expected] : examples) {
    EXPECT_EQ(parse({{"Retry-After", written}}), (Pushback{.retry_at = expected})) << written;
  }
}

TEST(PushbackRetryAfter, FromABillionOnIsAnEpoch) {
  struct Example {
    std::string_view written;
    Instant expected;
  };
  const Example examples[] = {{"1700000100", epoch(1'700'000'100)},
                              {"1700000100.5", epoch(1'700'000'101)},
                              {"1700000100000", epoch(1'700'000'100)},  // milliseconds
                              {"1000000000", now},                      // past
                              {"4000000000", epoch(4'000'000'000)}};
  for (const auto& [written, expected] : examples) {
    EXPECT_EQ(parse({{"Retry-After", written}}), (Pushback{.retry_at = expected})) << written;
  }
}

TEST(PushbackRetryAfter, IsADateInEachOfTheFormsOfHttp) {
  struct Example {
    std::string_view written;
    Instant expected;
  };
  const Example examples[] = {
      {"Tue, 14 Nov 2023 22:15:00 GMT", epoch(1'700'000'100)},
      {"Tuesday, 14-Nov-23 22:15:00 GMT", epoch(1'700'000'100)},
      {"Tue Nov 14 22:15:00 2023", epoch(1'700'000'100)},
      {"Sun Nov  6 08:49:37 2033", epoch(2'014'879'777)},
      // Two digits: 69 is to come, 94 is past.
      {"Sunday, 06-Nov-69 08:49:37 GMT", epoch(3'150'953'377)},
      {"Sunday, 06-Nov-94 08:49:37 GMT", now},
      {"Sun, 06 Nov 1994 08:49:37 GMT", now},
      {"Tue, 14 Nov 2023 22:13:20 GMT", now},  // half a second ago
      {"Fri, 31 Dec 9999 23:59:59 GMT", Instant::max()},
  };
  for (const auto& [written, expected] : examples) {
    EXPECT_EQ(parse({{"retry-after", written}}), (Pushback{.retry_at = expected})) << written;
  }
}

TEST(PushbackRetryAfter, ThatMakesNoSenseIsLeftOutAndCounted) {
  for (const std::string_view bad :
       {"", "-1", "+1", "1.", ".5", "1 0", "1,2", "0x10", "1e3", "soon", "1.5.5", "5s",
        "Tue, 14 Nov 2023 22:15:00", "Tue, 14 Nov 2023 22:15:00 CET",
        "Tue, 31 Nov 2023 22:15:00 GMT", "2023-11-14T22:15:00Z", "Fri, 31 Dec 9999 23:59:60 GMT",
        "Fri, 31 Dec 9999", "now, later  9999"}) {
    EXPECT_EQ(parse({{"Retry-After", bad}}), (Pushback{.malformed = 1})) << bad;
  }
}

TEST(PushbackRetryAfter, OfSeveralTheLatestHolds) {
  EXPECT_EQ(parse({{"Retry-After", "5"}, {"Retry-After", "9"}, {"Retry-After", "x"}}),
            (Pushback{.retry_at = in(9), .malformed = 1}));
}

TEST(PushbackAmzRetryAfter, IsADelayInMillisecondsRoundedUp) {
  struct Example {
    std::string_view written;
    Instant expected;
  };
  const Example examples[] = {
      {"0", now},
      {"1500", now + Duration::milliseconds(1500)},
      {" 20\t", now + Duration::milliseconds(20)},
      {"0.5", now + Duration::milliseconds(1)},
      {"1700000100000", now + Duration::milliseconds(1'700'000'100'000)},  // never an epoch
      {"9223372036854775807", Instant::max()},
      {"99999999999999999999999999", Instant::max()},
  };
  for (const auto& [written, expected] : examples) {
    EXPECT_EQ(parse({{"X-Amz-Retry-After", written}}), (Pushback{.retry_at = expected})) << written;
  }
}

TEST(PushbackAmzRetryAfter, ThatMakesNoSenseIsLeftOutAndCounted) {
  for (const std::string_view bad : {"", "-1", "+1", "1.", ".5", "1 0", "1,2", "0x10", "1e3",
                                     "soon", "20ms", "inf", "Tue, 14 Nov 2023 22:15:00 GMT"}) {
    EXPECT_EQ(parse({{"x-amz-retry-after", bad}}), (Pushback{.malformed = 1})) << bad;
  }
}

TEST(PushbackAmzRetryAfter, BesideARetryAfterTheLaterHolds) {
  for (const auto& [seconds, milliseconds] : {std::pair{"9", "5000"}, {"5", "9000"}}) {
    const Pushback found = parse({{"Retry-After", seconds}, {"x-amz-retry-after", milliseconds}});
    EXPECT_EQ(found, (Pushback{.retry_at = in(9)})) << seconds;
    EXPECT_EQ(refused_until(found), in(9));
  }
  EXPECT_EQ(parse({{"Age", "3"}, {"x-amz-retry-after", "5000"}}), (Pushback{.retry_at = in(5)}))
      << "out of a cache too";
}

// As text

TEST(PushbackText, HoldsWhatWasTold) {
  const Reading whole{
      .dimension = "SessionOrders", .limit = 1, .remaining = 0, .resets_at = epoch(1'700'000'100)};
  const std::string text = "SessionOrders: limit 1, remaining 0, reset 2023-11-14T22:15:00.000Z";
  EXPECT_EQ(to_string(whole), text);
  EXPECT_EQ(to_string(Reading{.remaining = 3}), "-: remaining 3");
  EXPECT_EQ(to_string(std::vector<Reading>{whole, {.dimension = "Day", .limit = 9}}),
            text + "; Day: limit 9");
  EXPECT_EQ(to_string(std::vector<Reading>{}), "");
}

// When to go on

TEST(PushbackWait, IsForTheDimensionThatIsExhausted) {
  const Pushback found = parse_pushback(saxo_refusal, now);
  EXPECT_EQ(exhausted_until(found), in(1));
  EXPECT_EQ(refused_until(found), in(1));
}

TEST(PushbackWait, OfSeveralExhaustedDimensionsTheLastHolds) {
  const Pushback found =
      parse({{"RateLimit", R"("burst";r=0;t=5, "daily";r=0;t=900, "other";r=1;t=5000)"}});
  EXPECT_EQ(exhausted_until(found), in(900));
}

TEST(PushbackWait, IsNeverBeforeRetryAfterNorBeforeAnExhaustedReset) {
  EXPECT_EQ(refused_until(parse({{"Retry-After", "9"}, {"RateLimit", R"("a";r=0;t=5)"}})), in(9));
  EXPECT_EQ(refused_until(parse({{"Retry-After", "3"}, {"RateLimit", R"("a";r=0;t=5)"}})), in(5));
  EXPECT_EQ(refused_until(parse({{"Retry-After", "3"}, {"RateLimit", R"("a";r=1;t=5)"}})), in(3));
  // An answer that did not refuse may carry one as well: it is not about the pace.
  EXPECT_EQ(exhausted_until(parse({{"Retry-After", "9"}})), std::nullopt);
}

TEST(PushbackWait, ARefusalThatTellsOnlyResetsMeansTheSoonest) {
  const Pushback found = parse({{"X-RateLimit-AppDay-Reset", "82332"},
                                {"X-RateLimit-SessionOrders-Reset", "1"},
                                {"X-RateLimit-Session-Reset", "0"},
                                {"X-RateLimit-Session-Remaining", "7"}});
  EXPECT_EQ(refused_until(found), in(1));
  EXPECT_EQ(exhausted_until(found), std::nullopt);
}

TEST(PushbackWait, IsUnknownWhenNothingSaysAnything) {
  EXPECT_EQ(refused_until({}), std::nullopt);
  EXPECT_EQ(refused_until(parse({{"X-RateLimit-Remaining", "0"}})), std::nullopt);
  EXPECT_EQ(refused_until(parse({{"RateLimit", R"("a";r=5;t=5)"}})), std::nullopt);
}

TEST(PushbackNearLimit, IsFewerThanThreeOfALimitThatIsInUse) {
  EXPECT_TRUE(is_near_limit({.limit = 120, .remaining = 2}));
  EXPECT_FALSE(is_near_limit({.limit = 120, .remaining = 3}));
  EXPECT_TRUE(is_near_limit({.remaining = 2}));
  EXPECT_FALSE(is_near_limit({.limit = 120}));
  // Saxo allows one order a second: one left is all there is.
  EXPECT_FALSE(is_near_limit({.limit = 1, .remaining = 1}));
  EXPECT_TRUE(is_near_limit({.limit = 1, .remaining = 0}));
  EXPECT_TRUE(is_near_limit({.limit = 2, .remaining = 1}));
  EXPECT_TRUE(is_near_limit({.limit = 0, .remaining = 0}));
}

// Round trips

// A reading whose times were whole seconds.
struct Told {
  std::string dimension;
  std::int64_t limit;
  std::int64_t remaining;
  std::int64_t reset;
  std::int64_t window;
};

// One answer of one dialect: its lines, and what of the readings it can tell.
struct Rendered {
  std::vector<std::pair<std::string, std::string>> lines;
  Readings expected;
};

std::string text(std::int64_t number) {
  return std::to_string(number);
}

Rendered render_draft10(const std::vector<Told>& told) {
  Rendered out;
  std::string policies;
  std::string states;
  for (const Told& t : told) {
    const std::string separator = policies.empty() ? "" : ", ";
    const std::string name = separator + '"' + t.dimension + '"';
    policies += name + ";q=" + text(t.limit) + ";w=" + text(t.window);
    states += name + ";r=" + text(t.remaining) + ";t=" + text(t.reset);
    out.expected.push_back(
        {t.dimension, t.limit, t.remaining, in(t.reset), Duration::seconds(t.window)});
  }
  out.lines = {{"RateLimit-Policy", policies}, {"RateLimit", states}};
  return out;
}

Rendered render_draft07(const std::vector<Told>& told) {
  const Told& t = told.front();
  return {.lines = {{"RateLimit", "limit=" + text(t.limit) + ", remaining=" + text(t.remaining) +
                                      ", reset=" + text(t.reset)},
                    {"RateLimit-Policy", text(t.limit) + ";w=" + text(t.window)}},
          .expected = {{"", t.limit, t.remaining, in(t.reset), Duration::seconds(t.window)}}};
}

Rendered render_plain(const std::vector<Told>& told, const std::string& prefix) {
  const Told& t = told.front();
  return {
      .lines = {{prefix + "Limit", text(t.limit) + ", " + text(t.limit) + ";w=" + text(t.window)},
                {prefix + "Remaining", text(t.remaining)},
                {prefix + "Reset", text(1'700'000'001 + t.reset)}},
      .expected = {
          {"", t.limit, t.remaining, epoch(1'700'000'001 + t.reset), Duration::seconds(t.window)}}};
}

Rendered render_dimensions(const std::vector<Told>& told, bool dimension_last) {
  Rendered out;
  for (const Told& t : told) {
    const auto name = [&](const std::string& part) {
      return "X-RateLimit-" +
             (dimension_last ? part + "-" + t.dimension : t.dimension + "-" + part);
    };
    out.lines.insert(out.lines.end(), {{name("Limit"), text(t.limit)},
                                       {name("Remaining"), text(t.remaining)},
                                       {name("Reset"), text(t.reset)}});
    out.expected.push_back({t.dimension, t.limit, t.remaining, in(t.reset)});
  }
  return out;
}

RC_GTEST_PROP(Pushback, WhatADialectWasGivenComesBackAndNothingElse, ()) {
  std::vector<Told> told;
  const int count = *rc::gen::inRange(1, 6);
  for (int i = 0; i < count; ++i) {
    told.push_back({.dimension = "Dimension" + std::to_string(i),
                    .limit = *rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000'000),
                    .remaining = *rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000'000),
                    .reset = *rc::gen::inRange<std::int64_t>(1, 1'000'000'000),
                    .window = *rc::gen::inRange<std::int64_t>(1, 1'000'000'000)});
  }
  const Rendered answers[] = {render_draft10(told),
                              render_draft07(told),
                              render_plain(told, "RateLimit-"),
                              render_plain(told, "X-RateLimit-"),
                              render_plain(told, "X-Rate-Limit-"),
                              render_dimensions(told, false),
                              render_dimensions(told, true)};
  for (const auto& [lines, expected] : answers) {
    std::vector<Field> fields = {{"Content-Length", "5"}};
    for (const auto& [name, value] : lines) fields.push_back({name, value});
    RC_ASSERT(parse_pushback(fields, now) == Pushback{.readings = expected});
  }
}

}  // namespace
}  // namespace pawl::limit
