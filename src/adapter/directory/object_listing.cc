#include "adapter/directory/object_listing.h"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include "adapter/directory/draft.h"
#include "base/bounds_queue.h"
#include "port/object_name.h"

namespace pawl {
namespace {

using Folder = std::unique_ptr<DIR, int (*)(DIR*)>;

// What a place of the walk is: a file, or a folder, whose name ends with a slash.
using Entries = std::vector<std::string>;

Folder open_folder(int root, const std::string& name) {
  const int fd = ::openat(root, name.empty() ? "." : name.c_str(),
                          O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  Folder folder(fd < 0 ? nullptr : ::fdopendir(fd), ::closedir);
  if (!folder && fd >= 0) ::close(fd);
  return folder;
}

class Walk {
 public:
  Walk(int root, const ListObjects& list) : root_(root), list_(list) {
    if (list.limit != 0) limit_ = std::min(list.limit, bounds::objects_listed_max);
  }

  Result<Listing> run() {
    const std::size_t slash = list_.under.rfind('/');
    PAWL_TRY(visit(slash == std::string::npos ? "" : list_.under.substr(0, slash + 1)));
    return std::move(found_);
  }

 private:
  // `folder` is empty or ends with a slash.
  Result<void> visit(const std::string& folder) {
    Entries entries = PAWL_TRY(read(folder));
    std::ranges::sort(entries);
    for (std::string& entry : entries) {
      if (found_.more) return {};
      if (entry.ends_with('/')) {
        PAWL_TRY(visit(entry));
      } else {
        add(std::move(entry));
      }
    }
    return {};
  }

  // Whole names from the root.
  Result<Entries> read(const std::string& name) {
    Entries entries;
    const Folder folder = open_folder(root_, name);
    if (!folder) {
      // Nothing of that name; a walk can also come to what was removed meanwhile.
      if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return entries;
      return trouble(errno, name);
    }
    while (true) {
      errno = 0;
      const dirent* entry = ::readdir(folder.get());
      if (entry == nullptr && errno != 0) return trouble(errno, name);
      if (entry == nullptr) return entries;
      const unsigned char type = type_of(::dirfd(folder.get()), *entry);
      if (type != DT_REG && type != DT_DIR) continue;
      std::string whole = name + entry->d_name + (type == DT_DIR ? "/" : "");
      if (is_wanted(whole) && check_object_name(entry->d_name)) entries.push_back(std::move(whole));
    }
  }

  static unsigned char type_of(int folder, const dirent& entry) {
    if (entry.d_type != DT_UNKNOWN) return entry.d_type;
    struct stat status = {};
    if (::fstatat(folder, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) return DT_UNKNOWN;
    return S_ISREG(status.st_mode) ? DT_REG : S_ISDIR(status.st_mode) ? DT_DIR : DT_UNKNOWN;
  }

  bool is_wanted(const std::string& whole) const {
    const bool holds_after = whole.ends_with('/') && list_.after.starts_with(whole);
    return whole.starts_with(list_.under) && (whole > list_.after || holds_after);
  }

  void add(std::string name) {
    struct stat status = {};
    if (::fstatat(root_, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return;  // gone again
    if (found_.entries.size() == limit_) {
      found_.more = true;
      return;
    }
    const Instant modified = Instant::from_ns(0) + Duration::seconds(status.st_mtim.tv_sec) +
                             Duration::nanoseconds(status.st_mtim.tv_nsec);
    found_.entries.push_back({.name = std::move(name),
                              .bytes = static_cast<std::uint64_t>(status.st_size),
                              .modified = modified});
  }

  static std::unexpected<Error> trouble(int error, const std::string& folder) {
    return std::unexpected(
        trouble_of(error, Outcome::not_applied, "list the folder '" + folder + "' of the store"));
  }

  const int root_;
  const ListObjects& list_;
  std::size_t limit_ = bounds::objects_listed_max;
  Listing found_ = {};
};

}  // namespace

Result<Listing> list_objects(int root, const ListObjects& list) {
  return Walk(root, list).run();
}

}  // namespace pawl
