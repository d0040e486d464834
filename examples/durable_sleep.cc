// Five reasons not to run a task now, and none to hold a worker meanwhile: a provider's limit, a
// service that is overloaded, a market that is closed, a limiter that all workers share, a circuit
// breaker. The clock is the program's own, so that the example needs no waiting and always prints
// the same; without one, the machine's is used.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iostream>
#include <optional>
#include <set>
#include <string>

#include <pawl/pawl.h>

namespace {

using pawl::Duration;
using pawl::Instant;
using pawl::TaskEnd;
using pawl::TaskRun;

class HandMovedClock final : public pawl::Clock {
 public:
  Instant wall_now() override { return begin_ + passed(); }
  pawl::SteadyInstant steady_now() override { return pawl::SteadyInstant() + passed(); }

  void advance(Duration by) { passed_ += by.ns(); }

 private:
  Duration passed() const { return Duration::nanoseconds(passed_); }

  const Instant begin_ = pawl::parse_instant("2026-01-27T08:00:00Z").value();
  std::atomic<std::int64_t> passed_ = 0;  // the queue reads it on threads of its own
};

// The other sides, as far as a test needs them.
class World {
 public:
  explicit World(HandMovedClock& clock) : clock_(clock) {}

  // 429 with Retry-After when the last one was sent less than 30 seconds ago; zero: sent.
  Duration send_email() {
    const Instant now = clock_.wall_now();
    if (last_email_ && now - *last_email_ < Duration::seconds(30)) {
      return *last_email_ + Duration::seconds(30) - now;
    }
    last_email_ = now;
    return {};
  }
  bool inventory_is_overloaded() const { return clock_.wall_now() < begin_ + Duration::minutes(8); }
  Duration until_market_opens() const {
    const Instant opens = begin_ + Duration::minutes(90);  // at 09:30
    return std::max(opens - clock_.wall_now(), Duration());
  }
  bool service_works() const { return clock_.wall_now() >= begin_ + Duration::seconds(20); }

 private:
  HandMovedClock& clock_;
  const Instant begin_ = clock_.wall_now();
  std::optional<Instant> last_email_;
};

// Opens after two failures in a row, for half a minute.
class CircuitBreaker {
 public:
  explicit CircuitBreaker(HandMovedClock& clock) : clock_(clock) {}
  bool is_open() const { return clock_.wall_now() < open_until_; }
  void record_success() { failures_ = 0; }
  void record_failure() {
    if (++failures_ < 2) return;
    failures_ = 0;
    open_until_ = clock_.wall_now() + Duration::seconds(30);
  }

 private:
  HandMovedClock& clock_;
  int failures_ = 0;
  Instant open_until_;
};

int fail(const pawl::Error& error) {
  std::cerr << error.message << "\n";
  return static_cast<int>(error.code);
}

// Runs what is due, then lets time pass until something is, until nothing waits any more.
pawl::Result<void> run_all(pawl::Queue& queue, pawl::Worker& worker, HandMovedClock& clock) {
  while (true) {
    if (const auto ran = worker.run_once(); !ran) return std::unexpected(ran.error());
    const auto waiting = queue.list({.status = pawl::TaskStatus::pending});
    if (!waiting) return std::unexpected(waiting.error());
    if (waiting->empty()) return {};
    const auto next = std::ranges::min_element(*waiting, {}, &pawl::TaskInfo::available_at);
    clock.advance(std::max(next->available_at - clock.wall_now(), Duration::milliseconds(1)));
  }
}

}  // namespace

int main() {
  HandMovedClock clock;
  World world(clock);
  CircuitBreaker breaker(clock);
  auto queue = pawl::Queue::open("memory:", &clock);
  if (!queue) return fail(queue.error());
  auto limiter = pawl::Limiter::make({.count = 1, .period = Duration::seconds(10)}, &clock);
  if (!limiter) return fail(limiter.error());
  pawl::Worker worker(*queue, {.name = "worker-1"});

  // 1. The provider says how long to wait.
  worker.on("send_email", [&](TaskRun&) {
    const Duration wait = world.send_email();
    if (wait > Duration()) return TaskEnd::reschedule(wait);
    return TaskEnd::completed(R"({"sent":true})");
  });
  // 2. A service has enough to do.
  worker.on("process_order", [&](TaskRun&) {
    if (world.inventory_is_overloaded()) return TaskEnd::reschedule(Duration::minutes(5));
    return TaskEnd::completed(R"({"reserved":true})");
  });
  // 3. The market is closed.
  worker.on("market_order", [&](TaskRun&) {
    const Duration wait = world.until_market_opens();
    if (wait > Duration()) return TaskEnd::reschedule(wait);
    return TaskEnd::completed(R"({"filled":true})");
  });
  // 4. A limiter that all workers share, here in this process. The first that is refused closes
  //    the type for all that wait.
  worker.on("api_call", [&](TaskRun&) {
    const pawl::Decision decision = limiter->check("api_calls");
    if (!decision.allowed) {
      return TaskEnd::reschedule(decision.retry_after, pawl::TaskScope::type);
    }
    return TaskEnd::completed();
  });
  // 5. A circuit breaker: failures are retried, and while it is open nobody is called.
  worker.on("external_call", [&](TaskRun&) {
    if (breaker.is_open()) return TaskEnd::reschedule(Duration::seconds(30));
    if (!world.service_works()) {
      breaker.record_failure();
      return TaskEnd::retry("the service is down");
    }
    breaker.record_success();
    return TaskEnd::completed();
  });

  for (const char* type : {"send_email", "send_email", "process_order", "market_order", "api_call",
                           "api_call", "external_call"}) {
    pawl::SubmitOptions options;
    options.retries.jitter = 0;
    const auto task = queue->submit(type, "{}", options);
    if (!task) return fail(task.error());
  }
  if (const auto ran = run_all(*queue, worker, clock); !ran) return fail(ran.error());

  const auto tasks = queue->list();
  if (!tasks) return fail(tasks.error());
  std::multiset<std::string> lines;  // ids are random, and so is their order
  for (const pawl::TaskInfo& task : *tasks) {
    lines.insert(task.type + ": " + std::string(to_string(task.status)) + " at " +
                 to_string(task.completed_at.value_or(Instant())).substr(11, 8) + ", rescheduled " +
                 std::to_string(task.reschedule_count) + ", retried " +
                 std::to_string(task.retry_count));
  }
  for (const std::string& line : lines) std::cout << line << "\n";
}
