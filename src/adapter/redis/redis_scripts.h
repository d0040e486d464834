// The scripts that change counts inside Redis, each one step for everybody.
//
// Why:      a whole set of policies is decided on and charged in one round trip, by the server's
//           own clock, and nobody comes in between.
// Contract: the arithmetic is that of core/limit, in whole microseconds, which a Lua number holds
//           exactly. A script changes the counts and tells what it found; what that means for the
//           caller (how much is left, when to come back) is worked out by core/limit from it.
// Form:     KEYS are the counts, then the reservation where there is one. ARGV begins with the time
//           in microseconds, empty for the server's. A rule is what rule_text() makes of it; that
//           of a calendar has window_starts() as a second line.
//
//   ask    ARGV now cost shadows rule… [id hold undoable]    shadows: a 0 or 1 for each count; a
//             cost below zero is looked at and not charged
//          -> now allowed (a b p closed [at cost]{3})…     the pairs for rules with marks:
//             sums that serve Held::look() like the marks themselves
//   amend  ARGV now verb number id rule…   verb: commit | cancel | renew | undo | refund | close;
//             undo is cancel, also of what has run out
//          -> now 1, or now 0: there is no such reservation
//   carry  ARGV (found new milliseconds)…  -> 1, or 0: some count is not as it was found
//
//   Instead, ask and amend may answer `now -1 kept…`, nothing done: some count stands under another
//   rule, or is none; or `now -2`: that now lies in none of a calendar's windows.
#pragma once

#include "adapter/redis/script_runner.h"

namespace pawl::redis {

struct Scripts {
  Script ask;
  Script amend;
  Script carry;

  Scripts();
};

}  // namespace pawl::redis
