// For tests: bytes that count up, so that no two calls give the same.
#pragma once

#include <cstdint>

#include "port/entropy.h"

namespace pawl::admin {

class CountedEntropy final : public Entropy {
 public:
  Entropy16 next() override {
    Entropy16 bytes = {};
    bytes[0] = static_cast<std::uint8_t>(++calls_);
    bytes[1] = static_cast<std::uint8_t>(calls_ >> 8);
    return bytes;
  }

 private:
  int calls_ = 0;
};

}  // namespace pawl::admin
