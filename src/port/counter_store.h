// CounterStore: where the counts of limits live, and the one place where a limit is charged.
//
// Contract: each call is one step, however many threads or processes call at once. check() decides
//           as limit::decide does (or as the same decision in the store's own tongue): all counts
//           are charged or none. `done` is called exactly once, before the call returns or later,
//           on any thread. An error says by its outcome whether something may have been changed.
//           What `counts` and keys point at must live until check() and its kin return, not until
//           `done`; policies until `done`.
// Reserving: reserve() charges as check() does, and remembers it until settle() or for `hold`. Not
//           settled in time, what was charged stays charged (slots come back by their lease), and
//           settle() says not_found. A settlement happens once: the second finds nothing.
//           A renewal is of all or of nothing: once the lease of one slot is over, it says
//           not_found and changes nothing, the hold included. Somebody else may have that slot by
//           now, so its holder has to stop; and what it holds besides must not stay away for longer
//           on its account. Commit and cancel still bring back what is left.
// Bounds:   bounds::limit_keys_max keys, bounds::limit_reservations_max open reservations; a store
//           that is full may refuse more than it must, never less.
// Threads:  any.
// Held by:  adapter/memory, adapter/sqlite, adapter/redis; sim/counter_store.
// See:      counter_store_conformance.h, which every store passes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/limit/decide.h"
#include "core/limit/key.h"
#include "core/limit/policy.h"
#include "pawl/result.h"

namespace pawl {

using limit::Count;
using limit::Counts;
using limit::Settlement;

struct Reservation {
  std::uint64_t id = 0;  // 0 when it was refused; else as reservation_ids.h has them
  limit::Answer answer;
};

// What settle() says of it.
inline std::unexpected<Error> reservation_not_found() {
  return failure(Code::not_found,
                 "no such reservation: it was settled before, ran out, or was made for other "
                 "limits");
}

class CounterStore {
 public:
  template <class T>
  using Done = std::move_only_function<void(Result<T>)>;

  virtual ~CounterStore() = default;

  // Cost 0 looks and charges nothing.
  virtual void check(Counts counts, std::int64_t cost, Done<limit::Answer> done) = 0;
  virtual void reserve(Counts counts, std::int64_t cost, Duration hold, Done<Reservation> done) = 0;
  // `counts` as they were reserved.
  virtual void settle(Counts counts, std::uint64_t id, Settlement how, Done<void> done) = 0;
  // Gives `cost` back to one count as if it had been charged just now, and no further than to what
  // a rested key has. Who refunds late lets up to `cost` too many pass: cancel a reservation.
  // Slots are not refunded: they come back by settle(), or their lease.
  virtual void refund(const Count& count, std::int64_t cost, Done<void> done) = 0;
  // As if the key had never been used, nor closed.
  virtual void reset(const Count& count, Done<void> done) = 0;
  // Nothing passes before `until`. An earlier instant never shortens a closing, so the word of a
  // slow server opens nothing that another one shut; reset() opens.
  virtual void close(const Count& count, Instant until, Done<void> done) = 0;
  // The error that calls would give now; no error when they would be served.
  virtual Result<void> health() { return {}; }
};

}  // namespace pawl
