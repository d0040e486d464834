#include "cli/audit_verbs.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <expected>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "adapter/file/audit_log.h"
#include "adapter/file/audit_log_check.h"
#include "adapter/system/system_clock.h"
#include "base/bounds.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/audit_text.h"
#include "cli/configuration.h"
#include "cli/output.h"

namespace pawl::cli {
namespace {

// Between two looks at a log that is followed.
constexpr std::chrono::milliseconds look_pause(200);

// The log that was named, or the first file that the configuration names.
Result<std::string> log_path(const Arguments& arguments, const config::Audit& audit) {
  if (arguments.has("FILE")) return arguments.value("FILE");
  const auto file = std::ranges::find(audit.sinks, StoreSetting::Kind::file, &StoreSetting::kind);
  if (file != audit.sinks.end()) return file->path;
  return failure(Code::usage,
                 "audit.sinks names no file; give the FILE that holds the records of the stream");
}

// The same, without a configuration where none is needed; else the exit code, once the reason is
// told.
std::expected<std::string, int> log_path_or_code(const Arguments& arguments) {
  config::Audit audit;
  if (!arguments.has("FILE")) {
    const std::optional<config::Config> config = config_in_force(arguments);
    if (!config) return std::unexpected(static_cast<int>(Code::invalid));
    audit = config->audit;
  }
  const Result<std::string> path = log_path(arguments, audit);
  if (!path) return std::unexpected(fail(path.error()));
  return *path;
}

Result<audit::Anchor> anchor_in(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  Result<audit::Anchor> anchor = audit::read_anchor(text.str());
  if (anchor) return anchor;
  return failure(Code::usage, "--anchor: cannot use '" + file + "': " + anchor.error().message);
}

Result<AuditVerdict> verify(const std::string& path, std::optional<audit::Anchor> noted) {
  const auto check = PAWL_TRY(AuditLogCheck::open(path, std::move(noted)));
  PAWL_TRY(check->go_on(std::numeric_limits<std::size_t>::max()));
  return check->verdict();
}

std::string verdict_json(const std::string& path, const AuditVerdict& verdict) {
  json::Value flaw;
  if (verdict.flaw) {
    flaw = json::Object{{"fault", to_string(verdict.flaw->fault)},
                        {"file", verdict.flawed_file},
                        {"line", verdict.flaw->line},
                        {"message", verdict.flaw->message}};
  }
  json::Value anchor;
  if (verdict.anchor) {
    anchor = json::Object{{"seq", verdict.anchor->seq}, {"hash", verdict.anchor->hash}};
  }
  const json::Object result{{"file", path},
                            {"files", verdict.files},
                            {"verified", verdict.verified},
                            {"last_seq", verdict.head.seq},
                            {"last_hash", verdict.head.hash},
                            {"anchor", std::move(anchor)},
                            {"flaw", std::move(flaw)}};
  return json::print(result) + "\n";
}

std::string advice(audit::Fault fault) {
  if (fault == audit::Fault::cut) {
    return "a crash leaves that, and a write that is under way; pawl cuts it off when it next "
           "opens the log";
  }
  return "keep the file as it is and compare it with a copy from before";
}

std::string verified(const AuditVerdict& verdict) {
  return std::to_string(verdict.verified) + (verdict.verified == 1 ? " record" : " records") +
         " verified, last seq " + std::to_string(verdict.head.seq);
}

std::string verdict_text(const std::string& path, const AuditVerdict& verdict) {
  std::string text = path + ": ok, " + verified(verdict) + ", hash " + verdict.head.hash;
  if (verdict.files > 1) text += ", in " + std::to_string(verdict.files) + " files";
  return text + "\n" +
         (verdict.anchor ? "anchor: record " + std::to_string(verdict.anchor->seq) + " is there\n"
                         : "no anchor: if records were cut off the end, it does not show\n");
}

Result<std::int64_t> lines_wanted(const Arguments& arguments) {
  const std::string& text = arguments.value("--lines");
  std::int64_t lines = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, lines);
  if (error != std::errc() || rest != end || lines < 0 || lines > bounds::audit_tail_records_max) {
    return std::unexpected(
        usage_error("audit tail", "--lines is '" + text + "'; it is a number from 0 to " +
                                      std::to_string(bounds::audit_tail_records_max)));
  }
  return lines;
}

void print_records(std::string_view lines, bool as_json) {
  while (!lines.empty()) {
    const std::string_view line = take_until(lines, '\n');
    print((as_json ? std::string(line) : record_text(line)) + "\n");
  }
}

// Ends when nobody reads what it prints, or with an error; a signal ends it too.
Result<void> follow(LogFollower follower, bool as_json) {
  while (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) {
    PAWL_TRY(follower.poll([&](std::string_view lines) { print_records(lines, as_json); }));
    if (std::fflush(stdout) != 0) break;
    std::this_thread::sleep_for(look_pause);
  }
  return {};
}

Result<void> tail(const std::string& path, const Arguments& arguments) {
  const std::int64_t lines = PAWL_TRY(lines_wanted(arguments));
  const bool as_json = arguments.has("--json");
  AuditLog log = PAWL_TRY(AuditLog::open(path));
  print_records(PAWL_TRY(log.last_lines(lines)), as_json);
  if (!arguments.has("--follow")) return {};
  return follow(PAWL_TRY(std::move(log).follow()), as_json);
}

}  // namespace

int audit_verify(const Arguments& arguments) {
  const auto path = log_path_or_code(arguments);
  if (!path) return path.error();
  std::optional<audit::Anchor> noted;
  if (arguments.has("--anchor")) {
    Result<audit::Anchor> anchor = anchor_in(arguments.value("--anchor"));
    if (!anchor) return fail(anchor.error());
    noted = *std::move(anchor);
  }
  const Result<AuditVerdict> verdict = verify(*path, std::move(noted));
  if (!verdict) return fail(verdict.error());
  if (arguments.has("--json")) print(verdict_json(*path, *verdict));
  if (verdict->flaw) {
    return fail(Error(Code::refused, Outcome::not_applied,
                      verdict->flawed_file + ": " + verdict->flaw->message + " (" +
                          verified(*verdict) + " before it); " + advice(verdict->flaw->fault)));
  }
  if (!arguments.has("--json")) print(verdict_text(*path, *verdict));
  return 0;
}

int audit_tail(const Arguments& arguments) {
  const auto path = log_path_or_code(arguments);
  if (!path) return path.error();
  const Result<void> told = tail(*path, arguments);
  return told ? 0 : fail(told.error());
}

int audit_stats(const Arguments& arguments) {
  const std::optional<config::Config> config = config_in_force(arguments);
  if (!config) return static_cast<int>(Code::invalid);
  const Result<std::string> path = log_path(arguments, config->audit);
  if (!path) return fail(path.error());
  audit::Stats stats;
  const Result<AuditLog> log = AuditLog::open(*path);
  if (!log) return fail(log.error());
  const Result<void> read =
      log->read_lines([&](const AuditLog::Line& line) { stats.take(line.text); });
  if (!read) return fail(read.error());
  SystemClock clock;
  const StatsView view{.file = *path,
                       .stats = stats,
                       .alert_above = static_cast<std::uint64_t>(config->audit.retry_alert),
                       .now = clock.wall_now()};
  print(arguments.has("--json") ? stats_json(view) : stats_text(view));
  return 0;
}

}  // namespace pawl::cli
