// The settings of the section server, and what they must be together.
#pragma once

#include "config/config.h"
#include "config/field.h"

namespace pawl::config {

Fields<Config> server_fields();

void check_server(const Server& server, Reader& reader);

}  // namespace pawl::config
