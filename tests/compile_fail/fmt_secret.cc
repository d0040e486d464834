// expect: Cannot format an argument
// A secret must not reach a line made with fmt.
#include <fmt/format.h>
#include <string>

#include "base/secret.h"

std::string line(const pawl::Secret<std::string>& secret) {
#ifndef PAWL_FIXED
  return fmt::format("password: {}", secret);
#endif
  return fmt::format("password: {} characters", secret.reveal().size());
}
