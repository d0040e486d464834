// Random: the simulator's dice (xoshiro256**, seeded by splitmix64). The same seed gives the same
// throws on every machine and compiler, which the standard library's distributions do not promise.
//
// Threads: none. The simulation has one, and the order of its throws is part of the seed's promise.
#pragma once

#include <array>
#include <cstdint>

#include "pawl/time.h"
#include "port/entropy.h"

namespace pawl::sim {

class Random final : public Entropy {
 public:
  explicit Random(std::uint64_t seed);

  std::uint64_t next_bits();
  // 0 … bound - 1; bound > 0.
  std::uint64_t below(std::uint64_t bound);
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  Duration up_to(Duration longest);
  Entropy16 next() override;

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace pawl::sim
