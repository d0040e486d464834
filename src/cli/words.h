// Words that others chose, and colours, as a terminal may show them.
//
// Contract: pure. What could disturb a terminal is escaped as in JSON.
#pragma once

#include <string>
#include <string_view>

#include "pawl/time.h"

namespace pawl::cli {

inline constexpr std::string_view green = "\033[32m";
inline constexpr std::string_view red = "\033[31m";
inline constexpr std::string_view yellow = "\033[33m";

// As it is where nobody can misread it, else in quotes; nothing as "-".
std::string word(std::string_view text);

// For a list of names that a shell reads, one a line: as they are; left out is what could be taken
// for several, or disturbs a terminal.
std::string name_line(std::string_view name);

// A word of a command line, as a shell reads it.
std::string shell_word(std::string_view text);

// A sentence: on one line, without what disturbs a terminal, and without quotes around it.
std::string sentence(std::string_view text);

// Its characters, each of which takes one place on a terminal (those of East Asia take two, and are
// not told apart here).
std::size_t width_of(std::string_view text);
// At most so many of them, three or more; what was cut ends in "...".
std::string shortened(std::string_view text, std::size_t most);

std::string painted(std::string_view text, std::string_view with, bool colour);

// "[#####.....]"
std::string bar(std::uint64_t done, std::uint64_t all);

// To whole seconds, or milliseconds when it is short: "5m12s", "0.250s". Not for reading back.
std::string about(Duration duration);

}  // namespace pawl::cli
