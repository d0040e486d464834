#include "adapter/system/system_entropy.h"

#include <algorithm>
#include <cerrno>
#include <sys/random.h>

#include "base/assert.h"

namespace pawl {

Entropy16 SystemEntropy::next() {
  const std::lock_guard lock(mutex_);
  Entropy16 bytes;
  if (used_ + bytes.size() > pool_.size()) {
    std::size_t filled = 0;
    while (filled < pool_.size()) {
      const ssize_t got = getrandom(pool_.data() + filled, pool_.size() - filled, 0);
      // It cannot fail once the machine is up, except by a signal in the middle.
      PAWL_ASSERT(got > 0 || errno == EINTR);
      if (got > 0) filled += static_cast<std::size_t>(got);
    }
    used_ = 0;
  }
  std::copy_n(pool_.begin() + static_cast<std::ptrdiff_t>(used_), bytes.size(), bytes.begin());
  used_ += bytes.size();
  return bytes;
}

}  // namespace pawl
