#include "pawl/retry.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <variant>

#include "adapter/system/system_clock.h"
#include "adapter/system/system_entropy.h"
#include "base/assert.h"
#include "base/id.h"
#include "core/retry/attempts.h"
#include "core/retry/breaker.h"
#include "core/retry/budget.h"
#include "library/retry_policy.h"
#include "runtime/exception.h"

namespace pawl {
namespace {

using retry::Breaker;

constexpr retry::Classification succeeded = {retry::Failure::none, Outcome::applied, false};

// What is known of a failed attempt, until the next.
struct Failed {
  std::string type;
  Error error;
  retry::Classification seen;
};

}  // namespace

struct Retry::State {
  retry::Policy policy;
  retry::BudgetRule budget_rule;
  retry::BreakerRule breaker_rule;
  bool harmless = false;
  SystemClock system_clock = {};
  Clock* clock = &system_clock;
  Sleep sleep = {};
  std::uint64_t seed = seed_of(SystemEntropy().next());

  // Every call counts here, and is earned in the budget when somebody spends of it.
  std::atomic<std::int64_t> calls = 0;
  // While it is false nothing has failed since the last success: the breaker need not be asked.
  std::atomic<bool> troubled = false;
  std::mutex mutex = {};  // guards what follows
  std::int64_t calls_earned = 0;
  retry::BudgetState budget = {};
  Breaker breaker = {};

  // Whose turn it is, and when the next probe may be made.
  std::pair<Breaker::Turn, SteadyInstant> turn(SteadyInstant now) {
    const std::lock_guard lock(mutex);
    const Breaker::Turn turn = breaker.turn(breaker_rule, now);
    return {turn, breaker.next_probe()};
  }
  void answered(Breaker::Turn turn) {
    if (!troubled.load(std::memory_order_relaxed)) return;
    const std::lock_guard lock(mutex);
    breaker.answered(turn);
    troubled = breaker.open();
  }
  void failed(Breaker::Turn turn, SteadyInstant now) {
    const std::lock_guard lock(mutex);
    breaker.failed(breaker_rule, turn, now);
    troubled = true;
  }
  bool spend(SteadyInstant now) {
    const std::lock_guard lock(mutex);
    const std::int64_t made = calls.load(std::memory_order_relaxed);
    retry::earn(budget_rule, budget, made - std::exchange(calls_earned, made));
    return retry::spend(budget_rule, budget, now);
  }
  void wait(Duration length) {
    if (length <= Duration()) return;
    if (sleep) return sleep(length);
    std::this_thread::sleep_for(std::chrono::nanoseconds(length.ns()));
  }
};

namespace {

// Why it is given up, before what the last attempt said.
Error given_up(const retry::Attempts& attempts, Failed failed) {
  const retry::Decision& decision = attempts.decision();
  const std::string said = failed.error.message.empty() ? "" : ": " + failed.error.message;
  Error error = std::move(failed.error);
  error.outcome = decision.outcome;
  if (decision.next == retry::Next::unresolved) {
    error.code = Code::unresolved;
    error.message = "nobody knows whether it was applied" + said;
    return error;
  }
  error.message = "given up after " + std::to_string(attempts.facts().attempt) + " attempts (" +
                  std::string(to_string(decision.reason)) + ")" + said;
  return error;
}

}  // namespace

// One call through it, from its first attempt to its end.
class Retry::Call {
 public:
  Call(State& state, Once once)
      : state_(state), once_(once), number_(state.calls.fetch_add(1, std::memory_order_relaxed)) {}

  std::optional<Error> run() {
    // Reading the time costs more than all the rest; without a deadline nobody asks when it began.
    const bool troubled = state_.troubled.load(std::memory_order_relaxed);
    if (troubled || state_.policy.deadline > Duration()) now_ = state_.clock->steady_now();
    if (troubled) std::tie(turn_, next_probe_) = state_.turn(now_);
    // What succeeds at once is sent and done, whatever the policy: the machine, which says so too,
    // takes three times as long to make and to ask.
    const Duration timeout = retry::attempt_timeout(state_.policy, Duration());
    if (turn_ != Breaker::Turn::skip && try_once(1, timeout)) return std::nullopt;
    return go_on();
  }

 private:
  bool try_once(int number, Duration timeout) {
    const Error* error = nullptr;
    try {
      error = once_({.number = number, .timeout = timeout});
    } catch (...) {
      const AttemptEnd end = end_of_exception();
      failed_.emplace(end.type, Error(Code::internal, Outcome::unknown, end.message), end.seen);
      return false;
    }
    if (error != nullptr) {
      failed_.emplace(std::string(to_string(error->code)), *error, retry::classify(*error));
      return false;
    }
    state_.answered(turn_);
    return true;
  }

