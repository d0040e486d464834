// PAWL_ASSERT: an invariant of pawl's own code, checked in every build. A broken one ends the
// process: with money at stake, a wrong state must not go on deciding.
#pragma once

#include <cassert>

#ifdef NDEBUG
#error "pawl keeps its assertions in every build: do not define NDEBUG"
#endif

#define PAWL_ASSERT(condition) assert(condition)
