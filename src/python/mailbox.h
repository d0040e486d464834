// Mailbox: what other threads have for one event loop, and a file descriptor that wakes it.
//
// Why:      answers of the queue come on threads that must not wait for an interpreter: a handler
//           that holds its lock for a minute would keep leases from being renewed. So nothing of
//           Python is touched there. An answer is put here, and the loop fetches all there are.
// Contract: letters are taken in the order in which they were put. The descriptor is readable while
//           there is one.
// Threads:  any may put; one takes.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "pawl/result.h"

namespace pawl::python {

template <class Letter>
class Mailbox {
 public:
  static Result<std::shared_ptr<Mailbox>> open() {
    const int descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (descriptor < 0) {
      return failure(Code::unavailable, std::string("no eventfd can be had: ") + strerror(errno));
    }
    return std::shared_ptr<Mailbox>(new Mailbox(descriptor));
  }
  ~Mailbox() { ::close(descriptor_); }
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  int descriptor() const { return descriptor_; }

  void put(Letter letter) {
    const std::lock_guard lock(mutex_);
    letters_.push_back(std::move(letter));
    if (letters_.size() > 1) return;
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(descriptor_, &one, sizeof one);
  }

  std::vector<Letter> take() {
    const std::lock_guard lock(mutex_);
    std::uint64_t count = 0;
    [[maybe_unused]] const auto read = ::read(descriptor_, &count, sizeof count);
    return std::exchange(letters_, {});
  }

 private:
  explicit Mailbox(int descriptor) : descriptor_(descriptor) {}

  const int descriptor_;
  std::mutex mutex_;
  std::vector<Letter> letters_;
};

}  // namespace pawl::python
