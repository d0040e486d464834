#pragma once

#include "cli/verb.h"

namespace pawl::cli {

int replay(const Arguments& arguments);

}  // namespace pawl::cli
