// Goal: work is done, all of it, and no more is taken than is promised.
// Method: a thread that is held by the test.
#include "adapter/directory/io_threads.h"

#include <atomic>
#include <future>
#include <gtest/gtest.h>

namespace pawl {
namespace {

TEST(IoThreads, TakeNoMoreThanMayWait) {
  std::promise<void> begun;
  std::promise<void> go_on;
  std::atomic<int> done = 0;
  {
    IoThreads threads(1, 2);
    IoThreads::Work hold = [&] {
      begun.set_value();
      go_on.get_future().wait();
    };
    ASSERT_TRUE(threads.run(hold));
    begun.get_future().wait();
    for (int i = 0; i < 2; ++i) {
      IoThreads::Work work = [&] { ++done; };
      EXPECT_TRUE(threads.run(work));
    }
    IoThreads::Work more = [&] { done += 100; };
    EXPECT_FALSE(threads.run(more));
    ASSERT_TRUE(more) << "it is still the caller's";
    go_on.set_value();
  }
  EXPECT_EQ(done, 2) << "what was taken is done before they end";
}

TEST(IoThreads, WorkBesideEachOther) {
  IoThreads threads(2, 10);
  std::promise<void> first;
  std::promise<void> second;
  auto second_ran = second.get_future();
  IoThreads::Work waits = [&] {
    second_ran.wait();
    first.set_value();
  };
  IoThreads::Work runs = [&] { second.set_value(); };
  ASSERT_TRUE(threads.run(waits));
  ASSERT_TRUE(threads.run(runs));
  first.get_future().wait();
}

}  // namespace
}  // namespace pawl
