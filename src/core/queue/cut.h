// Text from outside that must not be longer than it may.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pawl::queue {

// At most `most` bytes (64 or more). What was cut says so at its end, and no character is torn.
std::string cut(std::string_view text, std::size_t most);
// Of a text that is the beginning of one of `had` bytes.
std::string cut(std::string_view text, std::size_t most, std::uint64_t had);

}  // namespace pawl::queue
