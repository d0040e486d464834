// LeasedCounterStore: takes allowance from a store in batches; most asks then need no trip to it.
//
// Why:      a store on another machine costs a round trip an ask; here one serves up to a batch.
// Contract: CounterStore, but for exactness: units that were taken are charged in the store, and
//           used here, a little later or never.
//             Too many: each of N processes holds at most `batch` units of a count, those under way
//             included (core/limit/lease.h). Whatever passes in a stretch of time was charged in
//             it, or was held when it began. So to what the algorithm allows in a stretch, at most
//             N * batch are added:
//               token_bucket    capacity + what refills in the stretch + N * batch
//               sliding_window  limit + N * batch in a window of the grid, and so less than twice
//                               that in one laid anywhere
//               calendar        limit + N * batch in a window
//             Units that go back add nothing: what the store hands out for them again is what
//             nobody used. In the long run nothing is added, for every unit used was charged.
//             Too few: what others hold is not to be had, at most N * batch of a count, and not for
//             longer than `lease_for` where it is not used. The last units are asked for exactly.
//           A refusal is remembered until it may have changed, for lease_for at most. What another
//           process closes, resets or gives back is seen after lease_for at the latest; what this
//           one does, at once: what it holds of a count that it closes or resets is forfeited.
//           A look (cost 0) tells what the store has, without what is held. A batch of 1 is the
//           store itself.
// Straight: what keeps a mark a use (sliding_log, concurrency), costs more than half a batch, or is
//           reserved, is asked of the store. So is all that finds no room here.
// Bounds:   leases_max counts; those at rest make room.
// Threads:  any; one lock, never held while the store is asked or an answer is told. Of callers
//           that want more of a count at once, one asks the store and the others wait for it.
// Time:     there is no thread in here: call give_back_idle() every lease_for or so, and
//           give_back_all() before the end. What a process that dies holds stays charged.
// Lifetime: clock and store outlive it. Stand it on the store itself, and below a fallback, so that
//           units go back to where they came from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/bounds.h"
#include "core/limit/lease.h"
#include "pawl/clock.h"
#include "port/counter_store.h"

namespace pawl {

class LeasedCounterStore final : public CounterStore {
 public:
  struct Options {
    limit::LeaseTerms terms = {.batch = 100};
    std::size_t leases_max = bounds::limit_leases_max;
    std::uint64_t seed = 0;  // what strangers who choose keys must not know
  };
  LeasedCounterStore(Options options, Clock& clock, CounterStore& store);

  void check(Counts counts, std::int64_t cost, Done<limit::Answer> done) override;
  void reserve(Counts counts, std::int64_t cost, Duration hold, Done<Reservation> done) override;
  void settle(Counts counts, std::uint64_t id, Settlement how, Done<void> done) override;
  void refund(const Count& count, std::int64_t cost, Done<void> done) override;
  void reset(const Count& count, Done<void> done) override;
  void close(const Count& count, Instant until, Done<void> done) override;
  Result<void> health() override;

  void give_back_idle();
  // All that is not busy, but of no more counts at once than a store answers in time. Call it again
  // when those are answered, until it says false.
  bool give_back_all();

 private:
  class State;
  std::shared_ptr<State> state_;  // the store's late answer may outlive this
};

}  // namespace pawl
