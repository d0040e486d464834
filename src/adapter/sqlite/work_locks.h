// WorkLocks: which intents this store works on, so that no other one does, in whatever process.
//
// Why:      whoever sends for an intent must be the only one, until the outcome is on the disk. The
//           lock is the kernel's (lock_file.h): byte N of PATH-work for intent N, so a process that
//           was killed lets go at once and no clock says when.
// Contract: an id is held by one store at a time. The file must not be taken away under those that
//           use it, since the next process would make another and find all work free. So the
//           database notes which file it is (claim(), within a transaction), and a file that is not
//           the one noted is taken for the right one only when no store is open beside it: each
//           holds the folder (flock) from its claim on. A store that finds its own file gone takes
//           no more work.
// Path:     PATH is the database's, without links.
// Threads:  any; claim() by one at a time on the machine.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "adapter/sqlite/lock_file.h"
#include "pawl/result.h"

namespace pawl {

class WorkLocks {
 public:
  // The database must be there.
  static Result<std::unique_ptr<WorkLocks>> open(const std::string& database);
  WorkLocks(const WorkLocks&) = delete;
  WorkLocks& operator=(const WorkLocks&) = delete;
  ~WorkLocks();

  // `noted`: the file that all stores before this one used. On success, note id().
  Result<void> claim(std::optional<sqlite::FileId> noted);
  sqlite::FileId id() const { return file_->id(); }

  // False: somebody works on it, in this store or another.
  Result<bool> take(std::int64_t intent);
  void release(std::int64_t intent);
  bool holds(std::int64_t intent) const;
  // Nobody works on it. Within a transaction that shows it open, its owner is gone then: it lets go
  // of nothing before the outcome is committed.
  Result<bool> is_free(std::int64_t intent) const;
  // That what is held is held against everybody.
  Result<void> check() const { return file_->check(); }

 private:
  WorkLocks(std::string path, std::unique_ptr<sqlite::LockFile> file, int folder)
      : path_(std::move(path)), file_(std::move(file)), folder_(folder) {}

  const std::string path_;
  const std::unique_ptr<sqlite::LockFile> file_;
  const int folder_;
  mutable std::mutex mutex_;
  std::set<std::int64_t> held_;
};

}  // namespace pawl
