// What every Entropy must do. `threads` draw at once: several, or 1 for a source that lives in a
// world of one thread.
#pragma once

#include <gtest/gtest.h>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "port/entropy.h"

namespace pawl {

inline void expect_entropy_conforms(Entropy& entropy, int threads = 4) {
  constexpr int draws_in_all = 8'000;
  std::mutex mutex;
  std::set<Entropy16> seen;
  std::array<int, 8> ones{};
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&] {
      for (int i = 0; i < draws_in_all / threads; ++i) {
        const Entropy16 bytes = entropy.next();
        const std::lock_guard lock(mutex);
        seen.insert(bytes);
        for (std::size_t bit = 0; bit < 8; ++bit) ones[bit] += (bytes[bit] >> bit) & 1;
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(draws_in_all)) << "bytes came twice";
  for (const int count : ones) {
    EXPECT_NEAR(count, draws_in_all / 2, 500) << "a bit is not evenly spread";
  }
}

}  // namespace pawl
