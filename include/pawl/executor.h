// Executor: makes a side effect happen with bounded retries, at most once for a key.
//
//   auto executor = pawl::Executor::make({.store = "sqlite:data/intents.db"});
//   if (!executor) return tell(executor.error().message);
//   const pawl::Result<std::string> answer = executor->execute_with_retry(
//       "RETRY_API_REQUEST", "charge card",
//       [&](const pawl::Attempt& attempt) { return charge(card, attempt.timeout); },
//       {.idempotency_key = order_id});
//
// Contract: the callable is called afresh for each attempt. It returns a value, or an Error whose
//           outcome says what became of the effect (see retry.h): only not_applied is sent
//           again, and not before its retry_after; unknown is, where `harmless` says that a second
//           copy changes nothing, or after `reconcile` has shown that the first did nothing.
//           Whatever it throws is caught, and counts as unknown. Every failure comes back as a
//           value; nothing here throws.
// Keys:     the first caller with a key acts, its result is on record before it is returned, and
//           every later caller gets that result, until the ttl is over. Callers at the same time
//           are told that it is in flight (Code::refused), or wait, by setting. The key belongs to
//           its tenant. One that nobody knows the end of stays so for a year, or until somebody
//           settles it.
// Errors:   Code::refused: given up, with what the last attempt said; the key is in flight.
//           Code::invalid: the key was used for something else, or an option is out of bounds.
//           Code::unresolved: nobody knows whether it was applied. Code::unavailable: the store of
//           the keys does not answer, the log takes nothing any more, or the other side has failed
//           too often of late (the breaker is open). Error::retry_after says when to come again,
//           where that is known. An error with Outcome::applied: it was done, and its result lost.
// Deadline: that of the policy counts the claim, the wait for somebody else, attempts and waits in
//           between. A result is then still put on record, for up to 30 seconds.
// Waiting:  the blocking form makes its attempts on the calling thread, which sleeps in between.
//           The other one begins attempts and calls back on any thread. Callbacks must not block:
//           not with the blocking form, and not with idempotency(); what they throw is dropped.
//           Waits that are to outlive the process: durable_operation.h.
// Threads:  any may call all of it. Moving and destroying are for one thread alone. Destroying ends
//           what is under way, as cancelled, and waits until everybody was told; not from a
//           callback, and not while a thread is in the blocking form.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "pawl/clock.h"
#include "pawl/idempotency.h"
#include "pawl/result.h"
#include "pawl/retry.h"
#include "pawl/time.h"

namespace pawl {

struct ExecutorOptions {
  std::string store = "memory";              // of keys: see IdempotencyOptions
  Durability durability = Durability::none;  // make() fails when the store gives less
  std::string audit = {};  // file:PATH or nats://HOST:PORT/STREAM; empty: no audit log
  enum class OnFull : std::uint8_t { block, fail };
  OnFull on_full = OnFull::block;  // a log that is full lets callers wait, or fails them
  enum class OnInFlight : std::uint8_t { conflict, wait };
  OnInFlight on_in_flight = OnInFlight::conflict;
  Duration wait_max = Duration::seconds(60);  // for somebody else, and within the deadline
  Duration lease = Duration::seconds(60);
  Duration ttl = Duration::hours(24);
  double budget_ratio = 0.2;            // retries, as a share of the calls
  std::int64_t budget_per_second = 10;  // and so many a second besides
  int breaker_failures = 5;             // in a row, then nobody is called for a while
  Duration breaker_wait_min = Duration::seconds(1);
  Duration breaker_wait_max = Duration::seconds(60);
  // In place of what retry_policy() says of these categories, or for categories of one's own.
  std::map<std::string, RetryPolicy> policies = {};
  // Told when the audit log did not take how an operation ended, whose result stands all the same.
  // A retry that it does not take is not made.
  std::function<void(const Error&)> unaudited = {};
  // Told once for each category that is not known, which gets the default policy.
  std::function<void(std::string_view category)> unknown_category = {};
};

// What reconciliation found: applied, with the result; not_applied; or unknown still.
struct Finding {
  Outcome outcome;
  std::string result = {};
};

struct ExecuteOptions {
  std::optional<RetryPolicy> policy = {};  // in place of the category's
  std::string idempotency_key = {};
  std::string fingerprint = {};  // of what is asked: another one under the same key is refused
  std::string tenant_id = {};
  std::string correlation_id = {};
  std::string trace_id = {};
  // What else the audit events say of it; up to 16 texts of up to 256 bytes.
  std::map<std::string, std::string> context = {};
  bool harmless = false;   // a second copy changes nothing
  std::string guard = {};  // whose breaker, as in "api.example.com"; empty: the category's
  // Finds out what became of an attempt of unknown outcome; number 0: of what somebody else did.
  std::function<Result<Finding>(const Attempt&)> reconcile = {};  // of the blocking form
  // The same for the other form: begins to, and says later, once and from any thread.
  using Found = std::move_only_function<void(Result<Finding>)>;
  std::function<void(const Attempt&, Found)> begin_reconcile = {};
  // Of what is harmless, and of the other form: when no answer came for so long, the next attempt
  // is sent beside the first, and the first good answer counts. Zero: no.
  Duration hedge_after = {};
};

class Executor {
 public:
  using Callable = std::function<Result<std::string>(const Attempt&)>;
  using Done = std::move_only_function<void(Result<std::string>)>;
  // Begins an attempt and says later, once and from any thread, how it ended.
  using AsyncCallable = std::function<void(const Attempt&, Done)>;
  // Ends one that is under way, as soon as it can be.
  class Cancel {
   public:
    void operator()();

   private:
    friend class Executor;
    std::function<void()> cancel_;
  };

  // Without a clock it is the machine's own. A clock given must outlive the executor.
  static Result<Executor> make(const ExecutorOptions& options = {},
                               Clock* clock = nullptr) noexcept;

  Executor(Executor&& other) noexcept;
  Executor& operator=(Executor&& other) noexcept;
  ~Executor();

  Result<std::string> execute_with_retry(std::string_view category, std::string_view operation,
                                         Callable callable,
                                         const ExecuteOptions& how = {}) noexcept;
  Cancel execute_with_retry(std::string_view category, std::string_view operation,
                            AsyncCallable callable, const ExecuteOptions& how, Done done) noexcept;

  // The keys it goes by: to look one up, to clear or to settle one.
  Idempotency& idempotency() noexcept;

 private:
  friend class DurableOperation;
  struct State;
  explicit Executor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pawl
