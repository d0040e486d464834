// Goal: one at a time gets a name's turn, and nobody waits for ever, nor for nothing.
// Method: turns taken beside each other, in a folder.
#include "adapter/directory/turn.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "tests/temp_folder.h"

namespace pawl {
namespace {

class TurnTest : public ::testing::Test {
 protected:
  Turn take(std::string_view name, Duration wait = {}) {
    return Turn::take(root.get(), name, wait, [this] { return ++asked > settled_after; });
  }

  TempFolder folder;
  Descriptor root{::open((folder / "").c_str(), O_RDONLY | O_DIRECTORY)};
  int asked = 0;
  int settled_after = 1'000'000;
};

TEST_F(TurnTest, IsOnesAloneUntilItEnds) {
  {
    const Turn first = take("log/0/1");
    EXPECT_TRUE(first.is_ours());
    EXPECT_FALSE(take("log/0/1").is_ours());
    EXPECT_TRUE(take("log/0/2").is_ours());
  }
  EXPECT_TRUE(take("log/0/1").is_ours());
}

TEST_F(TurnTest, IsNotWaitedForWhenThereIsNothingToWaitFor) {
  const Turn first = take("log/0/1");
  settled_after = 3;
  EXPECT_FALSE(take("log/0/1", Duration::hours(1)).is_ours());
  EXPECT_EQ(asked, 4);
}

TEST_F(TurnTest, IsGoneWithoutWhereThereCanBeNone) {
  EXPECT_FALSE(Turn::take(-1, "log/0/1", Duration::hours(1), [] { return false; }).is_ours());
}

}  // namespace
}  // namespace pawl
