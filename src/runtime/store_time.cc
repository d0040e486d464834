#include "runtime/store_time.h"

#include <algorithm>

namespace pawl {
namespace {

// A log of that age was written just now.
constexpr Duration log_is_fresh = Duration::minutes(1);

bool is_near(Instant a, Instant b) {
  return a <= b + StoreClock::slack && b <= a + StoreClock::slack;
}

}  // namespace

Instant store_time(Instant own, const std::optional<TimeSample>& sample) {
  if (!sample) return own;
  // The store's clock is ahead of ours by so much at the least, and at the most.
  const Duration least = sample->store - sample->answered;
  const Duration most = sample->store + sample->resolution - sample->asked;
  if (least > Duration()) return own + least;
  if (most < Duration()) return own + most;
  return own;
}

void StoreClock::seen(Instant log, SteadyInstant at) {
  if (!log_ || log > log_->later(at)) log_ = Point{.time = log, .at = at};
  if (!least_ || log > least_->slowly_later(at)) least_ = Point{.time = log, .at = at};
}

StoreClock::Time StoreClock::read(const Reading& reading) {
  Time time = judge(reading);
  if (!least_) return time;
  const Instant least = least_->slowly_later(reading.at);
  if (least <= time.now) return time;
  time.ahead = least - time.now;
  time.now = least;
  return time;
}

StoreClock::Time StoreClock::judge(const Reading& reading) {
  const Instant now = store_time(reading.own, reading.sample);
  // Without the store's word nothing is known yet.
  if (!known_ && !reading.sample) return {.now = now};
  if (!known_) {
    const Instant log = log_ ? log_->later(reading.at) : Instant();
    const bool own_fits = log_ && log <= reading.own && reading.own - log <= log_is_fresh;
    known_ = Point{.time = own_fits ? std::min(now, reading.own) : now, .at = reading.at};
  }
  Instant expected = known_->later(reading.at);
  if (log_) expected = std::max(expected, log_->later(reading.at));
  if (is_near(now, expected)) {
    known_ = Point{.time = now, .at = reading.at};
    doubted_.reset();
    return {.now = now};
  }
  const bool stays = doubted_ && is_near(now, doubted_->later(reading.at));
  if (stays && reading.at - doubted_->at >= confirmed_after) {
    known_ = Point{.time = now, .at = reading.at};
    doubted_.reset();
    return {.now = now, .leap = now > expected ? Leap::followed : Leap::none};
  }
  if (!stays) doubted_ = Point{.time = now, .at = reading.at};
  if (now < expected) return {.now = now};
  return {.now = expected, .leap = stays ? Leap::none : Leap::begins, .by = now - expected};
}

}  // namespace pawl
