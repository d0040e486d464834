#include "adapter/sqlite/wal_guard.h"

#include <unistd.h>

namespace pawl::sqlite {
namespace {

// Short beside a commit, so that the gap between another process's commits is found.
constexpr Duration pause = Duration::microseconds(200);
constexpr std::int64_t turn = 0;  // the byte

}  // namespace

Result<std::unique_ptr<WalGuard>> WalGuard::open(const std::string& path) {
  std::string real = PAWL_TRY(real_path(path));
  std::unique_ptr<LockFile> file = PAWL_TRY(LockFile::open(real + "-lock"));
  return std::unique_ptr<WalGuard>(new WalGuard(std::move(real), std::move(file)));
}

Result<WalGuard::Hold> WalGuard::hold(Duration patience) {
  for (Duration waited; depth_ == 0; waited = waited + pause) {
    if (PAWL_TRY(file_->try_lock(turn))) break;
    if (waited >= patience) {
      return failure(Code::unavailable,
                     "another process keeps the database '" + path_ +
                         "' locked: see which one has it open, and end or wait for it");
    }
    ::usleep(static_cast<useconds_t>(pause.ns() / 1'000));
  }
  ++depth_;
  return Hold(this);
}

void WalGuard::let_go() {
  if (--depth_ == 0) file_->unlock(turn);
}

Result<void> WalGuard::note_files() {
  for (std::size_t i = 0; i < parts.size(); ++i) ids_[i] = PAWL_TRY(id_of(path_ + parts[i]));
  return file_->check();
}

Result<void> WalGuard::check() const {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Result<FileId> now = id_of(path_ + parts[i]);
    if (now && *now == ids_[i]) continue;
    return failure(Code::unavailable, "the database '" + path_ + "' cannot be written: its file '" +
                                          path_ + parts[i] +
                                          "' was moved or deleted while in use: put it back, or "
                                          "start anew without it");
  }
  return file_->check();
}

}  // namespace pawl::sqlite
