#include "pawl/limiter.h"

#include <optional>
#include <string>
#include <utility>

#include "adapter/memory/memory_counter_store.h"
#include "adapter/system/system_clock.h"
#include "base/assert.h"
#include "base/bounds.h"
#include "core/limit/policy.h"

namespace pawl {
namespace {

std::unexpected<Error> out_of_range(std::string_view option, std::string found,
                                    std::string allowed) {
  return failure(Code::invalid, "a limiter's " + std::string(option) + " is " + std::move(found) +
                                    "; allowed: " + std::move(allowed));
}

Result<limit::TokenBucket> bucket_of(const LimiterOptions& options) {
  const std::string to_count_max = " to " + std::to_string(bounds::limit_count_max);
  if (options.count < 1 || options.count > bounds::limit_count_max) {
    return out_of_range("count", std::to_string(options.count), "1" + to_count_max);
  }
  if (options.period <= Duration() || options.period > bounds::limit_period_max) {
    return out_of_range("period", std::to_string(options.period.ns()) + "ns",
                        "above 0 and up to " + to_string(bounds::limit_period_max));
  }
  const limit::TokenBucket bucket{.rate = {.count = options.count, .period = options.period},
                                  .burst = options.burst};
  if (options.count > options.period.ns()) {
    return out_of_range("rate", limit::to_string(bucket.rate), "at most one a nanosecond");
  }
  if (options.burst < 0 || options.burst > bounds::limit_count_max) {
    return out_of_range("burst", std::to_string(options.burst), "0" + to_count_max);
  }
  if (bucket.token_interval() * bucket.capacity() > bounds::limit_refill_max) {
    return out_of_range("burst", std::to_string(options.burst),
                        "what " + limit::to_string(bucket.rate) + " earns in " +
                            to_string(bounds::limit_refill_max));
  }
  return bucket;
}

}  // namespace

struct Limiter::State {
  State(const limit::TokenBucket& bucket, Clock* clock)
      : policy{.name = "", .bucket = bucket}, store(clock ? *clock : system_clock) {}

  const limit::Policy policy;
  SystemClock system_clock;
  MemoryCounterStore store;
};

Limiter::Limiter(std::unique_ptr<State> state) : state_(std::move(state)) {}
Limiter::Limiter(Limiter&& other) noexcept = default;
Limiter& Limiter::operator=(Limiter&& other) noexcept = default;
Limiter::~Limiter() = default;

Result<Limiter> Limiter::make(const LimiterOptions& options, Clock* clock) noexcept {
  const limit::TokenBucket bucket = PAWL_TRY(bucket_of(options));
  return Limiter(std::make_unique<State>(bucket, clock));
}

Decision Limiter::check(std::string_view key, std::int64_t cost) noexcept {
  PAWL_ASSERT(state_ != nullptr);  // it was moved from
  // A cost below nothing would give tokens back: told as what can never be had.
  const bool possible = cost >= 0;
  std::optional<limit::Verdict> verdict;
  state_->store.charge({.policy = state_->policy, .key = key, .cost = possible ? cost : 0},
                       [&](const Result<limit::Verdict>& answer) { verdict = answer.value(); });
  PAWL_ASSERT(verdict.has_value());  // memory answers before charge() returns
  return {.allowed = possible && verdict->allowed,
          .limit = verdict->limit,
          .remaining = verdict->remaining,
          .retry_after = possible ? verdict->retry_after : Duration::max()};
}

}  // namespace pawl
