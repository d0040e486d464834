// SystemEntropy: the kernel's random source, read a page at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "port/entropy.h"

namespace pawl {

class SystemEntropy final : public Entropy {
 public:
  Entropy16 next() override;

 private:
  std::mutex mutex_;
  std::array<std::uint8_t, 4096> pool_{};  // guarded by mutex_
  std::size_t used_ = pool_.size();        // guarded by mutex_
};

}  // namespace pawl
