// What an exception out of somebody else's code says about an attempt.
#pragma once

#include "runtime/operations.h"

namespace pawl {

// Of the exception that is being handled: its type's name, by which policies list it, and its text.
// Nobody knows what had been done before it was thrown.
AttemptEnd end_of_exception();

}  // namespace pawl
