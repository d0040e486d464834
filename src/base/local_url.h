// Whether what is sent to an address of the web stays on this machine.
#pragma once

#include <string_view>

namespace pawl {

// SCHEME://HOST[:PORT][/…] whose host is localhost or a loopback address.
bool is_local_url(std::string_view url);

}  // namespace pawl
