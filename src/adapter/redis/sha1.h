// SHA-1, by which Redis names scripts. For nothing else: it is broken as a signature.
#pragma once

#include <string>
#include <string_view>

namespace pawl::redis {

// 40 lower-case hexadecimal digits.
std::string sha1_hex(std::string_view bytes);

}  // namespace pawl::redis
