// Which names an ObjectStore takes, the same for all of them.
//
// Why:      a name that works in one store works in every other: as a key of S3, and as a path
//           below a folder, where no part of it may lead out of the folder or to the store's own
//           files, which begin with a dot.
// Contract: pure. The error is invalid and says what is wrong with which name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pawl/result.h"

namespace pawl {

Result<void> check_object_name(std::string_view name);
// How names may begin: empty, or a name that may end within a part or behind a slash.
Result<void> check_object_prefix(std::string_view prefix);
// The names of one remove, and that there are not too many.
Result<void> check_removal(const std::vector<std::string>& names);

}  // namespace pawl
