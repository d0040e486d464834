#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sys/statvfs.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "adapter/file/log_files.h"
#include "assembly/audit_sinks.h"
#include "base/text.h"
#include "cli/checks.h"
#include "core/audit/chain.h"

namespace pawl::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t tail_bytes = 1024 * 1024;  // some thousand records, and several of any size
constexpr std::uint64_t mebibyte = 1024 * 1024;
constexpr std::uint64_t space_tight = 1024 * mebibyte;
constexpr std::uint64_t space_gone = 16 * mebibyte;

constexpr const char* folder_check = "audit folder";
constexpr const char* log_check = "audit log";
constexpr const char* stream_check = "audit stream";

std::string elsewhere(const std::string& first) {
  return first + ", or name another path in audit.sinks";
}

// The folder that stands already, on the way to `path`.
fs::path standing_folder(const fs::path& path) {
  fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code error;
  while (!fs::exists(folder, error) && folder.has_parent_path()) folder = folder.parent_path();
  return fs::exists(folder, error) ? folder : ".";
}

Finding check_folder(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return {.check = folder_check,
            .health = Health::fail,
            .found = folder.string() + " is not a folder",
            .advice = elsewhere("remove it")};
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    return {.check = folder_check,
            .health = Health::fail,
            .found = "no file can be made in " + folder.string() + " (" +
                     std::generic_category().message(errno) + ")",
            .advice = elsewhere("give this user the right to write there")};
  }
  const bool is_there = folder == (path.has_parent_path() ? path.parent_path() : ".");
  return {.check = folder_check,
          .found = is_there ? folder.string() + " can be written"
                            : path.parent_path().string() + " will be made in " + folder.string(),
          .advice = ""};
}

Finding check_log(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    return {.check = log_check, .found = path + " is not there yet", .advice = ""};
  }
  if (!fs::is_regular_file(status) || ::access(path.c_str(), R_OK | W_OK) != 0) {
    return {.check = log_check,
            .health = Health::fail,
            .found = path + " is not a file that this user may read and write",
            .advice = elsewhere("give this user the right")};
  }
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::int64_t size = file.tellg();
  const std::int64_t wanted = std::min(size, tail_bytes);
  file.seekg(size - wanted);
  std::string tail(static_cast<std::size_t>(std::max<std::int64_t>(wanted, 0)), '\0');
  if (!file.read(tail.data(), wanted)) {
    return {.check = log_check,
            .health = Health::fail,
            .found = path + " cannot be read",
            .advice = "check the disk"};
  }
  const auto full_parts = log_files::full_parts(path);
  const auto anchor = log_files::read_anchor_of(path);
  return check_audit_tail({.path = path,
                           .text = tail,
                           .is_whole = wanted == size,
                           .is_first = full_parts && full_parts->empty(),
                           .anchor = anchor ? *anchor : std::nullopt});
}

Finding check_room(const fs::path& folder) {
  struct statvfs status = {};
  if (::statvfs(folder.c_str(), &status) != 0) {
    return {.check = "disk space",
            .health = Health::warn,
            .found = "unknown (" + std::generic_category().message(errno) + ")",
            .advice = "look at the disk of " + folder.string()};
  }
  return check_space(std::uint64_t{status.f_bavail} * status.f_frsize);
}

// A stream that is missing is made, as at the first start.
Finding check_stream(const StoreSetting& sink, const config::Audit& audit) {
  const auto opened = open_audit({.sinks = {sink}, .on_full = audit.on_full});
  if (opened) {
    return {.check = stream_check,
            .found =
                "the NATS answers; records survive the end of its process, and a power cut "
                "but for the last minute or two",
            .advice = ""};
  }
  return {.check = stream_check,
          .health = Health::fail,
          .found = opened.error().message,
          .advice =
              "set the server right, or name another one in audit.sinks; pawl does not "
              "start without its audit log"};
}

}  // namespace

std::vector<Finding> check_audit(const config::Audit& audit) {
  std::vector<Finding> findings;
  for (const StoreSetting& sink : audit.sinks) {
    if (sink.kind == StoreSetting::Kind::nats) {
      findings.push_back(check_stream(sink, audit));
      continue;
    }
    const fs::path folder = standing_folder(sink.path);
    findings.push_back(check_folder(sink.path, folder));
    findings.push_back(check_log(sink.path));
    findings.push_back(check_room(folder));
  }
  return findings;
}

Finding check_audit_tail(const AuditTail& tail) {
  const Finding damaged{.check = log_check,
                        .health = Health::fail,
                        .found = tail.path + " is damaged",
                        .advice = "'pawl audit verify " + tail.path +
                                  "' shows where; move the file away to begin a new one"};
  std::string_view text = tail.text;
  std::optional<audit::Link> last;
  if (tail.is_whole && tail.is_first) last.emplace();
  if (!tail.is_whole) take_until(text, '\n');  // it may be half a record
  std::size_t count = 0;
  for (; text.find('\n') != std::string_view::npos; ++count) {
    Result<audit::Link> link = audit::read_link(take_until(text, '\n'));
    if (!link) return damaged;
    if (last && (link->seq != last->seq + 1 || link->prev != last->hash)) return damaged;
    last = *std::move(link);
  }
  // Without any whole record it may be the first one, torn, or no audit log at all.
  const bool may_be_a_log = tail.is_whole && (text.empty() || text.starts_with('{'));
  if (count == 0 && !may_be_a_log) return damaged;
  if (last && tail.anchor && last->seq < tail.anchor->seq) {
    return {.check = log_check,
            .health = Health::fail,
            .found = tail.path + " ends with record " + std::to_string(last->seq) +
                     ", and its anchor names record " + std::to_string(tail.anchor->seq),
            .advice = "its end was cut off: put it back, or move the file and its anchor away"};
  }
  const std::string records =
      tail.path + ": the last " + std::to_string(count) + " records verified";
  if (!text.empty()) {
    return {.check = log_check,
            .health = Health::warn,
            .found = records + ", and half a record follows",
            .advice = "a crash leaves that; pawl cuts it off when it starts"};
  }
  return {.check = log_check, .found = records, .advice = ""};
}

Finding check_space(std::uint64_t bytes_left) {
  Finding finding{.check = "disk space",
                  .found = std::to_string(bytes_left / mebibyte) + " MiB left for the audit log",
                  .advice = {}};
  if (bytes_left < space_tight) {
    finding.health = bytes_left < space_gone ? Health::fail : Health::warn;
    finding.advice = "make room: a full disk holds requests back, or fails them (audit.on_full)";
  }
  return finding;
}

}  // namespace pawl::cli
