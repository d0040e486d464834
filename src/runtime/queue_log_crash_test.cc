// Goal: wherever processes die and whatever the store loses, there is one log: everything that was
//       acknowledged is in it, nothing is in it twice, and what was told not to be there is not.
// Method: two processes commit in turns on one store in memory. Each call of the store by its
//         number has a fate: lost before or behind its effect, late, busy; or its process dies
//         before it, behind it, or while it is on its way, and another one takes its place. Every
//         single fate and every pair of them, so that one dies in the recovery of another; more by
//         dice. Once while segments are appended and snapshots written, once while they are
//         collected too. Then eight threads at once.
#include <array>
#include <atomic>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <rapidcheck/gtest.h>
#include <thread>

#include "runtime/queue_log_fixture.h"

namespace pawl {
namespace {

using Call = MemoryObjectStore::Call;
using Fault = MemoryObjectStore::Fault;

enum class Fate : std::uint8_t {
  lost_request,
  lost_answer,
  failed,
  busy,
  late,  // told to be lost; it lands a moment later
  dies_before,
  dies_behind,
  dies_late,  // and what it had sent lands when others have gone on
  end,
};

// What a world does before all is well again.
struct Life {
  int rounds = 3;
  Duration pause = Duration::milliseconds(80);  // after each
  Duration grace = Duration::hours(1);
  bool follows = true;
  int close = 4;  // calls that lie so close are struck together
};
constexpr Life appending = {};
// A grace so short that what was covered in one round is collected in one of the next.
constexpr Life collecting = {.rounds = 4,
                             .pause = Duration::milliseconds(240),
                             .grace = Duration::milliseconds(200),
                             .follows = false,
                             .close = 3};

class CrashWorld {
 public:
  CrashWorld(std::map<int, Fate> fates, const Life& life) : fates_(std::move(fates)) {
    options_.snapshots = {.segments_min = 3, .segments_max = 5};
    options_.grace = life.grace;
    options_.follows = life.follows;
    options_.deadline = Duration::seconds(20);
    for (Process& process : processes_) begin(process);
  }

  void commit(std::size_t who) {
    Process& process = processes_[who];
    const std::uint32_t number = ++last_;
    process.log->submit({task(number)}, [this, number](Result<QueueLog::Replies> result) {
      if (result) {
        acknowledged_.insert(number);
      } else if (result.error().outcome == Outcome::not_applied) {
        never_.insert(number);
      }
      ++answered_;
    });
    bury();
  }
  void pass(Duration by) {
    // In small steps: who died is buried where it fell.
    for (Duration gone; gone < by; gone = gone + Duration::milliseconds(40)) {
      timers_.advance(Duration::milliseconds(40));
      land();
      bury();
    }
  }
  // All is well again.
  void finish() {
    fates_.clear();
    land();
    bury();
    timers_.advance(Duration::seconds(30));
    for (const std::size_t who : {0U, 1U}) {
      commit(who);
      timers_.advance(Duration::seconds(10));
    }
    for (Process& process : processes_) process.log->poll();
    timers_.advance(Duration::seconds(10));
    check();
  }
  int calls() const { return calls_; }
  // By kind, and the folder it was about: "put log".
  const std::map<std::string, int>& kinds() const { return kinds_; }
  std::uint64_t collected() const {
    return processes_[0].log->numbers().collected + processes_[1].log->numbers().collected;
  }

 private:
  struct Process {
    std::unique_ptr<MemoryObjectStore> store = {};
    std::unique_ptr<QueueLog> log = {};
    bool dead = false;
  };

