// expect: no matching function for call to 'pawl::Error::Error(
// Whoever makes an error says what became of the effect.
#include "pawl/result.h"

pawl::Error timed_out() {
#ifndef PAWL_FIXED
  return pawl::Error(pawl::Code::unavailable, "no answer within 10s");
#endif
  return pawl::Error(pawl::Code::unavailable, pawl::Outcome::unknown, "no answer within 10s");
}
