// The rows of `pawl order …` and `pawl backfill-orders` in the table of verbs.
#pragma once

#include <span>

#include "cli/verb.h"

namespace pawl::cli {

std::span<const Verb> order_rows();

}  // namespace pawl::cli
