// `pawl config …`
#pragma once

#include "cli/verb.h"

namespace pawl::cli {

int config_check(const Arguments& arguments);
int config_show(const Arguments& arguments);
int config_reference(const Arguments& arguments);

}  // namespace pawl::cli
