#include "core/limit/held.h"

#include <algorithm>

namespace pawl::limit {

Moment Held::back_at(const Mark& mark) const {
  return std::min(mark.at + shift, now + at_most);
}

std::int64_t Held::used() const {
  std::int64_t sum = 0;
  for (const Mark& mark : *marks) {
    if (back_at(mark) > now) sum += mark.cost;
  }
  return sum;
}

// How long until `n` more would be allowed, when `taken_now` have just been.
Duration Held::until_room(std::int64_t limit, std::int64_t n, std::int64_t taken_now) const {
  if (n > limit) return Duration::max();
  std::int64_t in_use = used() + taken_now;
  Moment when = now;
  for (const Mark& mark : *marks) {
    if (in_use + n <= limit) return when - now;
    if (back_at(mark) <= now) continue;
    in_use -= mark.cost;
    when = back_at(mark);
  }
  return in_use + n <= limit ? when - now : at_most;
}

Duration Held::until_unused(std::int64_t taken_now) const {
  if (taken_now > 0) return at_most;
  if (marks->empty()) return {};
  return std::max(Duration(), back_at(marks->back()) - now);
}

Verdict Held::look(std::int64_t limit, std::int64_t cost) const {
  Verdict verdict;
  verdict.limit = limit;
  verdict.retry_after = cost == 0 ? Duration() : until_room(limit, cost, 0);
  verdict.allowed = verdict.retry_after == Duration();
  const std::int64_t taken_now = verdict.allowed ? cost : 0;
  const std::int64_t in_use = used() + taken_now;
  verdict.remaining = std::max<std::int64_t>(0, limit - in_use);
  verdict.full_after = until_unused(taken_now);
  if (in_use > 0) verdict.more_after = until_room(limit, verdict.remaining + 1, taken_now);
  return verdict;
}

}  // namespace pawl::limit
