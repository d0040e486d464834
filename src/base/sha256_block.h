// The compression function of SHA-256, in two forms that must agree: plain C++, and the processor's
// own SHA instructions where it has them. Only sha256.cc calls these.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace pawl::sha256_block {

using State = std::array<std::uint32_t, 8>;
inline constexpr std::size_t block_bytes = 64;

// Takes `count` blocks of 64 bytes into the state.
void compress_portable(State& state, const std::uint8_t* blocks, std::size_t count);
// The same, by the fastest form this processor can run.
void compress(State& state, const std::uint8_t* blocks, std::size_t count);

}  // namespace pawl::sha256_block
