// Base64 (RFC 4648, section 4: with + / and padding).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "pawl/result.h"

namespace pawl {

std::string to_base64(std::span<const std::uint8_t> bytes);
// Nothing but its letters and the padding it needs; one text for each sequence of bytes.
Result<std::string> parse_base64(std::string_view text);

}  // namespace pawl
