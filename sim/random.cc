#include "sim/random.h"

#include <bit>

namespace pawl::sim {

Random::Random(std::uint64_t seed) {
  for (std::uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15;
    std::uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    word = z ^ (z >> 31);
  }
}

std::uint64_t Random::next_bits() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

// The high bits of a product: even enough for choosing among few, and never a loop.
std::uint64_t Random::below(std::uint64_t bound) {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next_bits()) * bound) >> 64);
}

Duration Random::up_to(Duration longest) {
  return Duration::nanoseconds(
      static_cast<std::int64_t>(below(static_cast<std::uint64_t>(longest.ns()) + 1)));
}

Entropy16 Random::next() {
  Entropy16 bytes;
  const std::uint64_t words[2] = {next_bits(), next_bits()};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(words[i / 8] >> (i % 8 * 8));
  }
  return bytes;
}

}  // namespace pawl::sim
