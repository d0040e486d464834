#include "core/queue/slot_index.h"

#include <utility>

#include "base/assert.h"

namespace pawl::queue {

void SlotIndex::put(Place place) {
  std::size_t at = place.tag & mask();
  while (places_[at].number != 0) at = (at + 1) & mask();
  places_[at] = place;
}

void SlotIndex::insert(std::uint64_t hash, std::uint32_t number) {
  PAWL_ASSERT(number != 0);
  if ((size_ + 1) * 4 > places_.size() * 3) {
    const std::vector<Place> before =
        std::exchange(places_, std::vector<Place>(places_.empty() ? 16 : places_.size() * 2));
    for (const Place& place : before) {
      if (place.number != 0) put(place);
    }
  }
  put({.number = number, .tag = static_cast<std::uint32_t>(hash)});
  ++size_;
}

void SlotIndex::erase(std::uint64_t hash, std::uint32_t number) {
  PAWL_ASSERT(!places_.empty());
  std::size_t hole = static_cast<std::uint32_t>(hash) & mask();
  while (places_[hole].number != number) {
    PAWL_ASSERT(places_[hole].number != 0);
    hole = (hole + 1) & mask();
  }
  // What found its home taken moves up, unless that home lies behind the hole.
  for (std::size_t at = (hole + 1) & mask(); places_[at].number != 0; at = (at + 1) & mask()) {
    const std::size_t home = places_[at].tag & mask();
    if (((at - home) & mask()) < ((at - hole) & mask())) continue;
    places_[hole] = places_[at];
    hole = at;
  }
  places_[hole] = {};
  --size_;
}

}  // namespace pawl::queue