  void begin(Process& process) {
    process.dead = false;
    process.store = std::make_unique<MemoryObjectStore>(clock_, objects_);
    process.store->set_faults([this, &process](Call call, const std::string& name) {
      return fault(process, call, name);
    });
    process.log = std::make_unique<QueueLog>(
        options_, QueueLog::Ports{clock_, timers_, *process.store, nonces_}, QueueLog::Hooks{});
    process.log->open([](const Result<void>&) {});
  }
  Fault fault(Process& process, Call call, const std::string& name) {
    if (process.dead) return Fault::failed;
    constexpr const char* names[] = {"put ", "get ", "list ", "remove "};
    ++kinds_[names[static_cast<int>(call)] + name.substr(0, name.find('/'))];
    const auto fate = fates_.find(calls_++);
    if (fate == fates_.end()) return Fault::none;
    switch (fate->second) {
      case Fate::lost_request:
        return Fault::lost_request;
      case Fate::lost_answer:
        return Fault::lost_answer;
      case Fate::failed:
        return Fault::failed;
      case Fate::busy:
        return Fault::busy;
      case Fate::late:
        late_.push_back(process.store.get());
        return Fault::late;
      case Fate::dies_before:
        process.dead = true;
        return Fault::held;
      case Fate::dies_late:
        process.dead = true;
        late_.push_back(process.store.get());
        return Fault::held;
      case Fate::dies_behind:
      case Fate::end:
        break;
    }
    process.dead = true;
    return Fault::held_answer;
  }
  // What was on its way gets there. Where it lands on nobody, nobody hears of it.
  void land() {
    for (MemoryObjectStore* store : std::exchange(late_, {})) {
      if (store->held() > 0) store->release(store->held() - 1);
    }
  }
  void bury() {
    for (Process& process : processes_) {
      if (!process.dead) continue;
      process.log.reset();  // who waits is told as if the process lived: never more than is true
      graves_.push_back(std::move(process.store));
      begin(process);
    }
  }
  void check() {
    std::map<std::uint32_t, int> found;
    std::uint64_t lengths[2] = {};
    for (int i = 0; i < 2; ++i) {
      processes_[static_cast<std::size_t>(i)].log->look([&](const queue::Machine& machine) {
        lengths[i] = machine.sequence();
        for (std::uint32_t n = 1; n <= last_; ++n) {
          if (machine.find(task_id(n))) ++found[n];
        }
      });
    }
    EXPECT_EQ(lengths[0], lengths[1]);
    for (const std::uint32_t n : acknowledged_)
      EXPECT_EQ(found[n], 2) << "task " << n << " is lost";
    for (const std::uint32_t n : never_) EXPECT_EQ(found[n], 0) << "task " << n << " is there";
    for (const auto& [n, times] : found) EXPECT_NE(times, 1) << "the log forks at task " << n;
    EXPECT_EQ(answered_, last_);
    EXPECT_TRUE(acknowledged_.contains(last_) && acknowledged_.contains(last_ - 1));
    std::set<queue::TaskId> once;
    for (const queue::TaskId& id : tasks_in(*objects_)) {
      EXPECT_TRUE(once.insert(id).second) << queue::to_string(id) << " is there twice";
    }
  }

  ManualClock clock_;
  ManualTimers timers_{clock_};
  CountedNonces nonces_;
  std::shared_ptr<MemoryObjects> objects_ = std::make_shared<MemoryObjects>(clock_);
  QueueLog::Options options_ = {.writer = "test"};
  std::map<int, Fate> fates_;
  std::vector<std::unique_ptr<MemoryObjectStore>> graves_;
  std::set<std::uint32_t> acknowledged_, never_;
  std::uint32_t last_ = 0;
  std::uint32_t answered_ = 0;
  int calls_ = 0;
  std::map<std::string, int> kinds_;
  std::vector<MemoryObjectStore*> late_;
  std::array<Process, 2> processes_;  // go first: they tell the rest
};

// All of it; what the world saw before all was well again.
struct Lived {
  int calls = 0;
  std::map<std::string, int> kinds = {};
  std::uint64_t collected = 0;
};
Lived live(const Life& life, std::map<int, Fate> fates) {
  CrashWorld world(std::move(fates), life);
  for (int i = 0; i < life.rounds; ++i) {
    world.commit(0);
    world.commit(1);
    world.commit(1);
    world.pass(life.pause);
  }
  const Lived lived = {world.calls(), world.kinds(), world.collected()};
  world.finish();
  return lived;
}

void live_with_any_two(const Life& life, int calls) {
  constexpr int fates = static_cast<int>(Fate::end);
  for (int one = 0; one < calls * fates; ++one) {
    // Of all pairs those that are close: the second strikes while the first is being mended.
    for (int two = one; two < std::min(calls, one / fates + life.close) * fates; ++two) {
      live(life, {{one / fates, static_cast<Fate>(one % fates)},
                  {two / fates, static_cast<Fate>(two % fates)}});
      if (::testing::Test::HasFailure()) {
        FAIL() << "call " << one / fates << " has fate " << one % fates << ", call " << two / fates
               << " fate " << two % fates;
      }
    }
  }
}

TEST(QueueLogCrash, HoldsWhateverBecomesOfAnyTwoCalls) {
  const Lived lived = live(appending, {});
  for (const char* kind : {"put log", "put snapshot", "get log", "list snapshot"}) {
    EXPECT_TRUE(lived.kinds.contains(kind)) << "no call to " << kind << " can be struck";
  }
  live_with_any_two(appending, lived.calls);
}

TEST(QueueLogCrash, HoldsWhateverBecomesOfAnyTwoCallsWhileSegmentsAreCollected) {
  const Lived lived = live(collecting, {});
  for (const char* kind : {"put log", "put snapshot", "list log", "list snapshot", "remove log"}) {
    EXPECT_TRUE(lived.kinds.contains(kind)) << "no call to " << kind << " can be struck";
  }
  EXPECT_GT(lived.collected, 0U);
  live_with_any_two(collecting, lived.calls);
}

RC_GTEST_PROP(QueueLogCrash, HoldsByDice, ()) {
  const auto dice = *rc::gen::container<std::vector<int>>(
      120, rc::gen::weightedOneOf<int>(
               {{4, rc::gen::just(-1)}, {1, rc::gen::inRange(0, static_cast<int>(Fate::end))}}));
  std::map<int, Fate> fates;
  for (std::size_t i = 0; i < dice.size(); ++i) {
    if (dice[i] >= 0) fates[static_cast<int>(i)] = static_cast<Fate>(dice[i]);
  }
  const Life life = *rc::gen::element(appending, collecting);
  CrashWorld world(std::move(fates), life);
  for (int i = 0; i < 12; ++i) {
    world.commit(static_cast<std::size_t>(i % 2));
    if (i % 3 == 0) world.commit(static_cast<std::size_t>(i % 2));
    world.pass(life.pause / 2);
  }
  world.finish();
  RC_ASSERT(!::testing::Test::HasFailure());
}

// Time for threads: one of them moves it.
class SharedClock final : public Clock {
 public:
  Instant wall_now() override { return Instant::from_ns(1'700'000'000'000'000'000 + ns_.load()); }
  SteadyInstant steady_now() override { return SteadyInstant::from_ns(1 + ns_.load()); }
  void set(SteadyInstant to) {
    std::int64_t now = ns_.load();
    while (now < to.ns() && !ns_.compare_exchange_weak(now, to.ns())) {
    }
  }

