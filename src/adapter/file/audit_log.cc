#include "adapter/file/audit_log.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapter/file/log_files.h"
#include "base/bounds.h"

namespace pawl {
namespace {

using log_files::Lock;

constexpr std::int64_t piece_bytes = 256 * 1024;

Error unreadable(const std::string& path, int error) {
  if (error == ENOENT || error == ENOTDIR) {
    return Error(Code::not_found, Outcome::not_applied,
                 "there is no audit log '" + path + "'; give the path that stands in audit.sinks");
  }
  return Error(Code::unavailable, Outcome::not_applied,
               "cannot read the audit log '" + path + "' (" + log_files::reason(error) +
                   "); name a file that may be read");
}

Result<Descriptor> open_to_read(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return std::unexpected(unreadable(path, errno));
  return file;
}

bool exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

// Whole lines at the end of a file, at most `count` of them.
Result<std::string> end_of(int fd, std::int64_t size, std::int64_t count) {
  for (std::int64_t wanted = piece_bytes;; wanted *= 4) {
    const std::int64_t read = std::min(wanted, size);
    std::string text = PAWL_TRY(log_files::read_at(fd, size - read, read));
    text.resize(text.rfind('\n') + 1);  // npos + 1 is 0
    std::size_t start = text.size();
    std::int64_t found = 0;
    while (start > 0 && found < count) {
      const std::size_t before = start < 2 ? std::string::npos : text.rfind('\n', start - 2);
      if (before == std::string::npos && read < size) break;  // it begins further back
      start = before + 1;
      ++found;
    }
    if (found == count || read == size) return text.substr(start);
  }
}

}  // namespace

Result<AuditLog> AuditLog::open(const std::string& path) {
  AuditLog log(path);
  const auto last_seq = log_files::last_seq_of(path);
  if (last_seq && !exists(log_files::anchor_path(path))) {
    log.last_seq_ = last_seq;
    log.parts_.push_back({.path = path, .file = PAWL_TRY(open_to_read(path))});
    return log;
  }
  PAWL_TRY(log.open_files());
  return log;
}

Result<void> AuditLog::open_files() {
  while (true) {
    Descriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    const int error = file.get() < 0 ? errno : 0;
    struct stat status = {};
    if (error == 0 && (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))) {
      parts_.push_back({.path = path_, .file = std::move(file)});
      return {};
    }
    std::optional<Lock> lock;
    if (error == 0) {
      lock.emplace(PAWL_TRY(Lock::take(file.get(), path_, Lock::Kind::shared)));
      if (!log_files::is_at(file.get(), path_) || ::fstat(file.get(), &status) != 0) continue;
    }
    // A crash may come when a file was set aside and before the next one is there.
    Result<std::vector<std::string>> full = log_files::full_parts(path_);
    if (error != 0 && (error != ENOENT || !full || full->empty())) {
      return std::unexpected(unreadable(path_, error));
    }
    if (!full) return std::unexpected(full.error());
    for (std::string& part : *full) parts_.push_back({.path = std::move(part)});
    Result<std::optional<audit::Anchor>> anchor = log_files::read_anchor_of(path_);
    if (anchor) {
      anchor_ = *std::move(anchor);
    } else {
      anchor_problem_ = anchor.error().message;
    }
    lock.reset();  // before its file moves
    if (error == 0) {
      parts_.push_back({.path = path_, .file = std::move(file), .size = status.st_size});
    }
    return {};
  }
}

