#include "emulator/core/windows.h"

namespace pawl::emulator {

bool Windows::take(std::string_view key, Instant now, std::size_t cost) {
  std::deque<Instant>& taken = current(key, now);
  if (taken.size() + cost > limit_) return false;
  taken.insert(taken.end(), cost, now);
  return true;
}

Windows::State Windows::look(std::string_view key, Instant now) {
  const std::deque<Instant>& taken = current(key, now);
  return {.limit = limit_,
          .remaining = limit_ - taken.size(),
          .reset = taken.empty() ? Duration() : taken.front() + span_ - now};
}

std::deque<Instant>& Windows::current(std::string_view key, Instant now) {
  auto found = taken_.find(key);
  if (found == taken_.end()) found = taken_.emplace(key, std::deque<Instant>()).first;
  std::deque<Instant>& taken = found->second;
  while (!taken.empty() && taken.back() > now) taken.pop_back();
  while (!taken.empty() && taken.front() + span_ <= now) taken.pop_front();
  return taken;
}

}  // namespace pawl::emulator
