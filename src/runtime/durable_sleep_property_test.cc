// Goal: whoever dies, and wherever, an operation that sleeps has no second effect, never two
//       attempts at once, and an end; and while nobody dies it is not sent before its server
//       allows.
// Method: processes on one store of keys and one queue, in time that is moved by hand. Each may die
//         at any of its calls, before it or before its answer; callers come with the same keys
//         while others sleep; the server is silent, turns away, names instants or does what was
//         asked. In the end nobody dies any more, and every task must reach its end.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <rapidcheck/gtest.h>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "adapter/memory/memory_record_store.h"
#include "runtime/durable_sleep.h"
#include "runtime/operations.h"
#include "runtime/queue_log_fixture.h"
#include "runtime/task_queue_fixture.h"

namespace pawl {
namespace {

using How = execution::Answer::How;

constexpr Duration sleep_from = Duration::seconds(5);
constexpr Duration task_lease = Duration::minutes(10);
constexpr Duration key_lease = Duration::seconds(30);

std::int64_t dice(std::int64_t most) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::int64_t>(0, most));
}

// How many more calls a process makes before it dies, and whether the last of them is made.
class Life {
 public:
  explicit Life(std::int64_t calls, bool made) : left_(calls), made_(made) {}

  bool is_over() const { return over_; }
  void end() { over_ = true; }
  // Calls `call` with `done`, unless it dies before it or before the answer.
  template <class Done, class Call>
  void pass(Done done, const Call& call) {
    if (over_) return;
    if (left_-- == 0) {
      over_ = true;
      if (made_) call(Done([](auto&&) {}));
      return;
    }
    call(std::move(done));
  }

 private:
  std::int64_t left_;
  bool made_;
  bool over_ = false;
};

class MortalStore final : public RecordStore {
 public:
  MortalStore(RecordStore& store, Life& life) : store_(store), life_(life) {}

  void begin(const RecordKey& key, const idempotency::Begin& ask,
             Done<idempotency::Begun> done) override {
    life_.pass(std::move(done), [&](auto told) { store_.begin(key, ask, std::move(told)); });
  }
  void renew(const RecordKey& key, std::uint64_t fence, Duration lease, Done<void> done) override {
    life_.pass(std::move(done),
               [&](auto told) { store_.renew(key, fence, lease, std::move(told)); });
  }
  void complete(const RecordKey& key, std::uint64_t fence, idempotency::Completion how,
                Done<void> done) override {
    life_.pass(std::move(done),
               [&](auto told) { store_.complete(key, fence, std::move(how), std::move(told)); });
  }
  void settle(const RecordKey&, idempotency::Completion, Done<void>) override {}
  void get(const RecordKey&, Done<idempotency::Record>) override {}
  void clear(const RecordKey&, bool, Done<void>) override {}
  void list(const RecordFilter&, Done<std::vector<KeptRecord>>) override {}
  Durability durability() const override { return store_.durability(); }

 private:
  RecordStore& store_;
  Life& life_;
};

class MortalQueue final : public TaskQueue {
 public:
  MortalQueue(MachineQueue& queue, Life& life) : queue_(queue), life_(life) {}

  void give(std::vector<queue::Command> commands, Done<std::vector<queue::Reply>> done) override {
    life_.pass(std::move(done),
               [&](auto told) { queue_.give(std::move(commands), std::move(told)); });
  }
  void list(queue::TaskFilter filter, Done<std::vector<queue::Task>> done) override {
    life_.pass(std::move(done),
               [&](auto told) { queue_.list(std::move(filter), std::move(told)); });
  }
  void claim(ClaimAsk, Done<ClaimedTasks>) override {}
  void find(queue::TaskId, Done<queue::Task>) override {}
  void history(queue::TaskId, Done<queue::History>) override {}
  void why(queue::TaskId, Done<queue::Why>) override {}
  void stats(Done<queue::Stats>) override {}
  void schedules(Done<std::vector<queue::Schedule>>) override {}
  void closings(Done<std::vector<queue::Closing>>) override {}
  void limits(Done<std::vector<queue::SetLimit>>) override {}
  QueueView view() override { return {}; }
  void stop_claims() override {}

 private:
  MachineQueue& queue_;
  Life& life_;
};

// The other side, and what it saw of each key.
class Server {
 public:
  explicit Server(ManualClock& clock) : clock_(clock) {}

