#include "cli/audit_verbs.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "base/json.h"
#include "cli/configuration.h"
#include "cli/output.h"
#include "core/audit/verifier.h"

namespace pawl::cli {
namespace {

constexpr std::size_t piece_bytes = 256 * 1024;

struct Verdict {
  audit::Link head;  // the last record that is as it was written
  std::optional<audit::Flaw> flaw;
};

Error unreadable(const std::string& path, int error) {
  const std::string reason = std::generic_category().message(error);
  if (error == ENOENT || error == ENOTDIR) {
    return Error(Code::not_found, Outcome::not_applied,
                 "there is no audit log '" + path + "'; give the path that stands in audit.sinks");
  }
  return Error(
      Code::unavailable, Outcome::not_applied,
      "cannot read the audit log '" + path + "' (" + reason + "); name a file that may be read");
}

Result<Verdict> verify(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (!file) return std::unexpected(unreadable(path, errno));
  audit::Verifier verifier;
  std::string piece(piece_bytes, '\0');
  while (const std::size_t size = std::fread(piece.data(), 1, piece.size(), file.get())) {
    verifier.take(std::string_view(piece).substr(0, size));
  }
  if (std::ferror(file.get()) != 0) return std::unexpected(unreadable(path, errno));
  auto flaw = verifier.finish();
  return Verdict{.head = verifier.head(), .flaw = std::move(flaw)};
}

std::string verdict_json(const std::string& path, const Verdict& verdict) {
  json::Value flaw;
  if (verdict.flaw) {
    flaw = json::Object{{"fault", to_string(verdict.flaw->fault)},
                        {"line", static_cast<std::int64_t>(verdict.flaw->line)},
                        {"message", verdict.flaw->message}};
  }
  const auto seq = static_cast<std::int64_t>(verdict.head.seq);
  const json::Object result{{"file", path},
                            {"verified", seq},
                            {"last_seq", seq},
                            {"last_hash", verdict.head.hash},
                            {"flaw", std::move(flaw)}};
  return json::print(result) + "\n";
}

std::string advice(audit::Fault fault) {
  if (fault == audit::Fault::cut) {
    return "a crash leaves that, and a write that is under way; pawl cuts it off when it next "
           "opens "
           "the log";
  }
  return "keep the file as it is and compare it with a copy from before";
}

// Records are numbered from 1 without a gap, so the last number is their count too.
std::string verified(const audit::Link& head) {
  const std::string seq = std::to_string(head.seq);
  return seq + (head.seq == 1 ? " record" : " records") + " verified, last seq " + seq;
}

}  // namespace

int audit_verify(const Arguments& arguments) {
  std::string path;
  if (arguments.has("FILE")) {
    path = arguments.value("FILE");
  } else {
    const std::optional<config::Config> config = config_in_force(arguments);
    if (!config) return static_cast<int>(Code::invalid);
    path = config->audit.sinks.front().path;
  }
  const Result<Verdict> verdict = verify(path);
  if (!verdict) return fail(verdict.error());
  if (arguments.has("--json")) print(verdict_json(path, *verdict));
  if (verdict->flaw) {
    return fail(Error(Code::refused, Outcome::not_applied,
                      path + ": " + verdict->flaw->message + " (" + verified(verdict->head) +
                          " before it); " + advice(verdict->flaw->fault)));
  }
  if (!arguments.has("--json")) {
    print(path + ": ok, " + verified(verdict->head) + ", hash " + verdict->head.hash + "\n");
  }
  return 0;
}

}  // namespace pawl::cli
