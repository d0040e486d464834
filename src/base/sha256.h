// SHA-256 (FIPS 180-4): the hash behind idempotency keys, fingerprints and the audit chain.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "pawl/result.h"

namespace pawl {

using Digest = std::array<std::uint8_t, 32>;

// Takes the message piece by piece; finish() may be called once.
class Sha256 {
 public:
  Sha256();
  void update(std::string_view bytes);
  Digest finish();

 private:
  void compress(const std::uint8_t* blocks, std::size_t count);

  std::array<std::uint32_t, 8> state_;
  std::array<std::uint8_t, 64> pending_;
  std::size_t pending_size_ = 0;
  std::uint64_t total_bytes_ = 0;
};

Digest sha256(std::string_view bytes);

// Lower-case hexadecimal.
std::string to_hex(std::span<const std::uint8_t> bytes);
// Gives the end of what was written.
char* put_hex(char* to, std::span<const std::uint8_t> bytes);
void append_hex(std::string& out, std::span<const std::uint8_t> bytes);
// Exactly 64 hexadecimal digits, either case.
Result<Digest> parse_digest(std::string_view hex);

// Takes the same time wherever the two differ; lengths may be told apart.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace pawl