  void arrives(const std::string& key, bool was_told) {
    if (!under_way_.insert(key).second) wrong = "two attempts at once";
    if (was_told && clock_.steady_now() < not_before_[key]) wrong = "sent before it was allowed";
  }
  // What it does, and what the caller hears of it.
  AttemptEnd does(const std::string& key) {
    const std::int64_t what = is_kind_ ? 0 : dice(9);
    if (what <= 1 && ++effects_[key] > 1) wrong = "a second effect";
    if (what == 0) {
      return {.seen = {retry::Failure::none, Outcome::applied, false}, .response = {.body = key}};
    }
    // No answer came, whether it was done or not; or it is turned away.
    AttemptEnd end{.seen = {retry::Failure::rate_limited, Outcome::not_applied, true},
                   .message = "not now"};
    if (what <= 2) end.seen = {retry::Failure::server_error, Outcome::unknown, true};
    if (what == 2 || what >= 4 || dice(2) == 0) {
      end.pushback = Duration::seconds(1 + dice(900));
      not_before_[key] = clock_.steady_now() + end.pushback;
    }
    return end;
  }
  void leaves(const std::string& key) { under_way_.erase(key); }
  int effects(const std::string& key) { return effects_[key]; }
  void be_kind() { is_kind_ = true; }

  std::string wrong;  // exceptions must not pass through what is tested

 private:
  ManualClock& clock_;
  bool is_kind_ = false;
  std::set<std::string> under_way_;
  std::map<std::string, int> effects_;
  std::map<std::string, SteadyInstant> not_before_;
};

class World {
 public:
  explicit World(bool deaths)
      : deaths_(deaths),
        server_(clock_),
        can_reconcile_(dice(2) == 0),
        alone_(dice(2) == 0),
        remembers_(alone_ && !deaths) {}