Result<std::string> AuditLog::read_piece(const Part& part, std::int64_t at) const {
  const Descriptor own = part.file.get() < 0 ? PAWL_TRY(open_to_read(part.path)) : Descriptor(-1);
  const int fd = part.file.get() < 0 ? own.get() : part.file.get();
  std::string piece(static_cast<std::size_t>(std::min(part.size - at, piece_bytes)), '\0');
  while (true) {
    ssize_t got = ::pread(fd, piece.data(), piece.size(), at);
    if (got < 0 && errno == ESPIPE) got = ::read(fd, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(unreadable(part.path, errno));
    piece.resize(static_cast<std::size_t>(got));
    return piece;
  }
}

Result<void> AuditLog::read_lines(const std::function<void(const Line&)>& take) const {
  std::string text;
  Line line{.text = {}, .part = 0, .number = 0, .whole = true};
  const auto end_line = [&](bool whole) {
    ++line.number;
    line.text = text;
    line.whole = whole;
    take(line);
    text.clear();
  };
  const auto take_piece = [&](std::string_view piece) {
    while (true) {
      const std::size_t end = piece.find('\n');
      const std::string_view more = piece.substr(0, end);
      text.append(more.substr(0, bounds::audit_event_bytes_max + 1 - text.size()));
      if (end == std::string_view::npos) return;
      end_line(true);
      piece.remove_prefix(end + 1);
    }
  };
  for (const Part& part : parts_) {
    for (std::int64_t at = 0;;) {
      const std::string piece = PAWL_TRY(read_piece(part, at));
      if (piece.empty()) break;
      take_piece(piece);
      at += static_cast<std::int64_t>(piece.size());
    }
    if (!text.empty()) end_line(false);
    ++line.part;
    line.number = 0;
  }
  return {};
}

Result<std::string> AuditLog::last_lines(std::int64_t count) const {
  std::string text;
  for (auto part = parts_.rbegin(); part != parts_.rend() && count > 0; ++part) {
    const Descriptor file = PAWL_TRY(open_to_read(part->path));
    const int fd = part->file.get() < 0 ? file.get() : part->file.get();
    struct stat status = {};
    if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
      return std::unexpected(unreadable(part->path, EINVAL));
    }
    const std::string lines =
        PAWL_TRY(end_of(fd, std::min<std::int64_t>(part->size, status.st_size), count));
    count -= std::ranges::count(lines, '\n');
    text.insert(0, lines);
  }
  return text;
}

Result<LogFollower> AuditLog::follow() && {
  Part& last = parts_.back();
  if (last.file.get() < 0) last.file = PAWL_TRY(open_to_read(last.path));
  struct stat status = {};
  if (::fstat(last.file.get(), &status) != 0) return std::unexpected(unreadable(last.path, errno));
  return LogFollower(std::move(path_), std::move(last.file),
                     std::min<std::int64_t>(last.size, status.st_size));
}

Result<void> LogFollower::poll(const std::function<void(std::string_view)>& take) {
  while (true) {
    // Asked first: a file that was set aside before it was read has nothing more to come.
    const bool is_last = log_files::is_at(file_.get(), path_);
    PAWL_TRY(read_lines(take));
    if (is_last || !PAWL_TRY(next_file())) return {};
  }
}

Result<void> LogFollower::read_lines(const std::function<void(std::string_view)>& take) {
  std::string piece(static_cast<std::size_t>(piece_bytes), '\0');
  while (true) {
    const ssize_t got = ::pread(file_.get(), piece.data(), piece.size(), read_);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(unreadable(path_, errno));
    // What is not whole yet is read again the next time: a crash may have torn it, and then the
    // next writer cuts it off.
    const std::size_t whole =
        std::string_view(piece).substr(0, static_cast<std::size_t>(got)).rfind('\n') + 1;
    if (whole == 0) return {};
    take(std::string_view(piece).substr(0, whole));
    read_ += static_cast<std::int64_t>(whole);
  }
}

// The one that follows the open one; false when it is not there yet.
Result<bool> LogFollower::next_file() {
  std::vector<std::string> files = PAWL_TRY(log_files::full_parts(path_));
  files.push_back(path_);
  const auto open = std::ranges::find_if(
      files, [&](const std::string& each) { return log_files::is_at(file_.get(), each); });
  const auto next = open == files.end() ? std::prev(files.end()) : std::next(open);
  if (next == files.end() || !exists(*next)) return false;
  file_ = PAWL_TRY(open_to_read(*next));
  read_ = 0;
  return true;
}

}  // namespace pawl
