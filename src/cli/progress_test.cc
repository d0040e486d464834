// Goal: a bar says how far it is. Method: pinned lines; tests/e2e looks at a terminal.
#include "cli/progress.h"

#include <gtest/gtest.h>

namespace pawl::cli {
namespace {

TEST(Progress, SaysHowFarItIs) {
  EXPECT_EQ(progress_line("submitted", 500, 1000),
            "submitted [##########..........] 50%  500/1000");
  EXPECT_EQ(progress_line("exported", 7, 0), "exported 7");
}

}  // namespace
}  // namespace pawl::cli
