#include "runtime/write_stats.h"

#include <algorithm>
#include <utility>

#include "base/bounds.h"

namespace pawl {

void WriteStats::note(Hit hit) {
  const std::lock_guard lock(mutex_);
  ++counts_[static_cast<std::size_t>(hit.what)];
  if (hit.what == What::executed) return;
  hits_.push_front(std::move(hit));
  if (hits_.size() > bounds::write_hits_max) hits_.pop_back();
}

std::uint64_t WriteStats::count(What what) const {
  const std::lock_guard lock(mutex_);
  return counts_[static_cast<std::size_t>(what)];
}

std::vector<WriteStats::Hit> WriteStats::recent(std::size_t limit) const {
  const std::lock_guard lock(mutex_);
  const auto count = static_cast<std::ptrdiff_t>(std::min(limit, hits_.size()));
  return {hits_.begin(), hits_.begin() + count};
}

}  // namespace pawl
