// CRC-32C (Castagnoli's polynomial, as in iSCSI, RFC 3720): notices every flipped bit, and every
// run of damage up to 32 bits long. No defence against anybody who means it.
//
// Contract: pure. In pieces: crc32c(b, crc32c(a)) is that of a and b together. Of nothing it is 0.
// Threads:  any.
#pragma once

#include <cstdint>
#include <string_view>

namespace pawl {

// `before`: of the bytes in front.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

}  // namespace pawl
