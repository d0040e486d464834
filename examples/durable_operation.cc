// Charges a card whose provider says "in an hour": the program does not wait for that, and the
// charge is not lost with it.
//
// Time is moved by hand here, so that an hour takes no time; a program of yours leaves the clock
// out, and keeps its keys and its queue in places that last ("sqlite:data/intents.db",
// "dir:data/queue"). Another program may then go on with what this one put to sleep.
#include <iostream>
#include <string>

#include <pawl/pawl.h>

namespace {

class HandMovedClock final : public pawl::Clock {
 public:
  pawl::Instant wall_now() override { return wall_; }
  pawl::SteadyInstant steady_now() override { return steady_; }
  void advance(pawl::Duration by) {
    wall_ = wall_ + by;
    steady_ = steady_ + by;
  }

 private:
  pawl::Instant wall_ = pawl::Instant::from_ns(1'769'328'000'000'000'000);  // at 08:00
  pawl::SteadyInstant steady_ = pawl::SteadyInstant::from_ns(1'000'000'000);
};

// What a payment API might do: it is over its limit for an hour.
pawl::Result<std::string> charge(const std::string& input, const pawl::Attempt& attempt) {
  std::cout << "attempt " << attempt.number << " of " << input << ": ";
  if (attempt.number == 1) {
    std::cout << "not now\n";
    pawl::Error later(pawl::Code::unavailable, pawl::Outcome::not_applied, "too many requests");
    later.retry_after = pawl::Duration::hours(1);
    return std::unexpected(later);
  }
  std::cout << "charged\n";
  return "charge-17";
}

int fail(const pawl::Error& error) {
  std::cerr << error.message << "\n";
  return static_cast<int>(error.code);
}

}  // namespace

int main() {
  HandMovedClock clock;
  auto executor = pawl::Executor::make({}, &clock);
  if (!executor) return fail(executor.error());
  auto queue = pawl::Queue::open("memory:", &clock);
  if (!queue) return fail(queue.error());
  auto charging = pawl::DurableOperation::make(*executor, *queue, {.name = "charge_card"}, charge);
  if (!charging) return fail(charging.error());

  const auto answer = charging->run(R"({"order":17})", {.idempotency_key = "order-17"});
  if (!answer) return fail(answer.error());
  if (!answer->sleeps) return 1;  // it would be over, and answer->result what came of it
  std::cout << "sleeps until " << to_string(answer->sleeps->until).substr(11, 8) << "\n";

  clock.advance(pawl::Duration::hours(1));
  pawl::Worker worker(*queue);
  charging->resume_on(worker);
  if (const auto worked = worker.run_once(); !worked) return fail(worked.error());

  const auto task = queue->get(answer->sleeps->id);
  if (!task) return fail(task.error());
  std::cout << to_string(task->status) << ": " << task->output << "\n";
  const auto again = charging->run(R"({"order":17})", {.idempotency_key = "order-17"});
  if (!again) return fail(again.error());
  std::cout << "asked again: " << again->result << "\n";
}
