#include "adapter/file/chain_file.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace pawl {
namespace {

using log_files::Lock;
using log_files::reason;
using log_files::Tail;

Result<void> sync_folder(const std::filesystem::path& folder) {
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.get() < 0 || ::fsync(opened.get()) != 0) {
    return failure(Code::unavailable,
                   "cannot make the folder '" + folder.string() + "' durable: " + reason(errno));
  }
  return {};
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

// A new folder is durable once its name stands in the folder around it.
Result<void> make_folder(const std::filesystem::path& folder) {
  int made = ::mkdir(folder.c_str(), 0777);
  if (made != 0 && errno == ENOENT) {
    PAWL_TRY(make_folder(folder_of(folder)));
    made = ::mkdir(folder.c_str(), 0777);
  }
  if (made == 0) return sync_folder(folder_of(folder));
  if (errno == EEXIST) return {};
  return failure(Code::unavailable, "cannot make the folder '" + folder.string() +
                                        "' for the audit log: " + reason(errno));
}

// Opens the file, or makes it; its name is durable before anything is written to it.
Result<Descriptor> open_file(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  if (file.get() < 0) {
    return failure(Code::unavailable, "cannot open the audit log '" + path + "': " + reason(errno) +
                                          "; it must be a file pawl may write to");
  }
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return failure(Code::invalid, "the audit log '" + path +
                                      "' is not a regular file; name another path in audit.sinks");
  }
  PAWL_TRY(sync_folder(folder_of(path)));
  return file;
}

// Written at once, so that it is still in the processor's cache when the kernel copies it.
constexpr std::size_t write_bytes = 128 * 1024;