 private:
  std::atomic<std::int64_t> ns_ = 0;
};

class SharedTimers final : public Timers {
 public:
  explicit SharedTimers(SharedClock& clock) : clock_(clock) {}

  Id after(Duration wait, Call call) override {
    const std::lock_guard lock(mutex_);
    const Id id{.due = clock_.steady_now() + wait, .number = ++last_};
    waiting_.emplace(id, std::move(call));
    return id;
  }
  void cancel(Id id) override {
    const std::lock_guard lock(mutex_);
    waiting_.erase(id);
  }
  // The next call, if there is one soon: deadlines are for those who are really kept waiting.
  bool pump() {
    Call call;
    {
      const std::lock_guard lock(mutex_);
      const SteadyInstant soon = clock_.steady_now() + Duration::hours(1);
      if (waiting_.empty() || waiting_.begin()->first.due > soon) return false;
      clock_.set(waiting_.begin()->first.due);
      call = std::move(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
    }
    call(false);
    return true;
  }

 private:
  SharedClock& clock_;
  std::mutex mutex_;
  std::map<Id, Call> waiting_;
  std::uint64_t last_ = 0;
};

// Eight threads with a log each on one store. Time goes as fast as timers can be called, so that
// whoever has to wait for a core sleeps for hours.
class QueueLogThreads : public ::testing::TestWithParam<Duration> {
 protected:
  static constexpr std::uint32_t each = 60;
  static constexpr std::uint32_t threads = 8;

  void work(std::uint32_t who) {
    CountedNonces nonces;
    for (std::uint32_t skip = 0; skip < 100 * who; ++skip) (void)nonces.next();
    MemoryObjectStore store(clock, objects);
    QueueLog::Options options = {.writer = "thread-" + std::to_string(who)};
    options.deadline = Duration::days(10'000);
    options.grace = GetParam();
    options.snapshots = {.segments_min = 40, .segments_max = 80};
    QueueLog log(options, {clock, timers, store, nonces}, {});
    log.open([](const Result<void>&) {});
    for (std::uint32_t i = 0; i < each; ++i) {
      const std::uint32_t number = 1 + who * each + i;
      const auto told = std::make_shared<std::atomic<bool>>(false);
      log.submit({task(number)}, [&, told, number](const Result<QueueLog::Replies>& result) {
        stored[number - 1] = result.has_value();
        *told = true;
        told->notify_all();
      });
      told->wait(false);
    }
    --at_work;
  }

  SharedClock clock;
  SharedTimers timers{clock};
  const std::shared_ptr<MemoryObjects> objects = std::make_shared<MemoryObjects>(clock);
  std::atomic<std::uint32_t> at_work = threads;
  std::array<std::atomic<bool>, threads * each> stored = {};
};

TEST_P(QueueLogThreads, MakeOneLog) {
  std::vector<std::thread> running;
  for (std::uint32_t i = 0; i < threads; ++i) running.emplace_back([this, i] { work(i); });
  while (at_work > 0) {
    if (!timers.pump()) std::this_thread::yield();
  }
  for (std::thread& thread : running) thread.join();
  MemoryObjectStore store(clock, objects);
  CountedNonces nonces;
  QueueLog reader({.writer = "reader"}, {clock, timers, store, nonces}, {});
  bool opened = false;
  reader.open([&](const Result<void>& result) { opened = result.has_value(); });
  EXPECT_TRUE(opened);
  std::uint64_t sequence = 0;
  reader.look([&](const queue::Machine& machine) {
    sequence = machine.sequence();
    for (std::uint32_t n = 1; n <= threads * each; ++n) {
      EXPECT_TRUE(!stored[n - 1] || machine.find(task_id(n))) << n << " is lost";
    }
  });
  // One task a commit: so none is there twice.
  reader.look([&](const queue::Machine& machine) { EXPECT_EQ(machine.tasks(), sequence); });
  if (GetParam() < Duration::days(1)) return;
  for (const auto& one : stored) EXPECT_TRUE(one) << "nobody slept for longer than the grace time";
}

INSTANTIATE_TEST_SUITE_P(Grace, QueueLogThreads,
                         ::testing::Values(Duration::hours(1), Duration::days(10'000)));

}  // namespace
}  // namespace pawl
