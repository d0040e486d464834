// Which pawl this is.
#pragma once

#include <string_view>

namespace pawl {

// As in "1.2.3"; of the library that was linked, whatever headers were compiled against.
std::string_view version() noexcept;

}  // namespace pawl
