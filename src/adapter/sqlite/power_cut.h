// Whether what is synced to a file survives a power cut, as far as its file system tells.
#pragma once

#include <string>

namespace pawl {

// The file, or folder, lies on a file system that a power cut empties, whatever is synced.
bool lies_in_memory(const std::string& path);

}  // namespace pawl
