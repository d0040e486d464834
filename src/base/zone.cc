#include "base/zone.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/assert.h"

namespace pawl {
namespace {

constexpr Instant beginning = Instant::from_ns(std::numeric_limits<std::int64_t>::min());
constexpr Duration offset_max = Duration::days(1);

}  // namespace

Zone::Zone(std::string name, Duration first_offset, std::vector<ZoneChange> changes)
    : name_(std::move(name)), first_offset_(first_offset), changes_(std::move(changes)) {
  PAWL_ASSERT(first_offset_ < offset_max && -first_offset_ < offset_max);
  Instant last = beginning;
  for (const ZoneChange& change : changes_) {
    PAWL_ASSERT(change.at > last);
    PAWL_ASSERT(change.utc_offset < offset_max && -change.utc_offset < offset_max);
    last = change.at;
  }
}

Zone Zone::utc() {
  return Zone("UTC", Duration());
}

std::size_t Zone::changes_until(Instant instant) const {
  const auto next = std::ranges::upper_bound(changes_, instant, {}, &ZoneChange::at);
  return static_cast<std::size_t>(next - changes_.begin());
}

ZoneSpan Zone::span_after(std::size_t changes) const {
  const Instant until = changes == changes_.size() ? Instant::max() : changes_[changes].at;
  if (changes == 0) return {.from = beginning, .until = until, .utc_offset = first_offset_};
  const ZoneChange& last = changes_[changes - 1];
  return {.from = last.at, .until = until, .utc_offset = last.utc_offset};
}

ZoneSpan Zone::span_at(Instant instant) const {
  return span_after(changes_until(instant));
}

CivilTime Zone::to_local(Instant instant) const {
  return to_civil(instant + span_at(instant).utc_offset);
}

Instant Zone::to_instant(const CivilTime& local) const {
  const Instant as_utc = from_civil(local);
  // The clocks cannot show it before this, wherever they stand; from here there is hardly ever more
  // than one change to pass.
  std::size_t changes = changes_until(as_utc - offset_max);
  ZoneSpan span = span_after(changes);
  while (changes < changes_.size() && as_utc - span.utc_offset >= span.until) {
    span = span_after(++changes);
  }
  return std::max(span.from, as_utc - span.utc_offset);
}

}  // namespace pawl
