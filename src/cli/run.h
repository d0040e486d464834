// The whole command line: words in, exit code out.
#pragma once

#include <span>
#include <string>

#include "cli/verb.h"

namespace pawl::cli {

// Nothing is thrown: what a verb did not expect is an internal error, exit code 70.
int run(std::span<const Verb> verbs, std::span<const std::string> words);

}  // namespace pawl::cli
