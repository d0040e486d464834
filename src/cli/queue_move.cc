// `pawl export`, `pawl import`
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/progress.h"
#include "cli/queue_ask.h"
#include "cli/queue_common.h"
#include "cli/queue_verbs.h"
#include "core/queue/task_json.h"

namespace pawl::cli {
namespace {

// To a file, or to standard output. A file is written beside its place and put there when it is
// whole: what was there before is lost to nothing but a good one. It is for its owner alone, since
// tasks may hold secrets. What is no file (a pipe, a device) is written as it comes.
class Lines {
 public:
  static Result<Lines> open(std::string place) {
    std::error_code ignored;
    const bool as_it_comes = place.empty() || (std::filesystem::exists(place, ignored) &&
                                               !std::filesystem::is_regular_file(place, ignored));
    Lines lines(std::move(place), as_it_comes);
    if (lines.place_.empty()) return lines;
    const int fd = ::open(lines.written().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    lines.file_.reset(fd < 0 ? nullptr : ::fdopen(fd, "w"));
    if (lines.file_ == nullptr) return lines.failed();
    return lines;
  }
  Result<void> write(const std::string& line) {
    if (place_.empty()) {
      print(line + "\n");
      return {};
    }
    const bool all = std::fwrite(line.data(), 1, line.size(), file_.get()) == line.size();
    return all && std::fputc('\n', file_.get()) != EOF ? Result<void>() : failed();
  }
  Result<void> finish() {
    if (place_.empty()) return {};
    if (std::fflush(file_.get()) != 0) return failed();
    if (as_it_comes_) return {};
    if (::fsync(::fileno(file_.get())) != 0) return failed();
    if (std::rename(written().c_str(), place_.c_str()) != 0) return failed();
    return {};
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  Lines(std::string place, bool as_it_comes)
      : place_(std::move(place)), as_it_comes_(as_it_comes) {}
  std::string written() const { return as_it_comes_ ? place_ : place_ + ".partial"; }
  std::unexpected<Error> failed() const {
    return failure(Code::unavailable, "cannot write '" + written() +
                                          "': " + std::generic_category().message(errno) +
                                          "; look at its folder and disk");
  }

  std::string place_;  // empty: standard output
  bool as_it_comes_;
  std::unique_ptr<std::FILE, Close> file_;
};

// Lines in the order in which their tasks are due: whoever imports them submits them anew, one
// after the other.
using InTurn = std::multimap<Instant, std::string>;

std::uint64_t count_of(const queue::Stats& stats, const queue::TaskFilter& filter) {
  std::uint64_t count = 0;
  for (const queue::Depth& depth : stats.types) {
    if (filter.type.empty() || depth.type == filter.type) count += total(depth);
  }
  return filter.status || !filter.key.empty() ? 0 : count;
}

Result<int> export_tasks(QueueSession& session, const Arguments& arguments) {
  const queue::TaskFilter filter = filter_of(arguments);
  const bool to_file = arguments.has("FILE") && arguments.value("FILE") != "-";
  Lines lines = PAWL_TRY(Lines::open(to_file ? arguments.value("FILE") : ""));
  const queue::Stats stats = PAWL_TRY(stats_of(session));
  InTurn exported;
  {
    Progress progress("exported", count_of(stats, filter), session.clock());
    PAWL_TRY(each_task(session, filter, [&](const queue::Task& task) -> Result<bool> {
      queue::Exported one{.task = task};
      if (arguments.has("--history")) {
        one.history = PAWL_TRY(history_of(session, task.id));
      }
      exported.emplace(task.available_at, export_line(one));
      progress.show(exported.size());
      return true;
    }));
  }
  for (const auto& [available, line] : exported) PAWL_TRY(lines.write(line));
  PAWL_TRY(lines.finish());
  complain("exported " + counted(exported.size(), "task"));
  return 0;
}

// What becomes of the lines.
struct Imported {
  int code = 0;
  std::uint64_t fresh = 0;
  std::uint64_t known = 0;
  std::uint64_t left_out = 0;
  std::uint64_t refused = 0;
};

class Importing {
 public:
  Importing(QueueSession& session, const Arguments& arguments)
      : session_(session),
        place_(arguments.value("FILE")),
        progress_("imported", 0, session.clock()) {
    if (arguments.has("--status")) wanted_ = queue::status_of(arguments.value("--status"));
  }

  Result<void> take(std::string_view line) {
    ++number_;
    if (trim_blanks(line).empty()) return {};
    const auto exported = queue::parse_export_line(line);
    if (!exported) {
      PAWL_TRY(flush());
      return failure(Code::usage, place_of(number_) + exported.error().message +
                                      "; the lines before it were imported");
    }
    const queue::Task& task = exported->task;
    // Whoever asked for its end does not want it anew.
    const bool is_given_up = task.status == queue::Status::running && task.cancel_requested;
    if (is_given_up || (wanted_ ? task.status != *wanted_ : is_over(task.status))) {
      ++told_.left_out;
      return {};
    }
    commands_.emplace_back(queue::submit_of(task));
    numbers_.push_back(number_);
    return commands_.size() < bounds::tasks_submitted_max ? Result<void>() : flush();
  }

  Result<void> flush() {
    if (commands_.empty()) return {};
    const auto replies = PAWL_TRY(session_.give(std::exchange(commands_, {})));
    const std::vector<std::uint64_t> numbers = std::exchange(numbers_, {});
    for (std::size_t i = 0; i < replies.size(); ++i) {
      if (const auto* refusal = std::get_if<queue::Refusal>(&replies[i])) {
        complain("pawl: " + place_of(numbers[i]) + refusal->message);
        told_.code = worst_of(told_.code, static_cast<int>(typed_wrong(refusal->code)));
        ++told_.refused;
      } else {
        ++(std::get<queue::Submitted>(replies[i]).fresh ? told_.fresh : told_.known);
      }
    }
    progress_.show(told_.fresh + told_.known);
    return {};
  }

  const Imported& told() const { return told_; }

 private:
  std::string place_of(std::uint64_t number) const {
    return place_ + ":" + std::to_string(number) + ": ";
  }

  QueueSession& session_;
  const std::string place_;
  Progress progress_;
  std::optional<queue::Status> wanted_;
  std::uint64_t number_ = 0;
  std::vector<queue::Command> commands_;
  std::vector<std::uint64_t> numbers_;  // of the lines that they are of
  Imported told_;
};

Result<Imported> import_all(QueueSession& session, const Arguments& arguments) {
  const std::string& file = arguments.value("FILE");
  std::ifstream opened;
  if (file != "-") {
    opened.open(file, std::ios::binary);
    if (!opened) {
      return failure(Code::not_found, "cannot read '" + file + "'; name what 'pawl export' wrote");
    }
  }
  std::istream& stream = file == "-" ? std::cin : opened;
  Importing importing(session, arguments);
  std::string line;
  while (std::getline(stream, line)) PAWL_TRY(importing.take(line));
  PAWL_TRY(importing.flush());
  if (stream.bad()) return failure(Code::unavailable, "cannot read '" + file + "' to its end");
  return importing.told();
}

Result<int> import_tasks(QueueSession& session, const Arguments& arguments) {
  const Imported told = PAWL_TRY(import_all(session, arguments));
  if (arguments.has("--json")) {
    print(lined(json::Object{{"imported", told.fresh},
                             {"known", told.known},
                             {"left_out", told.left_out},
                             {"refused", told.refused}}));
  } else {
    print("imported " + std::to_string(told.fresh) + "; " + std::to_string(told.known) +
          " were there already, " + std::to_string(told.left_out) + " left out, " +
          std::to_string(told.refused) + " refused\n");
  }
  return told.code;
}

}  // namespace

int queue_export(const Arguments& arguments) {
  return run_queue_verb(arguments, Opens::look, export_tasks);
}

int queue_import(const Arguments& arguments) {
  return run_queue_verb(arguments, Opens::give, import_tasks);
}

}  // namespace pawl::cli
