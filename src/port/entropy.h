// Entropy: where randomness enters, for identifiers only. Decisions never use it.
//
// Contract: no two calls give the same bytes, on any machine.        Threads: any.
// Held by:  adapter/system; sim/random (the same sequence for the same seed).
#pragma once

#include "base/id.h"

namespace pawl {

class Entropy {
 public:
  virtual ~Entropy() = default;
  virtual Entropy16 next() = 0;
};

}  // namespace pawl
