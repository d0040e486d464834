// What the command line says: data on standard output, everything else on standard error.
#pragma once

#include <string_view>

#include "pawl/result.h"

namespace pawl::cli {

// Data, as it is.
void print(std::string_view text);

// A line for people.
void complain(std::string_view line);

// "pawl: what happened; what to do". Gives the exit code.
int fail(const Error& error);

// To be called last: `code`, or that of an error when not all that was printed could be written.
int finish(int code);

}  // namespace pawl::cli
