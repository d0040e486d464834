// What a configuration looks like to people: the one in force, and the page that explains every
// field.
#pragma once

#include <string>

#include "config/config.h"

namespace pawl::config {

// YAML in the order of the table, every field written out. It reads back as the same configuration
// once each secret, shown as ***, is filled in again.
std::string show(const Config& config);

// docs/configuration.md
std::string reference_page();

}  // namespace pawl::config
