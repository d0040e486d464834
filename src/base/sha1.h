// SHA-1, by which Redis names scripts and a WebSocket's handshake is answered (RFC 6455). For
// nothing else: it is broken as a signature.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace pawl {

std::array<std::uint8_t, 20> sha1(std::string_view bytes);

}  // namespace pawl
