// Goal: columns stand under each other. Method: a pinned table.
#include "cli/table.h"

#include <gtest/gtest.h>

namespace pawl::cli {
namespace {

TEST(Table, PutsNamesToTheLeftAndTheRestToTheRight) {
  EXPECT_EQ(table({{"name", "n", "wait"}, {"a", "100", "1s"}, {"longer", "7", ""}}),
            "name      n  wait\n"
            "a       100    1s\n"
            "longer    7\n");
}

TEST(Table, PutsColumnsWhereItIsToldAndPaintsCells) {
  EXPECT_EQ(table({{"name", "size", "status"}, {"a", "10", "ok"}}, "lrl",
                  [](std::size_t row, std::size_t column) -> std::string_view {
                    return row == 1 && column == 1 ? "\033[31m" : "";
                  }),
            "name  size  status\n"
            "a       \033[31m10\033[0m  ok\n");
}

TEST(Table, CountsCharactersAndNotBytes) {
  EXPECT_EQ(table({{"name", "n"}, {"Zürich", "1"}, {"Geneva", "2"}}),
            "name    n\n"
            "Zürich  1\n"
            "Geneva  2\n");
}

}  // namespace
}  // namespace pawl::cli
