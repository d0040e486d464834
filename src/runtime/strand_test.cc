// Goal:   calls run one at a time, in order, and none after the end.
// Method: calls that post calls; threads that count without a lock; a close in between.
#include "runtime/strand.h"

#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

namespace pawl {
namespace {

TEST(Strand, RunsWhatIsPostedFromInsideAfterTheCallThatPostedIt) {
  Strand strand;
  std::string seen;
  strand.post([&] {
    strand.post([&] { seen += "b"; });
    seen += "a";
  });
  EXPECT_EQ(seen, "ab");
}

TEST(Strand, RunsOneCallAtATimeWhicheverThreadsBringThem) {
  Strand strand;
  int count = 0;  // guarded by nothing but the strand
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 1'000; ++j) strand.post([&] { ++count; });
    });
  }
  for (std::thread& thread : threads) thread.join();
  strand.close();
  EXPECT_EQ(count, 4'000);
}

TEST(Strand, RunsNothingAfterItWasClosed) {
  Strand strand;
  strand.close();
  bool ran = false;
  strand.post([&] { ran = true; });
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace pawl
