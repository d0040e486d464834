// SplitCounterStore: calendar limits in one store, all others in another.
//
// Why:      a monthly quota belongs on a disk, where it survives kill -9; a hundred a second do
//           not.
// Contract: CounterStore, all or none across both: what lives in one store goes straight there; an
//           ask of both is reserved on one, asked of the other, then committed or cancelled, and
//           cancelling gives back exactly. In between it is charged where it was reserved, so
//           others may be refused for a moment who would have been let in. A process that dies, or
//           a store that fails, in between leaves it charged: stricter, never less.
//           The store of the others is asked first, so whom they refuse costs the disk nothing;
//           only with slots among them is it asked last.
//           A policy that becomes a calendar limit, or is one no more, starts afresh.
// Bounds:   bounds::limit_reservations_max open reservations across both.
// Threads:  any. Lifetime: clock and stores outlive it; it outlives the answers of its calls.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "pawl/clock.h"
#include "port/counter_store.h"

namespace pawl {

class SplitCounterStore final : public CounterStore {
 public:
  struct Stores {
    CounterStore& calendar;
    CounterStore& others;
  };
  SplitCounterStore(Clock& clock, Stores stores) : clock_(clock), stores_(stores) {}

  void check(Counts counts, std::int64_t cost, Done<limit::Answer> done) override;
  void reserve(Counts counts, std::int64_t cost, Duration hold, Done<Reservation> done) override;
  void settle(Counts counts, std::uint64_t id, Settlement how, Done<void> done) override;
  void refund(const Count& count, std::int64_t cost, Done<void> done) override;
  void reset(const Count& count, Done<void> done) override;
  void close(const Count& count, Instant until, Done<void> done) override;
  // Of both: an ask may need either.
  Result<void> health() override;

 private:
  struct Half;
  class Both;
  // A reservation goes by the id that the store of the others gave it.
  struct Hold {
    std::uint64_t calendar_id = 0;
    SteadyInstant until;
  };

  CounterStore& store_of(const Count& count);
  // The one store that has them all; null: both have some.
  CounterStore* only_store_of(Counts counts);
  bool has_room_for_a_hold();
  void remember(std::uint64_t id, Hold hold);
  std::optional<Hold> find_hold(std::uint64_t id);
  std::optional<Hold> take_hold(std::uint64_t id);
  void prolong(std::uint64_t id, SteadyInstant until);

  Clock& clock_;
  Stores stores_;
  std::mutex holds_mutex_;
  std::map<std::uint64_t, Hold> holds_;
  std::set<std::pair<SteadyInstant, std::uint64_t>> ends_;  // of the holds, the next one first
};

}  // namespace pawl
