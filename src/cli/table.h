// A table for people: the first column to the left, the others to the right.
#pragma once

#include <string>
#include <vector>

namespace pawl::cli {

// Rows of as many cells as the first one, of ASCII.
std::string table(const std::vector<std::vector<std::string>>& rows);

}  // namespace pawl::cli
