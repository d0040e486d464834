// What the command line says: data on standard output, everything else on standard error.
#pragma once

#include <string>
#include <string_view>

#include "pawl/result.h"

namespace pawl::cli {

// Data, as it is.
void print(std::string_view text);

// A line for people.
void complain(std::string_view line);

// "pawl: what happened; what to do". Gives the exit code.
int fail(const Error& error);

// Of two exit codes the one that says more: what is unresolved comes before what failed, that
// before what is not there or not right, that before no.
int worst_of(int a, int b);

// The text of a file, or of standard input for "-".
Result<std::string> contents_of(const std::string& file);

// Whether all that was printed could be written.
bool is_written();

// To be called last: `code`, or that of an error when not all that was printed could be written.
int finish(int code);

}  // namespace pawl::cli
