// Retry: calls something until it succeeds, for as long as its policy, its budget and its breaker
// allow. No key, no log, no store: for those, see executor.h.
//
//   auto retry = pawl::Retry::make({.policy = pawl::retry_policy("RETRY_KV_GET")});
//   if (!retry) return tell(retry.error().message);
//   const pawl::Result<Quote> quote = retry->execute(
//       [&](const pawl::Attempt& attempt) { return fetch(symbol, attempt.timeout); });
//
// Contract: the callable is called afresh for each attempt. It returns a Result whose Error says
//           what became of the effect: not_applied is tried again when its code is unavailable or
//           internal, or when it names a wait (Error::retry_after), which is never undercut.
//           unknown is tried again only where `harmless` says that a second copy changes nothing;
//           else it is returned, as Code::unresolved. What it throws is caught and counts as
//           unknown. Given up, the error is that of the last attempt, with the reason before it.
// Budget:   of all calls through one Retry, retries are a share, and a few a second besides.
// Breaker:  one for each Retry, so have one for each other side. While it is open nothing is
//           called: Code::unavailable, not applied, with the time of the next probe.
// Waiting:  on the calling thread. A deadline is looked at between attempts; to keep within
//           Attempt::timeout is up to the callable.
// Threads:  any may call all of it. Moving and destroying are for one thread alone.
// Cost:     a call that succeeds at once allocates nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "pawl/clock.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl {

struct RetryPolicy {
  int max_attempts = 3;
  Duration base_delay = Duration::seconds(1);
  Duration max_delay = Duration::seconds(30);
  Duration min_delay = {};
  double multiplier = 2.0;
  enum class Jitter : std::uint8_t { none, proportional, full, equal, decorrelated };
  Jitter jitter = Jitter::proportional;
  double jitter_factor = 0.1;         // proportional: ±10 %
  std::vector<Duration> delays = {};  // in place of base and multiplier; the last one repeats
  Duration deadline = {};             // of everything together; zero: none
  Duration attempt_timeout = Duration::seconds(30);
  // Types of exceptions ("std::invalid_argument"), and kinds of failure ("server_error"). What is
  // listed as retryable is, though it be listed as non-retryable too.
  std::vector<std::string> retryable = {};
  std::vector<std::string> non_retryable = {};
};

// That of a category ("RETRY_API_REQUEST"); of one that is not known, the default.
RetryPolicy retry_policy(std::string_view category);

struct Attempt {
  int number = 1;
  Duration timeout = {};    // how long it may take
  std::uint64_t fence = 0;  // grows with every owner of the key; 0: there is no key
};

struct RetryOptions {
  RetryPolicy policy = {};
  bool harmless = false;                // a second copy changes nothing
  double budget_ratio = 0.2;            // retries, as a share of the calls
  std::int64_t budget_per_second = 10;  // and so many a second besides
  int breaker_failures = 5;             // in a row, then it opens
  Duration breaker_wait_min = Duration::seconds(1);
  Duration breaker_wait_max = Duration::seconds(60);
};

class Retry {
 public:
  // Without a clock it is the machine's own, and waits are slept. A clock given must outlive this;
  // waits are then `sleep`'s, which moves it or waits for it.
  using Sleep = std::function<void(Duration)>;
  static Result<Retry> make(const RetryOptions& options = {}, Clock* clock = nullptr,
                            Sleep sleep = {}) noexcept;

  Retry(Retry&& other) noexcept;
  Retry& operator=(Retry&& other) noexcept;
  ~Retry();

  // The callable takes a const Attempt& and returns a Result.
  template <class Callable>
  auto execute(Callable&& callable) -> std::invoke_result_t<Callable&, const Attempt&> {
    std::optional<std::invoke_result_t<Callable&, const Attempt&>> last;
    auto once = [&](const Attempt& attempt) -> const Error* {
      last.emplace(callable(attempt));
      return last->has_value() ? nullptr : &last->error();
    };
    if (std::optional<Error> error = run(Once(&once))) return std::unexpected(*std::move(error));
    return *std::move(last);
  }

 private:
  // One call of the callable: no error when it succeeded. Borrowed, so that it costs nothing.
  class Once {
   public:
    template <class Call>
    explicit Once(Call* call)
        : call_(call), invoke_([](void* to, const Attempt& attempt) -> const Error* {
            return (*static_cast<Call*>(to))(attempt);
          }) {}
    const Error* operator()(const Attempt& attempt) const { return invoke_(call_, attempt); }

   private:
    void* call_;
    const Error* (*invoke_)(void*, const Attempt&);
  };

  // None: the last call succeeded.
  std::optional<Error> run(Once once);

  struct State;
  class Call;
  explicit Retry(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pawl
