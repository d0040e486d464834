// FallbackCounterStore: goes on when the store of the counts is lost.
//
// Why:      counters on another machine must not stop every request when that machine does.
// Contract: CounterStore, as the remote store is, while that answers. When it gives an error:
//             local   the ask is decided on the counts of this process (counted_by says so). Each
//                     process then lets through the whole limit: N processes N times as much, and
//                     what was used before counts for nothing.
//             allow   the ask is allowed, uncounted; its verdicts are those of a rested key.
//             deny    the error is passed on.
//           An error with which the store's health() is bad too makes it lost; else it takes
//           bounds::store_lost_failures in a row, so that one slow answer does not have all keys
//           counted anew. Code::invalid and not_found are answers: they speak of one key alone.
//           While the store is lost it is not asked but by one probe at a time, which is a caller's
//           own ask (core/retry/breaker.h): only that caller waits for the store's deadline.
//           The first probe that is answered ends it. What was decided meanwhile is not told to the
//           store afterwards. One whose outcome is unknown may have been charged there: stricter.
// Settling: a reservation is settled where it was made. One of the remote store cannot be settled
//           while that is lost: it runs out by its hold.
// Others:   refund() gives back where an ask would be charged now: while the store is lost, to the
//           counts of this process (local), or to nobody (allow). reset() and close() are done to
//           both and succeed when the remote store has done it: until then others do not know of
//           it.
// Seen:     status() for health pages and metrics; on_change at each change, to log it once.
// Threads:  any. on_change comes on any thread, with no lock held; it must not block.
// Lifetime: clock and stores outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "pawl/clock.h"
#include "port/counter_store.h"

namespace pawl {

enum class WhenLost : std::uint8_t { local, allow, deny };

class FallbackCounterStore final : public CounterStore {
 public:
  struct Status {
    bool lost = false;
    Instant since = {};                 // of the last change
    std::string why = {};               // the error it was lost with
    std::uint64_t failures = 0;         // asks that the remote store did not answer
    std::uint64_t decided_without = 0;  // asks that were decided locally, or allowed uncounted
    std::uint64_t changes = 0;          // lost, and found again
  };
  struct Options {
    WhenLost when_lost = WhenLost::local;
    std::function<void(const Status&)> on_change = {};
    std::uint64_t seed = 0;  // of the ids of what was allowed uncounted: another in each process
  };
  struct Ports {
    Clock& clock;
    CounterStore& remote;
    CounterStore& local;  // asked with WhenLost::local only
  };
  FallbackCounterStore(Options options, Ports ports);

  void check(Counts counts, std::int64_t cost, Done<limit::Answer> done) override;
  void reserve(Counts counts, std::int64_t cost, Duration hold, Done<Reservation> done) override;
  void settle(Counts counts, std::uint64_t id, Settlement how, Done<void> done) override;
  void refund(const Count& count, std::int64_t cost, Done<void> done) override;
  void reset(const Count& count, Done<void> done) override;
  void close(const Count& count, Instant until, Done<void> done) override;
  // An error only where calls would give one: with WhenLost::deny.
  Result<void> health() override;

  Status status() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // the remote store's late answer may outlive this
};

}  // namespace pawl
