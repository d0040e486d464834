// `pawl work`: claims tasks and has them handled, by a command or by a service.
#pragma once

#include <span>

#include "cli/verb.h"

namespace pawl::cli {

std::span<const Verb> work_rows();

int work(const Arguments& arguments);

}  // namespace pawl::cli
