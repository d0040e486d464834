#include "adapter/directory/io_threads.h"

#include <csignal>
#include <utility>

namespace pawl {
namespace {

// A file-size limit fails the write (EFBIG) and does not end the process. Other signals are not
// held back: callbacks run here, and what they start inherits it.
void block_size_signal() {
  sigset_t size;
  ::sigemptyset(&size);
  ::sigaddset(&size, SIGXFSZ);
  ::pthread_sigmask(SIG_BLOCK, &size, nullptr);
}

}  // namespace

IoThreads::IoThreads(std::size_t threads, std::size_t calls_max) : calls_max_(calls_max) {
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this] {
      block_size_signal();
      work_until_closed();
    });
  }
}

IoThreads::~IoThreads() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool IoThreads::run(Work& work) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= calls_max_) return false;
    waiting_.push_back(std::move(work));
  }
  work_.notify_one();
  return true;
}

void IoThreads::work_until_closed() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    Work work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
    work = nullptr;  // what it held must not be destroyed under the lock
    lock.lock();
  }
}

}  // namespace pawl
