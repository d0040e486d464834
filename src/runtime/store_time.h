// The time of a segment: our own clock, corrected by that of the store as far as that proves it
// wrong; and bounded, so that one wrong reading does not move the queue's time for good.
//
// Why:      processes whose clocks disagree share one queue, and what they share is the store. But
//           its clock shows whole seconds, and its answers take time; so most samples prove
//           nothing, and our own clock is the better one.
//           The queue's time never goes back. A clock that leaps ahead for a moment (a step of NTP,
//           a wrong Date) would end all leases, run what is not due, and stop time for as long as
//           it was ahead. So a leap, measured by the steady clock, is followed only when it has
//           stayed for a while.
// Contract: the first reading counts as it is, unless our clock agrees with a log that was written
//           just now, and the store's alone is ahead. From then on a reading that is ahead of what
//           the steady clock (which counts while the machine sleeps) and the log lead to, by more
//           than `slack`, is followed after it was so for `confirmed_after`. One that is behind is
//           taken, but the queue's time does not go back: where the log is ahead of the reading,
//           time goes on from there, at half its pace. So what is due is delayed and nothing stands
//           still, no lease is over too early, and a lead that a wrong clock left is made up for.
// Threads:  one at a time.
#pragma once

#include <optional>

#include "pawl/time.h"
#include "port/object_store.h"

namespace pawl {

Instant store_time(Instant own, const std::optional<TimeSample>& sample);

class StoreClock {
 public:
  static constexpr Duration slack = Duration::seconds(5);
  static constexpr Duration confirmed_after = Duration::minutes(1);

  struct Reading {
    SteadyInstant at = {};
    Instant own = {};
    std::optional<TimeSample> sample = {};
  };
  enum class Leap : std::uint8_t { none, begins, followed };
  struct Time {
    Instant now = {};
    Leap leap = Leap::none;
    Duration by = {};     // begins: ahead of what is taken for the time
    Duration ahead = {};  // the log is, of what is taken for the time
  };

  // The log's own time, of its last segment, and that it was seen now.
  void seen(Instant log, SteadyInstant at);
  Time read(const Reading& reading);

 private:
  Time judge(const Reading& reading);
  struct Point {
    Instant time = {};
    SteadyInstant at = {};
    Instant later(SteadyInstant now) const { return time + (now - at); }
    Instant slowly_later(SteadyInstant now) const { return time + (now - at) / 2; }
  };

  std::optional<Point> log_ = {};
  std::optional<Point> least_ = {};  // of which half the pace is counted
  std::optional<Point> known_ = {};
  std::optional<Point> doubted_ = {};
};

}  // namespace pawl
