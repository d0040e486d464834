// Durability: what a store's records survive. Stores are found to give one, and asked for one.
#pragma once

#include <cstdint>
#include <string_view>

namespace pawl {

// Nothing but this process, its end, or a power cut.
enum class Durability : std::uint8_t { none, process, fsync };
constexpr std::string_view to_string(Durability durability) {
  return durability == Durability::none      ? "none"
         : durability == Durability::process ? "process"
                                             : "fsync";
}

}  // namespace pawl