  // By the machine, from the start: how the first attempt ended it is told once it has sent it.
  [[gnu::noinline]] std::optional<Error> go_on() {
    retry::Attempts attempts({.policy = &state_.policy,
                              .key = state_.seed + static_cast<std::uint64_t>(number_),
                              .harmless = state_.harmless});
    bool tried = turn_ != Breaker::Turn::skip;
    retry::Effect effect = attempts.decide(retry::Begin{.now = now_, .breaker_open = !tried});
    PAWL_ASSERT(std::holds_alternative<retry::Send>(effect) == tried);
    for (;;) {
      if (const auto* send = std::get_if<retry::Send>(&effect)) {
        const int number = send->attempt;
        const bool good = !std::exchange(tried, false) && try_once(number, send->timeout);
        effect = attempts.decide(good ? succeeded_at(number) : failed_at(number));
      } else if (std::holds_alternative<retry::SpendBudget>(effect)) {
        effect = attempts.decide(retry::BudgetAnswered{state_.spend(now_)});
      } else if (const auto* until = std::get_if<retry::WaitUntil>(&effect)) {
        effect = attempts.decide(woken_at(until->at));
      } else {
        // Nobody reconciles here, hedges or sleeps durably.
        PAWL_ASSERT(std::holds_alternative<retry::Finish>(effect));
        return end(attempts);
      }
    }
  }

  retry::Ended succeeded_at(int number) const {
    return {.now = now_, .attempt = number, .seen = succeeded};
  }

  retry::Ended failed_at(int number) {
    const retry::Classification& seen = failed_->seen;
    now_ = state_.clock->steady_now();
    if (retry::was_there(seen)) {
      state_.answered(turn_);
    } else {
      state_.failed(turn_, now_);
    }
    const std::array<std::string_view, 2> names = {to_string(seen.failure), failed_->type};
    return {.now = now_,
            .attempt = number,
            .seen = seen,
            .listed = retry::listed(state_.policy, names),
            .pushback = failed_->error.retry_after};
  }

  retry::Woken woken_at(SteadyInstant at) {
    state_.wait(at - now_);
    now_ = state_.clock->steady_now();
    std::tie(turn_, next_probe_) = state_.turn(now_);
    return {.now = now_, .breaker_open = turn_ == Breaker::Turn::skip};
  }

  std::optional<Error> end(const retry::Attempts& attempts) {
    const retry::Decision& decision = attempts.decision();
    if (decision.next == retry::Next::done) return std::nullopt;
    if (decision.reason == retry::Reason::breaker_open && attempts.facts().attempt == 0) {
      Error error(Code::unavailable, Outcome::not_applied,
                  "not called: it has failed too often of late");
      error.retry_after = std::max(Duration(), next_probe_ - now_);
      return error;
    }
    return given_up(attempts, *std::move(failed_));
  }

  State& state_;
  const Once once_;
  const std::int64_t number_;
  Breaker::Turn turn_ = Breaker::Turn::ask;
  SteadyInstant now_ = {};
  SteadyInstant next_probe_ = {};  // while the breaker is open
  std::optional<Failed> failed_ = {};
};

Retry::Retry(std::unique_ptr<State> state) : state_(std::move(state)) {}
Retry::Retry(Retry&& other) noexcept = default;
Retry& Retry::operator=(Retry&& other) noexcept = default;
Retry::~Retry() = default;

Result<Retry> Retry::make(const RetryOptions& options, Clock* clock, Sleep sleep) noexcept {
  auto state = std::make_unique<State>();
  state->policy = PAWL_TRY(policy_of(options.policy));
  state->budget_rule = {.ratio_milli = thousandths(options.budget_ratio),
                        .min_per_second = options.budget_per_second};
  PAWL_TRY(retry::check(state->budget_rule));
  state->breaker_rule = {.failures = options.breaker_failures,
                         .wait_min = options.breaker_wait_min,
                         .wait_max = options.breaker_wait_max};
  PAWL_TRY(retry::check(state->breaker_rule));
  state->harmless = options.harmless;
  if (clock != nullptr) state->clock = clock;
  state->sleep = std::move(sleep);
  return Retry(std::move(state));
}

std::optional<Error> Retry::run(Once once) {
  PAWL_ASSERT(state_ != nullptr);  // it was moved from
  return Call(*state_, once).run();
}

}  // namespace pawl
