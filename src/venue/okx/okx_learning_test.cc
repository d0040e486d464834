// Goal: one question for all who wait, and no second one right after it failed.
// Method: those who wait note that they were told.
#include "venue/okx/okx_learning.h"

#include <gtest/gtest.h>

namespace pawl::okx {
namespace {

const SteadyInstant start = SteadyInstant() + Duration::hours(1);

class OkxLearning : public ::testing::Test {
 protected:
  bool join(SteadyInstant now) {
    return learning.join(now, [this] { ++told; });
  }

  Learning learning{Duration::seconds(5)};
  int told = 0;
};

TEST_F(OkxLearning, TheFirstAsksAndTheOthersWait) {
  EXPECT_TRUE(join(start));
  EXPECT_FALSE(join(start));
  EXPECT_EQ(told, 0);
  learning.end(true, start);
  EXPECT_EQ(told, 2);
  EXPECT_TRUE(join(start)) << "what has grown old is asked anew";
}

TEST_F(OkxLearning, AFailureRests) {
  EXPECT_TRUE(join(start));
  learning.end(false, start);
  EXPECT_FALSE(join(start + Duration::milliseconds(4'999)));
  EXPECT_EQ(told, 2) << "nobody waits for what is not asked";
  EXPECT_TRUE(join(start + Duration::seconds(5)));
}

TEST_F(OkxLearning, WhoeverIsToldMayAskAtOnce) {
  bool asks = false;
  EXPECT_TRUE(learning.join(start, [&] { asks = join(start); }));
  learning.end(true, start);
  EXPECT_TRUE(asks);
}

}  // namespace
}  // namespace pawl::okx
