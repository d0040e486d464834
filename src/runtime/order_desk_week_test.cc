// Goal:   the weekly limit follows weeks from Monday 00:00 UTC, whatever the caller's time zone.
// Method: the seed's scenarios at its own instants; a desk on a clock moved by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/order_desk_fixture.h"

namespace pawl {
namespace {

class FrequencyLimit : public OrderDeskTest {
 protected:
  void set_time(const char* text) { clock.set_wall(*parse_instant(text)); }
  // So far apart that no pace holds them up.
  Later<Placed> place_in_turn(const std::string& reference) {
    timers.advance(Duration::seconds(1));
    return place(reference);
  }
};

TEST_F(FrequencyLimit, WeekRolloverResetsCount) {
  set_time("2025-11-30T23:59:50Z");
  for (const char* reference : {"A-1", "A-2", "A-3", "A-4", "A-5"}) {
    EXPECT_EQ(place_in_turn(reference).value().as, PlacedAs::confirmed);
  }
  EXPECT_EQ(place_in_turn("A-6").value().as, PlacedAs::denied);
  set_time("2025-12-01T00:00:00Z");
  const auto placed = place_in_turn("A-6");
  EXPECT_EQ(placed.value().as, PlacedAs::confirmed);
  const order::Quota checked = told<desk::QuotaPassed>().back().quota;
  EXPECT_EQ(checked.used, 0);
  EXPECT_EQ(order::week_text(checked.week_start), "2025-12-01");
}

TEST_F(FrequencyLimit, AnOrderWhoseWeekIsOverBeforeItLeavesIsNotSent) {
  set_time("2025-11-30T23:59:57Z");
  EXPECT_EQ(place_in_turn("A-1").value().as, PlacedAs::confirmed);
  const auto waits = place("A-2");  // for its pace
  set_time("2025-12-01T00:00:00Z");
  timers.advance(Duration::seconds(1));
  EXPECT_EQ(waits.value().as, PlacedAs::rejected);
  EXPECT_EQ(sent(), 1U);
  EXPECT_EQ(place_in_turn("A-3").value().quota.used, 1);
}

TEST_F(FrequencyLimit, HandleTimezoneEdgeCases) {
  set_time("2025-11-30T22:00:00Z");
  EXPECT_EQ(place_in_turn("A-1").value().as, PlacedAs::confirmed);
  // Monday 07:00 in Beijing.
  set_time("2025-12-01T07:00:00+08:00");
  const auto placed = place_in_turn("A-2");
  EXPECT_EQ(order::week_text(placed.value().quota.week_start), "2025-11-24");
  EXPECT_EQ(placed.value().quota.used, 2);
}

}  // namespace
}  // namespace pawl
