// The manual page, in mdoc, made from the table of verbs.
#pragma once

#include <span>
#include <string>

#include "cli/verb.h"

namespace pawl::cli {

std::string man_page(std::span<const Verb> verbs);

}  // namespace pawl::cli
