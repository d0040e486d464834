// Goal: columns stand under each other. Method: a pinned table.
#include "cli/table.h"

#include <gtest/gtest.h>

namespace pawl::cli {
namespace {

TEST(Table, PutsNamesToTheLeftAndTheRestToTheRight) {
  EXPECT_EQ(table({{"name", "n", "wait"}, {"a", "100", "1s"}, {"longer", "7", ""}}),
            "name      n  wait\n"
            "a       100    1s\n"
            "longer    7      \n");
}

}  // namespace
}  // namespace pawl::cli
