// The queue under load, through the public API: what bench/queue_table.py measures pawl with.
//
//   queue_load ROLE URL [NAME=VALUE …]
//
//   both, submit, work   empty tasks: submitted, run and completed in this process, or in several
//   latency              one task after the other, for a worker that waits in the same process
//   idle                 a worker with nothing to do
//   fill                 tasks that are not due for a day
//   open                 the queue as somebody opens it who finds it full
//
//   tasks         submitted by this process (10,000)
//   expect        completed by all processes, before this one says `done` (tasks)
//   submitters    at once; each waits for the answer before it gives the next (64)
//   batch         tasks in one call; 1: submit(), else submit_many() (1)
//   rate          tasks a second by all submitters together; 0: as fast as they go (0)
//   concurrency   tasks handled at once (64)
//   shards        of a new queue (1)
//   settle        seconds before anything is counted of who is idle (0)
//
// Says `ready` and begins when a line comes in. Who works says `done` when all that is expected is
// completed, on record. Ends when the next line comes in (fill, latency and open: when they are
// through), and says what it did as one line of JSON: times are seconds, moments seconds since
// 1970. The peers' part of it is bench/peers/queue_load.js.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "pawl/queue.h"
#include "pawl/worker.h"

namespace {

using Steady = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;
using Names = std::map<std::string, std::int64_t, std::less<>>;

constexpr std::string_view type = "load";
constexpr auto look_every = std::chrono::milliseconds(20);
constexpr auto look_often = std::chrono::milliseconds(2);  // when most are completed

double now() {
  return Seconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

double since(Steady::time_point begin) {
  return Seconds(Steady::now() - begin).count();
}

[[noreturn]] void fail(const std::string& text, int code) {
  std::cerr << text << std::endl;
  std::_Exit(code);
}

template <class T>
T sure(pawl::Result<T> result) {
  if (!result) fail(result.error().message, 1);
  return *std::move(result);
}

Names names_of(int count, char** words) {
  Names names = {{"tasks", 10'000}, {"expect", -1},      {"submitters", 64}, {"batch", 1},
                 {"rate", 0},       {"concurrency", 64}, {"shards", 1},      {"settle", 0}};
  for (int i = 3; i < count; ++i) {
    const std::string word = words[i];
    const std::size_t cut = word.find('=');
    const auto found = names.find(word.substr(0, cut));
    if (cut == std::string::npos || found == names.end()) {
      fail(word + " is nothing that can be set", 2);
    }
    found->second = std::atoll(word.c_str() + cut + 1);
  }
  if (names["expect"] < 0) names["expect"] = names["tasks"];
  return names;
}

std::int64_t number(const Names& names, std::string_view name) {
  return names.find(name)->second;
}

pawl::Queue opened(const std::string& url, const Names& names) {
  return sure(
      pawl::Queue::open({.url = url,
                         .shards = static_cast<std::uint32_t>(number(names, "shards")),
                         .note = [](std::string_view text) { std::cerr << text << std::endl; }}));
}

// What is told at the end.
using Told = std::vector<std::pair<std::string, double>>;

// Those of this process since then.
void add_requests(Told& told, pawl::Queue& queue, const pawl::QueueStats& then) {
  const pawl::QueueStats stats = sure(queue.stats());
  told.emplace_back("commits", stats.commits - then.commits);
  told.emplace_back("puts", stats.puts - then.puts);
  told.emplace_back("gets", stats.gets - then.gets);
  told.emplace_back("lists", stats.lists - then.lists);
}

void say(const Told& told) {
  std::cout << std::setprecision(17) << "{";
  for (std::size_t i = 0; i < told.size(); ++i) {
    std::cout << (i == 0 ? "" : ", ") << '"' << told[i].first << "\": " << told[i].second;
  }
  std::cout << "}" << std::endl;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void wait_for_a_line() {
  std::string line;
  std::getline(std::cin, line);
}

void begin_when_told() {
  std::cout << "ready" << std::endl;
  wait_for_a_line();
}

// ---- empty tasks, by many at once

class Submitters {
 public:
  Submitters(pawl::Queue& queue, const Names& names)
      : queue_(queue),
        tasks_(number(names, "tasks")),
        batch_(number(names, "batch")),
        rate_(number(names, "rate")),
        left_(tasks_) {}

  void run(std::int64_t count) {
    begin_ = Steady::now();
    std::vector<std::thread> threads;
    for (std::int64_t i = 0; i < count; ++i) threads.emplace_back([this] { submit(); });
    for (std::thread& thread : threads) thread.join();
  }

 private:
  void submit() {
    while (true) {
      const std::int64_t left = left_.fetch_sub(batch_);
      if (left <= 0) return;
      wait_for_turn(tasks_ - left);
      if (batch_ == 1) {
        (void)sure(queue_.submit(type));
        continue;
      }
      const std::vector<pawl::NewTask> tasks(static_cast<std::size_t>(std::min(left, batch_)),
                                             {.type = std::string(type)});
      for (auto& each : sure(queue_.submit_many(tasks))) (void)sure(std::move(each));
    }
  }

  void wait_for_turn(std::int64_t place) const {
    if (rate_ == 0) return;
    const Seconds due(static_cast<double>(place) / static_cast<double>(rate_));
    std::this_thread::sleep_until(begin_ + std::chrono::duration_cast<Steady::duration>(due));
  }

  pawl::Queue& queue_;
  const std::int64_t tasks_, batch_, rate_;
  Steady::time_point begin_;
  std::atomic<std::int64_t> left_;
};

// When all are completed, by whom ever: as it is on record, and not when handlers have returned.
double watch(pawl::Queue& queue, std::uint64_t expected, const std::atomic<bool>& over) {
  std::uint64_t completed = 0;
  while (!over) {
    std::this_thread::sleep_for(completed < expected / 10 * 9 ? look_every : look_often);
    completed = sure(queue.stats()).completed;
    if (completed < expected) continue;
    const double ended = now();
    std::cout << "done" << std::endl;
    return ended;
  }
  return 0;
}

void run_load(const std::string& role, const std::string& url, const Names& names) {
  pawl::Queue queue = opened(url, names);
  std::atomic<std::uint64_t> handled = 0;
  pawl::Worker worker(queue,
                      {.concurrency = static_cast<std::uint32_t>(number(names, "concurrency"))});
  worker.on(type, [&](pawl::TaskRun&) {
    handled.fetch_add(1, std::memory_order_relaxed);
    return pawl::TaskEnd::completed();
  });
  const pawl::QueueStats before = sure(queue.stats());
  begin_when_told();

  Told told = {{"began", now()}};
  std::atomic<bool> over = false;
  double ended = 0;
  std::thread working, watching;
  if (role != "submit") {
    working = std::thread([&] { (void)sure(worker.run()); });
    const auto expected = before.completed + static_cast<std::uint64_t>(number(names, "expect"));
    watching = std::thread([&, expected] { ended = watch(queue, expected, over); });
  }
  if (role != "work") {
    Submitters(queue, names).run(number(names, "submitters"));
    told.emplace_back("submitted", now());
  }
  wait_for_a_line();
  over = true;
  if (watching.joinable()) watching.join();
  add_requests(told, queue, before);
  worker.stop();
  if (working.joinable()) working.join();
  told.emplace_back("ended", ended);
  told.emplace_back("completed", handled);
  say(told);
}

// ---- one after the other

void run_latency(const std::string& url, const Names& names) {
  pawl::Queue queue = opened(url, names);
  std::atomic<Steady::time_point> started = Steady::time_point();
  pawl::Worker worker(queue);
  worker.on(type, [&](pawl::TaskRun&) {
    started = Steady::now();
    return pawl::TaskEnd::completed();
  });
  std::thread working([&] { (void)sure(worker.run()); });
  begin_when_told();
  std::vector<double> commits, starts;
  for (std::int64_t i = 0; i < number(names, "tasks"); ++i) {
    const auto begin = Steady::now();
    const std::string id = sure(queue.submit(type)).id;
    const auto answered = Steady::now();
    while (sure(queue.get(id)).status != pawl::TaskStatus::completed) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    commits.push_back(Seconds(answered - begin).count());
    starts.push_back(Seconds(started.load() - answered).count());
  }
  worker.stop();
  working.join();
  say({{"commit", median(std::move(commits))}, {"start", median(std::move(starts))}});
}

// ---- nothing to do

void run_idle(const std::string& url, const Names& names) {
  pawl::Queue queue = opened(url, names);
  pawl::Worker worker(queue);
  worker.on(type, [](pawl::TaskRun&) { return pawl::TaskEnd::completed(); });
  std::thread working([&] { (void)sure(worker.run()); });
  begin_when_told();
  std::this_thread::sleep_for(std::chrono::seconds(number(names, "settle")));
  const auto begin = Steady::now();
  const pawl::QueueStats before = sure(queue.stats());
  wait_for_a_line();
  Told told = {{"seconds", since(begin)}};
  add_requests(told, queue, before);
  say(told);
  worker.stop();
  working.join();
}

// ---- a full queue

std::string input_of(std::int64_t place) {
  return R"({"to":"someone)" + std::to_string(1'000'000 + place) + R"(@example.com"})";
}

void run_fill(const std::string& url, const Names& names) {
  pawl::Queue queue = opened(url, names);
  begin_when_told();
  const auto begin = Steady::now();
  const std::int64_t tasks = number(names, "tasks"), batch = number(names, "batch");
  std::vector<double> took;
  for (std::int64_t done = 0; done < tasks; done += batch) {
    std::vector<pawl::NewTask> some;
    for (std::int64_t i = done; i < std::min(tasks, done + batch); ++i) {
      some.push_back({.type = std::string(type),
                      .input = input_of(i),
                      .options = {.key = "account-" + std::to_string(i % 1'000),
                                  .delay = pawl::Duration::days(1)}});
    }
    const auto asked = Steady::now();
    for (auto& each : sure(queue.submit_many(some))) (void)sure(std::move(each));
    took.push_back(since(asked));
  }
  Told told = {{"seconds", since(begin)}, {"slowest", *std::ranges::max_element(took)}};
  told.emplace_back("usual", median(std::move(took)));
  say(told);
}

std::size_t resident_bytes() {
  std::size_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

void run_open(const std::string& url, const Names& names) {
  begin_when_told();
  const std::size_t before = resident_bytes();
  const auto begin = Steady::now();
  pawl::Queue queue = opened(url, names);
  const pawl::QueueStats stats = sure(queue.stats());
  const double seconds = since(begin);
  std::uint64_t pending = 0;
  for (const pawl::TypeStats& each : stats.types) pending += each.pending;
  const double tasks = static_cast<double>(std::max<std::uint64_t>(pending, 1));
  const double held = static_cast<double>(resident_bytes() - before) / tasks;
  Told told = {{"seconds", seconds},
               {"pending", static_cast<double>(pending)},
               {"bytes_a_task", held - static_cast<double>(input_of(0).size())}};
  add_requests(told, queue, {});
  say(told);
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) fail("queue_load ROLE URL [NAME=VALUE …]", 2);
  const std::string role = words[1], url = words[2];
  const Names names = names_of(count, words);
  if (role == "both" || role == "submit" || role == "work") {
    run_load(role, url, names);
  } else if (role == "latency") {
    run_latency(url, names);
  } else if (role == "idle") {
    run_idle(url, names);
  } else if (role == "fill") {
    run_fill(url, names);
  } else if (role == "open") {
    run_open(url, names);
  } else {
    fail("there is no role " + role, 2);
  }
}
