// Goal: each dimension has its own count, a refused call charges none, and the fields say so.
// Method: by hand.
#include "emulator/core/saxo_limits.h"

#include <gtest/gtest.h>

namespace pawl::emulator {
namespace {

constexpr SaxoLimits::Ask trade = {.group = "trade", .trades = true};
constexpr SaxoLimits::Ask port = {.group = "port"};

Instant at(std::int64_t ms) {
  return Instant::from_ns(1'790'000'000'000'000'000) + Duration::milliseconds(ms);
}

std::string told(const std::vector<Field>& fields, std::string_view name) {
  for (const Field& field : fields) {
    if (field.name == name) return field.value;
  }
  return "";
}

TEST(SaxoLimits, TheDayEndsAtMidnight) {
  SaxoSettings settings;
  settings.day_limit = 1;
  SaxoLimits limits(settings);
  const Instant late = parse_instant("2026-11-16T23:59:50Z").value();
  EXPECT_EQ(limits.take(port, late), "");
  EXPECT_EQ(limits.take(port, late), "AppDay");
  const auto fields = limits.fields(port, {.exhausted = "AppDay"}, late);
  EXPECT_EQ(told(fields, "X-RateLimit-AppDay-Remaining"), "0");
  EXPECT_EQ(told(fields, "X-RateLimit-AppDay-Reset"), "10");
  EXPECT_EQ(limits.take(port, late + Duration::seconds(10)), "");
}

TEST(SaxoLimits, ARefusedCallChargesNothing) {
  SaxoLimits limits{SaxoSettings()};
  EXPECT_EQ(limits.take(trade, at(0)), "");
  for (int i = 0; i < 500; ++i) EXPECT_EQ(limits.take(trade, at(1)), "SessionOrders");
  EXPECT_EQ(limits.take({.group = "trade"}, at(2)), "");
  EXPECT_EQ(limits.breaches().at("SessionOrders"), 500);
}

TEST(SaxoLimits, PartOfASecondIsRoundedAsTheSettingsSay) {
  for (const bool zero : {false, true}) {
    SaxoSettings settings;
    settings.reset_zero = zero;
    SaxoLimits limits(settings);
    EXPECT_EQ(limits.take(trade, at(0)), "");
    const auto fields = limits.fields(trade, {}, at(200));
    EXPECT_EQ(told(fields, "X-RateLimit-SessionOrders-Reset"), zero ? "0" : "1");
    EXPECT_EQ(told(fields, "X-RateLimit-Session-Reset"), zero ? "59" : "60");
  }
}

TEST(SaxoLimits, OnlyCallsThatTradeAreToldOfOrders) {
  SaxoLimits limits{SaxoSettings()};
  EXPECT_EQ(told(limits.fields(port, {}, at(0)), "X-RateLimit-SessionOrders-Limit"), "");
  EXPECT_EQ(told(limits.fields(trade, {}, at(0)), "X-RateLimit-SessionOrders-Limit"), "1");
  EXPECT_EQ(told(limits.fields(port, {}, at(0)), "X-RateLimit-Session-Limit"), "120");
}

TEST(SaxoLimits, MayBeTurnedOff) {
  SaxoSettings settings;
  settings.limits = false;
  SaxoLimits limits(settings);
  for (int i = 0; i < 1'000; ++i) EXPECT_EQ(limits.take(trade, at(0)), "");
  EXPECT_TRUE(limits.fields(trade, {}, at(0)).empty());
}

}  // namespace
}  // namespace pawl::emulator
