// Policy: one named limit, as configured.
#pragma once

#include <string>

#include "core/limit/gcra.h"

namespace pawl::limit {

struct Policy {
  std::string name;
  TokenBucket bucket;
};

}  // namespace pawl::limit
