// Goal: no letter is lost, doubled or left lying without a sign, however many threads put them.
// Method: poll() on the descriptor beside what is taken.
#include "python/mailbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <poll.h>
#include <thread>
#include <utility>

namespace pawl::python {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Letters = Mailbox<std::pair<int, int>>;  // who put it, its number

bool is_readable(const Letters& box, int wait_ms = 0) {
  pollfd watched{.fd = box.descriptor(), .events = POLLIN, .revents = 0};
  return ::poll(&watched, 1, wait_ms) == 1;
}

TEST(Mailbox, IsReadableWhileThereIsALetter) {
  const auto box = Letters::open().value();
  EXPECT_FALSE(is_readable(*box));
  box->put({0, 1});
  box->put({0, 2});
  EXPECT_TRUE(is_readable(*box));
  EXPECT_THAT(box->take(), ElementsAre(std::pair(0, 1), std::pair(0, 2)));
  EXPECT_FALSE(is_readable(*box));
  EXPECT_THAT(box->take(), IsEmpty());
  box->put({0, 3});
  EXPECT_TRUE(is_readable(*box)) << "again, after it was emptied";
}

TEST(Mailbox, GivesWhatManyThreadsPutInTheirOrder) {
  constexpr int threads = 4;
  constexpr int letters = 2'000;
  const auto box = Letters::open().value();
  std::vector<std::jthread> putting;
  for (int who = 0; who < threads; ++who) {
    putting.emplace_back([&box, who] {
      for (int i = 0; i < letters; ++i) box->put({who, i});
    });
  }
  std::map<int, int> next;
  int taken = 0;
  while (taken < threads * letters) {
    ASSERT_TRUE(is_readable(*box, 60'000)) << taken;
    for (const auto& [who, number] : box->take()) {
      EXPECT_EQ(number, next[who]++);
      ++taken;
    }
  }
  EXPECT_FALSE(is_readable(*box));
}

}  // namespace
}  // namespace pawl::python
