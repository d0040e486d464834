// Makes the venue of a name (emulator/venue_names.h).
#pragma once

#include <string_view>

#include "emulator/server.h"

namespace pawl::emulator {

// One of venue_names.
Venue make_venue(std::string_view name);

}  // namespace pawl::emulator