  void call() {
    const std::string key = alone_ ? "k" + std::to_string(calls_) : "k" + std::to_string(dice(2));
    ++calls_;
    keys_.insert(key);
    Process& process = born();
    execution::Asleep asleep{.input = "{}", .key = key};
    Operation made = operation(process, key);
    process.sleep.may_sleep(made, asleep, process.bed);
    process.operations.run(std::move(made), [this, key, &process](const OperationEnd& end) {
      if (!process.life.is_over()) told(key, end);
    });
  }
  // Takes up one task that is due.
  bool work() {
    std::vector<queue::Task> tasks;
    queue_.claim({.claim = {.worker = "w", .count = 1, .lease = task_lease}},
                 [&](Result<ClaimedTasks> got) { tasks = std::move(got->tasks); });
    if (tasks.empty()) return false;
    const queue::Task& task = tasks.front();
    const auto asleep = execution::read_asleep(task.terms.input);
    RC_ASSERT(asleep.has_value());
    Process& process = born();
    Operation made = operation(process, asleep->key);
    const DurableSleep::Held held{task.id, task.fence};
    if (const auto ending = process.sleep.goes_on(made, held, *asleep)) {
      end(process, held, *ending);
      return true;
    }
    process.operations.run(std::move(made),
                           [this, key = asleep->key, held, &process](const OperationEnd& ended) {
                             if (process.life.is_over()) return;
                             told(key, ended);
                             end(process, held, ending_of(ended));
                           });
    return true;
  }
  void pass(Duration time) {
    timers_.advance(time);
    RC_ASSERT(server_.wrong == "");
  }
  void nobody_dies_any_more() {
    deaths_ = false;
    server_.be_kind();
  }
  bool all_over() {
    return std::ranges::all_of(queue_.machine.list({.limit = 1'000}),
                               [](const queue::Task& task) { return is_over(task.status); });
  }
  // What was told about each key holds.
  void check() {
    for (const std::string& key : keys_) {
      RC_ASSERT(server_.effects(key) <= 1);
      if (done_.contains(key)) RC_ASSERT(server_.effects(key) == 1);
    }
    for (const queue::Task& task : queue_.machine.list({.limit = 1'000})) {
      const std::string key = execution::read_asleep(task.terms.input).value().key;
      if (task.status == queue::Status::completed) RC_ASSERT(server_.effects(key) == 1);
      slept_.erase(to_string(task.id));
    }
    RC_ASSERT(slept_.empty());  // who was told of a task finds it
  }

 private:
  struct Process {
    Process(World& world, Life given)
        : life(given),
          records(world.records_, life),
          queue(world.queue_, life),
          sleep(queue, world.clock_, world.ids_),
          operations({.budget = {.ratio_milli = 10'000, .min_per_second = 1'000},
                      .breaker = {.failures = 1'000},
                      .lease = key_lease},
                     {world.clock_, world.timers_, &records, nullptr}) {}
    Life life;
    MortalStore records;
    MortalQueue queue;
    DurableSleep sleep;
    std::shared_ptr<Bed> bed = std::make_shared<Bed>();
    Operations operations;
  };

  Process& born() {
    const bool dies = deaths_ && dice(2) == 0;
    processes_.push_back(
        std::make_unique<Process>(*this, Life(dies ? dice(8) : 1'000'000, dies && dice(2) == 0)));
    return *processes_.back();
  }

  Operation operation(Process& process, const std::string& key) {
    Operation made;
    made.category = "RETRY_API_REQUEST";
    made.name = "pay";
    made.policy = retry::Policy{.max_attempts = 6, .jitter = retry::Jitter::none};
    made.key = key;
    made.sleep_from = sleep_from;
    made.attempt = [this, key, &process](const AttemptAsk&, Operation::Ended ended) {
      if (process.life.is_over()) return;
      server_.arrives(key, remembers_);
      const std::int64_t fate = deaths_ ? dice(12) : 2;
      if (fate == 0) process.life.end();  // before it was sent
      timers_.after(Duration::milliseconds(dice(3'000)),
                    [this, key, fate, &process, ended = std::move(ended)](bool) mutable {
                      const bool sent = !process.life.is_over();
                      std::optional<AttemptEnd> end;
                      if (sent) end = server_.does(key);
                      server_.leaves(key);
                      if (fate == 1) process.life.end();  // before the answer came
                      if (end && !process.life.is_over()) ended(*std::move(end));
                    });
    };
    if (!can_reconcile_) return made;
    made.reconcile = [this, key, &process](const AttemptAsk&, Operation::Ended ended) {
      if (process.life.is_over()) return;
      const bool there = server_.effects(key) > 0;
      ended({.seen = {retry::Failure::none, there ? Outcome::applied : Outcome::not_applied, true},
             .response = {.body = key}});
    };
    return made;
  }

  void told(const std::string& key, const OperationEnd& end) {
    if (end.answer.outcome == Outcome::applied) done_.insert(key);
    if (end.answer.how == How::asleep) slept_.insert(end.task);
  }

  static void end(Process& process, const DurableSleep::Held& held, const TaskEnding& ending) {
    queue::Command command;
    if (ending.kind == TaskEnding::Kind::completed) {
      command = queue::Complete{.id = held.id, .fence = held.fence, .output = ending.output};
    } else if (ending.kind == TaskEnding::Kind::reschedule) {
      command = queue::Reschedule{.id = held.id, .fence = held.fence, .delay = ending.delay};
    } else {
      command = queue::Fail{.id = held.id, .fence = held.fence, .error = "no", .permanent = true};
    }
    process.queue.give({std::move(command)}, [](auto&&) {});
  }

  bool deaths_;
  ManualClock clock_;
  ManualTimers timers_{clock_};
  MemoryRecordStore records_{clock_};
  MachineQueue queue_{clock_, timers_};
  CountedNonces ids_;
  Server server_;
  const bool can_reconcile_;
  const bool alone_;      // each key has one caller
  const bool remembers_;  // and nobody dies with what the server said
  int calls_ = 0;
  std::set<std::string> keys_;
  std::set<std::string> done_;   // somebody was told
  std::set<std::string> slept_;  // tasks that somebody was told of
  std::vector<std::unique_ptr<Process>> processes_;
};

void live(bool deaths) {
  World world(deaths);
  const std::int64_t steps = 10 + dice(90);
  for (std::int64_t i = 0; i < steps; ++i) {
    if (dice(3) == 0) world.call();
    if (dice(2) == 0) world.work();
    if (dice(2) == 0) world.pass(Duration::milliseconds(1 + dice(dice(2) == 0 ? 5'000 : 600'000)));
  }
  world.nobody_dies_any_more();
  for (int i = 0; i < 200 && !world.all_over(); ++i) {
    world.pass(Duration::minutes(11));
    while (world.work()) world.pass(Duration::seconds(5));
  }
  world.pass(Duration::minutes(11));
  RC_ASSERT(world.all_over());
  world.check();
}

RC_GTEST_PROP(DurableSleep, HasOneEffectAndAnEndWhereverSomebodyDies, ()) {
  live(true);
}

RC_GTEST_PROP(DurableSleep, IsNotSentBeforeItsServerAllows, ()) {
  live(false);
}

}  // namespace
}  // namespace pawl
