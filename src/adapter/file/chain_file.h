// ChainFile: an audit log on disk. Its chain stays one, in however many processes it is written,
// and over all the files it is kept in (log_files.h).
//
// Contract: append() puts all of its records on the disk, or none. Its errors are of three kinds:
//
//             unavailable, not_applied   no room or no access now; the file is as before; try later
//             unavailable, unknown       the disk failed, nobody knows what it holds; never retry
//             invalid, not_applied       the file is not as pawl left it; a person has to look
//
//           A last record that is not whole is what a crash in the middle of a write leaves. It
//           was never acknowledged, and is cut off.
// Anchor:   once the disk has the records, the last one's number and hash are written to
//           PATH.anchor. A log that ends before its anchor is not continued.
// Rotation: a file that has reached part_bytes_max is set aside, and the next append() begins a new
//           one, whose first record follows the last one of the old.
// Sharing:  append() holds a lock (flock), and first reads what others have written and follows
//           them to the file they write to.
// Threads:  one at a time.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "adapter/file/descriptor.h"
#include "adapter/file/log_files.h"
#include "core/audit/chain.h"
#include "pawl/result.h"

namespace pawl {

struct ChainFileOptions {
  std::string path;
  std::int64_t part_bytes_max = std::numeric_limits<std::int64_t>::max();  // never set aside
};

class ChainFile {
 public:
  // Makes the file, readable by its owner alone, and its folder where they are missing.
  static Result<ChainFile> open(ChainFileOptions options);

  Result<void> append(std::span<const audit::Draft> drafts);

  // What was repaired, or could not be done, since the last call; empty for nothing.
  std::string take_note() { return std::exchange(note_, {}); }

 private:
  ChainFile(ChainFileOptions options, Descriptor file)
      : path_(std::move(options.path)),
        part_bytes_max_(options.part_bytes_max),
        file_(std::move(file)) {}

  Result<log_files::Lock> lock();
  Result<bool> is_current();
  Result<void> catch_up();
  Result<log_files::Tail> find_tail(std::int64_t size);
  Result<void> check_anchor(const audit::Link& head);
  bool set_aside();
  Result<void> write(std::string_view text);
  Result<void> sync();
  void write_anchor();
  Error undone(int error, bool may_retry);

  std::string path_;
  std::int64_t part_bytes_max_;
  Descriptor file_;
  bool seen_ = false;      // what follows is of the file that is open:
  audit::Link head_;       // the last record, and
  std::int64_t size_ = 0;  // where it ends, when the lock was last given back
  std::string batch_;      // a part of it; kept for its room
  std::string note_;
};

}  // namespace pawl
