// What programs that die where they are told to have in common: steps, at one of which they do, a
// ledger that outlives them, and stores and logs whose every call is a step.
#pragma once

#include <array>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include "adapter/memory/memory_record_store.h"
#include "adapter/nats/nats_record_store.h"
#include "adapter/redis/redis_record_store.h"
#include "adapter/sqlite/sqlite_record_store.h"
#include "port/event_sink.h"
#include "runtime/operations.h"

namespace pawl::crash {

// In one write, so that lines of threads and processes do not mix.
inline void write_text(int file, const std::string& text) {
  if (::write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
}

inline void say(const std::string& line) {
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
  void list(const RecordFilter& filter, Done<std::vector<KeptRecord>> done) override {
    store_.list(filter, std::move(done));
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

inline Result<std::unique_ptr<RecordStore>> open_store(const std::string& store, Clock& clock) {
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

inline std::string_view name_of(execution::Answer::How how) {
  constexpr std::array<std::string_view, 12> names = {
      "done",     "replayed", "gave_up",      "unresolved", "cancelled", "in_flight",
      "mismatch", "no_store", "not_recorded", "stale",      "asleep",    "not_slept"};
  return names[static_cast<std::size_t>(how)];
}

}  // namespace pawl::crash
