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

void refuse(Ticket ticket, const std::string& operation, const Error& error, Effects& out) {
  out.emplace_back(Note(RateLimitNotSent{operation, error, ticket}));
  out.emplace_back(Refuse{ticket, error});
}

bool is_refusal(const Heard& heard) {
  return heard.status == too_many_requests || heard.status == service_unavailable;
}

// Which of its words an answer's instant is.
void tell_word(const Pushback& pushback, Instant named, RateLimitResetScheduled& note) {
  using Word = RateLimitResetScheduled::Word;
  for (const Reading& reading : pushback.readings) {
    if (reading.resets_at != named || reading.remaining.value_or(0) > 0) continue;
    note.word = Word::reset;
    note.reading = reading;
    return;
  }
  if (pushback.retry_at == named) note.word = Word::retry_after;
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
    refuse(event.ticket, event.operation,
           Error(Code::refused, Outcome::not_applied,
                 not_sent(event.operation) + count + (event.urgent ? " urgent" : "") +
                     " calls of this session are waiting already, and no more may. Ask again "
                     "when some have left, or ask for less than " +
                     to_string(settings_.bucket.rate) + "."),
           out);
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
  const bool stale = std::exchange(charge_is_stale_, false);
  const bool looked = std::exchange(looking_, false);
  if (event.held) {  // it says nothing of the pace, nor of the server
    look_after_ = now.steady + bounds::pacer_look_wait;
    if (!urgent_.empty()) return;  // one has come meanwhile, and asks anew
    paced_until_ = std::max(paced_until_, now.steady + event.answer.retry_after);
    closed_elsewhere_ = false;
    return;
  }
  const Verdict& verdict = event.answer.bound();
  if (looked && !verdict.closed) found_open(now, out);
  if (!event.answer.allowed) {
    if (verdict.closed && stale) return;
    paced_until_ = now.steady + event.answer.retry_after;
    closed_elsewhere_ = verdict.closed;
    look_after_ = now.steady + bounds::pacer_look_wait;
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
  const Ticket ticket = lane.front().ticket;
  out.emplace_back(
      Note(RateLimitTokenAcquired{std::move(lane.front().operation), verdict.remaining, ticket}));
  out.emplace_back(Release{ticket});
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
void Machine::on(const ChargeFailed& event, Time now, Effects& out) {
  PAWL_ASSERT(charging_since_.has_value());
  charging_since_.reset();
  charge_is_stale_ = false;
  out.emplace_back(Note(RateLimitStoreFailed{event.error}));
  if (std::exchange(looking_, false)) {
    look_after_ = now.steady + bounds::pacer_look_wait;
    return;  // they wait for the server's instant, as they did
  }
  Lane& lane = first_lane();
  if (lane.empty()) return;
  const Waiting& first = lane.front();
  refuse(first.ticket, first.operation,
         Error(Code::unavailable, Outcome::not_applied,
               not_sent(first.operation) + "the store of the session's pace does not answer (" +
                   event.error.message + "). Ask again when it does."),
         out);
  lane.pop_front();
}

void Machine::on(const TellingFailed& event, Time, Effects& out) {
  store_knows_ = false;
  out.emplace_back(Note(RateLimitStoreFailed{event.error}));
}

void Machine::on(const Heard& event, Time now, Effects& out) {
  const Pushback& pushback = event.pushback;
  const bool refused = is_refusal(event);
  if (pushback.malformed > 0) {
    ignored_ += static_cast<std::uint64_t>(pushback.malformed);
    out.emplace_back(Note(RateLimitHeadersIgnored{event.operation, pushback.malformed, ignored_}));
  }
  const bool is_about_limits = pushback.retry_at || !pushback.readings.empty();
  if (event.status == too_many_requests || (refused && is_about_limits)) {
    out.emplace_back(Note(RateLimitRefused{event.operation, event.status, pushback}));
  }
  const auto named = refused ? refused_until(pushback) : exhausted_until(pushback);
  Instant until = named.value_or(now.wall);
  // Refused and told "now" is as good as told nothing.
  if (event.status == too_many_requests && until <= now.wall && settings_.adaptive) {
    until = now.wall + settings_.bucket.interval;
  }
  close(until, event, now, out);
  warn_when_near(event, out);
}

// The store's bucket is left empty, and the first may leave when one unit has come.
void Machine::on(const Reopened&, Time now, Effects& out) {
  closed_until_ = SteadyInstant();
  closed_elsewhere_ = false;
  paced_until_ = now.steady + settings_.bucket.interval;
  looking_ = false;
  charge_is_stale_ = charging_since_.has_value();
  out.emplace_back(Note(RateLimitReopened{.elsewhere = false, .wait = settings_.bucket.interval}));
  out.emplace_back(Open{});
}

void Machine::on(const Ticked&, Time, Effects&) {}

// Charges for the first of the queue, or waits for when it may.
void Machine::go_on(Time now, Effects& out) {
  refuse_late(urgent_, now, out);
  refuse_late(normal_, now, out);
  if (waiting() == 0) return;
  if (!charging_since_ && now.steady < earliest()) {
    looking_ = is_look_due(now);
    if (!looking_) {
      tell_wait(now, out);
      hold_others(now, out);
      out.emplace_back(WakeAt{look_at(now).value_or(earliest())});
      return;
    }
  }
  if (!charging_since_) {
    charging_since_ = now.steady;
    out.emplace_back(Charge{.urgent = !urgent_.empty()});
  }
  SteadyInstant soonest = SteadyInstant::max();
  for (const Waiting& one : urgent_) soonest = std::min(soonest, one.deadline);
  for (const Waiting& one : normal_) soonest = std::min(soonest, one.deadline);
  if (soonest < SteadyInstant::max()) {
    out.emplace_back(WakeAt{soonest + Duration::nanoseconds(1)});
  }
}

void Machine::refuse_late(Lane& lane, Time now, Effects& out) {
  // As long as the store may say that it was reopened, no closing keeps anybody out.
  const bool unsure = looking_ || (!charging_since_ && is_look_due(now));
  const SteadyInstant first = unsure ? now.steady : std::max(now.steady, earliest());
  std::erase_if(lane, [&](const Waiting& one) {
    if (one.deadline >= first) return false;
    refuse(one.ticket, one.operation, late(one, now), out);
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
    out.emplace_back(Note(RateLimitWaiting{first.operation, wait, first.ticket}));
  } else {
    const double missing = wait.seconds() / settings_.bucket.interval.seconds();
    out.emplace_back(Note(RateLimitTokenWait{first.operation, wait, 1.0 - missing, first.ticket}));
  }
}

// Else whoever asks the store first at that instant would leave, and calls of other processes would
// do so again and again. For a far instant it is said when that is near: a process that dies
// meanwhile must not hold anybody back.
void Machine::hold_others(Time now, Effects& out) {
  const Duration wait = earliest() - now.steady;
  if (urgent_.empty() || held_for_ == earliest() || wait > bounds::pacer_look_wait) return;
  held_for_ = earliest();
  out.emplace_back(HoldOthers{now.wall + wait + bounds::pacer_charge_age_max});
}

void Machine::close(Instant named, const Heard& heard, Time now, Effects& out) {
  const Instant until = std::min(named, now.wall + settings_.closing_max);
  const Duration wait = until - now.wall;
  const SteadyInstant at = now.steady + wait;
  if (wait <= Duration() || at <= closed_until_) return;
  closed_until_ = at;
  store_knows_ = true;
  look_after_ = now.steady + bounds::pacer_look_wait;
  looking_ = false;
  // A limit of one is used up by every call: what the pace would do anyway is not worth a warning.
  if (is_refusal(heard) || wait > settings_.bucket.interval) {
    RateLimitResetScheduled note{
        .reset_at = until, .wait = wait, .operation = heard.operation, .status = heard.status};
    tell_word(heard.pushback, named, note);
    if (named > until) note.named = named;
    out.emplace_back(Note(std::move(note)));
  }
  out.emplace_back(Close{until});
}

// Another process has reopened it.
void Machine::found_open(Time now, Effects& out) {
  closed_until_ = SteadyInstant();
  closed_elsewhere_ = false;
  paced_until_ = now.steady;
  out.emplace_back(Note(RateLimitReopened{.elsewhere = true}));
}

// When the store is asked, although it is closed, whether that still holds. Never for a closing
// that it could not be told of, nor for what is over soon.
std::optional<SteadyInstant> Machine::look_at(Time now) const {
  const bool can_know = store_knows_ || closed_until_ <= now.steady;
  const SteadyInstant at = std::max(now.steady, look_after_);
  if (!is_closed() || !can_know || earliest() - at <= bounds::clock_step_max) return std::nullopt;
  return at;
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
      out.emplace_back(Note(ApproachingRateLimit{reading, event.operation}));
    }
  }
}

bool Machine::holds(Ticket ticket) const {
  const auto is_it = [&](const Waiting& waiting) { return waiting.ticket == ticket; };
  return std::any_of(urgent_.begin(), urgent_.end(), is_it) ||
         std::any_of(normal_.begin(), normal_.end(), is_it);
}

}  // namespace pawl::limit::pacer
