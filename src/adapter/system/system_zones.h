// System zones: the time zones this machine knows, from its tzdata package.
//
// Contract: every change of offset from 1970 to 2100 is in the table. The names are those of the
//           IANA database, letter case and all ("Europe/Zurich"); a path, or the machine's own
//           "localtime", is none. "UTC" is always known, tzdata or not.
// Threads:  any. A zone's file is read once a process: newer rules need a restart.
#pragma once

#include <string_view>

#include "base/zone.h"
#include "pawl/result.h"

namespace pawl {

Result<Zone> load_zone(std::string_view name);

}  // namespace pawl
