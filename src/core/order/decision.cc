#include "core/order/decision.h"

#include <algorithm>
#include <string>

#include "base/bounds.h"
#include "core/order/names.h"
#include "core/retry/backoff.h"

namespace pawl::order {
namespace {

constexpr Names<5> next_names = {"confirm", "reject", "send_again", "read", "unresolved"};
// docs/audit-events.md lists them.
constexpr Names<26> order_reason_names = {
    "accepted",           "refused",
    "retry_rate_limited", "retry_not_sent",
    "retry_harmless",     "attempts_exhausted",
    "pushback_too_long",  "withdrawn",
    "duplicate",          "trade_not_completed",
    "outcome_unknown",    "found",
    "found_refused",      "several_orders",
    "other_order",        "probable_order",
    "absence_earned",     "absent_exhausted",
    "absent_withdrawn",   "absent_contradicted",
    "not_settled",        "not_expired",
    "absent_once",        "not_whole",
    "not_kept",           "patience_over",
};

Decision reject(Reason reason) {
  return {.next = Next::reject, .reason = reason};
}
Decision unresolved(Reason reason) {
  return {.next = Next::unresolved, .reason = reason};
}
Decision read_at_once(Reason reason) {
  return {.next = Next::read, .reason = reason};
}

bool is_settled(const Settings& settings, const Read& read) {
  return read.quiet >= settings.settle;
}
Duration patience_end(const Settings& settings) {
  return settings.settle + settings.patience;
}

// Sent again, unless something speaks against it.
Decision send_again(const Settings& settings, const Ended& ended, Reason reason) {
  const bool unknown = ended.unknown_before || outcome_of(ended.sent) != Outcome::not_applied;
  const auto stop = unknown ? unresolved : reject;
  if (ended.withdrawn) return stop(Reason::withdrawn);
  const int one_more = ended.turned_away ? 1 : 0;
  if (ended.attempt >= settings.retry.max_attempts + one_more) {
    return stop(Reason::attempts_exhausted);
  }
  if (ended.retry_after > bounds::order_pushback_max) return stop(Reason::pushback_too_long);
  const Duration backoff =
      retry::backoff(settings.retry, ended.key, std::max(ended.attempt, 1), Duration());
  return {
      .next = Next::send_again, .reason = reason, .delay = std::max(backoff, ended.retry_after)};
}

Reason retry_reason(Sent sent) {
  if (sent == Sent::rate_limited) return Reason::retry_rate_limited;
  return sent == Sent::not_sent ? Reason::retry_not_sent : Reason::retry_harmless;
}

// Of a cancel or a change.
Decision decide_repeatable(const Settings& settings, const Ended& ended) {
  if (ended.sent == Sent::accepted) return {.next = Next::confirm, .reason = Reason::accepted};
  if (ended.sent != Sent::refused) {
    return send_again(settings, ended, retry_reason(ended.sent));
  }
  // That it cannot be done now does not say that it was not done before.
  if (ended.unknown_before) return unresolved(Reason::outcome_unknown);
  return reject(Reason::refused);
}

// Doubled from one reading to the next; cut where the settle time ends, since what is read then
// counts, and where patience does.
Decision read_again(const Settings& settings, const Read& read, Reason reason) {
  const int doublings = std::clamp(read.readings - 1, 0, 10);
  Duration wait = bounds::order_absence_gap * (std::int64_t{1} << doublings);
  wait = std::min(wait, bounds::order_reading_wait_max);
  if (reason == Reason::absent_once) {
    wait = bounds::order_absence_gap - (read.absent_before ? read.since_absent : Duration());
  }
  if (!is_settled(settings, read)) wait = std::min(wait, settings.settle - read.elapsed);
  wait = std::min(wait, patience_end(settings) - read.elapsed);
  return {.next = Next::read, .reason = reason, .delay = std::max(wait, Duration())};
}

Decision absent(const Settings& settings, const Read& read) {
  if (read.sealed) return unresolved(Reason::absent_contradicted);
  if (read.withdrawn) return reject(Reason::absent_withdrawn);
  if (read.attempt >= settings.retry.max_attempts) return reject(Reason::absent_exhausted);
  return {.next = Next::send_again, .reason = Reason::absence_earned};
}

// No order of ours, no other that carries its reference.
Decision nothing_found(const Settings& settings, const Read& read) {
  const bool counts = counts_for_absence(settings, read);
  if (counts && read.absent_before && read.since_absent >= bounds::order_absence_gap) {
    return absent(settings, read);
  }
  const bool over = read.elapsed >= patience_end(settings);
  const bool settled = is_settled(settings, read);
  if (read.probable > 0) {
    if (settled || over) return unresolved(Reason::probable_order);
    return read_again(settings, read, Reason::not_settled);
  }
  if (settled && read.readable && !read.whole) return unresolved(Reason::not_kept);
  if (over) return unresolved(Reason::patience_over);
  if (!read.whole) return read_again(settings, read, Reason::not_whole);
  if (!settled) return read_again(settings, read, Reason::not_settled);
  return read_again(settings, read, counts ? Reason::absent_once : Reason::not_expired);
}

}  // namespace

retry::Policy default_retry() {
  return {.max_attempts = 3,
          .base_delay = Duration::seconds(1),
          .max_delay = Duration::seconds(10),
          .min_delay = Duration::milliseconds(100),
          .multiplier_milli = 2000,
          .jitter = retry::Jitter::proportional,
          .jitter_milli = 250,
          .attempt_timeout = Duration::seconds(10)};
}

Result<void> check(const Settings& settings) {
  PAWL_TRY(retry::check(settings.retry));
  if (settings.retry.jitter == retry::Jitter::decorrelated || !settings.retry.delays.empty()) {
    return failure(Code::invalid,
                   "orders are retried after base_delay, multiplied, with jitter of "
                   "none, proportional, full or equal: leave out the rest");
  }
  if (settings.settle <= Duration()) {
    return failure(Code::invalid,
                   "settle must be longer than nothing, and than the venue's "
                   "duplicate window");
  }
  if (settings.patience < Duration()) {
    return failure(Code::invalid, "patience must not be negative");
  }
  return {};
}

std::string_view to_string(Next next) {
  return name_in(next_names, next);
}
std::optional<Next> next_of(std::string_view name) {
  return find_in<Next>(next_names, name);
}
std::string_view to_string(Reason reason) {
  return name_in(order_reason_names, reason);
}
std::optional<Reason> reason_of(std::string_view name) {
  return find_in<Reason>(order_reason_names, name);
}

Decision decide(const Settings& settings, const Ended& ended) {
  if (ended.repeatable) return decide_repeatable(settings, ended);
  if (ended.not_completed) return read_at_once(Reason::trade_not_completed);
  if (ended.sent == Sent::accepted && ended.has_order_id) {
    return {.next = Next::confirm, .reason = Reason::accepted};
  }
  if (ended.sent == Sent::duplicate) return read_at_once(Reason::duplicate);
  const bool applied = outcome_of(ended.sent) != Outcome::not_applied;
  if (applied || ended.has_order_id) return read_at_once(Reason::outcome_unknown);
  if (ended.sent == Sent::refused) return reject(Reason::refused);
  // Certainly not applied, and another attempt may fare better.
  return send_again(settings, ended, retry_reason(ended.sent));
}

Decision decide(const Settings& settings, const Read& read) {
  if (read.orders + read.strangers > 1) return unresolved(Reason::several_orders);
  if (read.strangers == 1) return unresolved(Reason::other_order);
  if (read.orders == 0) return nothing_found(settings, read);
  if (read.venue_refused) return reject(Reason::found_refused);
  return {.next = Next::confirm, .reason = Reason::found};
}

bool counts_for_absence(const Settings& settings, const Read& read) {
  return read.whole && read.expired && read.orders == 0 && read.strangers == 0 &&
         read.probable == 0 && is_settled(settings, read);
}

}  // namespace pawl::order
