// What a configuration looks like to people: the one in force, and the page that explains every
// field.
#pragma once

#include <string>

#include "config/config.h"
#include "config/field.h"

namespace pawl::config {

// The field's value, a secret that is set as ***.
Node shown(const Field<Config>& field, const Config& config);

// YAML in the order of the table, every field written out. It reads back as the same configuration
// once each secret, shown as ***, is filled in again.
std::string show(const Config& config);

// docs/configuration.md
std::string reference_page();

}  // namespace pawl::config
