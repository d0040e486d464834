// `pawl audit …`
#pragma once

#include "cli/verb.h"

namespace pawl::cli {

int audit_verify(const Arguments& arguments);

}  // namespace pawl::cli
