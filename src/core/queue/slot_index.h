// SlotIndex: from a hash to the numbers that have it, eight bytes a place.
//
// Why:      what is looked up (ids, names) stands where the number leads; a table that kept it
//           again would cost more than the tasks.
// Contract: open addressing, the nearest free place; what stands behind a removed one moves up, so
//           there are no graves. 0 is no number.
// Threads:  one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pawl::queue {

class SlotIndex {
 public:
  // The number with this hash for which `same` says yes; 0 when there is none.
  template <class Same>
  std::uint32_t find(std::uint64_t hash, const Same& same) const {
    if (places_.empty()) return 0;
    const auto tag = static_cast<std::uint32_t>(hash);
    for (std::size_t at = tag & mask(); places_[at].number != 0; at = (at + 1) & mask()) {
      if (places_[at].tag == tag && same(places_[at].number)) return places_[at].number;
    }
    return 0;
  }
  void insert(std::uint64_t hash, std::uint32_t number);
  void erase(std::uint64_t hash, std::uint32_t number);
  std::size_t size() const { return size_; }

 private:
  struct Place {
    std::uint32_t number = 0;
    std::uint32_t tag = 0;
  };
  std::size_t mask() const { return places_.size() - 1; }
  void put(Place place);

  std::vector<Place> places_;  // a power of two of them, at most three quarters taken
  std::size_t size_ = 0;
};

}  // namespace pawl::queue
