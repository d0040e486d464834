// expect: use of deleted function
// A secret must not reach a stream.
#include <sstream>
#include <string>

#include "base/secret.h"

void print(std::ostringstream& out, const pawl::Secret<std::string>& secret) {
  out << "password: ";
#ifndef PAWL_FIXED
  out << secret;
#endif
  out << secret.reveal().size() << " characters";
}
