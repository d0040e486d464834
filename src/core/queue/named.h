// Named: things that are known by a name, and by a number that is shorter.
//
// Why:      a million tasks have a handful of types and workers; a number of four bytes stands for
//           the text.
// Contract: the number of a name is the same until it is erased. T has a member `name`.
// Threads:  one at a time.
#pragma once

#include <string>
#include <string_view>

#include "base/hash.h"
#include "core/queue/slab.h"
#include "core/queue/slot_index.h"

namespace pawl::queue {

template <class T>
class Named {
 public:
  T& operator[](std::uint32_t number) { return things_[number]; }
  const T& operator[](std::uint32_t number) const { return things_[number]; }

  std::uint32_t find(std::string_view name) const {
    return index_.find(hash(name), [&](std::uint32_t at) { return things_[at].name == name; });
  }
  struct Found {
    std::uint32_t number;
    bool fresh;
  };
  Found find_or_make(std::string_view name) {
    if (const std::uint32_t number = find(name)) return {number, false};
    const std::uint32_t number = things_.make();
    things_[number].name = name;
    index_.insert(hash(name), number);
    return {number, true};
  }
  void erase(std::uint32_t number) {
    index_.erase(hash(things_[number].name), number);
    things_.drop(number);
  }

  std::size_t size() const { return index_.size(); }
  // Each there is, in no order that means anything.
  template <class Visit>
  void each(const Visit& visit) const {
    for (std::uint32_t number = 1; number < things_.end(); ++number) {
      const T& thing = things_[number];
      if (!thing.name.empty()) visit(number, thing);
    }
  }

 private:
  static std::uint64_t hash(std::string_view name) { return hash_of(name, 0).low; }

  Slab<T> things_;
  SlotIndex index_;
};

}  // namespace pawl::queue
