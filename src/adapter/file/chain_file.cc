#include "adapter/file/chain_file.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "base/assert.h"
#include "base/bounds.h"
#include "base/json.h"

namespace pawl {
namespace {

// How far back the end of the last record is looked for. A torn write leaves less than one record,
// except that a power cut may leave a whole batch of zeros.
constexpr auto tail_bytes_max =
    static_cast<std::int64_t>(bounds::audit_batch_bytes_max + 2 * bounds::audit_event_bytes_max);

std::string reason(int error) {
  return std::system_category().message(error);
}

class Lock {
 public:
  static Result<Lock> take(int fd, const std::string& path) {
    while (::flock(fd, LOCK_EX) != 0) {
      if (errno == EINTR) continue;
      return failure(Code::unavailable,
                     "cannot lock the audit log '" + path + "': " + reason(errno) +
                         "; it must lie on a file system with locks, as local disks have them");
    }
    return Lock(fd);
  }
  Lock(Lock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Lock& operator=(Lock&&) = delete;
  ~Lock() {
    if (fd_ >= 0) ::flock(fd_, LOCK_UN);
  }

 private:
  explicit Lock(int fd) : fd_(fd) {}
  int fd_;
};

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

struct Tail {
  audit::Link head;
  std::int64_t end;  // of the last whole record
};

Result<std::string> read_last(int fd, std::int64_t size, std::int64_t wanted) {
  std::string bytes(static_cast<std::size_t>(std::min(size, wanted)), '\0');
  std::size_t done = 0;
  const std::int64_t start = size - static_cast<std::int64_t>(bytes.size());
  while (done < bytes.size()) {
    const ssize_t got = ::pread(fd, bytes.data() + done, bytes.size() - done,
                                start + static_cast<std::int64_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      return failure(Code::unavailable, "cannot read it: " + reason(got < 0 ? errno : EIO));
    }
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

// Whether a file without any whole line can be the first record, torn. Anything else is somebody
// else's file, and must not be cut.
bool is_torn_first_record(std::string_view text) {
  return text.size() <= bounds::audit_event_bytes_max &&
         std::string_view("{\"").starts_with(text.substr(0, 2)) &&
         (!json::parse(text) || audit::read_link(text));
}

Result<Tail> read_tail(int fd, std::int64_t size) {
  for (std::int64_t wanted = 4096;; wanted *= 8) {
    const std::string bytes = PAWL_TRY(read_last(fd, size, std::min(wanted, tail_bytes_max)));
    const bool from_the_start = static_cast<std::int64_t>(bytes.size()) == size;
    const std::size_t end = bytes.rfind('\n');
    if (end == std::string::npos && from_the_start) {
      if (is_torn_first_record(bytes)) return Tail{.head = {}, .end = 0};
      return failure(Code::invalid, "it holds no audit record");
    }
    const std::size_t before =
        end == std::string::npos || end == 0 ? std::string::npos : bytes.rfind('\n', end - 1);
    if (end != std::string::npos && (before != std::string::npos || from_the_start)) {
      const std::size_t start = before + 1;  // npos + 1 is 0
      const std::string_view line = std::string_view(bytes).substr(start, end - start);
      return Tail{.head = PAWL_TRY(audit::read_link(line)),
                  .end = size - static_cast<std::int64_t>(bytes.size() - end - 1)};
    }
    if (wanted >= tail_bytes_max) {
      return failure(Code::invalid,
                     "no record in its last " + std::to_string(bytes.size()) + " bytes");
    }
  }
}

// Room may come back; a disk that failed may not.
bool is_want_of_room(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Result<ChainFile> ChainFile::open(std::string path) {
  PAWL_TRY(make_folder(folder_of(path)));
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
  ChainFile opened(std::move(path), std::move(file));
  const Lock lock = PAWL_TRY(Lock::take(opened.file_.get(), opened.path_));
  PAWL_TRY(opened.catch_up());
  return opened;
}

// Reads what others have written since the lock was last held, and cuts off what one of them left
// unfinished.
Result<void> ChainFile::catch_up() {
  struct stat status = {};
  if (::fstat(file_.get(), &status) != 0) {
    return failure(Code::unavailable,
                   "cannot look at the audit log '" + path_ + "': " + reason(errno));
  }
  if (status.st_nlink == 0) {
    return failure(
        Code::invalid,
        "the audit log '" + path_ + "' was deleted while in use; restart pawl to begin a new one");
  }
  if (status.st_size < size_) {
    return failure(Code::invalid, "the audit log '" + path_ + "' was cut from " +
                                      std::to_string(size_) + " to " +
                                      std::to_string(status.st_size) +
                                      " bytes while in use: acknowledged records are gone; put "
                                      "them back, or move the file away, and restart pawl");
  }
  if (status.st_size == size_) return {};

  Result<Tail> tail = read_tail(file_.get(), status.st_size);
  if (!tail) {
    return failure(tail.error().code,
                   "the audit log '" + path_ + "' cannot be continued: " + tail.error().message +
                       "; if it is an audit log, `pawl audit verify` shows where it is damaged; "
                       "move the file away to begin a new one");
  }
  if (tail->end < status.st_size) {
    if (::ftruncate(file_.get(), tail->end) != 0) {
      return failure(Code::unavailable,
                     "cannot cut the torn end off the audit log '" + path_ + "': " + reason(errno));
    }
    note_ = "the audit log '" + path_ +
            "' ended in the middle of a record, as after a crash: its last " +
            std::to_string(status.st_size - tail->end) +
            " bytes were cut off; no acknowledged record was lost";
  }
  head_ = std::move(tail->head);
  size_ = tail->end;
  return {};
}

Result<void> ChainFile::append(std::span<const audit::Draft> drafts) {
  const Lock lock = PAWL_TRY(Lock::take(file_.get(), path_));
  PAWL_TRY(catch_up());
  audit::Chain chain(head_);
  std::string text;
  for (const audit::Draft& draft : drafts) chain.link(draft, text);
  PAWL_TRY(write(text));
  head_ = chain.head();
  size_ += static_cast<std::int64_t>(text.size());
  return {};
}

Result<void> ChainFile::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file_.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return std::unexpected(undone(errno, is_want_of_room(errno)));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  // A failed sync is final. The kernel may have dropped the pages it could not write and called
  // them clean, so that a second call would succeed and prove nothing.
  if (::fdatasync(file_.get()) != 0) return std::unexpected(undone(errno, false));
  return {};
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
