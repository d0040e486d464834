#include "adapter/file/log_files.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "base/bounds.h"
#include "base/json.h"

namespace pawl::log_files {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t seq_digits = 12;  // at least, so that names sort as the parts do

// How far back the end of the last record is looked for. A torn write leaves less than one record,
// except that a power cut may leave a whole batch of zeros.
constexpr auto tail_bytes_max =
    static_cast<std::int64_t>(bounds::audit_batch_bytes_max + 2 * bounds::audit_event_bytes_max);

// Whether a file without any whole line can be the first record, torn. Anything else is somebody
// else's file, and must not be cut.
bool is_torn_first_record(std::string_view text) {
  return text.size() <= bounds::audit_event_bytes_max &&
         std::string_view("{\"").starts_with(text.substr(0, 2)) &&
         (!json::parse(text) || audit::read_link(text));
}

}  // namespace

std::string reason(int error) {
  return std::system_category().message(error);
}

std::string anchor_path(const std::string& path) {
  return path + ".anchor";
}

std::string full_part_path(const std::string& path, std::uint64_t last_seq) {
  const std::string digits = std::to_string(last_seq);
  return path + "." + std::string(seq_digits - std::min(seq_digits, digits.size()), '0') + digits;
}

std::optional<std::uint64_t> last_seq_of(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos || path.size() - dot - 1 < seq_digits) return std::nullopt;
  std::uint64_t seq = 0;
  const char* end = path.data() + path.size();
  const auto [rest, error] = std::from_chars(path.data() + dot + 1, end, seq);
  if (error != std::errc() || rest != end || seq == 0) return std::nullopt;
  return seq;
}

Result<std::vector<std::string>> full_parts(const std::string& path) {
  const fs::path log(path);
  const fs::path folder = log.has_parent_path() ? log.parent_path() : fs::path(".");
  std::vector<std::pair<std::uint64_t, std::string>> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const auto seq = last_seq_of(name);
    if (!seq || full_part_path(log.filename().string(), *seq) != name) continue;
    found.emplace_back(*seq, full_part_path(path, *seq));
  }
  if (error) {
    return failure(Code::unavailable, "cannot read the folder '" + folder.string() +
                                          "' of the audit log: " + error.message());
  }
  std::ranges::sort(found);
  std::vector<std::string> parts;
  for (auto& [seq, name] : found) parts.push_back(std::move(name));
  return parts;
}

Result<std::optional<audit::Anchor>> read_anchor_of(const std::string& path) {
  const std::string name = anchor_path(path);
  const Descriptor file(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0 && errno == ENOENT) return std::nullopt;
  std::string text(audit::anchor_bytes_max + 1, '\0');
  const ssize_t size = file.get() < 0 ? -1 : ::pread(file.get(), text.data(), text.size(), 0);
  if (size < 0) {
    return failure(Code::unavailable, "cannot read the anchor '" + name + "': " + reason(errno));
  }
  if (size == 0) return std::nullopt;
  text.resize(static_cast<std::size_t>(size));
  Result<audit::Anchor> anchor = audit::read_anchor(text);
  if (!anchor) {
    return failure(Code::invalid,
                   "the anchor '" + name + "' is damaged: " + anchor.error().message);
  }
  return *std::move(anchor);
}

Result<Lock> Lock::take(int fd, const std::string& path, Kind kind) {
  while (::flock(fd, kind == Kind::shared ? LOCK_SH : LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    return failure(Code::unavailable,
                   "cannot lock the audit log '" + path + "': " + reason(errno) +
                       "; it must lie on a file system with locks, as local disks have them");
  }
  return Lock(fd);
}

Lock::~Lock() {
  if (fd_ >= 0) ::flock(fd_, LOCK_UN);
}

bool is_at(int fd, const std::string& path) {
  struct stat open = {};
  struct stat named = {};
  return ::fstat(fd, &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

Result<std::string> read_at(int fd, std::int64_t start, std::int64_t size) {
  std::string bytes(static_cast<std::size_t>(size), '\0');
  std::size_t done = 0;
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

Result<Tail> read_tail(int fd, std::int64_t size) {
  for (std::int64_t wanted = 4096;; wanted *= 8) {
    const std::int64_t read = std::min({wanted, tail_bytes_max, size});
    const std::string bytes = PAWL_TRY(read_at(fd, size - read, read));
    const bool from_the_start = read == size;
    const std::size_t end = bytes.rfind('\n');
    if (end == std::string::npos && from_the_start) {
      if (is_torn_first_record(bytes)) return Tail{};
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

}  // namespace pawl::log_files
