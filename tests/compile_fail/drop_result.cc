// expect: ignoring returned value of type 'pawl::Result<int>'
// An error must be looked at.
#include "pawl/result.h"

pawl::Result<int> write();

bool write_once() {
#ifndef PAWL_FIXED
  write();
#endif
  return write().has_value();
}
