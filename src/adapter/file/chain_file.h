// ChainFile: an audit log on disk. Its chain stays one, in however many processes it is written.
//
// Contract: append() puts all of its records on the disk, or none. Its errors are of three kinds:
//
//             unavailable, not_applied   no room or no access now; the file is as before; try later
//             unavailable, unknown       the disk failed, nobody knows what it holds; never retry
//             invalid, not_applied       the file is not as pawl left it; a person has to look
//
//           A last record that is not whole is what a crash in the middle of a write leaves. It
//           was never acknowledged, and is cut off.
// Sharing:  append() holds a lock (flock) and first reads what others have written.
// Threads:  one at a time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "core/audit/chain.h"
#include "pawl/result.h"

namespace pawl {

// A file descriptor that is closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor();

  int get() const { return fd_; }

 private:
  int fd_;
};

class ChainFile {
 public:
  // Makes the file, readable by its owner alone, and its folder where they are missing.
  static Result<ChainFile> open(std::string path);

  Result<void> append(std::span<const audit::Draft> drafts);

  // What was repaired since the last call; empty for nothing.
  std::string take_note() { return std::exchange(note_, {}); }

 private:
  ChainFile(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}

  Result<void> catch_up();
  Result<void> write(std::string_view text);
  Error undone(int error, bool may_retry);

  std::string path_;
  Descriptor file_;
  audit::Link head_;       // the last record, and
  std::int64_t size_ = 0;  // where it ends, when the lock was last given back
  std::string note_;
};

}  // namespace pawl
