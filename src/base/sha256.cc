#include "base/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/assert.h"
#include "base/sha256_block.h"
#include "base/text.h"

namespace pawl {
namespace {

// The two digits of each byte.
constexpr std::array<char, 512> hex_pairs = [] {
  constexpr std::string_view digits = "0123456789abcdef";
  std::array<char, 512> pairs = {};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    pairs[2 * byte] = digits[byte >> 4];
    pairs[2 * byte + 1] = digits[byte & 15];
  }
  return pairs;
}();

template <class Number>
void put_big_endian(std::uint8_t* at, Number number) {
  if constexpr (std::endian::native == std::endian::little) number = std::byteswap(number);
  std::memcpy(at, &number, sizeof(number));
}

}  // namespace

// Fractional parts of the square roots of the first eight primes (FIPS 180-4, 5.3.3).
Sha256::Sha256()
    : state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19} {}

void Sha256::compress(const std::uint8_t* blocks, std::size_t count) {
  sha256_block::compress(state_, blocks, count);
}

void Sha256::update(std::string_view bytes) {
  PAWL_ASSERT(pending_size_ < pending_.size());
  total_bytes_ += bytes.size();
  if (pending_size_ > 0) {
    const std::size_t taken = std::min(bytes.size(), pending_.size() - pending_size_);
    bytes.copy(reinterpret_cast<char*>(pending_.data()) + pending_size_, taken);
    bytes.remove_prefix(taken);
    pending_size_ += taken;
    if (pending_size_ < pending_.size()) return;
    compress(pending_.data(), 1);
    pending_size_ = 0;
  }
  const std::size_t whole = bytes.size() / pending_.size();
  if (whole > 0) compress(reinterpret_cast<const std::uint8_t*>(bytes.data()), whole);
  bytes.remove_prefix(whole * pending_.size());
  pending_size_ = bytes.copy(reinterpret_cast<char*>(pending_.data()), bytes.size());
}

Digest Sha256::finish() {
  constexpr std::size_t length_at = 56;  // the last eight bytes of a block tell the message's bits
  PAWL_ASSERT(pending_size_ < pending_.size());
  const std::uint64_t bits = total_bytes_ * 8;
  pending_[pending_size_++] = 0x80;
  if (pending_size_ > length_at) {
    std::fill(pending_.begin() + static_cast<std::ptrdiff_t>(pending_size_), pending_.end(), 0);
    compress(pending_.data(), 1);
    pending_size_ = 0;
  }
  std::fill(pending_.begin() + static_cast<std::ptrdiff_t>(pending_size_), pending_.end(), 0);
  put_big_endian(&pending_[length_at], bits);
  compress(pending_.data(), 1);
  pending_size_ = pending_.size();  // a full buffer is never left behind but here: the end

  Digest digest;
  for (std::size_t i = 0; i < state_.size(); ++i) put_big_endian(&digest[4 * i], state_[i]);
  return digest;
}

Digest sha256(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

char* put_hex(char* to, std::span<const std::uint8_t> bytes) {
  for (const std::uint8_t byte : bytes) {
    std::memcpy(to, &hex_pairs[2 * std::size_t{byte}], 2);
    to += 2;
  }
  return to;
}

void append_hex(std::string& out, std::span<const std::uint8_t> bytes) {
  const std::size_t begin = out.size();
  out.resize(begin + 2 * bytes.size());
  put_hex(out.data() + begin, bytes);
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  std::string hex;
  append_hex(hex, bytes);
  return hex;
}

Result<Digest> parse_digest(std::string_view hex) {
  Digest digest;
  if (hex.size() != 2 * digest.size()) {
    return failure(Code::invalid, "a SHA-256 digest is 64 hexadecimal digits, not " +
                                      std::to_string(hex.size()) + " characters");
  }
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const int high = hex_value(hex[2 * i]);
    const int low = hex_value(hex[2 * i + 1]);
    if (high < 0 || low < 0) {
      return failure(Code::invalid, "a SHA-256 digest is 64 hexadecimal digits; character " +
                                        std::to_string(2 * i + (high < 0 ? 1 : 2)) + " is none");
    }
    digest[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return digest;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  // Volatile, so that no compiler may see that the answer is settled early and leave the loop.
  volatile unsigned char difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = static_cast<unsigned char>(difference | (a[i] ^ b[i]));
  }
  return difference == 0;
}

}  // namespace pawl
