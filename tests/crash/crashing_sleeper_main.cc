// Makes an operation that has to sleep, or goes on with those that slept, and dies where it is told
// to.
//
//   crashing_sleeper NAME=VALUE …
//
//   role        call: makes the operation; work: goes on with what slept, until nothing sleeps
//   store       where keys are kept
//   queue       where operations sleep
//   folder      has the files `ledger`, `acknowledged` and `audit.jsonl`; processes may share it
//   key         of the operation
//   reconcile   no: nobody can find out what became of an attempt; else the ledger tells
//   lease_ms    of a key
//   die_at      SIGKILL at this step; steps are counted from 1
//
// The effect is a line in the ledger (stepping.h), made by the third attempt; the two before are
// turned away with an instant that is worth a sleep. Says `KEY HOW RESULT` for each operation, and
// each step that was passed, as `step NAME`.
#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "adapter/file/audit_file.h"
#include "adapter/system/system_clock.h"
#include "adapter/system/system_entropy.h"
#include "adapter/system/waiting_room.h"
#include "assembly/queue_office.h"
#include "port/answer_of.h"
#include "runtime/durable_sleep.h"
#include "runtime/operations.h"
#include "tests/crash/stepping.h"

namespace {

using namespace pawl;
using namespace pawl::crash;

constexpr Duration sleep_from = Duration::milliseconds(20);
constexpr Duration pushback = Duration::milliseconds(60);
constexpr Duration task_lease = Duration::milliseconds(500);
constexpr int attempts_turned_away = 2;

// A queue whose every call is three steps.
class SteppedQueue final : public TaskQueue {
 public:
  SteppedQueue(TaskQueue& queue, Steps& steps) : queue_(queue), steps_(steps) {}

  void give(std::vector<queue::Command> commands, Done<std::vector<queue::Reply>> done) override {
    steps_.pass("give");
    queue_.give(std::move(commands), [this, done = std::move(done)](auto replies) mutable {
      steps_.pass("given");
      done(std::move(replies));
    });
    steps_.pass("give_sent");
  }
  void claim(ClaimAsk ask, Done<ClaimedTasks> done) override {
    queue_.claim(std::move(ask), std::move(done));
  }
  void list(queue::TaskFilter filter, Done<std::vector<queue::Task>> done) override {
    queue_.list(std::move(filter), std::move(done));
  }
  void find(queue::TaskId, Done<queue::Task>) override {}
  void history(queue::TaskId, Done<queue::History>) override {}
  void why(queue::TaskId, Done<queue::Why>) override {}
  void stats(Done<queue::Stats>) override {}
  void schedules(Done<std::vector<queue::Schedule>>) override {}
  void closings(Done<std::vector<queue::Closing>>) override {}
  void limits(Done<std::vector<queue::SetLimit>>) override {}
  QueueView view() override { return queue_.view(); }
  void stop_claims() override { queue_.stop_claims(); }

