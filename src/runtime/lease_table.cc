#include "runtime/lease_table.h"

#include <algorithm>

namespace pawl {
namespace {

constexpr std::size_t places_looked_at = 8;  // for one that is idle

bool is_same(const limit::Policy& a, const limit::Policy& b) {
  return a.id == b.id && a.shape == b.shape && a.options == b.options;
}

}  // namespace

Hash128 LeaseTable::hash(const Count& count) const {
  return count.key.hash(seed_ ^ count.policy->id);
}

std::shared_ptr<const limit::Policy> LeaseTable::owned(const limit::Policy& policy) {
  auto& kept = policies_[{policy.id, policy.shape}];
  if (kept == nullptr || !is_same(*kept, policy)) {
    kept = std::make_shared<const limit::Policy>(policy);
  }
  return kept;
}

bool LeaseTable::find(Counts counts, SteadyInstant now, Places& places) {
  for (const Count& count : counts) {
    const Hash128 id = hash(count);
    Place* place = find(id);
    if (place == nullptr) place = make(count, id, places, now);
    if (place == nullptr) return false;
    if (!is_same(*place->policy, *count.policy)) {
      place->policy = owned(*count.policy);
      place->lease = {};
      place->spoiled = place->busy;
    }
    places.items[places.size++] = place;
  }
  return true;
}

LeaseTable::Place* LeaseTable::make(const Count& count, Hash128 id, const Places& taken,
                                    SteadyInstant now) {
  Place* place = nullptr;
  if (places_.size() < places_max_) {
    place = &places_.emplace_back();
  } else {
    for (std::size_t i = 0; i < places_looked_at && place == nullptr; ++i) {
      Place& candidate = places_[cursor_++ % places_.size()];
      if (candidate.busy || !candidate.waiters.empty() || !candidate.lease.is_idle(now)) continue;
      if (std::ranges::find(taken, &candidate) == taken.end()) place = &candidate;
    }
    if (place == nullptr) return nullptr;
    index_.erase(place->id);
  }
  *place = {.id = id, .policy = owned(*count.policy), .name = {}, .number = {}, .lease = {}};
  if (count.key.is_id()) {
    place->number = count.key.id();
  } else {
    place->name = count.key.name();
  }
  index_[id] = place;
  return place;
}

LeaseTable::Place* LeaseTable::find(Hash128 id) {
  const auto found = index_.find(id);
  return found == index_.end() ? nullptr : found->second;
}

}  // namespace pawl
