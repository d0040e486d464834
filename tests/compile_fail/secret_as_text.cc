// expect: no match for 'operator+'
// A secret must not be glued into a text.
#include <string>

#include "base/secret.h"

std::string header(const pawl::Secret<std::string>& secret) {
  const std::string name = "Authorization: ";
#ifndef PAWL_FIXED
  return name + secret;
#endif
  return name + secret.reveal();
}
