// Goal: durations read and print as the configuration promises, and time arithmetic never wraps.
// Method: pinned examples, then round trips and saturation over random values.
#include "pawl/time.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <type_traits>

namespace pawl {
namespace {

TEST(Duration, ReadsEveryFormOfTheContract) {
  EXPECT_EQ(parse_duration("500ms").value(), Duration::milliseconds(500));
  EXPECT_EQ(parse_duration("60s").value(), Duration::seconds(60));
  EXPECT_EQ(parse_duration("15m").value(), Duration::minutes(15));
  EXPECT_EQ(parse_duration("24h").value(), Duration::hours(24));
  EXPECT_EQ(parse_duration("7d").value(), Duration::days(7));
  EXPECT_EQ(parse_duration("0s").value(), Duration());
}

TEST(Duration, RefusesWhatIsNotOne) {
  for (const char* text : {"", "s", "5", "-5s", "+5s", "1.5s", "5 s", " 5s", "5s ", "5S", "5sec",
                           "0x5s", "99999999999999999999s", "106752d"}) {
    const auto parsed = parse_duration(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().code, Code::invalid);
    EXPECT_NE(parsed.error().message.find(text), std::string::npos) << parsed.error().message;
  }
}

TEST(Duration, PrintsTheLargestExactUnit) {
  EXPECT_EQ(to_string(Duration()), "0s");
  EXPECT_EQ(to_string(Duration::seconds(90)), "90s");
  EXPECT_EQ(to_string(Duration::seconds(120)), "2m");
  EXPECT_EQ(to_string(Duration::hours(24)), "1d");
  EXPECT_EQ(to_string(Duration::milliseconds(1500)), "1500ms");
  EXPECT_EQ(to_string(Duration::nanoseconds(1)), "1ns");
}

RC_GTEST_PROP(Duration, EveryPrintedDurationReadsBackTheSame, ()) {
  const auto ns = *rc::gen::arbitrary<std::int64_t>();
  RC_PRE(ns >= 0);
  const auto duration = Duration::nanoseconds(ns);
  RC_ASSERT(parse_duration(to_string(duration)).value() == duration);
}

TEST(Duration, RoundsUpToWholeUnits) {
  EXPECT_EQ(Duration::nanoseconds(1).seconds_up(), 1);
  EXPECT_EQ(Duration::seconds(1).seconds_up(), 1);
  EXPECT_EQ((Duration::seconds(1) + Duration::nanoseconds(1)).seconds_up(), 2);
  EXPECT_EQ(Duration().milliseconds_up(), 0);
  EXPECT_EQ(Duration::nanoseconds(-1).seconds_up(), 0);
  EXPECT_EQ(Duration::seconds(61).up_in(Duration::minutes(1)), 2);
}

TEST(Duration, SaturatesInsteadOfWrapping) {
  EXPECT_EQ(Duration::max() + Duration::seconds(1), Duration::max());
  EXPECT_EQ(Duration::days(std::numeric_limits<std::int64_t>::max()), Duration::max());
  EXPECT_LT(Duration::seconds(-1) - Duration::max(), Duration::hours(-1));
  EXPECT_EQ(Instant::max() + Duration::seconds(1), Instant::max());
  EXPECT_GT(Instant::max() - Instant::from_ns(-5), Duration());
}

TEST(Duration, IsDividedDownToWholeNanoseconds) {
  EXPECT_EQ(Duration::seconds(1) / 3, Duration::nanoseconds(333'333'333));
  EXPECT_EQ(Duration::nanoseconds(-7) / 2, Duration::nanoseconds(-3));
  EXPECT_EQ(Duration::nanoseconds(2) / 3, Duration());
  EXPECT_EQ(Duration::nanoseconds(std::numeric_limits<std::int64_t>::min()) / -1, Duration::max());
}

static_assert(!std::is_convertible_v<Instant, SteadyInstant>,
              "wall and steady time must not be mixed");

}  // namespace
}  // namespace pawl
