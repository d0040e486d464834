// ReservationIds: the names of reservations, for stores that make them.
//
// Contract: hard to guess for whoever does not know the seed, as hard to meet as 63 random bits,
//           and odd. Even numbers are for those who answer in a store's place: an id says which.
// Threads:  any.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/hash.h"

namespace pawl {

class ReservationIds {
 public:
  // Another seed in each process.
  explicit ReservationIds(std::uint64_t seed) : seed_(seed) {}

  std::uint64_t next() {
    const Hash128 number{.high = count_.fetch_add(1, std::memory_order_relaxed), .low = seed_};
    return hash_of(number, ~seed_).high | 1;
  }

 private:
  const std::uint64_t seed_;
  std::atomic<std::uint64_t> count_ = 0;
};

}  // namespace pawl
