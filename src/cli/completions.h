// Scripts that complete pawl's verbs, options, choices and files in a shell, made from the table of
// verbs.
#pragma once

#include <span>
#include <string>

#include "cli/verb.h"

namespace pawl::cli {

std::string bash_completions(std::span<const Verb> verbs);
std::string zsh_completions(std::span<const Verb> verbs);
std::string fish_completions(std::span<const Verb> verbs);

}  // namespace pawl::cli
