#include "core/limit/pacer.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/bounds.h"

namespace pawl::limit::pacer {
namespace {

constexpr int too_many_requests = 429;
constexpr int service_unavailable = 503;

// As the wall clock shows it, in the milliseconds that are printed: rounded up, never early.
std::string wall_text(SteadyInstant at, Time now) {
  constexpr std::int64_t millisecond = 1'000'000;
  const Instant wall = now.wall + (at - now.steady);
  return to_string(wall + Duration::nanoseconds(millisecond - 1));
}

std::string not_sent(const std::string& operation) {
  return "'" + operation + "' was not sent: ";
}

}  // namespace

Effects Machine::decide(const Event& event, Time now) {
  Effects out;
  std::visit([&](const auto& e) { on(e, now, out); }, event);
  go_on(now, out);
  return out;
}

void Machine::on(const Asked& event, Time, Effects& out) {
  PAWL_ASSERT(!holds(event.ticket));
  Lane& lane = event.urgent ? urgent_ : normal_;
  if (lane.size() == bounds::pacer_waiting_max) {
    const std::string count = std::to_string(bounds::pacer_waiting_max);
    out.emplace_back(
        Refuse{event.ticket,
               Error(Code::refused, Outcome::not_applied,
                     not_sent(event.operation) + count + (event.urgent ? " urgent" : "") +
                         " calls of this session are waiting already, and no more may. Ask again "
                         "when some have left, or ask for less than " +
                         to_string(settings_.bucket.rate) + ".")});
    return;
  }
  lane.push_back(
      {.ticket = event.ticket, .operation = event.operation, .deadline = event.deadline});
}

void Machine::on(const Withdrawn& event, Time, Effects&) {
  const auto is_it = [&](const Waiting& waiting) { return waiting.ticket == event.ticket; };
  std::erase_if(urgent_, is_it);
  std::erase_if(normal_, is_it);
}

void Machine::on(const Charged& event, Time now, Effects& out) {
  PAWL_ASSERT(charging_since_.has_value());
  const Duration age = now.steady - *charging_since_;
  charging_since_.reset();
  const Verdict& verdict = event.answer.bound();
  if (!event.answer.allowed) {
    paced_until_ = now.steady + event.answer.retry_after;
    closed_elsewhere_ = verdict.closed;
    return;
  }
  refuse_late(urgent_, now, out);
  refuse_late(normal_, now, out);
  Lane& lane = first_lane();
  const bool usable = age <= bounds::pacer_charge_age_max && now.steady >= closed_until_;
  if (!usable || lane.empty()) {
    if (may_give_back(verdict, age)) out.emplace_back(Refund{});
    return;
  }
  if (verdict.remaining == 0) {
    paced_until_ = now.steady + verdict.more_after;
    closed_elsewhere_ = false;
  }
  out.emplace_back(Release{lane.front().ticket});
  out.emplace_back(
      Note(RateLimitTokenAcquired{std::move(lane.front().operation), verdict.remaining}));
  lane.pop_front();
}

// A unit comes back whole, although time may have earned some of it back already, and others may
// have used that: then one too many would pass. Without a burst others get nothing before the
// bucket is full again. With one, nothing was earned twice until the bucket would have been full
// without this charge. The way back may take as long as the way here did.
bool Machine::may_give_back(const Verdict& verdict, Duration age) const {
  const TokenBucket& bucket = settings_.bucket;
  const Duration own = bucket.burst == 0 ? Duration() : bucket.interval;
  return age + age < verdict.full_after - own;
}

// Nobody can tell the pace without the store, so nobody leaves. The rest of the queue asks it anew.
void Machine::on(const ChargeFailed& event, Time, Effects& out) {
  PAWL_ASSERT(charging_since_.has_value());
  charging_since_.reset();
  out.emplace_back(Note(RateLimitStoreFailed{event.error}));
  Lane& lane = first_lane();
  if (lane.empty()) return;
  out.emplace_back(Refuse{
      lane.front().ticket,
      Error(Code::unavailable, Outcome::not_applied,
            not_sent(lane.front().operation) + "the store of the session's pace does not answer (" +
                event.error.message + "). Ask again when it does.")});
  lane.pop_front();
}

void Machine::on(const TellingFailed& event, Time, Effects& out) {
  out.emplace_back(Note(RateLimitStoreFailed{event.error}));
}

void Machine::on(const Heard& event, Time now, Effects& out) {
  const bool refused = event.status == too_many_requests || event.status == service_unavailable;
  const auto named = refused ? refused_until(event.pushback) : exhausted_until(event.pushback);
  Instant until = named.value_or(now.wall);
  // Refused and told "now" is as good as told nothing.
  if (event.status == too_many_requests && until <= now.wall && settings_.adaptive) {
    until = now.wall + settings_.bucket.interval;
  }
  close(until, refused, now, out);
  warn_when_near(event, out);
}

void Machine::on(const Ticked&, Time, Effects&) {}

// Charges for the first of the queue, or waits for when it may.
void Machine::go_on(Time now, Effects& out) {
  refuse_late(urgent_, now, out);
  refuse_late(normal_, now, out);
  if (waiting() == 0) return;
  if (!charging_since_ && now.steady < earliest()) {
    tell_wait(now, out);
    out.emplace_back(WakeAt{earliest()});
    return;
  }
  if (!charging_since_) {
    charging_since_ = now.steady;
    out.emplace_back(Charge{});
  }
  SteadyInstant soonest = SteadyInstant::max();
  for (const Waiting& one : urgent_) soonest = std::min(soonest, one.deadline);
  for (const Waiting& one : normal_) soonest = std::min(soonest, one.deadline);
  if (soonest < SteadyInstant::max()) {
    out.emplace_back(WakeAt{soonest + Duration::nanoseconds(1)});
  }
}

void Machine::refuse_late(Lane& lane, Time now, Effects& out) {
  const SteadyInstant first = std::max(now.steady, earliest());
  std::erase_if(lane, [&](const Waiting& one) {
    if (one.deadline >= first) return false;
    out.emplace_back(Refuse{one.ticket, late(one, now)});
    return true;
  });
}

Error Machine::late(const Waiting& waiting, Time now) const {
  std::string text = not_sent(waiting.operation);
  const std::string deadline = wall_text(waiting.deadline, now);
  if (waiting.deadline < now.steady) {
    text += "its deadline " + deadline + " passed before it was its turn.";
  } else {
    text += "its deadline is " + deadline + ", and the earliest it could leave is " +
            wall_text(earliest(), now) +
            (is_closed() ? ", as the server said." : ", by the session's pace.");
  }
  text += " Ask again with a later deadline; the pace is " + to_string(settings_.bucket.rate) + ".";
  return Error(Code::refused, Outcome::not_applied, std::move(text));
}

void Machine::tell_wait(Time now, Effects& out) {
  Waiting& first = first_lane().front();
  const bool closed = is_closed();
  if (std::exchange(closed ? first.told_closed : first.told_pace, true)) return;
  const Duration wait = earliest() - now.steady;
  if (closed) {
    out.emplace_back(Note(RateLimitWaiting{first.operation, wait}));
  } else {
    const double missing = wait.seconds() / settings_.bucket.interval.seconds();
    out.emplace_back(Note(RateLimitTokenWait{first.operation, wait, 1.0 - missing}));
  }
}

void Machine::close(Instant until, bool refused, Time now, Effects& out) {
  // A server's "never" is not believed for longer than the store would keep it.
  until = std::min(until, now.wall + bounds::limit_period_max);
  const Duration wait = until - now.wall;
  const SteadyInstant at = now.steady + wait;
  if (wait <= Duration() || at <= closed_until_) return;
  closed_until_ = at;
  out.emplace_back(Close{until});
  // A limit of one is used up by every call: what the pace would do anyway is not worth a warning.
  if (refused || wait > settings_.bucket.interval) {
    out.emplace_back(Note(RateLimitResetScheduled{until, wait}));
  }
}

void Machine::warn_when_near(const Heard& event, Effects& out) {
  for (const Reading& reading : event.pushback.readings) {
    if (!reading.remaining) continue;
    const auto warned = std::find(warned_.begin(), warned_.end(), reading.dimension);
    // Without its limit: one of one is left of a limit that nobody has touched, and it is near
    // again with the next call. Only room above the threshold is recovery.
    const bool recovered = !is_near_limit({.remaining = reading.remaining});
    if (warned != warned_.end()) {
      if (recovered) warned_.erase(warned);
    } else if (is_near_limit(reading)) {
      if (warned_.size() == bounds::limit_readings_max) warned_.erase(warned_.begin());
      warned_.push_back(reading.dimension);
      out.emplace_back(Note(ApproachingRateLimit{*reading.remaining, event.operation}));
    }
  }
}

bool Machine::holds(Ticket ticket) const {
  const auto is_it = [&](const Waiting& waiting) { return waiting.ticket == ticket; };
  return std::any_of(urgent_.begin(), urgent_.end(), is_it) ||
         std::any_of(normal_.begin(), normal_.end(), is_it);
}

}  // namespace pawl::limit::pacer
