// The table of verbs: what pawl can do, as the parser, --help, the man page and the completions see
// it.
#pragma once

#include <span>

#include "cli/verb.h"

namespace pawl::cli {

std::span<const Verb> all_verbs();

// The part of it that stands in verbs.cc; others are beside what they run.
std::span<const Verb> basic_rows();

}  // namespace pawl::cli
