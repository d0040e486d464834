// What every Entropy must do.
#pragma once

#include <gtest/gtest.h>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "port/entropy.h"

namespace pawl {

inline void expect_entropy_conforms(Entropy& entropy) {
  constexpr int threads_count = 4;
  constexpr int draws = 2'000;
  std::mutex mutex;
  std::set<Entropy16> seen;
  std::array<int, 8> ones{};
  std::vector<std::thread> threads;
  for (int t = 0; t < threads_count; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < draws; ++i) {
        const Entropy16 bytes = entropy.next();
        const std::lock_guard lock(mutex);
        seen.insert(bytes);
        for (std::size_t bit = 0; bit < 8; ++bit) ones[bit] += (bytes[bit] >> bit) & 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(threads_count * draws)) << "bytes came twice";
  for (const int count : ones) {
    EXPECT_NEAR(count, threads_count * draws / 2, 500) << "a bit is not evenly spread";
  }
}

}  // namespace pawl
