#include "core/limit/lease.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace pawl::limit {
namespace {

constexpr std::int64_t low_share = 4;  // of what was taken

Duration shorter(Duration wait, Duration elapsed) {
  return wait == Duration::max() ? wait : std::max(Duration(), wait - elapsed);
}

}  // namespace

Standing Lease::standing(std::int64_t cost, SteadyInstant now) const {
  if (!known_) return Standing::wanting;
  const bool ended = left_ > 0 && now >= std::min(ends_, window_ends_);
  if (!ended && left_ >= cost) return Standing::ready;
  // For more the store may have a longer wait to tell.
  if (!ended && now < refused_until_ && cost - left_ == refused_units_) return Standing::refused;
  return Standing::wanting;
}

Verdict Lease::look(SteadyInstant now) const {
  const Duration elapsed = now - heard_at_;
  Verdict verdict = verdict_;
  verdict.allowed = true;
  verdict.retry_after = {};
  verdict.more_after = shorter(verdict.more_after, elapsed);
  verdict.full_after = shorter(verdict.full_after, elapsed);
  if (!verdict.closed) verdict.remaining += left_;
  return verdict;
}

Verdict Lease::spend(std::int64_t cost, SteadyInstant now) {
  PAWL_ASSERT(cost <= left_);
  left_ -= cost;
  return look(now);
}

Verdict Lease::refusal(SteadyInstant now) const {
  Verdict verdict = look(now);
  verdict.allowed = false;
  verdict.retry_after = retry_at_ == SteadyInstant::max() ? Duration::max() : retry_at_ - now;
  return verdict;
}

std::int64_t Lease::take_ended(SteadyInstant now) {
  if (now >= window_ends_) left_ = 0;  // they were of a window that is over
  if (now < ends_ || left_ == 0) return 0;
  take_ = 1;
  return take_all();
}

std::int64_t Lease::take_all() {
  return std::exchange(left_, 0);
}

std::int64_t Lease::next_take(const LeaseTerms& terms, SteadyInstant now) {
  if (known_ && now < ends_) take_ = std::min(take_ * 2, terms.batch);
  return take_;
}

bool Lease::is_low(SteadyInstant now) const {
  return take_ >= 2 * low_share && left_ < take_ / low_share && now < ends_;
}

void Lease::hear(const Heard& heard) {
  verdict_ = heard.verdict;
  told_ = heard.told;
  heard_at_ = heard.now;
  known_ = true;
}

void Lease::granted(const Rule& rule, const LeaseTerms& terms, const Heard& heard) {
  hear(heard);
  left_ += heard.units;
  PAWL_ASSERT(left_ <= terms.batch);
  ends_ = heard.now + terms.lease_for;
  refused_until_ = {};
  // Counted from when it was asked: the store's window ends no earlier.
  window_ends_ = std::holds_alternative<Calendar>(rule) ? heard.sent + heard.verdict.full_after
                                                        : SteadyInstant::max();
}

void Lease::refused(const LeaseTerms& terms, const Heard& heard) {
  hear(heard);
  take_ = 1;
  refused_units_ = heard.units;
  retry_at_ = heard.now + heard.verdict.retry_after;
  refused_until_ = heard.now + std::min(heard.verdict.retry_after, terms.lease_for);
  if (heard.verdict.closed) left_ = 0;
}

void Lease::looked_at(const Heard& heard) {
  hear(heard);
}

bool Lease::is_idle(SteadyInstant now) const {
  return left_ == 0 && now >= ends_ && now >= refused_until_;
}

Now now_of(const Lease& lease, SteadyInstant now) {
  const Duration elapsed = now - lease.heard_at_;
  return {.moment = lease.told_.moment + elapsed, .wall = lease.told_.wall + elapsed};
}

}  // namespace pawl::limit
