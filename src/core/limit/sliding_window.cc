#include "core/limit/sliding_window.h"

#include <algorithm>

namespace pawl::limit {
namespace {

constexpr std::int64_t count_max = 0x7fff'ffff;

struct Counts {
  Moment start;
  std::int64_t current = 0;
  std::int64_t previous = 0;
};

__extension__ using Wide = __int128;

Moment grid_line(Duration period, Moment now) {
  const std::int64_t into = now.ns() % period.ns();
  return Moment::from_ns(now.ns() - into - (into < 0 ? period.ns() : 0));
}

// The counts as they stand in the window that holds `now`.
Counts counts_at(const SlidingWindow& window, const Cell& cell, Moment now) {
  const Duration period = window.rate.period;
  const Moment start = Moment::from_ns(cell.a);
  Counts counts{.start = grid_line(period, now)};
  const Counts kept{
      .start = start, .current = cell.b & count_max, .previous = (cell.b >> 32) & count_max};
  if (start + period <= counts.start) {
    if (start + period == counts.start) counts.previous = kept.current;
    return counts;
  }
  if (start > counts.start) {
    // The clock went back. How far the last window had faded is not known: none of it has.
    counts.current = std::min(count_max, kept.current + kept.previous);
    return counts;
  }
  counts.current = kept.current;
  counts.previous = kept.previous;
  return counts;
}

Cell packed(const Counts& counts) {
  return {.a = counts.start.ns(), .b = (counts.previous << 32) | counts.current};
}

// The share of the last window's count that is still in sight, rounded up.
std::int64_t fading(const Counts& counts, Duration period, Moment now) {
  if (counts.previous == 0) return 0;
  const Wide left = (counts.start + period - now).ns();
  return static_cast<std::int64_t>((counts.previous * left + period.ns() - 1) / period.ns());
}

// How far into a window the fading of `previous` leaves no more than `room`.
Duration faded_to(std::int64_t previous, std::int64_t room, Duration period) {
  if (previous <= room) return {};
  return period - Duration::nanoseconds(
                      static_cast<std::int64_t>(static_cast<Wide>(room) * period.ns() / previous));
}

// How long until `n` more would be allowed.
Duration until_room(const SlidingWindow& window, const Counts& counts, std::int64_t n, Moment now) {
  const Rate& rate = window.rate;
  if (n > rate.count) return Duration::max();
  const std::int64_t room = rate.count - counts.current - n;
  const Moment when = room >= 0 ? counts.start + faded_to(counts.previous, room, rate.period)
                                : counts.start + rate.period +
                                      faded_to(counts.current, rate.count - n, rate.period);
  return std::max(Duration(), when - now);
}

Duration until_unused(const Counts& counts, Duration period, Moment now) {
  if (counts.current > 0) return counts.start + period * 2 - now;
  if (counts.previous > 0) return counts.start + period - now;
  return {};
}

}  // namespace

Verdict look(const SlidingWindow& window, const State& state, std::int64_t cost, Now now) {
  const Duration period = window.rate.period;
  Counts counts = counts_at(window, state.cell, now.moment);
  Verdict verdict;
  verdict.before = state.cell;
  verdict.limit = window.rate.count;
  verdict.retry_after = cost == 0 ? Duration() : until_room(window, counts, cost, now.moment);
  verdict.allowed = verdict.retry_after == Duration();
  if (verdict.allowed) counts.current += cost;
  const std::int64_t used = counts.current + fading(counts, period, now.moment);
  verdict.remaining = std::max<std::int64_t>(0, window.rate.count - used);
  verdict.full_after = until_unused(counts, period, now.moment);
  if (used > 0) {
    verdict.more_after = until_room(window, counts, verdict.remaining + 1, now.moment);
  }
  return verdict;
}

std::int64_t used(const SlidingWindow& window, const State& state, Now now) {
  const Counts counts = counts_at(window, state.cell, now.moment);
  return counts.current + fading(counts, window.rate.period, now.moment);
}

void take(const SlidingWindow& window, State& state, std::int64_t cost, Now now) {
  Counts counts = counts_at(window, state.cell, now.moment);
  counts.current = std::min(count_max, counts.current + cost);
  state.cell = packed(counts);
}

void give_back(const SlidingWindow& window, State& state, const Ask& use, Now now) {
  Counts counts = counts_at(window, state.cell, now.moment);
  // It is taken out of the count it went into, or has faded out by itself.
  const Moment then = grid_line(window.rate.period, use.charged.moment);
  if (then >= counts.start) {
    counts.current -= std::min(counts.current, use.cost);
  } else if (then + window.rate.period == counts.start) {
    counts.previous -= std::min(counts.previous, use.cost);
  }
  state.cell = packed(counts);
}

void rewind(const SlidingWindow& window, State& state, Now now) {
  const Counts counts = counts_at(window, state.cell, now.moment);
  if (Moment::from_ns(state.cell.a) > counts.start) state.cell = packed(counts);
}

}  // namespace pawl::limit
