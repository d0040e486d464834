// Goal: the library says which version it is. Method: the form, and the build's own number.
#include "pawl/version.h"

#include <gtest/gtest.h>

namespace pawl {
namespace {

TEST(Version, IsTheVersionOfTheBuild) {
  EXPECT_EQ(version(), PAWL_VERSION);
  EXPECT_FALSE(version().empty());
}

}  // namespace
}  // namespace pawl
