// MD5 (RFC 1321), which S3 asks for: its ETag, and the Content-MD5 of a list of deletions. For
// nothing else: it is broken as a signature.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace pawl {

std::array<std::uint8_t, 16> md5(std::string_view bytes);

}  // namespace pawl
