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
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <iostream>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "adapter/file/audit_file.h"
#include "adapter/memory/memory_record_store.h"
#include "adapter/nats/nats_record_store.h"
#include "adapter/redis/redis_record_store.h"
#include "adapter/sqlite/sqlite_record_store.h"
#include "adapter/system/system_clock.h"
#include "adapter/system/waiting_room.h"
#include "runtime/operations.h"

namespace {

using namespace pawl;

// In one write, so that lines of threads and processes do not mix.
void write_text(int file, const std::string& text) {
  if (::write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
}

void say(const std::string& line) {
  write_text(STDOUT_FILENO, line + "\n");
}

// Lines that are on the disk when add() returns.
class Lines {
 public:
  explicit Lines(const std::string& path)
      : path_(path), file_(::open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600)) {
    if (file_ < 0) std::abort();
  }
  ~Lines() { ::close(file_); }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  void add(const std::string& key, const std::string& result) const {
    write_text(file_, "\n" + key + " " + result + std::string(whole));
    if (::fsync(file_) != 0) std::abort();
  }
  // The result in the first line of the key.
  std::optional<std::string> find(const std::string& key) const {
    std::ifstream lines(path_);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with(key + " ") || !line.ends_with(whole)) continue;
      return line.substr(key.size() + 1, line.size() - key.size() - 1 - whole.size());
    }
    return std::nullopt;
  }

 private:
  static constexpr std::string_view whole = " .";
  const std::string path_;
  const int file_;
};

// What happens on the way, one after the other. At one of the steps the process may be told to die.
class Steps {
 public:
  Steps(int die_at, int pause_at) : die_at_(die_at), pause_at_(pause_at) {}

  void pass(std::string_view name) {
    int number = 0;
    {
      const std::lock_guard lock(mutex_);
      passed_.emplace_back(name);
      number = static_cast<int>(passed_.size());
    }
    if (number == die_at_) {
      say("died " + std::string(name));
      ::kill(::getpid(), SIGKILL);
    }
    if (number == pause_at_) {
      say("paused " + std::string(name));
      std::string line;
      std::getline(std::cin, line);
    }
  }
  void tell() {
    const std::lock_guard lock(mutex_);
    for (const std::string& name : passed_) say("step " + name);
  }

 private:
  const int die_at_;
  const int pause_at_;
  std::mutex mutex_;
  std::vector<std::string> passed_;
};

// A store whose every call is three steps: before it, under way, and answered.
class SteppedStore final : public RecordStore {
 public:
  SteppedStore(RecordStore& store, Steps& steps) : store_(store), steps_(steps) {}

  void begin(const RecordKey& key, const idempotency::Begin& ask,
             Done<idempotency::Begun> done) override {
    steps_.pass("begin");
    store_.begin(key, ask, [this, done = std::move(done)](auto begun) mutable {
      steps_.pass("begun");
      done(std::move(begun));
    });
    steps_.pass("begin_sent");
  }
  void complete(const RecordKey& key, std::uint64_t fence, idempotency::Completion how,
                Done<void> done) override {
    steps_.pass("complete");
    store_.complete(key, fence, std::move(how),
                    [this, done = std::move(done)](auto result) mutable {
                      steps_.pass("completed");
                      done(std::move(result));
                    });
    steps_.pass("complete_sent");
  }
  // Renewals come by the clock: no step, so that runs are alike.
  void renew(const RecordKey& key, std::uint64_t fence, Duration lease, Done<void> done) override {
    store_.renew(key, fence, lease, std::move(done));
  }
  void settle(const RecordKey& key, idempotency::Completion how, Done<void> done) override {
    store_.settle(key, std::move(how), std::move(done));
  }
  void get(const RecordKey& key, Done<idempotency::Record> done) override {
    store_.get(key, std::move(done));
  }
  void clear(const RecordKey& key, bool force, Done<void> done) override {
    store_.clear(key, force, std::move(done));
  }
  void list(std::string_view scope, std::size_t limit,
            Done<std::vector<KeptRecord>> done) override {
    store_.list(scope, limit, std::move(done));
  }
  Durability durability() const override { return store_.durability(); }

 private:
  RecordStore& store_;
  Steps& steps_;
};

// Each event is on the disk before the next step.
class SteppedSink final : public EventSink {
 public:
  SteppedSink(EventSink& sink, Steps& steps) : sink_(sink), steps_(steps) {}

  Result<void> append(audit::Event event) override {
    const std::string what(audit::to_string(event.type));
    steps_.pass("audit_" + what);
    PAWL_TRY(sink_.append(std::move(event)));
    PAWL_TRY(sink_.flush());
    steps_.pass("audited_" + what);
    return {};
  }
  Result<void> flush() override { return sink_.flush(); }
  std::uint64_t lag() const override { return sink_.lag(); }

 private:
  EventSink& sink_;
  Steps& steps_;
};

// What the thread of an operation does: its attempts, until its end has come. Stores and timers
// call on threads that must not be kept.
class Desk {
 public:
  using Job = std::move_only_function<void()>;

  void post(Job job) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    changed_.notify_one();
  }
  void finish(OperationEnd end) {
    {
      const std::lock_guard lock(mutex_);
      end_ = std::move(end);
    }
    changed_.notify_one();
  }
  OperationEnd work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return end_ || !jobs_.empty(); });
      if (jobs_.empty()) return *std::move(end_);
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
      lock.lock();
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::optional<OperationEnd> end_;
};

class Words {
 public:
  Words(int count, char** words) {
    for (int i = 1; i < count; ++i) {
      const std::string_view word = words[i];
      const auto middle = word.find('=');
      if (middle != word.npos)
        values_[std::string(word.substr(0, middle))] = word.substr(middle + 1);
    }
  }
  std::string text(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? "" : found->second;
  }
  int number(const std::string& name, int otherwise) const {
    const std::string found = text(name);
    return found.empty() ? otherwise : std::atoi(found.c_str());
  }

 private:
  std::map<std::string, std::string> values_;
};

Result<std::unique_ptr<RecordStore>> open_store(const std::string& store, Clock& clock) {
  constexpr std::string_view sqlite = "sqlite:";
  if (store == "memory") return std::make_unique<MemoryRecordStore>(clock);
  if (store.starts_with(sqlite)) {
    return PAWL_TRY(SqliteRecordStore::open({.path = store.substr(sqlite.size())}, clock));
  }
  if (store.starts_with("nats:")) {
    // All processes are on this machine and have one clock.
    return PAWL_TRY(NatsRecordStore::open(
        {.url = PAWL_TRY(nats::parse_nats_url(store)), .clock_margin = Duration::milliseconds(10)},
        clock));
  }
  return PAWL_TRY(RedisRecordStore::open(PAWL_TRY(redis::parse_redis_url(store)), clock, {}));
}

std::string_view name_of(execution::Answer::How how) {
  constexpr std::array<std::string_view, 10> names = {
      "done",      "replayed", "gave_up",  "unresolved",   "cancelled",
      "in_flight", "mismatch", "no_store", "not_recorded", "stale"};
  return names[static_cast<std::size_t>(how)];
}

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
