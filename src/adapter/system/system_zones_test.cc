// Goal: a zone's table is the machine's tzdata, and no name reaches any other file.
// Method: known changes by hand; then every zone of the database against the C library's own
//         reading of the same files, on both sides of every change and in between.
#include "adapter/system/system_zones.h"

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

namespace pawl {
namespace {

Instant at(const std::string& text) {
  return parse_instant(text).value();
}

// Where a change is, and the offset of both sides: "2026-03-29T01:00:00.000Z 3600s to 7200s".
std::string change_after(const Zone& zone, const std::string& instant) {
  const ZoneSpan before = zone.span_at(at(instant));
  if (before.until == Instant::max()) return "none";
  const auto seconds = [](Duration d) { return std::to_string(d.ns() / 1'000'000'000) + "s"; };
  return to_string(before.until) + " " + seconds(before.utc_offset) + " to " +
         seconds(zone.span_at(before.until).utc_offset);
}

TEST(SystemZones, KnowTheirChanges) {
  const Zone zurich = load_zone("Europe/Zurich").value();
  EXPECT_EQ(zurich.name(), "Europe/Zurich");
  EXPECT_EQ(change_after(zurich, "1970-01-01T00:00:00Z"),
            "1981-03-29T01:00:00.000Z 3600s to 7200s");
  EXPECT_EQ(change_after(zurich, "2026-01-01T00:00:00Z"),
            "2026-03-29T01:00:00.000Z 3600s to 7200s");
  EXPECT_EQ(change_after(zurich, "2026-07-01T00:00:00Z"),
            "2026-10-25T01:00:00.000Z 7200s to 3600s");
  EXPECT_EQ(change_after(zurich, "2100-07-01T00:00:00Z"),
            "2100-10-31T01:00:00.000Z 7200s to 3600s");
  EXPECT_EQ(change_after(zurich, "2101-01-01T00:00:00Z"), "none");

  const Zone new_york = load_zone("America/New_York").value();
  EXPECT_EQ(change_after(new_york, "2026-01-01T00:00:00Z"),
            "2026-03-08T07:00:00.000Z -18000s to -14400s");
  EXPECT_EQ(change_after(new_york, "2026-07-01T00:00:00Z"),
            "2026-11-01T06:00:00.000Z -14400s to -18000s");

  const Zone lord_howe = load_zone("Australia/Lord_Howe").value();
  EXPECT_EQ(change_after(lord_howe, "2025-01-01T00:00:00Z"),
            "2025-04-05T15:00:00.000Z 39600s to 37800s");
  EXPECT_EQ(change_after(load_zone("Pacific/Apia").value(), "2011-12-01T00:00:00Z"),
            "2011-12-30T10:00:00.000Z -36000s to 50400s");
  EXPECT_EQ(change_after(load_zone("Africa/Monrovia").value(), "1970-01-01T00:00:00Z"),
            "1972-01-07T00:44:30.000Z -2670s to 0s");

  const Zone kolkata = load_zone("Asia/Kolkata").value();
  EXPECT_EQ(change_after(kolkata, "1970-01-01T00:00:00Z"), "none");
  EXPECT_EQ(kolkata.span_at(Instant()).utc_offset, Duration::minutes(330));
}

TEST(SystemZones, KnowUtcByItself) {
  EXPECT_EQ(load_zone("UTC").value(), Zone::utc());
  EXPECT_EQ(load_zone("Etc/UTC").value(), Zone("Etc/UTC", Duration()));
}

TEST(SystemZones, RefuseWhatIsNoName) {
  using namespace std::string_view_literals;
  for (const std::string_view name : {""sv,
                                      " "sv,
                                      "Europe"sv,
                                      "Europe/"sv,
                                      "Europe/Zurich/"sv,
                                      "Europe/Nowhere"sv,
                                      "europe/zurich"sv,
                                      "EUROPE/ZURICH"sv,
                                      "Europe/Zurich "sv,
                                      "/Europe/Zurich"sv,
                                      "/usr/share/zoneinfo/Europe/Zurich"sv,
                                      "../zoneinfo/Europe/Zurich"sv,
                                      "Europe/../Europe/Zurich"sv,
                                      "./Europe/Zurich"sv,
                                      "file:Europe/Zurich"sv,
                                      "Fixed/UTC+01:00:00"sv,
                                      "libc:localtime"sv,
                                      "localtime"sv,
                                      "posixrules"sv,
                                      "posix/Europe/Zurich"sv,
                                      "right/Europe/Zurich"sv,
                                      "zone.tab"sv,
                                      "+01:00"sv,
                                      "Europe/Zurich\0"sv,
                                      "Zürich"sv}) {
    const auto zone = load_zone(name);
    ASSERT_FALSE(zone.has_value()) << name;
    EXPECT_EQ(zone.error().code, Code::invalid);
    EXPECT_EQ(zone.error().message,
              "unknown time zone '" + std::string(name) +
                  "'; use a name like Europe/Zurich; needs the tzdata package");
  }
}

std::vector<std::string> names_of_the_database() {
  std::ifstream table("/usr/share/zoneinfo/tzdata.zi");
  std::vector<std::string> names;
  // A line "Z NAME …" is a zone, a line "L TARGET NAME" another name of one.
  for (std::string line; std::getline(table, line);) {
    std::istringstream words(line);
    std::string kind;
    std::string name;
    words >> kind >> name;
    if (kind == "L") words >> name;
    if (kind == "Z" || kind == "L") names.push_back(name);
  }
  return names;
}

Duration offset_by_libc(Instant instant) {
  const std::time_t seconds = instant.ns() / 1'000'000'000;
  std::tm broken_down = {};
  localtime_r(&seconds, &broken_down);
  return Duration::seconds(broken_down.tm_gmtoff);
}

TEST(SystemZones, AgreeWithTheCLibraryEverywhere) {
  const std::vector<std::string> names = names_of_the_database();
  ASSERT_GT(names.size(), 400u);
  const Instant end = at("2101-01-01T00:00:00Z");
  for (const std::string& name : names) {
    const auto zone = load_zone(name);
    ASSERT_TRUE(zone.has_value()) << zone.error().message;
    setenv("TZ", (":" + name).c_str(), 1);
    tzset();
    for (Instant month; month < end; month = month + Duration::days(30)) {
      ASSERT_EQ(zone->span_at(month).utc_offset, offset_by_libc(month))
          << name << " " << to_string(month);
    }
    for (Instant change = zone->span_at(Instant()).until; change < end;
         change = zone->span_at(change).until) {
      for (const Instant side : {change - Duration::seconds(1), change}) {
        ASSERT_EQ(zone->span_at(side).utc_offset, offset_by_libc(side))
            << name << " " << to_string(side);
      }
    }
  }
  unsetenv("TZ");
  tzset();
}

}  // namespace
}  // namespace pawl
