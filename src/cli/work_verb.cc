#include "cli/work_verb.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "adapter/curl/curl_http_client.h"
#include "adapter/process/system_child_processes.h"
#include "adapter/system/own_name.h"
#include "base/address.h"
#include "base/bounds_queue.h"
#include "cli/configuration.h"
#include "cli/metrics_door.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/queue_ask.h"
#include "cli/queue_common.h"
#include "cli/queue_options.h"
#include "cli/queue_session.h"
#include "cli/words.h"
#include "cli/work_metrics.h"
#include "config/values.h"
#include "net/loop.h"
#include "runtime/exec_handler.h"
#include "runtime/http_handler.h"
#include "runtime/task_worker.h"

namespace pawl::cli {
namespace {

// For what is told to the queue behind the second signal.
constexpr Duration end_at_once = Duration::seconds(2);
constexpr std::uint64_t descriptors_a_child = 4;
constexpr std::uint64_t descriptors_a_call = 2;
constexpr std::uint64_t descriptors_besides = 256;
constexpr std::uint64_t descriptors_besides_min = 64;

std::unexpected<Error> usage(std::string message) {
  return std::unexpected(usage_error("work", std::move(message)));
}

Result<WorkerSettings> settings_of(const Arguments& arguments, const config::Config& config) {
  WorkerSettings settings{.name = own_name(),
                          .types = arguments.values("--type"),
                          .lease = config.queue.lease,
                          .once = arguments.has("--once"),
                          .gather = worker_gather};
  if (settings.types.empty()) return usage("which tasks? Give --type TYPE, as often as you like");
  std::ranges::sort(settings.types);
  settings.types.erase(std::ranges::unique(settings.types).begin(), settings.types.end());
  if (settings.types.size() > bounds::claim_types_max) {
    return usage("--type is given " + std::to_string(settings.types.size()) + " times: at most " +
                 std::to_string(bounds::claim_types_max) + " are claimed by one worker");
  }
  const std::string& typed = arguments.value("--concurrency");
  const auto concurrency = config::parse_whole(typed, 1, bounds::worker_concurrency_max);
  if (!concurrency) {
    return usage("--concurrency is '" + typed + "'; it is a number from 1 to " +
                 std::to_string(bounds::worker_concurrency_max));
  }
  settings.concurrency = static_cast<std::uint32_t>(*concurrency);
  if (const auto lease = PAWL_TRY(duration_of(arguments, "--lease", "work"))) {
    if (*lease < worker_lease_min || *lease > bounds::task_lease_max) {
      return usage("--lease is " + to_string(*lease) + "; it is from " +
                   to_string(worker_lease_min) + " to " + to_string(bounds::task_lease_max));
    }
    settings.lease = *lease;
  }
  if (arguments.has("--name")) settings.name = arguments.value("--name");
  return settings;
}

Result<Duration> drain_of(const Arguments& arguments) {
  const auto drain = PAWL_TRY(duration_of(arguments, "--drain", "work"));
  if (drain && *drain > bounds::worker_drain_max) {
    return usage("--drain is " + to_string(*drain) + "; it is at most " +
                 to_string(bounds::worker_drain_max));
  }
  return drain.value_or(Duration());
}

// Children get our limits too, so it is raised only where it must be. With too few, tasks would be
// claimed and given back, again and again.
Result<void> raise_descriptor_limit(std::uint32_t concurrency, std::uint64_t each) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
  const rlim_t wanted = concurrency * each + descriptors_besides;
  if (limit.rlim_cur >= wanted) return {};
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  setrlimit(RLIMIT_NOFILE, &limit);
  const std::uint64_t needed = concurrency * each + descriptors_besides_min;
  if (limit.rlim_cur >= needed) return {};
  const std::uint64_t most =
      (std::max<std::uint64_t>(limit.rlim_cur, descriptors_besides_min) - descriptors_besides_min) /
      each;
  return usage("--concurrency " + std::to_string(concurrency) + " needs " + std::to_string(needed) +
               " open files, and " + std::to_string(limit.rlim_cur) +
               " are allowed: raise that limit (ulimit -n; LimitNOFILE= of a unit)" +
               (most == 0 ? "" : ", or give --concurrency " + std::to_string(most)));
}

// What was typed.
struct Asked {
  WorkerSettings settings = {};
  Duration drain = {};
  std::string command = {};  // or
  std::string url = {};
  std::optional<Endpoint> metrics = {};
};

Result<std::optional<Endpoint>> metrics_of(const Arguments& arguments) {
  if (!arguments.has("--metrics")) return std::optional<Endpoint>();
  const Result<Endpoint> endpoint = parse_endpoint(arguments.value("--metrics"));
  if (!endpoint) return usage("--metrics: " + endpoint.error().message);
  return std::optional(*endpoint);
}

Result<Asked> asked_of(const Arguments& arguments, const config::Config& config) {
  Asked asked{.settings = PAWL_TRY(settings_of(arguments, config)),
              .drain = PAWL_TRY(drain_of(arguments)),
              .metrics = PAWL_TRY(metrics_of(arguments))};
  if (arguments.has("--exec") == arguments.has("--http")) {
    return usage("who handles the tasks? Give --exec COMMAND or --http URL");
  }
  if (arguments.has("--exec")) {
    asked.command = arguments.value("--exec");
    if (asked.command.empty() || asked.command.size() > bounds::handler_command_bytes_max) {
      return usage("--exec has " + std::to_string(asked.command.size()) +
                   " bytes; it is a command of at most " +
                   std::to_string(bounds::handler_command_bytes_max));
    }
    return asked;
  }
  asked.url = arguments.value("--http");
  if (!asked.url.starts_with("http://") && !asked.url.starts_with("https://")) {
    return usage("--http is to begin with http:// or https://");
  }
  return asked;
}

// What handles the tasks, and what it stands on.
struct Hands {
  std::unique_ptr<SystemChildProcesses> processes = {};
  std::unique_ptr<HttpClient> http = {};
  TaskHandler handler = {};

