#include "adapter/system/own_name.h"

#include <unistd.h>

namespace pawl {

std::string own_name() {
  char host[256] = {};
  if (::gethostname(host, sizeof(host) - 1) != 0) host[0] = '\0';
  return std::string(host[0] == '\0' ? "pawl" : host) + "-" + std::to_string(::getpid());
}

}  // namespace pawl
