// What differs between the configuration in force and the next one.
//
// Why:      a reload is all or nothing. Whoever applies it asks here first, and refuses the whole
//           when one of the changes needs a restart.
// Contract: pure.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"

namespace pawl::config {

struct Change {
  std::string path;
  bool needs_restart = false;
  bool operator==(const Change&) const = default;
};

// In the order of the table; empty when the two are the same.
std::vector<Change> changes(const Config& running, const Config& next);

}  // namespace pawl::config