  static Result<Hands> make(const Asked& asked, Clock& clock) {
    Hands hands;
    if (!asked.command.empty()) {
      PAWL_TRY(raise_descriptor_limit(asked.settings.concurrency, descriptors_a_child));
      hands.processes = PAWL_TRY(SystemChildProcesses::open());
      hands.handler = exec_handler(*hands.processes, asked.command);
    } else {
      PAWL_TRY(raise_descriptor_limit(asked.settings.concurrency, descriptors_a_call));
      hands.http = PAWL_TRY(CurlHttpClient::open());
      hands.handler = http_handler(*hands.http, clock, asked.url);
    }
    return hands;
  }
};

// A bar on a terminal: how far a worker is that is to end.
class WorkProgress {
 public:
  WorkProgress(net::Loop& loop, Clock& clock)
      : clock_(clock), timer_(loop.timer([this] { look(); })) {}

  // `done` says how many of them are.
  void follow(std::string what, std::uint64_t all, std::function<std::uint64_t()> done) {
    if (!on_screen() || all == 0) return;
    all_ = all;
    done_ = std::move(done);
    progress_.emplace(std::move(what), all, clock_);
    look();
  }
  // How it stands at the end.
  void finish() {
    if (progress_) progress_->show(std::min(done_(), all_));
    progress_.reset();
  }
  static bool on_screen() { return ::isatty(STDERR_FILENO) == 1; }

 private:
  void look() {
    constexpr Duration between_looks = Duration::milliseconds(100);
    progress_->show(std::min(done_(), all_));
    timer_->start(between_looks);
  }

  Clock& clock_;
  const net::TimerPtr timer_;
  std::uint64_t all_ = 0;
  std::function<std::uint64_t()> done_;
  std::optional<Progress> progress_;
};

// Drains at the first signal, ends at the second. Those that come together are one: `timeout`, for
// one, tells its child and then the whole group.
class Signals {
 public:
  struct Work {
    Clock& clock;
    TaskWorker& worker;
    SystemChildProcesses* processes;
    WorkProgress& progress;
  };

  Signals(net::Loop& loop, Work work, Duration drain)
      : clock_(work.clock),
        worker_(work.worker),
        processes_(work.processes),
        progress_(work.progress),
        drain_(drain),
        deadline_(loop.timer([] { give_up(); })) {
    loop.on_signals({SIGTERM, SIGINT, SIGHUP}, [this](int) { hear(); });
  }

