// Makes operations under keys through the executor, and dies where it is told to.
//
//   crashing_executor NAME=VALUE …
//
//   store       where keys are kept: sqlite:PATH, redis://…, nats://…/BUCKET or memory
//   folder      has the files `ledger`, `acknowledged` and `audit.jsonl`; processes may share it
//   key         of the operation
//   reconcile   no: nobody can find out what became of an attempt; else the ledger tells
//   lease_ms    of a claim; 60,000 unless given
//   effect_ms   how long an attempt works before its effect; 0 unless given
//   in_flight   conflict: who finds the key in flight is told so; else it waits
//   keys        makes operations under KEY-0, KEY-1 …, so many of them
//   times       makes each so many times
//   threads     so many at once
//   die_at      SIGKILL at this step; steps are counted from 1, for a single operation only
//   pause_at    says so at this step, and goes on when a line comes in
//
// The effect is a line `KEY RESULT .` in the ledger, which stands for the other side: it outlives
// whoever dies, and no two results are alike. A kill may cut a write where a page of the file ends:
// a line without its full stop was never written, and each begins with the end of the one before.
// The first attempt of an operation is turned away before it has had an effect, so that there are
// delays to decide on. When an operation has told its result, a line `KEY RESULT .` goes to the
// acknowledgements. Both files are synced.
//
// Says `KEY HOW RESULT` for each operation; for a single one also each step that was passed, as
// `step NAME`. Ends with 0 when all have been answered, however that was.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <iostream>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "adapter/file/audit_file.h"
#include "adapter/system/system_clock.h"
#include "adapter/system/waiting_room.h"
#include "runtime/operations.h"
#include "tests/crash/stepping.h"

namespace {

using namespace pawl;
using namespace pawl::crash;

class Program {
 public:
  explicit Program(const Words& words)
      : words_(words),
        folder_(words.text("folder")),
        ledger_(folder_ + "/ledger"),
        acknowledged_(folder_ + "/acknowledged"),
        steps_(words.number("die_at", 0), words.number("pause_at", 0)) {}
  ~Program() { waiting_.close(); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  Result<void> open() {
    store_ = PAWL_TRY(open_store(words_.text("store"), clock_));
    audit_ = PAWL_TRY(AuditFile::open({.path = folder_ + "/audit.jsonl"}));
    RecordStore* store = store_.get();
    EventSink* audit = audit_.get();
    if (is_single()) {
      store = &stepped_store_.emplace(*store_, steps_);
      audit = &stepped_audit_.emplace(*audit_, steps_);
    }
    operations_.emplace(
        Operations::Options{.budget = {.ratio_milli = 10'000, .min_per_second = 1'000},
                            .lease = Duration::milliseconds(words_.number("lease_ms", 60'000)),
                            .on_in_flight = words_.text("in_flight") == "conflict"
                                                ? execution::OnInFlight::conflict
                                                : execution::OnInFlight::wait},
        Operations::Ports{clock_, waiting_, store, audit});
    return {};
  }

  void run() {
    const std::vector<std::string> keys = keys_to_run();
    const int count = words_.number("threads", 1);
    std::latch all_there(count);
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      all_there.arrive_and_wait();
      for (std::size_t i = next++; i < keys.size(); i = next++) run_one(keys[i]);
    };
    std::vector<std::thread> threads;
    for (int i = 1; i < count; ++i) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    if (is_single()) steps_.tell();
  }

 private:
  bool is_single() const { return words_.text("keys").empty() && words_.text("times").empty(); }
  std::vector<std::string> keys_to_run() const {
    const std::string key = words_.text("key");
    std::vector<std::string> keys;
    for (int time = 0; time < words_.number("times", 1); ++time) {
      if (words_.text("keys").empty()) keys.push_back(key);
      for (int i = 0; i < words_.number("keys", 0); ++i) {
        keys.push_back(key + "-" + std::to_string(i));
      }
    }
    return keys;
  }
  void pass(std::string_view name) {
    if (is_single()) steps_.pass(name);
  }

  void run_one(const std::string& key) {
    const auto desk = std::make_shared<Desk>();
    operations_->run(operation(key, desk), [this, desk](OperationEnd end) {
      pass("told");
      desk->finish(std::move(end));
    });
    const OperationEnd end = desk->work();
    const auto how = end.answer.how;
    const std::string& result = end.answer.response.body;
    if (how == execution::Answer::How::done || how == execution::Answer::How::replayed) {
      pass("acknowledge");
      acknowledged_.add(key, result);
      pass("acknowledged");
    }
    say(key + " " + std::string(name_of(how)) + " " + result);
  }

  Operation operation(const std::string& key, const std::shared_ptr<Desk>& desk) {
    Operation made;
    made.category = "RETRY_API_REQUEST";
    made.name = "write to the ledger";
    made.correlation.correlation_id = key;
    made.policy = retry::Policy{.base_delay = Duration::milliseconds(4)};
    made.key = key;
    made.fingerprint = "ledger";
    made.attempt = [this, key, desk](const AttemptAsk& ask, Operation::Ended ended) {
      desk->post([this, key, ask, ended = std::move(ended)]() mutable {
        const std::string name = "attempt_" + std::to_string(ask.number);
        pass(name);
        ended(attempt(key, ask));
        pass(name + "_ended");
      });
    };
    if (words_.text("reconcile") == "no") return made;
    made.reconcile = [this, key, desk](const AttemptAsk&, Operation::Ended ended) {
      desk->post([this, key, ended = std::move(ended)]() mutable {
        pass("reconcile");
        ended(reconcile(key));
        pass("reconcile_ended");
      });
    };
    return made;
  }

  AttemptEnd attempt(const std::string& key, const AttemptAsk& ask) {
    if (ask.number == 1) {
      return {.seen = {retry::Failure::rate_limited, Outcome::not_applied, true},
              .message = "the first is turned away"};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(words_.number("effect_ms", 0)));
    const std::string result = std::to_string(::getpid()) + "-" + std::to_string(ask.fence);
    ledger_.add(key, result);
    pass("effect_made");
    return {.seen = {retry::Failure::none, Outcome::applied, false}, .response = {.body = result}};
  }

  AttemptEnd reconcile(const std::string& key) {
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
  // What is under way ends with the timers and with the answers of the store, which come while all
  // the rest still stands.
  WaitingRoom waiting_;
  std::optional<Operations> operations_;
  std::optional<SteppedSink> stepped_audit_;
  std::optional<SteppedStore> stepped_store_;
  std::unique_ptr<AuditFile> audit_;
  std::unique_ptr<RecordStore> store_;
};

}  // namespace

int main(int argc, char** argv) {
  const Words words(argc, argv);
  if (words.text("store").empty() || words.text("folder").empty() || words.text("key").empty()) {
    std::cerr << "usage: crashing_executor store=… folder=… key=… [NAME=VALUE …]\n";
    return 2;
  }
  Program program(words);
  if (const auto opened = program.open(); !opened) {
    std::cerr << opened.error().message << "\n";
    return static_cast<int>(opened.error().code);
  }
  program.run();
  return 0;
}
