// LeaseTable: the leases of a LeasedCounterStore, by count.
//
// Contract: a place stays where it is, and keeps its count while it is busy. Policies of one name
//           share a lease; under another rule it begins anew, and what is under way is spoiled.
// Bounds:   places_max places; one whose lease is idle, and for which nobody waits, makes room for
//           another count.
// Threads:  none of its own: whoever owns it holds a lock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/bounds.h"
#include "base/hash.h"
#include "core/limit/lease.h"
#include "port/counter_store.h"
#include "runtime/kept_counts.h"

namespace pawl {

class LeaseTable {
 public:
  struct Waiter {
    KeptCounts counts;
    std::int64_t cost;
    CounterStore::Done<limit::Answer> done;
  };

  // One count, and all that is needed to ask for it when nobody's ask is there to lend it.
  struct Place {
    Hash128 id;
    std::shared_ptr<const limit::Policy> policy;
    std::string name;
    std::optional<limit::KeyId> number;
    limit::Lease lease;
    bool busy = false;     // the store is asked for it, or given back to
    bool spoiled = false;  // what it answers is not to be kept
    std::deque<Waiter> waiters = {};

    limit::Key key() const { return number ? limit::Key(*number) : limit::Key(name); }
  };

  struct Places {
    std::array<Place*, bounds::limit_policies_max> items;
    std::size_t size = 0;

    Place* const* begin() const { return items.data(); }
    Place* const* end() const { return items.data() + size; }
  };

  LeaseTable(std::size_t places_max, std::uint64_t seed) : places_max_(places_max), seed_(seed) {}

  Hash128 hash(const Count& count) const;
  // The places of all counts; false when one finds no room.
  bool find(Counts counts, SteadyInstant now, Places& places);
  Place* find(Hash128 id);
  std::deque<Place>& all() { return places_; }

 private:
  Place* make(const Count& count, Hash128 id, const Places& taken, SteadyInstant now);
  std::shared_ptr<const limit::Policy> owned(const limit::Policy& policy);

  const std::size_t places_max_;
  const std::uint64_t seed_;
  std::map<Hash128, Place*> index_;
  std::deque<Place> places_;
  std::size_t cursor_ = 0;
  // Every policy there ever was: a handful.
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::shared_ptr<const limit::Policy>> policies_;
};

}  // namespace pawl