// Room may come back; a disk that failed may not.
bool is_want_of_room(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

// Where a log goes on whose own file has no record yet.
Result<audit::Link> head_of_full_parts(const std::string& path) {
  const std::vector<std::string> parts = PAWL_TRY(log_files::full_parts(path));
  if (parts.empty()) return audit::Link{};
  const std::string& last = parts.back();
  const Descriptor file(::open(last.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status = {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) {
    return failure(Code::unavailable, "cannot read '" + last + "': " + reason(errno));
  }
  if (status.st_size == 0) return failure(Code::invalid, "'" + last + "' is empty");
  Tail tail = PAWL_TRY(log_files::read_tail(file.get(), status.st_size));
  if (tail.end != status.st_size || tail.head.seq != log_files::last_seq_of(last)) {
    return failure(Code::invalid, "'" + last + "' does not end with the record it is named after");
  }
  return std::move(tail.head);
}

}  // namespace

Result<ChainFile> ChainFile::open(ChainFileOptions options) {
  PAWL_TRY(make_folder(folder_of(options.path)));
  Descriptor file = PAWL_TRY(open_file(options.path));
  ChainFile opened(std::move(options), std::move(file));
  PAWL_TRY(opened.lock());
  return opened;
}

// With it the file is the one that is written to, and all in it is known.
Result<Lock> ChainFile::lock() {
  while (true) {
    {
      Lock lock = PAWL_TRY(Lock::take(file_.get(), path_, Lock::Kind::exclusive));
      if (PAWL_TRY(is_current())) {
        PAWL_TRY(catch_up());
        if (size_ < part_bytes_max_ || !set_aside()) return lock;
      }
    }
    file_ = PAWL_TRY(open_file(path_));
    seen_ = false;
    size_ = 0;
  }
}

// No longer when it was set aside, by whomever.
Result<bool> ChainFile::is_current() {
  struct stat status = {};
  if (::fstat(file_.get(), &status) != 0) {
    return failure(Code::unavailable,
                   "cannot look at the audit log '" + path_ + "': " + reason(errno));
  }
  if (status.st_nlink == 0) {
    return failure(
        Code::invalid,
        "the audit log '" + path_ +
            "' was deleted while in use; put it back, or move what is left of it away, '" +
            log_files::anchor_path(path_) + "' too, and restart pawl to begin a new one");
  }
  return log_files::is_at(file_.get(), path_);
}

// Reads what others have written since the lock was last held, and cuts off what one of them left
// unfinished.
Result<void> ChainFile::catch_up() {
  struct stat status = {};
  if (::fstat(file_.get(), &status) != 0) {
    return failure(Code::unavailable,
                   "cannot look at the audit log '" + path_ + "': " + reason(errno));
  }
  if (status.st_size < size_) {
    return failure(Code::invalid, "the audit log '" + path_ + "' was cut from " +
                                      std::to_string(size_) + " to " +
                                      std::to_string(status.st_size) +
                                      " bytes while in use: acknowledged records are gone; put "
                                      "them back, or move the file away, and restart pawl");
  }
  if (seen_ && status.st_size == size_) return {};

  Tail tail = PAWL_TRY(find_tail(status.st_size));
  if (!seen_) PAWL_TRY(check_anchor(tail.head));
  if (tail.end < status.st_size) {
    if (::ftruncate(file_.get(), tail.end) != 0) {
      return failure(Code::unavailable,
                     "cannot cut the torn end off the audit log '" + path_ + "': " + reason(errno));
    }
    note_ = "the audit log '" + path_ +
            "' ended in the middle of a record, as after a crash: its last " +
            std::to_string(status.st_size - tail.end) +
            " bytes were cut off; no acknowledged record was lost";
  }
  head_ = std::move(tail.head);
  size_ = tail.end;
  seen_ = true;
  return {};
}

Result<Tail> ChainFile::find_tail(std::int64_t size) {
  Result<Tail> tail = size == 0 ? Result<Tail>() : log_files::read_tail(file_.get(), size);
  if (tail && tail->end == 0) {
    Result<audit::Link> head = head_of_full_parts(path_);
    if (head) {
      tail->head = *std::move(head);
    } else {
      tail = std::unexpected(std::move(head).error());
    }
  }
  if (tail) return tail;
  return failure(tail.error().code,
                 "the audit log '" + path_ + "' cannot be continued: " + tail.error().message +
                     "; if it is an audit log, `pawl audit verify` shows where it is damaged; "
                     "move the file away, and '" +
                     log_files::anchor_path(path_) + "' with it, to begin a new one");
}

// An anchor never leads: where it seems to, records that were acknowledged are gone.
Result<void> ChainFile::check_anchor(const audit::Link& head) {
  const std::string name = log_files::anchor_path(path_);
  const Result<std::optional<audit::Anchor>> anchor = log_files::read_anchor_of(path_);
  if (!anchor && anchor.error().code == Code::invalid) {
    note_ = anchor.error().message + "; it is written anew with the next event";
    ::unlink(name.c_str());
    return {};
  }
  if (!anchor) return std::unexpected(anchor.error());
  if (!*anchor) return {};
  const audit::Anchor& wanted = **anchor;
  const bool fits = wanted.seq < head.seq || (wanted.seq == head.seq && wanted.hash == head.hash);
  if (fits) return {};
  return failure(Code::invalid,
                 "the audit log '" + path_ + "' ends with record " + std::to_string(head.seq) +
                     ", but '" + name + "' says that record " + std::to_string(wanted.seq) +
                     " with hash " + wanted.hash +
                     " was written: the end of the log was cut off or replaced; put it back, or "
                     "move both files away to begin a new log");
}

// Gives the file the name of a full part. One that cannot get it is written on.
bool ChainFile::set_aside() {
  const std::string part = log_files::full_part_path(path_, head_.seq);
  const bool is_taken = ::access(part.c_str(), F_OK) == 0;
  if (!is_taken && std::rename(path_.c_str(), part.c_str()) == 0) return true;
  note_ = "cannot rename the audit log '" + path_ + "' to '" + part +
          "': " + reason(is_taken ? EEXIST : errno) + "; it grows on until that is possible";
  return false;
}

Result<void> ChainFile::append(std::span<const audit::Draft> drafts) {
  const Lock held = PAWL_TRY(lock());
  audit::Chain chain(head_);
  batch_.clear();
  std::int64_t written = 0;
  for (const audit::Draft& draft : drafts) {
    chain.link(draft, batch_);
    if (batch_.size() < write_bytes && &draft != &drafts.back()) continue;
    PAWL_TRY(write(batch_));
    written += static_cast<std::int64_t>(batch_.size());
    batch_.clear();
  }
  PAWL_TRY(sync());
  head_ = chain.head();
  size_ += written;
  write_anchor();
  return {};
}

Result<void> ChainFile::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file_.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return std::unexpected(undone(errno, is_want_of_room(errno)));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> ChainFile::sync() {
  // A failed sync is final. The kernel may have dropped the pages it could not write and called
  // them clean, so that a second call would succeed and prove nothing.
  if (::fdatasync(file_.get()) != 0) return std::unexpected(undone(errno, false));
  return {};
}

// Not synced: the kernel keeps it when pawl is killed, and after a power cut it lags at worst. It
// lies within one sector, so it is never half written. Opened anew each time, lest a deleted one be
// written on.
void ChainFile::write_anchor() {
  const std::string name = log_files::anchor_path(path_);
  const std::string text = audit::anchor_text(head_);
  const Descriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const auto written = file.get() < 0 ? -1 : ::pwrite(file.get(), text.data(), text.size(), 0);
  if (written == static_cast<ssize_t>(text.size())) return;
  note_ = "cannot write the audit log's anchor '" + name + "': " + reason(errno) +
          "; until it can be written, a log whose end is cut off looks whole";
}

// Takes back what a failed append has left in the file.
Error ChainFile::undone(int error, bool may_retry) {
  const bool is_as_before = ::ftruncate(file_.get(), size_) == 0;
  std::string message = "cannot write to the audit log '" + path_ + "': " + reason(error);
  if (may_retry && is_as_before) {
    return Error(Code::unavailable, Outcome::not_applied, message + "; make room for it");
  }
  return Error(Code::unavailable, Outcome::unknown,
               message +
                   "; what became of its last events is unknown; check the disk, then restart "
                   "pawl");
}

}  // namespace pawl
