// The two decisions on an open order: what an attempt's answer means, and what a reading of the
// venue means.
//
// Contract: pure. Settings and facts are everything they depend on; the audit event keeps both, and
//           a replay feeds them to these same functions (decision_record.h).
//           send_again comes only after an attempt that was certainly not applied (rate_limited,
//           not_sent), or when absence was earned: two whole readings, both begun after the settle
//           time, order_absence_gap or more apart, with no order and no probable one in either.
//           When the last attempt that may be made is turned away by a gate, one more is: what the
//           gate wants is renewed by then, and a token that ends must not cost an order. Only one.
//           Cancels and changes to absolute values (`repeatable`) are sent again whatever became of
//           the last copy; what may have been applied then never ends as rejected.
//           Nothing that the venue called a duplicate, named an id for or could not complete
//           (`sealed`) is ever sent again.
//           Patience ends: once it is over, no reading leads to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/order/answer.h"
#include "core/order/order.h"
#include "core/retry/policy.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::order {

// orders.retry: two retries, 1 s to 10 s, ± 25 %, never below 100 ms; orders.timeout as its
// attempt_timeout.
retry::Policy default_retry();

struct Settings {
  retry::Policy retry = default_retry();
  // How long absence must last to be believed; longer than the venue's duplicate window.
  Duration settle = Duration::seconds(20);
  // How long is read after that, for sources that do not answer, or answer in part. Shorter than
  // what the venue may still take a copy for (the attempt's timeout), it ends as unresolved.
  Duration patience = Duration::seconds(60);
  bool operator==(const Settings&) const = default;
};
Result<void> check(const Settings& settings);

// An attempt ended.
struct Ended {
  int attempt = 1;
  Sent sent = Sent::unknown;
  bool turned_away = false;  // as in the Answer
  bool has_order_id = false;
  bool not_completed = false;  // the venue took it, and did not finish: TradeNotCompleted
  Duration retry_after = {};
  bool withdrawn = false;       // nobody waits for it any more
  bool repeatable = false;      // a second copy does no harm: a cancel, a change to what is wanted
  bool unknown_before = false;  // an earlier attempt of such may have been applied
  std::uint64_t key = 0;        // retry::jitter_key() of the reference
  bool operator==(const Ended&) const = default;
};

// A reading ended. Times are steady.
struct Read {
  int attempt = 1;            // the last one that was sent
  int readings = 1;           // since then, with this one
  std::size_t orders = 0;     // of ours beyond doubt, by different ids
  std::size_t strangers = 0;  // that carry the reference, and are other orders
  std::size_t probable = 0;
  bool venue_refused = false;  // the one order that was found: taken, and then refused
  bool whole = false;
  bool readable = false;       // all sources were; then a reading that is not whole stays so
  bool expired = false;        // no copy is taken any more by the venue's clock, or none was said
  Duration quiet = {};         // from the end of the last attempt to the beginning of this reading
  bool absent_before = false;  // an earlier reading counts
  Duration since_absent = {};  // from its beginning to that of this one
  Duration elapsed = {};       // from the end of the last attempt to now
  bool sealed = false;
  bool withdrawn = false;
  bool operator==(const Read&) const = default;
};

enum class Next : std::uint8_t { confirm, reject, send_again, read, unresolved };
std::string_view to_string(Next next);
std::optional<Next> next_of(std::string_view name);

// Why; one for each way to a decision. docs/audit-events.md lists them.
enum class Reason : std::uint8_t {
  // Of an attempt.
  accepted,
  refused,
  retry_rate_limited,
  retry_not_sent,
  retry_harmless,
  attempts_exhausted,
  pushback_too_long,
  withdrawn,
  duplicate,
  trade_not_completed,
  outcome_unknown,
  // Of a reading.
  found,
  found_refused,
  several_orders,
  other_order,
  probable_order,
  absence_earned,
  absent_exhausted,
  absent_withdrawn,
  absent_contradicted,
  not_settled,
  not_expired,
  absent_once,
  not_whole,
  not_kept,
  patience_over,
};
std::string_view to_string(Reason reason);
std::optional<Reason> reason_of(std::string_view name);

struct Decision {
  Next next = Next::unresolved;
  Reason reason = Reason::outcome_unknown;
  Duration delay = {};  // of send_again and read
  bool operator==(const Decision&) const = default;
};

Decision decide(const Settings& settings, const Ended& ended);
Decision decide(const Settings& settings, const Read& read);

// That reading, had it been all there is, would count for absence.
bool counts_for_absence(const Settings& settings, const Read& read);

}  // namespace pawl::order
