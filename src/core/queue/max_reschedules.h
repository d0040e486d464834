// What a task that put itself off too often has failed with, word for word as the machine keeps it.
#pragma once

#include <cstdint>
#include <string>

namespace pawl::queue {

inline std::string max_reschedules_exceeded(std::uint32_t most) {
  return "Max reschedules (" + std::to_string(most) + ") exceeded";
}

}  // namespace pawl::queue
