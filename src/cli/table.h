// A table for people: the first column to the left, the others to the right, or as told.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::cli {

// Rows of as many cells as the first one. A character is as wide as another (words.h's width_of).
std::string table(const std::vector<std::vector<std::string>>& rows);

// What a cell is painted with (ANSI); empty: nothing.
using Paint = std::function<std::string_view(std::size_t row, std::size_t column)>;

// `sides` has l or r for each column. No blanks stand at the end of a line.
std::string table(const std::vector<std::vector<std::string>>& rows, std::string_view sides,
                  const Paint& paint = {});

}  // namespace pawl::cli
