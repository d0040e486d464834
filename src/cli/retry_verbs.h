#pragma once

#include "cli/verb.h"

namespace pawl::cli {

int retry_policies(const Arguments& arguments);
int retry_classify(const Arguments& arguments);

}  // namespace pawl::cli
