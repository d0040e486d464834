#include "adapter/sqlite/work_locks.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

namespace pawl {
namespace {

std::unexpected<Error> folder_error(const std::string& folder) {
  return failure(Code::unavailable, "cannot lock the folder '" + folder +
                                        "': " + std::system_category().message(errno) +
                                        "; it must lie on a local disk");
}

}  // namespace

Result<std::unique_ptr<WorkLocks>> WorkLocks::open(const std::string& database) {
  const std::string real = PAWL_TRY(sqlite::real_path(database));
  std::unique_ptr<sqlite::LockFile> file = PAWL_TRY(sqlite::LockFile::open(real + "-work"));
  const std::string folder = real.substr(0, real.rfind('/') + 1);
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return folder_error(folder);
  return std::unique_ptr<WorkLocks>(new WorkLocks(real + "-work", std::move(file), opened));
}

WorkLocks::~WorkLocks() {
  ::close(folder_);
}

Result<void> WorkLocks::claim(std::optional<sqlite::FileId> noted) {
  PAWL_TRY(file_->check());
  if (noted && *noted != id() && ::flock(folder_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return folder_error(path_);
    return failure(
        Code::unavailable,
        "'" + path_ +
            "' was deleted or replaced while other processes use the database, so nobody "
            "sees which orders they work on: end all of them, then start again");
  }
  while (::flock(folder_, LOCK_SH) != 0) {
    if (errno != EINTR) return folder_error(path_);
  }
  return {};
}

Result<bool> WorkLocks::take(std::int64_t intent) {
  const std::lock_guard guard(mutex_);
  if (held_.contains(intent)) return false;
  PAWL_TRY(file_->check());
  if (!PAWL_TRY(file_->try_lock(intent))) return false;
  held_.insert(intent);
  return true;
}

void WorkLocks::release(std::int64_t intent) {
  const std::lock_guard guard(mutex_);
  if (held_.erase(intent) != 0) file_->unlock(intent);
}

Result<bool> WorkLocks::is_free(std::int64_t intent) const {
  if (holds(intent)) return false;
  return !PAWL_TRY(file_->is_locked(intent));
}

bool WorkLocks::holds(std::int64_t intent) const {
  const std::lock_guard guard(mutex_);
  return held_.contains(intent);
}

}  // namespace pawl
