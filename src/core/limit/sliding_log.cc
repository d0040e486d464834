#include "core/limit/sliding_log.h"

#include <algorithm>

#include "core/limit/held.h"

namespace pawl::limit {
namespace {

Held held(const SlidingLog& log, const Marks& marks, Moment now) {
  return {.marks = &marks, .now = now, .shift = log.rate.period, .at_most = log.rate.period};
}

// Forgets what is out of sight, and lets nothing stand later than now.
void tidy(const SlidingLog& log, State& state, Now now) {
  rewind(log, state, now);
  std::erase_if(*state.marks,
                [&](const Mark& mark) { return mark.at + log.rate.period <= now.moment; });
}

}  // namespace

Verdict look(const SlidingLog& log, const State& state, std::int64_t cost, Now now) {
  return held(log, *state.marks, now.moment).look(log.rate.count, cost);
}

std::int64_t used(const SlidingLog& log, const State& state, Now now) {
  return held(log, *state.marks, now.moment).used();
}

void take(const SlidingLog& log, State& state, Mark use, Now now) {
  tidy(log, state, now);
  Marks& marks = *state.marks;
  use.at = now.moment;
  if (!marks.empty() && marks.back().at == use.at && marks.back().holder == use.holder) {
    marks.back().cost += use.cost;
  } else {
    marks.push_back(use);
  }
}

void give_back(const SlidingLog& log, State& state, Ask use, Now now) {
  tidy(log, state, now);
  for (auto mark = state.marks->rbegin(); mark != state.marks->rend(); ++mark) {
    if (use.holder != 0 && mark->holder != use.holder) continue;
    const std::int64_t part = std::min(use.cost, mark->cost);
    mark->cost -= part;
    use.cost -= part;
  }
  std::erase_if(*state.marks, [](const Mark& mark) { return mark.cost == 0; });
}

void rewind(const SlidingLog&, State& state, Now now) {
  for (Mark& mark : *state.marks) mark.at = std::min(mark.at, now.moment);
}

}  // namespace pawl::limit
