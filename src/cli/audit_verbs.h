#pragma once

#include "cli/verb.h"

namespace pawl::cli {

int audit_verify(const Arguments& arguments);
int audit_tail(const Arguments& arguments);
int audit_stats(const Arguments& arguments);

}  // namespace pawl::cli
