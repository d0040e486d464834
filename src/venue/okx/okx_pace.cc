#include "venue/okx/okx_pace.h"

#include <algorithm>

#include "base/bounds.h"

namespace pawl::okx {
namespace {

constexpr Duration window = Duration::seconds(2);

// Calls in two seconds, by kind.
constexpr std::array<std::size_t, read_kinds> limits = {60, 60, 40, 20, 60, 10, 10, 5, 10};

}  // namespace

std::optional<Duration> ReadPace::take(ReadKind kind, SteadyInstant now) {
  const auto index = static_cast<std::size_t>(kind);
  const std::size_t limit = limits[index];
  auto& [leaving, open_from] = lanes_[index];
  while (leaving.size() > limit && leaving.front() + window <= now) leaving.pop_front();
  if (leaving.size() >= limit + bounds::okx_reads_waiting_max) return std::nullopt;

  SteadyInstant leaves = std::max(now, open_from);
  if (leaving.size() >= limit) leaves = std::max(leaves, leaving[leaving.size() - limit] + window);
  if (!leaving.empty()) leaves = std::max(leaves, leaving.back());
  leaving.push_back(leaves);
  return leaves - now;
}

void ReadPace::refused(ReadKind kind, SteadyInstant now) {
  lanes_[static_cast<std::size_t>(kind)].open_from = now + window;
}

}  // namespace pawl::okx
