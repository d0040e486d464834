#include "adapter/sqlite/lock_file.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace pawl::sqlite {
namespace {

std::string reason(int error) {
  return std::system_category().message(error);
}

FileId id_from(const struct stat& status) {
  return {.device = static_cast<std::int64_t>(status.st_dev),
          .inode = static_cast<std::int64_t>(status.st_ino)};
}

struct flock one_byte(short kind, std::int64_t byte) {
  struct flock lock = {};
  lock.l_type = kind;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

}  // namespace

Result<FileId> id_of(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) {
    return failure(Code::unavailable, "cannot look at '" + path + "': " + reason(errno));
  }
  if (status.st_nlink == 1) return id_from(status);
  return failure(Code::unavailable,
                 "'" + path + "' has " + std::to_string(status.st_nlink) +
                     " names (hard links): what lies beside it would be missed under another one; "
                     "leave it one name");
}

Result<std::string> real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> found(::realpath(path.c_str(), nullptr),
                                                          std::free);
  if (found) return std::string(found.get());
  return failure(Code::unavailable, "cannot find '" + path + "': " + reason(errno));
}

Result<std::unique_ptr<LockFile>> LockFile::open(std::string path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) {
    return failure(Code::unavailable, "cannot open the lock file '" + path + "': " + reason(errno) +
                                          "; let this user write to it and in its folder");
  }
  std::unique_ptr<LockFile> file(new LockFile(std::move(path), fd));
  struct stat status = {};
  if (::fstat(fd, &status) != 0) {
    return failure(Code::unavailable,
                   "cannot look at the lock file '" + file->path_ + "': " + reason(errno));
  }
  file->id_ = id_from(status);
  return file;
}

LockFile::~LockFile() {
  ::close(fd_);
}

Result<bool> LockFile::try_lock(std::int64_t byte) {
  struct flock lock = one_byte(F_WRLCK, byte);
  if (::fcntl(fd_, F_OFD_SETLK, &lock) == 0) return true;
  if (errno == EAGAIN || errno == EACCES) return false;
  return failure(Code::unavailable,
                 "cannot lock '" + path_ + "': " + reason(errno) + "; it must lie on a local disk");
}

void LockFile::unlock(std::int64_t byte) {
  struct flock lock = one_byte(F_UNLCK, byte);
  (void)::fcntl(fd_, F_OFD_SETLK, &lock);
}

Result<bool> LockFile::is_locked(std::int64_t byte) const {
  struct flock lock = one_byte(F_WRLCK, byte);
  if (::fcntl(fd_, F_OFD_GETLK, &lock) == 0) return lock.l_type != F_UNLCK;
  return failure(Code::unavailable,
                 "cannot look at the locks of '" + path_ + "': " + reason(errno));
}

Result<void> LockFile::check() const {
  struct stat status = {};
  if (::stat(path_.c_str(), &status) == 0 && id_from(status) == id_) return {};
  return failure(Code::unavailable,
                 "'" + path_ +
                     "' was deleted or replaced while in use, so nobody sees what is locked: end "
                     "every process that uses it, then start again");
}

}  // namespace pawl::sqlite
