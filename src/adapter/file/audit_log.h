// AuditLog: an audit log on disk, for those who read it: all its files, as they stood at one
// moment.
//
// Contract: open() holds the log's lock for that moment, so what is read ends with a whole record
//           although others go on writing (unless a crash has torn it), and the anchor is not ahead
//           of it. A path that is that of a full part (log_files.h) gives that part alone; one that
//           is no regular file, /dev/stdin say, is read to its end.
//           Errors: not_found, or unavailable when something cannot be read.
// Threads:  one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapter/file/descriptor.h"
#include "core/audit/anchor.h"
#include "pawl/result.h"

namespace pawl {

// What comes to a log from some moment on.
class LogFollower {
 public:
  LogFollower(std::string path, Descriptor file, std::int64_t end)
      : path_(std::move(path)), file_(std::move(file)), read_(end) {}

  // Hands over what has come since the last call, in whole lines, and follows the log from file to
  // file.
  Result<void> poll(const std::function<void(std::string_view)>& take);

 private:
  Result<void> read_lines(const std::function<void(std::string_view)>& take);
  Result<bool> next_file();

  std::string path_;
  Descriptor file_;
  std::int64_t read_;  // of the file that is open
};

class AuditLog {
 public:
  static Result<AuditLog> open(const std::string& path);

  struct Part {
    std::string path;
    Descriptor file = Descriptor(-1);                              // opened when it is read
    std::int64_t size = std::numeric_limits<std::int64_t>::max();  // as far as it is read
  };
  // Oldest first.
  const std::vector<Part>& parts() const { return parts_; }
  // When this is one full part alone: the number of its last record.
  const std::optional<std::uint64_t>& last_seq() const { return last_seq_; }
  const std::optional<audit::Anchor>& anchor() const { return anchor_; }
  // Why there is an anchor that cannot be read; empty when there is none, or a good one.
  const std::string& anchor_problem() const { return anchor_problem_; }

  // From `at` on, as much as is read at once; empty: there is no more.
  Result<std::string> read_piece(const Part& part, std::int64_t at) const;
  struct Line {
    std::string_view text;  // without its line feed; what is too long for a record is cut there
    std::size_t part;       // which of parts()
    std::uint64_t number;   // in that part, from 1
    bool whole;             // a line feed ends it
  };
  // All of it, line by line.
  Result<void> read_lines(const std::function<void(const Line&)>& take) const;
  // The last whole lines, at most `count`.
  Result<std::string> last_lines(std::int64_t count) const;

  // What comes after all that is here.
  Result<LogFollower> follow() &&;

 private:
  explicit AuditLog(std::string path) : path_(std::move(path)) {}
  Result<void> open_files();

  std::string path_;
  std::vector<Part> parts_;
  std::optional<std::uint64_t> last_seq_;
  std::optional<audit::Anchor> anchor_;
  std::string anchor_problem_;
};

}  // namespace pawl
