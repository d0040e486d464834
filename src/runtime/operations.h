// Operations: runs operations by the pure machine of core/execution: claims their keys, makes their
// attempts, waits, records, and leaves the trail in the audit log.
//
// Why:      the gateway, orders, the queue and library callers have one way to retry and one way
//           not to do a thing twice.
// Contract: an operation ends once: `done` is called exactly once, on any thread, and gets a value
//           or an error, whatever the attempts do. An attempt is a fresh call of `attempt`; how it
//           ends is said once, from any thread, within its timeout or not: one that is silent for
//           longer counts as unknown, and what it says later is passed over.
//           A retry that the audit log does not take is not made: the operation is given up as
//           cancelled; and nothing is begun once it takes nothing any more. What the log did not
//           take of its end stands in OperationEnd::unaudited.
// Keys:     while attempts are made the claim is renewed at a third of its lease.
// Sleep:    a wait of `sleep_from` or more is not waited for here: `sleep` writes what goes on
//           later, then the key is let go, then `done` is told (OperationEnd::sleep). An operation
//           that can sleep waits for an open breaker as well, here or asleep.
// Breakers: one for each `guard` that has failed of late: see guards.h.
// Threads:  any.
// Lifetime: clock, timers, store and sink outlive it. Close the timers, and drain(): then every
//           operation has ended. What comes later, of attempts or of cancel(), is passed over.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/correlation.h"
#include "core/execution/execution.h"
#include "core/retry/breaker.h"
#include "core/retry/budget.h"
#include "core/retry/policy.h"
#include "pawl/clock.h"
#include "port/event_sink.h"
#include "port/record_store.h"
#include "port/timers.h"
#include "runtime/guards.h"
#include "runtime/visits.h"

namespace pawl {

// One attempt, or one look at what became of it.
struct AttemptAsk {
  int number = 1;
  Duration timeout = {};
  std::uint64_t fence = 0;  // of the claim; 0: there is no key
  // It was given up meanwhile: nobody waits for its end.
  std::function<bool()> given_up = {};
};

// How it ended.
struct AttemptEnd {
  retry::Classification seen = {};
  std::string type = {};     // of an exception, or the name of the error's code
  std::string message = {};  // for people; never a secret
  Duration pushback = {};    // the wait the server named
  idempotency::Response response = {};
};

// What an operation is to go on with after so long.
struct SleepAsk {
  Duration delay = {};
  retry::Policy policy = {};
  retry::Facts facts = {};
  retry::Decision decision = {};
  std::uint64_t fence = 0;  // of the claim; 0: there is none
};

struct Operation {
  std::string category = {};  // a code: RETRY_API_REQUEST
  std::string name = {};      // what the audit log calls it
  Correlation correlation = {};
  std::map<std::string, std::string> context = {};  // what else its events say
  std::optional<retry::Policy> policy = {};         // in place of the category's
  std::string key = {};                             // idempotency; empty: none
  std::string fingerprint = {};
  bool harmless = false;   // a second copy changes nothing
  std::string guard = {};  // whose breaker; empty: the category's
  Duration sleep_from = Duration::max();
  Duration hedge_after = {};
  std::optional<retry::Resumed> resumed = {};  // goes on after OperationEnd::sleep
  std::uint64_t slept_fence = 0;               // of SleepAsk
  std::string task = {};                       // that it is now, for the audit log

  using Ended = std::move_only_function<void(AttemptEnd)>;
  std::function<void(const AttemptAsk&, Ended)> attempt;
  // Finds out what became of an attempt of unknown outcome: `seen.outcome` says. Empty: nobody can.
  std::function<void(const AttemptAsk&, Ended)> reconcile = {};
  // Writes what goes on later, durably, and says as which task; an error with the outcome `unknown`
  // may have been written. Empty: whoever hears of the end does that.
  using Written = std::move_only_function<void(Result<std::string>)>;
  std::function<void(const SleepAsk&, Written)> sleep = {};
};

// Whether its policy, key and texts are within bounds; run() takes no other.
Result<void> check(const Operation& operation);

struct OperationEnd {
  execution::Answer answer;
  int attempts = 0;
  Duration sleep = {};                  // above zero: nothing has ended; go on after so long
  retry::Facts facts = {};              // with these
  std::string task = {};                // as this one
  Duration retry_after = {};            // nobody is let through before
  std::string type = {};                // of the last failure
  std::string message = {};             //
  std::optional<Error> unaudited = {};  // the audit log did not take how it ended
};

class Operations {
 public:
  struct Ports {
    Clock& clock;
    Timers& timers;
    RecordStore* records = nullptr;  // none: keys are refused
    EventSink* audit = nullptr;
  };
  struct Options {
    retry::PolicyTable policies = {};
    retry::BudgetRule budget = {};
    retry::BreakerRule breaker = {};
    Duration lease = Duration::seconds(60);
    Duration ttl = Duration::hours(24);
    execution::OnInFlight on_in_flight = execution::OnInFlight::conflict;
    Duration wait_max = Duration::seconds(60);  // for somebody else who has the key
    execution::OnStoreFailure on_store_failure = execution::OnStoreFailure::reject;
    // Told once for each category that is not known.
    std::function<void(std::string_view category)> unknown_category = {};
    // Of the jitter of operations without a key, so that several processes do not wait alike.
    std::uint64_t seed = 0;
  };
  using Done = std::move_only_function<void(OperationEnd)>;

  Operations(Options options, Ports ports);
  ~Operations();
  Operations(const Operations&) = delete;
  Operations& operator=(const Operations&) = delete;

  // What cancel() names. It keeps nothing alive.
  class Ticket;
  Ticket run(Operation operation, Done done);
  // Waits until every operation has ended: close the timers before.
  void drain();

 private:
  class Run;
  friend class Run;

  const retry::Policy& policy_of(std::string_view category);
  bool is_new(std::string_view category);

  const Options options_;
  Ports ports_;
  const std::shared_ptr<Visits> visits_;
  Guards guards_;
  std::mutex mutex_;  // guards what follows
  std::map<std::string, bool, std::less<>> warned_;
  std::atomic<std::uint64_t> started_ = 0;
};

class Operations::Ticket {
 public:
  Ticket() = default;
  // The operation ends as soon as it can: what is under way is not waited for.
  void cancel();

 private:
  friend class Operations;
  explicit Ticket(std::weak_ptr<Run> run) : run_(std::move(run)) {}
  std::weak_ptr<Run> run_;
};

}  // namespace pawl