 private:
  void hear() {
    constexpr Duration together = Duration::milliseconds(500);
    const SteadyInstant now = clock_.steady_now();
    if (heard_ > 0 && now - heard_at_ < together) return;
    heard_at_ = now;
    if (++heard_ == 1) {
      std::string line = "pawl: no more tasks are claimed";
      const std::uint64_t running = worker_.counts().running;
      if (running > 0) {
        line += "; those that run (" + std::to_string(running) + ") have " + to_string(drain_) +
                " to end. Another signal ends them at once.";
      }
      complain(line);
      worker_.drain(drain_);
      return progress_.follow("ended", running, [this, running] {
        return running - std::min(running, worker_.counts().running);
      });
    }
    if (heard_ > 2) return give_up();
    worker_.drain({});  // first: what is killed by us is given back, and no retry
    if (processes_ != nullptr) processes_->kill_all();
    deadline_->start(end_at_once);
  }
  [[noreturn]] static void give_up() {
    complain("pawl: ended at once: what ran is due again when its lease is over");
    std::_Exit(static_cast<int>(Code::unavailable));
  }

  Clock& clock_;
  TaskWorker& worker_;
  SystemChildProcesses* const processes_;
  WorkProgress& progress_;
  const Duration drain_;
  const net::TimerPtr deadline_;
  int heard_ = 0;
  SteadyInstant heard_at_ = {};
};

void say_end(const TaskAttemptEnd& end) {
  using How = TaskAttemptEnd::How;
  const bool put_off = end.how == How::rescheduled || end.how == How::given_back;
  if ((end.how == How::completed || put_off) && end.error.empty()) return;
  std::string how(to_string(end.how));
  std::ranges::replace(how, '_', ' ');
  std::string line = "pawl: task " + to_string(end.task.id) + " (" + end.task.terms.type +
                     "), attempt " + std::to_string(end.task.attempt) + ": " + how;
  constexpr std::size_t error_shown = 300;  // 'pawl get' has all of it
  if (!end.error.empty()) line += ": " + shortened(end.error, error_shown);
  // What a handler said last may be of several lines, or make a terminal do things.
  std::ranges::replace_if(line, [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; }, ' ');
  if (WorkProgress::on_screen()) line.insert(0, "\r\033[K");  // over a bar
  complain(line);
}

// Tasks that are due for this worker.
Result<std::uint64_t> due_for(QueueSession& session, const std::vector<std::string>& types) {
  const auto stats = PAWL_TRY(stats_of(session));
  std::uint64_t due = 0;
  for (const queue::Depth& depth : stats.types) {
    if (std::ranges::binary_search(types, depth.type)) due += depth.due;
  }
  return due;
}

void say_counts(const WorkerCounts& counts) {
  std::string line = "pawl: " + std::to_string(counts.claimed) + " claimed, " +
                     std::to_string(counts.completed) + " completed";
  const auto add = [&](std::uint64_t count, std::string_view what) {
    if (count > 0) line.append(", ").append(std::to_string(count)).append(" ").append(what);
  };
  add(counts.retried, "retried");
  add(counts.rescheduled, "rescheduled");
  add(counts.failed, "failed");
  add(counts.cancelled, "cancelled");
  add(counts.timed_out, "timed out");
  add(counts.given_back, "given back");
  add(counts.refused, "too late");
  complain(line);
}

Result<void> work_on(QueueSession& session, const Asked& asked) {
  std::signal(SIGPIPE, SIG_IGN);
  Hands hands = PAWL_TRY(Hands::make(asked, session.clock()));
  metrics::Registry registry;
  WorkMetrics numbers(registry, asked.settings.types);
  const std::unique_ptr<net::Loop> loop = net::Loop::make();
  MetricsDoor door(*loop, session, registry);
  if (asked.metrics) PAWL_TRY(door.open(*asked.metrics));

  WorkerHooks hooks{.claimed = [&](const queue::Task& task) { numbers.claimed(task); },
                    .ended =
                        [&](const TaskAttemptEnd& end) {
                          numbers.ended(end);
                          say_end(end);
                        },
                    .note = [](const std::string& text) { complain("pawl: " + text); }};
  TaskWorker worker(session.queue(), asked.settings, std::move(hands.handler),
                    {session.clock(), session.office().timers(), std::move(hooks)});
  WorkProgress progress(*loop, session.clock());
  const Signals signals(*loop, {session.clock(), worker, hands.processes.get(), progress},
                        asked.drain);
  if (asked.settings.once && WorkProgress::on_screen()) {
    const std::uint64_t due = PAWL_TRY(due_for(session, asked.settings.types));
    progress.follow("handled", due, [&worker] {
      const WorkerCounts counts = worker.counts();
      return counts.claimed - std::min(counts.claimed, counts.running);
    });
  }
  worker.start();
  Result<void> worked;
  std::thread waiting([&] {
    worked = worker.wait();
    loop->post([&] { loop->stop(); });
  });
  loop->run();
  waiting.join();
  progress.finish();
  hands.processes.reset();  // what did not end in time ends now
  say_counts(worker.counts());
  return worked;
}

constexpr auto work_options = std::to_array<Option>({
    {.name = "--type",
     .letter = 't',
     .value = {.name = "TYPE", .several = true, .asks = task_types},
     .help = "Tasks of this type; may be given several times. Must be given."},
    {.name = "--exec",
     .value = {.name = "COMMAND"},
     .help = "Run by /bin/sh for each task: the input on standard input, PAWL_TASK_ID, "
             "PAWL_TASK_TYPE, PAWL_TASK_KEY, PAWL_ATTEMPT and PAWL_FENCE in the environment."},
    {.name = "--http",
     .value = {.name = "URL"},
     .help = "In place of it: the input is posted there, with Pawl-Task-Id, Pawl-Task-Type, "
             "Pawl-Attempt, Pawl-Fence and Idempotency-Key, which a replay changes."},
    {.name = "--concurrency",
     .value = {.name = "N"},
     .help = "So many tasks at once.",
     .standard = "1"},
    {.name = "--once",
     .help = "Run what is due until nothing more may be claimed, then end. What is closed, or "
             "held by a limit, stays where it is."},
    {.name = "--lease",
     .value = {.name = "DURATION"},
     .help = "How long a task is ours without a sign of life; it is renewed while the handler "
             "works. Without it: queue.lease."},
    {.name = "--drain",
     .value = {.name = "DURATION"},
     .help = "How long tasks that run may take to end after SIGTERM.",
     .standard = "30s"},
    {.name = "--metrics",
     .value = {.name = "ADDRESS:PORT"},
     .help = "Serve numbers for Prometheus there, under /metrics: of this worker, and of a queue "
             "that no broker serves."},
    {.name = "--name",
     .value = {.name = "NAME"},
     .help = "Of the worker, for the history of tasks. Without it: host and process."},
});
constexpr ExitCode work_codes[] = {
    {0, "nothing was due any more (--once), or a signal ended it"},
    not_valid_code,
    not_allowed_code,
    store_refuses_code,
    {6, "the queue's store is not available, or commands cannot be run"},
};
constexpr Example work_examples[] = {
    {"pawl work -t mail --exec ./send-mail --concurrency 8", "a program of yours, eight at once"},
    {"pawl work -t mail -t sms --exec ./send --once", "what is due, and no more"},
    {"pawl work -t call_api --http http://127.0.0.1:9000/tasks", "a service of yours"},
};
constexpr Verb rows[] = {
    {.path = "work",
     .summary = "run tasks by a command or a service",
     .description =
         "Claims tasks and has each handled. With --exec, exit 0 completes the task, and standard "
         "output is its output (JSON, or a text, of at most 256 KiB: what is more is cut, kept as "
         "a string, and told on standard error). Exit 75 puts it off by {\"delay_seconds\":60} "
         "read from standard output (60 without it; \"scope\":\"key\", \"type\" or \"queue\" "
         "closes that for the time as well; an \"input\" takes the place of the task's, for the "
         "next run to go on where this one was; another member is passed over, and told). Behind "
         "more than 256 KiB of output it is not found, and the task fails for good. "
         "Exit 65 fails it for good. Anything else is tried "
         "again; the end of standard error is the task's last_error. At its timeout, and when it "
         "is cancelled, a command is ended with all its children, as long as they keep its "
         "environment. With --http, 2xx completes, 429 and 503 put off by Retry-After (60 s "
         "without it), and so does a 409 that has one (the same call is still under way); 408, "
         "425 and other 5xx are tried again, by the backoff and not before Retry-After, and the "
         "rest fails for good. "
         "SIGTERM lets what runs end; a second one does not. A command that "
         "hears it too, and ends by it, is given back: under systemd, KillMode=mixed lets it end "
         "its work.",
     .options = work_options,
     .exit_codes = work_codes,
     .examples = work_examples,
     .run = work},
};

}  // namespace

std::span<const Verb> work_rows() {
  return rows;
}

int work(const Arguments& arguments) {
  const std::optional<config::Config> config = config_in_force(arguments);
  if (!config) return static_cast<int>(Code::invalid);
  const Result<Asked> asked = asked_of(arguments, *config);
  if (!asked) return fail(asked.error());
  const auto session = QueueSession::open(*config, Opens::work);
  if (!session) return fail(session.error());
  const Result<void> worked = work_on(**session, *asked);
  (*session)->close();
  return worked ? 0 : fail(worked.error());
}

}  // namespace pawl::cli
