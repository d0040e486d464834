#include "adapter/file/audit_pages.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <sys/stat.h>

#include "adapter/file/audit_log_check.h"
#include "adapter/file/log_files.h"
#include "base/assert.h"
#include "base/bounds.h"
#include "base/json.h"

namespace pawl {
namespace {

// Room for what is left of one record, and for a whole one behind it.
constexpr std::int64_t probe_bytes = 2 * static_cast<std::int64_t>(bounds::audit_event_bytes_max);

struct File {
  Descriptor descriptor;
  std::uint64_t number = 0;
  std::int64_t size = 0;
};

Result<File> open_file(const std::string& path) {
  Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status = {};
  if (descriptor.get() < 0 || ::fstat(descriptor.get(), &status) != 0) {
    const int error = errno;
    return failure(error == ENOENT ? Code::not_found : Code::unavailable,
                   "cannot read the audit log '" + path + "' (" + log_files::reason(error) + ")");
  }
  return File{.descriptor = std::move(descriptor),
              .number = static_cast<std::uint64_t>(status.st_ino),
              .size = status.st_size};
}

// 0 for what is no record: it comes before all of them.
std::uint64_t seq_of(std::string_view line) {
  const Result<json::Value> record = json::parse(line);
  const json::Value* seq = record ? record->find("seq") : nullptr;
  const json::Number* number = seq == nullptr ? nullptr : seq->if_number();
  if (number == nullptr) return 0;
  std::uint64_t out = 0;
  std::from_chars(number->text.data(), number->text.data() + number->text.size(), out);
  return out;
}

struct Line {
  std::int64_t end = 0;  // behind its line feed
  std::uint64_t seq = 0;
};

// The first whole line that begins at or behind `from`; nothing when none does.
Result<std::optional<Line>> line_from(const File& file, std::int64_t from) {
  const std::int64_t start = std::max<std::int64_t>(from - 1, 0);
  const std::int64_t size = std::min(probe_bytes, file.size - start);
  const std::string text = PAWL_TRY(log_files::read_at(file.descriptor.get(), start, size));
  std::size_t begin = 0;
  if (from > 0) {
    const std::size_t feed = text.find('\n');
    if (feed == std::string::npos) return std::nullopt;
    begin = feed + 1;
  }
  const std::size_t feed = text.find('\n', begin);
  if (feed == std::string::npos) return std::nullopt;
  return Line{.end = start + static_cast<std::int64_t>(feed) + 1,
              .seq = seq_of(std::string_view(text).substr(begin, feed - begin))};
}

// Where the first record behind `seq` begins; the end of the whole lines when there is none.
Result<std::int64_t> find_behind(const File& file, std::uint64_t seq) {
  std::int64_t low = 0;           // a line begins here, and those before it are not wanted
  std::int64_t high = file.size;  // lines that begin here or behind are wanted, or not whole
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    const std::optional<Line> line = PAWL_TRY(line_from(file, middle));
    if (line && line->seq <= seq) {
      low = line->end;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace

// The oldest file that holds something behind the record; the last one when none does.
Result<AuditPages::Part> AuditPages::part_behind(std::uint64_t seq) const {
  for (std::string& part : PAWL_TRY(log_files::full_parts(path_))) {
    if (*log_files::last_seq_of(part) > seq) return Part{.path = std::move(part)};
  }
  return Part{.path = path_, .is_last = true};
}

Result<AuditTrail::Piece> AuditPages::read_behind(const Part& part, std::uint64_t seq,
                                                  std::size_t bytes_max) {
  const File file = PAWL_TRY(open_file(part.path));
  const bool known =
      place_ && place_->file == file.number && place_->seq == seq && place_->offset <= file.size;
  const std::int64_t start = known ? place_->offset : PAWL_TRY(find_behind(file, seq));
  const std::int64_t size = std::min(static_cast<std::int64_t>(bytes_max), file.size - start);
  Piece piece{.lines = PAWL_TRY(log_files::read_at(file.descriptor.get(), start, size))};
  piece.lines.resize(piece.lines.rfind('\n') + 1);  // npos + 1 is 0
  piece.at_end = part.is_last && start + size == file.size;
  if (piece.lines.empty()) return piece;
  const std::string_view whole = std::string_view(piece.lines).substr(0, piece.lines.size() - 1);
  place_ = Place{.file = file.number,
                 .seq = seq_of(whole.substr(whole.rfind('\n') + 1)),
                 .offset = start + static_cast<std::int64_t>(piece.lines.size())};
  return piece;
}

Result<AuditTrail::Piece> AuditPages::after(std::uint64_t seq, std::size_t bytes_max) {
  PAWL_ASSERT(bytes_max > bounds::audit_event_bytes_max);
  const Part part = PAWL_TRY(part_behind(seq));
  Result<Piece> piece = read_behind(part, seq, bytes_max);
  // Set aside since it was listed: what is behind the record stands in the file it has become.
  const Part now = PAWL_TRY(part_behind(seq));
  if (now.path == part.path) return piece;
  return read_behind(now, seq, bytes_max);
}

Result<AuditTrail::Piece> AuditPages::read_before(const std::vector<std::string>& parts,
                                                  std::uint64_t seq, std::size_t bytes_max) {
  Piece piece;
  for (std::size_t i = parts.size(); i-- > 0;) {
    // All that is in this one stands behind what the one before it ends with.
    if (i > 0 && *log_files::last_seq_of(parts[i - 1]) >= seq) continue;
    const File file = PAWL_TRY(open_file(parts[i]));
    const std::int64_t end = PAWL_TRY(find_behind(file, seq - 1));
    const auto room = static_cast<std::int64_t>(bytes_max - piece.lines.size());
    const std::int64_t size = std::min(room, end);
    std::string text = PAWL_TRY(log_files::read_at(file.descriptor.get(), end - size, size));
    text.resize(text.rfind('\n') + 1);
    piece.at_end = size == end;
    if (!piece.at_end) text.erase(0, text.find('\n') + 1);
    piece.lines.insert(0, text);
    if (!piece.at_end) break;
  }
  return piece;
}

Result<AuditTrail::Piece> AuditPages::before(std::uint64_t seq, std::size_t bytes_max) {
  const auto all_parts = [this]() -> Result<std::vector<std::string>> {
    std::vector<std::string> parts = PAWL_TRY(log_files::full_parts(path_));
    parts.push_back(path_);
    return parts;
  };
  const std::vector<std::string> parts = PAWL_TRY(all_parts());
  Result<Piece> piece = read_before(parts, std::max<std::uint64_t>(seq, 1), bytes_max);
  // Set aside since it was listed: what it had stands in the file it has become.
  const std::vector<std::string> now = PAWL_TRY(all_parts());
  if (now == parts) return piece;
  return read_before(now, std::max<std::uint64_t>(seq, 1), bytes_max);
}

Result<std::unique_ptr<AuditCheck>> AuditPages::check() {
  return PAWL_TRY(AuditLogCheck::open(path_));
}

}  // namespace pawl
