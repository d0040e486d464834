// parse(): from the words that were typed to what is meant. The one file that knows the library
// that cuts words into options is app.cc.
//
// Contract: pure. An error has the code `usage`; it says what is wrong on one line, with the word
//           that was probably meant, and on a second line where to read how it is done.
#pragma once

#include <span>
#include <string>
#include <variant>

#include "cli/verb.h"
#include "pawl/result.h"

namespace pawl::cli {

struct Call {
  const Verb* verb;
  Arguments arguments;
};

struct HelpWanted {
  std::string path;    // of a verb, or the beginning of some; empty for the whole
  bool asked = false;  // else too little was typed to know what is meant
};

struct VersionWanted {};

using Parsed = std::variant<Call, HelpWanted, VersionWanted>;

// `words` without the program's name.
Result<Parsed> parse(std::span<const Verb> verbs, std::span<const std::string> words);

}  // namespace pawl::cli
