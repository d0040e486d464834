#include "core/limit/calendar.h"

#include <algorithm>

#include "base/bounds.h"

namespace pawl::limit {
namespace {

// The window that is counted in.
Window window_for(const Calendar& calendar, const Cell& cell, Instant wall) {
  const Instant kept = Instant::from_ns(cell.a);
  const bool stepped_back = kept > wall && kept - wall <= bounds::clock_step_max;
  return window_at(calendar.rule, stepped_back ? kept : wall);
}

std::int64_t used_in(const Window& window, const Cell& cell) {
  return cell.a >= window.start.ns() ? cell.b : 0;
}

}  // namespace

Verdict look(const Calendar& calendar, const State& state, std::int64_t cost, Now now) {
  const Window window = window_for(calendar, state.cell, now.wall);
  const Duration until_next = window.end - now.wall;
  const std::int64_t used = used_in(window, state.cell);
  Verdict verdict;
  verdict.before = state.cell;
  verdict.limit = calendar.count;
  verdict.allowed = cost == 0 || used + cost <= calendar.count;
  if (!verdict.allowed) {
    verdict.retry_after = cost > calendar.count ? Duration::max() : until_next;
  }
  const std::int64_t after = used + (verdict.allowed ? cost : 0);
  verdict.remaining = std::max<std::int64_t>(0, calendar.count - after);
  if (after > 0) verdict.more_after = verdict.full_after = until_next;
  return verdict;
}

std::int64_t used(const Calendar& calendar, const State& state, Now now) {
  return used_in(window_for(calendar, state.cell, now.wall), state.cell);
}

void take(const Calendar& calendar, State& state, std::int64_t cost, Now now) {
  const Window window = window_for(calendar, state.cell, now.wall);
  const std::int64_t used = used_in(window, state.cell) + cost;
  state.cell = {.a = window.start.ns(), .b = std::min(used, bounds::limit_used_max)};
}

void give_back(const Calendar& calendar, State& state, const Ask& use, Now now) {
  const Window window = window_for(calendar, state.cell, now.wall);
  const std::int64_t used = used_in(window, state.cell);
  const std::int64_t back = use.charged.wall >= window.start ? std::min(used, use.cost) : 0;
  state.cell = {.a = window.start.ns(), .b = used - back};
}

void rewind(const Calendar& calendar, State& state, Now now) {
  const Window window = window_for(calendar, state.cell, now.wall);
  state.cell.a = std::min(state.cell.a, window.start.ns());
}

}  // namespace pawl::limit
