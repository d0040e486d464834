// How this process is named for people: "host-4711".
#pragma once

#include <string>

namespace pawl {

std::string own_name();

}  // namespace pawl
