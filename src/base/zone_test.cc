// Goal: an instant and what the clocks of a place show are turned into each other as the header
//       says, in every gap and overlap.
// Method: known changes of real places by hand; random tables, however wild, against the rule's
//         own words.
#include "base/zone.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <rapidcheck/gtest.h>

namespace pawl {
namespace {

Instant at(const std::string& text) {
  return parse_instant(text).value();
}

CivilTime local(const std::string& text) {
  return to_civil(at(text + "Z"));
}

std::string shown(const Zone& zone, const std::string& instant) {
  std::string text = to_string(from_civil(zone.to_local(at(instant))));
  text.pop_back();  // the Z it is not
  return text;
}

std::string meant(const Zone& zone, const std::string& text) {
  return to_string(zone.to_instant(local(text)));
}

Zone zurich_2026() {
  return Zone("Europe/Zurich", Duration::hours(1),
              {{at("2026-03-29T01:00:00Z"), Duration::hours(2)},
               {at("2026-10-25T01:00:00Z"), Duration::hours(1)}});
}

TEST(Zone, UtcShowsTheInstantItself) {
  const Zone utc = Zone::utc();
  EXPECT_EQ(utc.name(), "UTC");
  EXPECT_EQ(shown(utc, "2026-02-28T23:59:59.999Z"), "2026-02-28T23:59:59.999");
  EXPECT_EQ(meant(utc, "2026-02-28T23:59:59.999"), "2026-02-28T23:59:59.999Z");
  constexpr auto lowest = Instant::from_ns(std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(utc.span_at(Instant()), (ZoneSpan{lowest, Instant::max(), Duration()}));
}

TEST(Zone, AnOffsetHoldsFromItsChangeToTheNext) {
  const Zone zone = zurich_2026();
  EXPECT_EQ(shown(zone, "1900-06-15T12:00:00Z"), "1900-06-15T13:00:00.000");
  EXPECT_EQ(shown(zone, "2026-03-29T00:59:59.999Z"), "2026-03-29T01:59:59.999");
  EXPECT_EQ(shown(zone, "2026-03-29T01:00:00Z"), "2026-03-29T03:00:00.000");
  EXPECT_EQ(shown(zone, "2026-10-25T00:59:59.999Z"), "2026-10-25T02:59:59.999");
  EXPECT_EQ(shown(zone, "2026-10-25T01:00:00Z"), "2026-10-25T02:00:00.000");
  EXPECT_EQ(shown(zone, "2200-06-15T12:00:00Z"), "2200-06-15T13:00:00.000");
  EXPECT_EQ(zone.span_at(at("2026-03-29T01:00:00Z")),
            (ZoneSpan{at("2026-03-29T01:00:00Z"), at("2026-10-25T01:00:00Z"), Duration::hours(2)}));
}

TEST(Zone, ASkippedTimeMeansTheInstantOfTheJump) {
  const Zone zone = zurich_2026();
  EXPECT_EQ(meant(zone, "2026-03-29T01:59:59.999"), "2026-03-29T00:59:59.999Z");
  EXPECT_EQ(meant(zone, "2026-03-29T02:00:00"), "2026-03-29T01:00:00.000Z");
  EXPECT_EQ(meant(zone, "2026-03-29T02:30:00"), "2026-03-29T01:00:00.000Z");
  EXPECT_EQ(meant(zone, "2026-03-29T03:00:00"), "2026-03-29T01:00:00.000Z");
  EXPECT_EQ(meant(zone, "2026-03-29T03:00:01"), "2026-03-29T01:00:01.000Z");
}

TEST(Zone, ATimeThatComesTwiceMeansTheFirst) {
  const Zone zone = zurich_2026();
  EXPECT_EQ(meant(zone, "2026-10-25T01:59:59"), "2026-10-24T23:59:59.000Z");
  EXPECT_EQ(meant(zone, "2026-10-25T02:00:00"), "2026-10-25T00:00:00.000Z");
  EXPECT_EQ(meant(zone, "2026-10-25T02:59:59"), "2026-10-25T00:59:59.000Z");
  EXPECT_EQ(meant(zone, "2026-10-25T03:00:00"), "2026-10-25T02:00:00.000Z");
}

// Samoa went from one side of the date line to the other: 30 December 2011 was no day there.
TEST(Zone, AWholeDayCanBeSkipped) {
  const Instant jump = at("2011-12-30T10:00:00Z");
  const Zone zone("Pacific/Apia", Duration::hours(-10), {{jump, Duration::hours(14)}});
  EXPECT_EQ(shown(zone, "2011-12-30T09:59:59Z"), "2011-12-29T23:59:59.000");
  EXPECT_EQ(shown(zone, "2011-12-30T10:00:00Z"), "2011-12-31T00:00:00.000");
  for (const char* text : {"2011-12-30T00:00:00", "2011-12-30T17:45:00", "2011-12-31T00:00:00"}) {
    EXPECT_EQ(zone.to_instant(local(text)), jump) << text;
  }
}

TEST(Zone, EqualsAnotherOnlyWithTheSameTable) {
  EXPECT_EQ(zurich_2026(), zurich_2026());
  EXPECT_NE(zurich_2026(), Zone("Europe/Zurich", Duration::hours(1)));
  EXPECT_NE(Zone("A", Duration()), Zone("B", Duration()));
}

TEST(ZoneDeathTest, ATableOutOfOrderIsABug) {
  const ZoneChange early = {at("2026-01-01T00:00:00Z"), Duration::hours(1)};
  const ZoneChange late = {at("2026-01-02T00:00:00Z"), Duration::hours(2)};
  EXPECT_DEATH(Zone("X", Duration(), {late, early}), "change.at > last");
  EXPECT_DEATH(Zone("X", Duration(), {early, early}), "change.at > last");
  EXPECT_DEATH(Zone("X", Duration::days(1)), "first_offset_ < offset_max");
  EXPECT_DEATH(Zone("X", Duration(), {{early.at, Duration::days(-1)}}), "utc_offset < offset_max");
}

std::vector<ZoneChange> any_changes() {
  std::vector<ZoneChange> changes;
  Instant last;
  for (int i = *rc::gen::inRange(0, 8); i > 0; --i) {
    last = last + Duration::seconds(*rc::gen::inRange(1, 100'000));
    changes.push_back({last, Duration::seconds(*rc::gen::inRange(-86'399, 86'400))});
  }
  return changes;
}

// Changes that come faster than the clocks they move: no place does this, the rule bears it.
RC_GTEST_PROP(Zone, ALocalTimeMeansTheFirstInstantThatShowsItOrALaterOne, ()) {
  const Duration first = Duration::seconds(*rc::gen::inRange(-86'399, 86'400));
  const std::vector<ZoneChange> changes = any_changes();
  const Zone zone("any", first, changes);
  const Instant wanted = Instant() + Duration::seconds(*rc::gen::inRange(-100'000, 900'000));
  const Instant found = zone.to_instant(to_civil(wanted));
  RC_ASSERT(from_civil(zone.to_local(found)) >= wanted);

  // Within a span clocks only go forward, so its last moment before `found` shows the most.
  constexpr Duration moment = Duration::nanoseconds(1);
  std::vector<Instant> latest = {found - moment};
  for (const ZoneChange& change : changes) {
    if (change.at <= found) latest.push_back(change.at - moment);
  }
  for (const Instant before : latest) {
    RC_ASSERT(from_civil(zone.to_local(before)) < wanted);
  }
}

}  // namespace
}  // namespace pawl
