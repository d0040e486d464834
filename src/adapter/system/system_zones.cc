#include "adapter/system/system_zones.h"

#include <cctz/civil_time.h>
#include <cctz/time_zone.h>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"

namespace pawl {
namespace {

using Seconds = cctz::time_point<cctz::seconds>;

// The library would also open any path, and understand names of its own making ("Fixed/…",
// "file:…"). Every name of the database begins with a capital letter and holds no dot; "localtime",
// "posix/…" and "right/…", which lie beside them, begin small.
bool is_zone_name(std::string_view name) {
  constexpr std::string_view capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/";
  return !name.empty() && capitals.find(name.front()) != std::string_view::npos &&
         name.find_first_not_of(letters) == std::string_view::npos;
}

Duration offset_at(const cctz::time_zone& zone, Seconds time) {
  return Duration::seconds(zone.lookup(time).offset);
}

// What the library calls a change may be one of the zone's abbreviation alone: those are left out.
std::vector<ZoneChange> changes_of(const cctz::time_zone& zone, Seconds time, Seconds until) {
  std::vector<ZoneChange> changes;
  Duration offset = offset_at(zone, time);
  cctz::time_zone::civil_transition transition;
  while (zone.next_transition(time, &transition)) {
    const Seconds next = zone.lookup(transition.to).trans;
    PAWL_ASSERT(next > time);
    time = next;
    if (time >= until) break;
    if (offset_at(zone, time) == offset) continue;
    offset = offset_at(zone, time);
    const Instant at = Instant() + Duration::seconds(time.time_since_epoch().count());
    changes.push_back({.at = at, .utc_offset = offset});
  }
  return changes;
}

}  // namespace

Result<Zone> load_zone(std::string_view name) {
  if (name == "UTC") return Zone::utc();
  std::string wanted(name);
  cctz::time_zone zone;
  if (!is_zone_name(name) || !cctz::load_time_zone(wanted, &zone)) {
    return failure(Code::invalid, "unknown time zone '" + wanted +
                                      "'; use a name like Europe/Zurich; needs the tzdata package");
  }
  const cctz::time_zone utc = cctz::utc_time_zone();
  const Seconds from = cctz::convert(cctz::civil_second(1970, 1, 1), utc);
  const Seconds until = cctz::convert(cctz::civil_second(2101, 1, 1), utc);
  return Zone(std::move(wanted), offset_at(zone, from), changes_of(zone, from, until));
}

}  // namespace pawl
