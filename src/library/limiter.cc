#include "pawl/limiter.h"

#include <future>
#include <string>
#include <utility>
#include <variant>

#include "adapter/memory/memory_counter_store.h"
#include "adapter/system/system_clock.h"
#include "adapter/system/system_entropy.h"
#include "adapter/system/waiting_room.h"
#include "base/assert.h"
#include "base/bounds.h"
#include "base/id.h"
#include "core/limit/explain.h"
#include "core/limit/policy.h"

namespace pawl {
namespace {

std::unexpected<Error> out_of_range(std::string_view option, std::string found,
                                    std::string allowed) {
  return failure(Code::invalid, "a limiter's " + std::string(option) + " is " + std::move(found) +
                                    "; allowed: " + std::move(allowed));
}

Result<limit::Rule> bucket_of(const limit::Rate& rate, std::int64_t burst) {
  if (burst < 0 || burst > bounds::limit_count_max) {
    return out_of_range("burst", std::to_string(burst),
                        "0 to " + std::to_string(bounds::limit_count_max));
  }
  const limit::TokenBucket bucket(rate, burst);
  if (bucket.refill > bounds::limit_refill_max) {
    return out_of_range(
        "burst", std::to_string(burst),
        "what " + limit::to_string(rate) + " earns in " + to_string(bounds::limit_refill_max));
  }
  return bucket;
}

Result<limit::Rule> rule_of(const LimiterOptions& options) {
  if (options.count < 1 || options.count > bounds::limit_count_max) {
    return out_of_range("count", std::to_string(options.count),
                        "1 to " + std::to_string(bounds::limit_count_max));
  }
  if (options.period <= Duration() || options.period > bounds::limit_period_max) {
    return out_of_range("period", std::to_string(options.period.ns()) + "ns",
                        "above 0 and up to " + to_string(bounds::limit_period_max));
  }
  const limit::Rate rate{.count = options.count, .period = options.period};
  if (options.count > options.period.ns()) {
    return out_of_range("rate", limit::to_string(rate), "at most one a nanosecond");
  }
  if (options.algorithm == Algorithm::token_bucket) return bucket_of(rate, options.burst);
  if (options.burst != 0) {
    return out_of_range("burst", std::to_string(options.burst), "0, but for a token_bucket");
  }
  if (options.algorithm == Algorithm::sliding_window) return limit::SlidingWindow{rate};
  if (options.count > bounds::limit_log_count_max) {
    return out_of_range("count", std::to_string(options.count),
                        "up to " + std::to_string(bounds::limit_log_count_max) +
                            " for a sliding_log, which remembers each; take a sliding_window");
  }
  return limit::SlidingLog{rate};
}

std::unexpected<Error> too_late(const Decision& decision, Duration within) {
  if (decision.retry_after == Duration::max()) {
    return failure(Code::refused,
                   "it asks for more than a rested key has: it will never be "
                   "allowed");
  }
  return failure(Code::refused, "it would be allowed after " + to_string(decision.retry_after) +
                                    ", which is later than the " + to_string(within) +
                                    " it may wait");
}

std::unexpected<Error> closing() {
  return failure(Code::unavailable, "the limiter is being destroyed");
}

limit::KeyId id_of(KeyId key) {
  return {.high = key.high, .low = key.low};
}

}  // namespace

// A key that outlives the call it came with.
using OwnedKey = std::variant<std::string, limit::KeyId>;

struct Limiter::State {
  State(limit::Rule rule, Clock* clock_)
      : policy("limiter", std::move(rule)),
        clock(clock_ ? *clock_ : system_clock),
        store(clock, {.seed = seed_of(SystemEntropy().next())}) {}

  Decision check(limit::Key key, std::int64_t cost) {
    // A cost that cannot be is told as what can never be had.
    const bool possible = cost >= 0 && cost <= bounds::limit_count_max;
    const Count count{&policy, key};
    const limit::Answer answer = store.check_now({&count, 1}, possible ? cost : 0);
    const limit::Verdict& verdict = answer.bound();
    return {.allowed = possible && answer.allowed,
            .limit = verdict.limit,
            .remaining = verdict.remaining,
            .retry_after = possible ? answer.retry_after : Duration::max()};
  }

  // One more try of somebody who waits.
  void try_again(OwnedKey key, Acquire how, SteadyInstant due, Limiter::Done done) {
    const Decision decision =
        std::visit([&](const auto& each) { return check(each, how.cost); }, key);
    if (decision.allowed) return done(decision);
    if (decision.retry_after > due - clock.steady_now()) {
      return done(too_late(decision, how.within));
    }
    waiting.after(decision.retry_after, [this, key = std::move(key), how, due,
                                         done = std::move(done)](bool over) mutable {
      if (over) return done(closing());
      try_again(std::move(key), how, due, std::move(done));
    });
  }

  void acquire(OwnedKey key, const Acquire& how, Limiter::Done done) {
    const SteadyInstant due = clock.steady_now() + how.within;
    try_again(std::move(key), how, due, std::move(done));
  }

  Result<Decision> acquire_here(OwnedKey key, const Acquire& how) {
    std::promise<Result<Decision>> promise;
    acquire(std::move(key), how,
            [&promise](Result<Decision> result) { promise.set_value(std::move(result)); });
    return promise.get_future().get();
  }

  const limit::Policy policy;
  SystemClock system_clock;
  Clock& clock;
  MemoryCounterStore store;
  WaitingRoom waiting;
};

Limiter::Limiter(std::unique_ptr<State> state) : state_(std::move(state)) {}
Limiter::Limiter(Limiter&& other) noexcept = default;
Limiter& Limiter::operator=(Limiter&& other) noexcept = default;
Limiter::~Limiter() = default;

Result<Limiter> Limiter::make(const LimiterOptions& options, Clock* clock) noexcept {
  return Limiter(std::make_unique<State>(PAWL_TRY(rule_of(options)), clock));
}

Decision Limiter::check(std::string_view key, std::int64_t cost) noexcept {
  PAWL_ASSERT(state_ != nullptr);  // it was moved from
  return state_->check(key, cost);
}

Decision Limiter::check(KeyId key, std::int64_t cost) noexcept {
  PAWL_ASSERT(state_ != nullptr);
  return state_->check(id_of(key), cost);
}

Result<Decision> Limiter::acquire(std::string_view key, const Acquire& how) noexcept {
  PAWL_ASSERT(state_ != nullptr);
  return state_->acquire_here(std::string(key), how);
}

Result<Decision> Limiter::acquire(KeyId key, const Acquire& how) noexcept {
  PAWL_ASSERT(state_ != nullptr);
  return state_->acquire_here(id_of(key), how);
}

void Limiter::acquire(std::string_view key, const Acquire& how, Done done) noexcept {
  PAWL_ASSERT(state_ != nullptr);
  state_->acquire(std::string(key), how, std::move(done));
}

void Limiter::acquire(KeyId key, const Acquire& how, Done done) noexcept {
  PAWL_ASSERT(state_ != nullptr);
  state_->acquire(id_of(key), how, std::move(done));
}

std::string Limiter::why(const Decision& decision) const {
  PAWL_ASSERT(state_ != nullptr);
  const Count count{&state_->policy, ""};
  limit::Answer answer;
  answer.allowed = decision.allowed;
  answer.retry_after = decision.retry_after;
  answer.verdicts.add({.allowed = decision.allowed,
                       .limit = decision.limit,
                       .remaining = decision.remaining,
                       .retry_after = decision.retry_after});
  return limit::explain({&count, 1}, answer);
}

}  // namespace pawl
