#include "core/limit/concurrency.h"

#include <algorithm>

#include "core/limit/held.h"

namespace pawl::limit {
namespace {

Held held(const Concurrency& rule, const Marks& marks, Moment now) {
  return {.marks = &marks, .now = now, .shift = {}, .at_most = rule.lease};
}

// Forgets leases that are over, and cuts those that a clock that went back made too long.
void tidy(const Concurrency& rule, State& state, Now now) {
  rewind(rule, state, now);
  std::erase_if(*state.marks, [&](const Mark& mark) { return mark.at <= now.moment; });
}

}  // namespace

Verdict look(const Concurrency& rule, const State& state, std::int64_t cost, Now now) {
  return held(rule, *state.marks, now.moment).look(rule.slots, cost);
}

std::int64_t used(const Concurrency& rule, const State& state, Now now) {
  return held(rule, *state.marks, now.moment).used();
}

void take(const Concurrency& rule, State& state, Mark slots, Now now) {
  tidy(rule, state, now);
  slots.at = now.moment + rule.lease;
  state.marks->push_back(slots);  // no lease ends later than a fresh one
}

bool release(const Concurrency& rule, State& state, std::uint64_t holder, Now now) {
  tidy(rule, state, now);
  return std::erase_if(*state.marks, [&](const Mark& mark) { return mark.holder == holder; }) > 0;
}

bool renew(const Concurrency& rule, State& state, std::uint64_t holder, Now now) {
  Mark slots{.at = {}, .cost = 0, .holder = holder};
  for (const Mark& mark : *state.marks) {
    if (mark.holder == holder && mark.at > now.moment) slots.cost += mark.cost;
  }
  if (slots.cost == 0) return false;
  release(rule, state, holder, now);
  take(rule, state, slots, now);
  return true;
}

void rewind(const Concurrency& rule, State& state, Now now) {
  for (Mark& mark : *state.marks) mark.at = std::min(mark.at, now.moment + rule.lease);
}

}  // namespace pawl::limit
