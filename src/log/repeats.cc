#include "log/repeats.h"

#include "base/bounds.h"

namespace pawl::log {
namespace {

constexpr Duration window = Duration::seconds(1);

}  // namespace

Repeats::Verdict Repeats::decide(Level level, Name event, SteadyInstant now) {
  Entry& entry = entries_.try_emplace({level, event.text()}, Entry{.event = event, .since = now})
                     .first->second;
  std::uint64_t told = 0;
  if (now - entry.since >= window) {
    told = std::exchange(entry.suppressed, 0);
    entry.since = now;
    entry.written = 0;
  }
  if (entry.written == bounds::log_repeats_a_second_max) {
    ++entry.suppressed;
    return {.write = false, .repeats_suppressed = 0};
  }
  ++entry.written;
  return {.write = true, .repeats_suppressed = told};
}

std::vector<Repeats::Suppressed> Repeats::expire(SteadyInstant now) {
  std::vector<Suppressed> over;
  for (auto& [key, entry] : entries_) {
    if (entry.suppressed == 0 || now - entry.since < window) continue;
    over.push_back({key.first, entry.event, std::exchange(entry.suppressed, 0)});
  }
  return over;
}

std::vector<Repeats::Suppressed> Repeats::drain() {
  return expire(SteadyInstant::max());
}

}  // namespace pawl::log
