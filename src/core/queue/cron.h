// Cron: the times at which a schedule fires, as five fields.
//
//   minute (0-59)  hour (0-23)  day of month (1-31)  month (1-12, jan-dec)  weekday (0-7, sun-sat)
//
// Fields:   `*`, a number, a range `1-5`, either with a step `*/15` `8-18/2`, and lists of these
//           with commas. 0 and 7 are Sunday; a range of weekdays may go over it (fri-mon). Names in
//           either case. In place of all five: @hourly, @daily or @midnight, @weekly, @monthly,
//           @yearly or @annually.
// Days:     as in Vixie's cron: when neither the day of the month nor the weekday begins with `*`,
//           a day that fits one of the two is enough; else it must fit both.
// Clocks:   are put forward and back. A cron that names hours goes by what the clocks show: a time
//           that is skipped fires at the jump, and one that comes twice fires the first time. One
//           that fires in every hour of the day goes by the hours that pass: it neither pauses for
//           the hour that comes twice nor fires for times that are skipped.
// Contract: pure. What never fires (30 February) does not parse.
// Threads:  any.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/zone.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::queue {

// A bit for each value.
struct Cron {
  std::uint64_t minutes = 0;
  std::uint64_t hours = 0;
  std::uint64_t days = 0;
  std::uint64_t months = 0;
  std::uint64_t weekdays = 0;  // 0 = Sunday … 6
  bool either_day = false;     // a day of the month or a weekday is enough
  bool operator==(const Cron&) const = default;
};

// The error says which field, what stands there, and what may.
Result<Cron> parse_cron(std::string_view text);

// The first firing after that instant; none beyond the years that an Instant can hold.
std::optional<Instant> next_after(const Cron& cron, const Zone& zone, Instant after);

}  // namespace pawl::queue
