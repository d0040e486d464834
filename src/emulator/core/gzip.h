// gzip (RFC 1952) without compressing: what a client has to unpack, made without a library.
//
// Contract: pure. Whoever unpacks the result gets the text.
#pragma once

#include <string>
#include <string_view>

namespace pawl::emulator {

std::string gzipped(std::string_view text);

}  // namespace pawl::emulator
