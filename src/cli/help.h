// The text of --help, made from the table of verbs.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/verb.h"

namespace pawl::cli {

inline constexpr std::string_view tagline =
    "side effects at the pace the other side allows, at most once per intent";

// Those of every verb, as in `enum class Code`.
std::span<const ExitCode> all_exit_codes();

// "pawl audit verify [OPTIONS] [FILE]"
std::string usage(const Verb& verb);

// "One of: buy, sell."; empty where anything may stand.
std::string one_of(const Value& value);

// "-h, --help", "--config FILE"
std::string option_usage(const Option& option);

// The help of a verb; of the verbs that begin with `path`; of the whole when it is empty.
std::string help(std::span<const Verb> verbs, std::string_view path);

}  // namespace pawl::cli
