// VenueClock: OKX's time, as far as we know it.
//
// Why:      OKX refuses a signature that is 30 s off, and takes no order after its expTime; both
//           are meant by its clock. Ours may be wrong, or be set while we run, so the venue's time
//           is asked once and carried on by the steady clock.
// Contract: pure. now() is the time that was told, and what has passed since the middle of the call
//           that told it.
// Threads:  none; whoever holds it guards it.
#pragma once

#include <optional>

#include "base/bounds.h"
#include "pawl/time.h"

namespace pawl::okx {

class VenueClock {
 public:
  struct Telling {
    Instant venue_time = {};
    SteadyInstant asked = {};
    SteadyInstant answered = {};
  };

  void told(const Telling& telling) {
    const Duration way = (telling.answered - telling.asked) / 2;
    told_ = Told{.time = telling.venue_time, .at = telling.asked + way};
    doubted_ = false;
  }
  // OKX found it wrong: it is asked anew before it is used again.
  void doubt() { doubted_ = true; }

  bool is_usable() const { return told_ && !doubted_; }
  bool is_fresh(SteadyInstant steady) const {
    return is_usable() && steady - told_->at <= bounds::okx_clock_age_max;
  }
  // Nothing: it has never been told.
  std::optional<Instant> now(SteadyInstant steady) const {
    if (!told_) return std::nullopt;
    return told_->time + (steady - told_->at);
  }

 private:
  struct Told {
    Instant time;
    SteadyInstant at;
  };
  std::optional<Told> told_;
  bool doubted_ = false;
};

}  // namespace pawl::okx
