// Goal: whoever reads a name finds the process.
// Method: our own.
#include "adapter/system/own_name.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace pawl {
namespace {

TEST(OwnName, EndsWithTheNumberOfTheProcess) {
  const std::string number = "-" + std::to_string(::getpid());
  EXPECT_TRUE(own_name().ends_with(number)) << own_name();
  EXPECT_GT(own_name().size(), number.size());
}

}  // namespace
}  // namespace pawl
