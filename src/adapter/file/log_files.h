// The files of one audit log, and what writers and readers of them share.
//
//   PATH          what is written now
//   PATH.N        full ones, each set aside with its last record's number N in twelve digits
//   PATH.anchor   which record was the last to be durable (core/audit/anchor.h)
//
// Threads: any; no state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapter/file/descriptor.h"
#include "core/audit/anchor.h"
#include "core/audit/chain.h"
#include "pawl/result.h"

namespace pawl::log_files {

std::string anchor_path(const std::string& path);
std::string full_part_path(const std::string& path, std::uint64_t last_seq);

// The last record's number, if this is the name of a full part.
std::optional<std::uint64_t> last_seq_of(std::string_view path);

// The full parts of a log, oldest first.
Result<std::vector<std::string>> full_parts(const std::string& path);

// The anchor, or none when there is no file or an empty one; the error of one that is damaged is
// invalid.
Result<std::optional<audit::Anchor>> read_anchor_of(const std::string& path);

// An advisory lock on an open log; shared ones are for readers.
class Lock {
 public:
  enum class Kind : std::uint8_t { shared, exclusive };
  static Result<Lock> take(int fd, const std::string& path, Kind kind);
  Lock(Lock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Lock& operator=(Lock&&) = delete;
  ~Lock();

 private:
  explicit Lock(int fd) : fd_(fd) {}
  int fd_;
};

// Whether `path` names the open file still.
bool is_at(int fd, const std::string& path);

// All of `size` bytes from `start`; fewer are an error.
Result<std::string> read_at(int fd, std::int64_t start, std::int64_t size);

struct Tail {
  audit::Link head = {};
  std::int64_t end = 0;  // of the last whole record; 0: the first one is torn
};
// The last record of a file of `size` bytes, which is not empty.
Result<Tail> read_tail(int fd, std::int64_t size);

std::string reason(int error);

}  // namespace pawl::log_files
