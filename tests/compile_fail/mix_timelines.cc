// expect: no match for 'operator-'
// The world's clock may step; a wait measured against it would be wrong.
#include "pawl/time.h"

pawl::Duration waited(pawl::Instant now, pawl::SteadyInstant steady_now,
                      pawl::SteadyInstant start) {
#ifndef PAWL_FIXED
  return now - start;
#endif
  return now < pawl::Instant() ? pawl::Duration() : steady_now - start;
}
