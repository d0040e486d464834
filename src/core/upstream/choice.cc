#include "core/upstream/choice.h"

namespace pawl::upstream {
namespace {

bool is_better(const Candidate& one, const Candidate& other) {
  if (one.healthy != other.healthy) return one.healthy;
  return one.pending < other.pending;
}

}  // namespace

std::optional<std::size_t> choose(std::span<const Candidate> candidates, std::size_t first) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::size_t at = (first + i) % candidates.size();
    if (candidates[at].tried) continue;
    if (!best || is_better(candidates[at], candidates[*best])) best = at;
  }
  return best;
}

}  // namespace pawl::upstream
