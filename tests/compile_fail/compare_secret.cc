// expect: no match for 'operator=='
// == takes longer the more of a secret was guessed; equal_in_constant_time does not.
#include <string>

#include "base/secret.h"
#include "base/sha256.h"

bool admits(const pawl::Secret<std::string>& wanted, const pawl::Secret<std::string>& given) {
#ifndef PAWL_FIXED
  return wanted == given;
#endif
  return pawl::equal_in_constant_time(wanted.reveal(), given.reveal());
}
