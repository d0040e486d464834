// Zone: what the clocks of a place show, as a value: how far from UTC they stand, and the instants
// at which that changes.
//
// Why:      "a thousand a day" means the tenant's day, and that is not always 24 hours long.
// Contract: from an instant to what the clocks show is plain: to_local(). The way back is not,
//           since clocks are put forward and back. One rule covers both: a local time means the
//           first instant at which the clocks show it or a later one. So a time that is skipped
//           means the instant of the jump, and a time that comes twice means the first of the two.
//           A later local time never means an earlier instant.
// Ends:     before the first change the first offset holds, after the last one the last. A Zone
//           knows no rules, only its table; whoever fills it says how far that reaches.
// Purity:   nothing here reads a file; adapter/system/system_zones.h does.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/calendar.h"
#include "pawl/time.h"

namespace pawl {

struct ZoneChange {
  Instant at;
  Duration utc_offset;  // from then on; east of Greenwich is positive
  bool operator==(const ZoneChange&) const = default;
};

// A stretch of time in which the clocks are not touched.
struct ZoneSpan {
  Instant from;   // the beginning of time when there is no change before
  Instant until;  // Instant::max() when there is none after; the span does not include it
  Duration utc_offset;
  bool operator==(const ZoneSpan&) const = default;
};

class Zone {
 public:
  // Changes in order of time, no two at once; every offset less than a day.
  Zone(std::string name, Duration first_offset, std::vector<ZoneChange> changes = {});
  static Zone utc();

  const std::string& name() const { return name_; }
  ZoneSpan span_at(Instant instant) const;
  CivilTime to_local(Instant instant) const;
  Instant to_instant(const CivilTime& local) const;

  bool operator==(const Zone&) const = default;

 private:
  std::size_t changes_until(Instant instant) const;
  ZoneSpan span_after(std::size_t changes) const;

  std::string name_;
  Duration first_offset_;
  std::vector<ZoneChange> changes_;
};

}  // namespace pawl
