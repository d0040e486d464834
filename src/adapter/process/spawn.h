// A shell that runs one command, as a process group of its own, and our ends of its pipes.
#pragma once

#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "adapter/file/descriptor.h"
#include "pawl/result.h"

namespace pawl {

struct Spawned {
  pid_t pid = 0;  // and the number of its group
  Descriptor in = Descriptor(-1);
  Descriptor out = Descriptor(-1);
  Descriptor errors = Descriptor(-1);
  Descriptor end = Descriptor(-1);  // readable when it has ended
};

// Ours do not block, and no other child gets them. `environment`: besides our own.
Result<Spawned> spawn_shell(const std::string& command,
                            const std::vector<std::pair<std::string, std::string>>& environment);

}  // namespace pawl
