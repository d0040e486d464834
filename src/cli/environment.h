// The environment of the process. This is the one place that reads it.
#pragma once

#include "config/expand.h"

namespace pawl::cli {

config::Env environment();

}  // namespace pawl::cli
