// The environment of the process. This is the one place that reads it.
#pragma once

#include <string>

#include "config/expand.h"

namespace pawl::cli {

config::Env environment();

// Who runs the process, as the system calls them: no variable can say otherwise.
std::string user_name();

}  // namespace pawl::cli
