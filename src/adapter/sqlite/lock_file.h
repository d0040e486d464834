// LockFile: an empty file of which single bytes are locked, for all processes of a machine.
//
// Why:      a lock of the kernel ends with its owner, however that ends, and asks no clock. These
//           belong to the open file (F_OFD_SETLK) and not to the process: so they also hold between
//           two LockFiles of one process, and closing another descriptor does not drop them.
// Contract: a byte is locked by one LockFile at a time; its own lock taken again is no error. All
//           of them end with the object. The locks mean nothing once the file was deleted or
//           replaced: others would open another one. check() tells; whoever relies on a lock asks.
// Files:    made where it is missing, for its owner alone, empty. A local disk.
// Threads:  any.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <sys/types.h>

#include "pawl/result.h"

namespace pawl::sqlite {

// Which file it is, whatever it is called.
struct FileId {
  std::int64_t device = 0;
  std::int64_t inode = 0;
  bool operator==(const FileId&) const = default;
};
// Of the file that is there now, which must have this one name and no other.
Result<FileId> id_of(const std::string& path);

// The name without links, so that all who use a file agree on what lies beside it.
Result<std::string> real_path(const std::string& path);

class LockFile {
 public:
  static Result<std::unique_ptr<LockFile>> open(std::string path);
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;
  ~LockFile();

  // False: somebody else has it.
  Result<bool> try_lock(std::int64_t byte);
  void unlock(std::int64_t byte);
  // By somebody else.
  Result<bool> is_locked(std::int64_t byte) const;
  // That the file is still the one its name stands for.
  Result<void> check() const;
  FileId id() const { return id_; }

 private:
  LockFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  const std::string path_;
  const int fd_;
  FileId id_;
};

}  // namespace pawl::sqlite
