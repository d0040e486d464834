// Slab: things that are known by a number from 1 on, in chunks that never move.
//
// Why:      a million tasks in one vector would be copied whenever it grows, and twice as large
//           meanwhile; each by itself on the heap would cost a pointer and the heap's own bytes.
// Contract: 0 is nobody's number. That of a dropped thing is given again, the last one first, and
//           the thing behind it is as new.
// Bounds:   whoever makes things. Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace pawl::queue {

template <class T>
class Slab {
 public:
  T& operator[](std::uint32_t number) { return chunks_[number / per_chunk][number % per_chunk]; }
  const T& operator[](std::uint32_t number) const {
    return chunks_[number / per_chunk][number % per_chunk];
  }

  std::uint32_t make() {
    if (!free_.empty()) {
      const std::uint32_t number = free_.back();
      free_.pop_back();
      return number;
    }
    if (end_ % per_chunk == 0 || chunks_.empty()) {
      chunks_.push_back(std::make_unique<T[]>(per_chunk));
    }
    return end_++;
  }
  void drop(std::uint32_t number) {
    (*this)[number] = T();
    free_.push_back(number);
  }

  std::uint32_t end() const { return end_; }  // above every number; those between may be free

 private:
  static constexpr std::uint32_t per_chunk = 256;

  std::vector<std::unique_ptr<T[]>> chunks_;
  std::vector<std::uint32_t> free_;
  std::uint32_t end_ = 1;
};

}  // namespace pawl::queue
