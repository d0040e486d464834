// The venues, and other servers, that can be emulated, by name.
#pragma once

#include <string_view>

namespace pawl::emulator {

inline constexpr std::string_view venue_names[] = {"saxo", "okx", "s3"};

}  // namespace pawl::emulator
