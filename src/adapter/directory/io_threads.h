// IoThreads: some threads that do what may block, so that callers never do.
//
// Bounds:   calls_max wait; one more is not taken.
// Threads:  any. The destructor waits until all that was taken is done.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace pawl {

class IoThreads {
 public:
  using Work = std::move_only_function<void()>;

  IoThreads(std::size_t threads, std::size_t calls_max);
  IoThreads(const IoThreads&) = delete;
  IoThreads& operator=(const IoThreads&) = delete;
  ~IoThreads();

  // False: too many wait, and `work` is left as it was.
  bool run(Work& work);

 private:
  void work_until_closed();

  const std::size_t calls_max_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable work_;
  std::deque<Work> waiting_;
  bool closing_ = false;

  std::vector<std::thread> threads_;  // start when all the rest stands
};

}  // namespace pawl
