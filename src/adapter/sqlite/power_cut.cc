#include "adapter/sqlite/power_cut.h"

#include <linux/magic.h>
#include <sys/statfs.h>

namespace pawl {

bool lies_in_memory(const std::string& path) {
  struct statfs found = {};
  if (::statfs(path.c_str(), &found) != 0) return false;
  return found.f_type == TMPFS_MAGIC || found.f_type == RAMFS_MAGIC;
}

}  // namespace pawl
