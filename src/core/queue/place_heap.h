// PlaceHeap: places of tasks in an order, the first one in front.
//
// Why:      a task leaves an order from the middle (cancelled, expired) far less often than from
//           the front. So a place is not looked for then: it stays, and whoever meets it sees that
//           its task has moved on (its arrival is another), and throws it away.
// Contract: no two places of a heap have the same arrival, so the order is total and the same on
//           every machine, however the heap came about.
// Bounds:   the owner calls keep_if() when too many have gone. Threads: one at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pawl/time.h"

namespace pawl::queue {

struct Place {
  Instant when = {};
  std::uint64_t arrival = 0;
  std::uint32_t slot = 0;
  std::int8_t priority = 0;
};

struct Sooner {
  bool operator()(const Place& a, const Place& b) const {
    return a.when != b.when ? a.when < b.when : a.arrival < b.arrival;
  }
};
struct Higher {
  bool operator()(const Place& a, const Place& b) const {
    return a.priority != b.priority ? a.priority > b.priority : Sooner()(a, b);
  }
};

template <class Before>
class PlaceHeap {
 public:
  bool empty() const { return places_.empty(); }
  std::size_t size() const { return places_.size(); }
  const Place& head() const { return places_.front(); }

  void push(const Place& place) {
    places_.push_back(place);
    std::push_heap(places_.begin(), places_.end(), behind);
  }
  void pop() {
    std::pop_heap(places_.begin(), places_.end(), behind);
    places_.pop_back();
  }
  template <class Keep>
  void keep_if(const Keep& keep) {
    std::erase_if(places_, [&](const Place& place) { return !keep(place); });
    std::make_heap(places_.begin(), places_.end(), behind);
  }

  // From the front on, not in order: `visit` says whether to go on to the two behind a place.
  template <class Visit>
  void walk(const Visit& visit, std::size_t at = 0) const {
    if (at >= places_.size() || !visit(places_[at])) return;
    walk(visit, 2 * at + 1);
    walk(visit, 2 * at + 2);
  }
  const std::vector<Place>& places() const { return places_; }

 private:
  static bool behind(const Place& a, const Place& b) { return Before()(b, a); }

  std::vector<Place> places_;
};

}  // namespace pawl::queue
