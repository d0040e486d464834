#include "adapter/directory/draft.h"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace pawl {
namespace {

constexpr const char* drafts_folder = ".tmp";
constexpr mode_t owner_only = 0600;
// A large object is synced in parts of this size: the syncs of others wait for what is under way.
constexpr std::size_t synced_bytes = std::size_t{4} * 1024 * 1024;

Instant instant_of(const timespec& time) {
  return Instant::from_ns(0) + Duration::seconds(time.tv_sec) + Duration::nanoseconds(time.tv_nsec);
}

// Which of the many that processes make: told apart by who made it and when, to the nanosecond.
std::string draft_name(int attempt) {
  timespec now = {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return std::string(drafts_folder) + "/" + std::to_string(::getpid()) + "." +
         std::to_string(::gettid()) + "." + std::to_string(instant_of(now).ns()) + "." +
         std::to_string(attempt);
}

// How a file without a name is reached; the way without /proc wants privileges.
std::string own_path(int fd) {
  return "/proc/self/fd/" + std::to_string(fd);
}

std::string advice(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "; make room on the disk, then it goes on by itself";
    case EFBIG:
      return "; the object is larger than this process or file system may write (see ulimit -f)";
    case EACCES:
    case EPERM:
      return "; let this user read and write there";
    case EROFS:
      return "; mount it so that it can be written";
    case ENOTDIR:
      return "; a part of that name is an object, so nothing can be below it";
    case EISDIR:
      return "; there are objects below that name, so it cannot be one itself";
    case EMFILE:
    case ENFILE:
      return "; too many files are open: raise the limit (ulimit -n)";
    case ENOENT:
    case ESTALE:
      return "; the folder was removed or moved away: put it back, then open it again";
    case EIO:
      return "; the disk or its connection fails: look into the kernel's log";
    default:
      return "";
  }
}

Code code_of(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::refused;
    case ENOTDIR:
    case EISDIR:
    case ENAMETOOLONG:
      return Code::invalid;
    default:
      return Code::unavailable;
  }
}

}  // namespace

Error trouble_of(int error, Outcome outcome, const std::string& what) {
  std::string text = "cannot " + what + ": " + std::system_category().message(error);
  return {code_of(error), outcome, text + advice(error)};
}

int give_to_owner(int root, int at, const char* name) {
  if (::geteuid() != 0) return 0;
  struct stat folder = {};
  if (::fstat(root, &folder) != 0) return errno;
  if (folder.st_uid == 0) return 0;
  const int flags = AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW;
  return ::fchownat(at, name, folder.st_uid, folder.st_gid, flags) == 0 ? 0 : errno;
}

Result<Draft> Draft::open_in(int root, int folder) {
  const int fd = ::openat(folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, owner_only);
  Descriptor file(fd);
  if (fd >= 0 && give_to_owner(root, fd) == 0 && ::access(own_path(fd).c_str(), F_OK) == 0)
    return Draft(std::move(file), root);
  // Some file systems do not have it, and say so in different ways, and some places have no /proc;
  // the other way tells the reason of whatever else is wrong.
  return open_named(root);
}

Result<Draft> Draft::open_named(int root) {
  int error = 0;
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string name = draft_name(attempt);
    const int fd =
        ::openat(root, name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, owner_only);
    if (fd >= 0) {
      Draft draft(Descriptor(fd), root);
      draft.name_ = std::move(name);
      error = give_to_owner(root, fd);
      if (error == 0) return draft;
      break;
    }
    error = errno;
    if (error == ENOENT && attempt == 0) {
      error = ::mkdirat(root, drafts_folder, 0700) == 0 ? give_to_owner(root, root, drafts_folder)
                                                        : errno;
      if (error == 0 || error == EEXIST) continue;
    }
    if (error != EEXIST) break;
  }
  return std::unexpected(
      trouble_of(error, Outcome::not_applied, "make a file in the folder '.tmp' of the store"));
}

Draft::~Draft() {
  if (file_.get() >= 0 && !name_.empty()) ::unlinkat(root_, name_.c_str(), 0);
}

Result<Instant> Draft::made() const {
  struct stat status = {};
  if (::fstat(file_.get(), &status) != 0) {
    return std::unexpected(trouble_of(errno, Outcome::not_applied, "look at a file of the store"));
  }
  return instant_of(status.st_mtim);
}

Result<Instant> Draft::write(std::string_view body) {
  const auto unsynced = [] {
    return std::unexpected(trouble_of(errno, Outcome::not_applied,
                                      "get the object onto the disk (it has no name yet)"));
  };
  std::size_t since_sync = 0;
  while (!body.empty()) {
    const ssize_t written =
        ::write(file_.get(), body.data(), std::min(body.size(), synced_bytes - since_sync));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      return std::unexpected(
          trouble_of(written < 0 ? errno : ENOSPC, Outcome::not_applied, "write the object"));
    }
    body.remove_prefix(static_cast<std::size_t>(written));
    since_sync += static_cast<std::size_t>(written);
    if (since_sync < synced_bytes) continue;
    if (::fdatasync(file_.get()) != 0) return unsynced();
    since_sync = 0;
  }
  if (::fdatasync(file_.get()) != 0) return unsynced();
  return made();
}

int Draft::link(int folder, const std::string& name) const {
  const int failed = name_.empty() ? ::linkat(AT_FDCWD, own_path(file_.get()).c_str(), folder,
                                              name.c_str(), AT_SYMLINK_FOLLOW)
                                   : ::linkat(root_, name_.c_str(), folder, name.c_str(), 0);
  return failed == 0 ? 0 : errno;
}

int Draft::rename(int folder, const std::string& name) {
  if (::renameat(root_, name_.c_str(), folder, name.c_str()) != 0) return errno;
  name_.clear();
  return 0;
}

void Draft::sweep(int root, Instant before) {
  const int fd = ::openat(root, drafts_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(fd), ::closedir);
  if (!folder) {
    ::close(fd);
    return;
  }
  while (const dirent* entry = ::readdir(folder.get())) {
    struct stat status = {};
    if (::fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISREG(status.st_mode) && instant_of(status.st_mtim) < before) {
      ::unlinkat(fd, entry->d_name, 0);
    }
  }
}

}  // namespace pawl