 private:
  TaskQueue& queue_;
  Steps& steps_;
};

class Program {
 public:
  explicit Program(const Words& words)
      : words_(words),
        folder_(words.text("folder")),
        ledger_(folder_ + "/ledger"),
        acknowledged_(folder_ + "/acknowledged"),
        steps_(words.number("die_at", 0), 0) {}
  ~Program() {
    if (office_) office_->close();
    waiting_.close();
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  Result<void> open() {
    store_ = PAWL_TRY(open_store(words_.text("store"), clock_));
    audit_ = PAWL_TRY(AuditFile::open({.path = folder_ + "/audit.jsonl"}));
    office_ = PAWL_TRY(QueueOffice::open({.url = words_.text("queue")}, {clock_, entropy_}));
    queue_.emplace(office_->queue(), steps_);
    sleep_.emplace(*queue_, clock_, entropy_);
    stepped_store_.emplace(*store_, steps_);
    stepped_audit_.emplace(*audit_, steps_);
    operations_.emplace(
        Operations::Options{.budget = {.ratio_milli = 10'000, .min_per_second = 1'000},
                            .lease = Duration::milliseconds(words_.number("lease_ms", 60'000))},
        Operations::Ports{clock_, waiting_, &*stepped_store_, &*stepped_audit_});
    return {};
  }

  void run() {
    if (words_.text("role") == "call") {
      call();
    } else {
      work();
    }
    steps_.tell();
  }

 private:
  void call() {
    execution::Asleep asleep{.input = "{}", .key = words_.text("key"), .fingerprint = "ledger"};
    asleep.correlation.correlation_id = asleep.key;
    const auto desk = std::make_shared<Desk>();
    Operation made = operation(asleep, desk);
    sleep_->may_sleep(made, asleep, std::make_shared<Bed>());
    told(asleep.key, run(std::move(made), desk));
  }

  // Until nothing sleeps.
  void work() {
    while (any_left()) {
      const auto claimed = answer_of<ClaimedTasks>([&](auto done) {
        queue_->claim({.claim = {.worker = "worker", .lease = task_lease},
                       .wait = Duration::milliseconds(200)},
                      std::move(done));
      });
      if (!claimed || claimed->tasks.empty()) continue;
      steps_.pass("claimed");
      go_on(claimed->tasks.front());
    }
  }
  bool any_left() {
    for (const queue::Status status : {queue::Status::pending, queue::Status::running}) {
      const auto tasks = answer_of<std::vector<queue::Task>>(
          [&](auto done) { queue_->list({.status = status, .limit = 1}, std::move(done)); });
      if (!tasks || !tasks->empty()) return true;
    }
    return false;
  }
  void go_on(const queue::Task& task) {
    const execution::Asleep asleep = execution::read_asleep(task.terms.input).value();
    const auto desk = std::make_shared<Desk>();
    Operation made = operation(asleep, desk);
    const DurableSleep::Held held{task.id, task.fence};
    auto ending = sleep_->goes_on(made, held, asleep);
    if (!ending) {
      const OperationEnd end = run(std::move(made), desk);
      told(asleep.key, end);
      ending = ending_of(end);
    }
    this->end(held, *ending);
  }
  void end(const DurableSleep::Held& held, const TaskEnding& ending) {
    queue::Command command;
    if (ending.kind == TaskEnding::Kind::completed) {
      command = queue::Complete{.id = held.id, .fence = held.fence, .output = ending.output};
    } else if (ending.kind == TaskEnding::Kind::reschedule) {
      command = queue::Reschedule{.id = held.id, .fence = held.fence, .delay = ending.delay};
    } else {
      command =
          queue::Fail{.id = held.id, .fence = held.fence, .error = "failed", .permanent = true};
    }
    // One whose lease was over is refused, and another goes on.
    (void)answer_of<std::vector<queue::Reply>>(
        [&](auto done) { queue_->give({std::move(command)}, std::move(done)); });
  }

  OperationEnd run(Operation made, const std::shared_ptr<Desk>& desk) {
    operations_->run(std::move(made), [this, desk](OperationEnd end) {
      steps_.pass("told");
      desk->finish(std::move(end));
    });
    return desk->work();
  }
  void told(const std::string& key, const OperationEnd& end) {
    using How = execution::Answer::How;
    const std::string& result = end.answer.response.body;
    if (end.answer.how == How::done || end.answer.how == How::replayed) {
      acknowledged_.add(key, result);
      steps_.pass("acknowledged");
    }
    say(key + " " + std::string(name_of(end.answer.how)) + " " + result);
  }

  Operation operation(const execution::Asleep& asleep, const std::shared_ptr<Desk>& desk) {
    Operation made;
    made.category = "RETRY_API_REQUEST";
    made.name = "write_to_the_ledger";
    made.correlation = asleep.correlation;
    made.policy = retry::Policy{.max_attempts = 5, .base_delay = Duration::milliseconds(1)};
    made.key = asleep.key;
    made.fingerprint = asleep.fingerprint;
    made.sleep_from = sleep_from;
    made.attempt = [this, key = asleep.key, desk](const AttemptAsk& ask, Operation::Ended ended) {
      desk->post([this, key, ask, ended = std::move(ended)]() mutable {
        steps_.pass("attempt_" + std::to_string(ask.number));
        ended(attempt(key, ask));
      });
    };
    if (words_.text("reconcile") == "no") return made;
    made.reconcile = [this, key = asleep.key, desk](const AttemptAsk&, Operation::Ended ended) {
      desk->post([this, key, ended = std::move(ended)]() mutable {
        steps_.pass("reconcile");
        ended(reconcile(key));
      });
    };
    return made;
  }
  AttemptEnd attempt(const std::string& key, const AttemptAsk& ask) {
    if (ask.number <= attempts_turned_away) {
      return {.seen = {retry::Failure::rate_limited, Outcome::not_applied, true},
              .message = "it is turned away",
              .pushback = pushback};
    }
    const std::string result = std::to_string(::getpid()) + "-" + std::to_string(ask.fence);
    ledger_.add(key, result);
    steps_.pass("effect_made");
    return {.seen = {retry::Failure::none, Outcome::applied, false}, .response = {.body = result}};
  }
  AttemptEnd reconcile(const std::string& key) const {
    const std::optional<std::string> found = ledger_.find(key);
    AttemptEnd end{.seen = {retry::Failure::none, Outcome::not_applied, true}};
    if (found) {
      end.seen.outcome = Outcome::applied;
      end.response.body = *found;
    }
    return end;
  }

  const Words words_;
  const std::string folder_;
  const Lines ledger_;
  const Lines acknowledged_;
  Steps steps_;
  SystemClock clock_;
  SystemEntropy entropy_;
  WaitingRoom waiting_;
  std::optional<Operations> operations_;
  std::optional<SteppedSink> stepped_audit_;
  std::optional<SteppedStore> stepped_store_;
  std::optional<DurableSleep> sleep_;
  std::optional<SteppedQueue> queue_;
  std::unique_ptr<QueueOffice> office_;
  std::unique_ptr<AuditFile> audit_;
  std::unique_ptr<RecordStore> store_;
};

}  // namespace

int main(int argc, char** argv) {
  const Words words(argc, argv);
  Program program(words);
  if (const auto opened = program.open(); !opened) {
    std::cerr << opened.error().message << "\n";
    return static_cast<int>(opened.error().code);
  }
  program.run();
  return 0;
}
