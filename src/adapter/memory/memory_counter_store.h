// MemoryCounterStore: counts in this process's memory.
//
// Contract: CounterStore; every call answers before it returns. Time is steady, so setting the
//           machine's clock moves calendar windows alone. Nothing survives the process; a restart
//           gives every key a fresh start, so at most one capacity too many a key.
// Bounds:   2 * keys_max places of 32 bytes for cells, taken as they are used, so at most 64 bytes
//           a key; keys_max / 16 keys with marks, and marks_max marks of 24 bytes. A key is
//           dropped only when nothing of it is in use (equal to absent). Where none is, new keys of
//           a policy share a few overflow keys, which refuses too much and never too little: a key
//           that was counted on one starts from it once it has a place of its own. Where there is
//           no room for a mark, asks of the key are refused for a second.
// Threads:  any. A known key of a cell algorithm takes no lock (cell_table.h); marks take one a
//           shard; closings and reservations have one each.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>

#include "adapter/memory/cell_table.h"
#include "adapter/memory/mark_table.h"
#include "base/bounds.h"
#include "pawl/clock.h"
#include "port/counter_store.h"
#include "port/reservation_ids.h"

namespace pawl {

class MemoryCounterStore final : public CounterStore {
 public:
  struct Options {
    std::size_t keys_max = bounds::limit_keys_max;
    std::size_t marks_max = bounds::limit_marks_max;
    std::uint64_t seed = 0;  // what strangers who choose keys must not know
  };
  explicit MemoryCounterStore(Clock& clock) : MemoryCounterStore(clock, Options{}) {}
  MemoryCounterStore(Clock& clock, Options options);

  void check(Counts counts, std::int64_t cost, Done<limit::Answer> done) override;
  void reserve(Counts counts, std::int64_t cost, Duration hold, Done<Reservation> done) override;
  void settle(Counts counts, std::uint64_t id, Settlement how, Done<void> done) override;
  void refund(const Count& count, std::int64_t cost, Done<void> done) override;
  void reset(const Count& count, Done<void> done) override;
  void close(const Count& count, Instant until, Done<void> done) override;

  // check() without the callback.
  limit::Answer check_now(Counts counts, std::int64_t cost);
  std::size_t keys();
  std::size_t marks();
  std::size_t bytes() const { return cells_.bytes(); }

 private:
  template <std::size_t counts_max, bool with_marks>
  class Step;
  class RestedCells;
  struct Hold {
    Hash128 key;  // of the first count
    limit::Ask reserved;
    std::uint8_t charged = 0;  // limit::charged_mask
    limit::Moment until;
  };

  limit::Now read_clock(Counts counts);
  Hash128 hash(const limit::Policy& policy, const limit::Key& key) const {
    return key.hash(seed_ ^ policy.id);
  }
  Hash128 overflow_hash(const limit::Policy& policy, Hash128 key) const;
  template <std::size_t few>
  bool check_known(Counts counts, std::int64_t cost, limit::Answer& answer);
  // Apart from the quick ways, which would pay for its many locals.
  [[gnu::noinline]] void check_any(Counts counts, std::int64_t cost, limit::Answer& answer);
  template <std::size_t few>
  static bool write_together(std::span<const CellTable::Reading, few> readings);
  limit::Answer decide(Counts counts, limit::Ask ask);
  // Changes states by hand, all at once. `change` gets the index of the count, its state and the
  // time, and may be called more than once. Where it says false, nothing is changed.
  template <class Change>
  bool apply(Counts counts, const Change& change);
  bool is_rested(MarkTable::Kept& kept, limit::Now now);
  limit::Moment closed_until(Hash128 key);
  void forget(Hash128 key);
  const limit::Rule* rule_of(std::uint32_t shape);
  void remember(const limit::Policy& policy);
  void forget_holds(limit::Moment now);
  std::optional<Hold> take_hold(std::uint64_t id, Hash128 key, limit::Moment now);

  Clock& clock_;
  const std::uint64_t seed_;
  CellTable cells_;
  CellTable overflow_;
  MarkTable marks_;

  std::shared_mutex rules_mutex_;
  std::map<std::uint32_t, limit::Rule> rules_;  // every shape there ever was; never erased

  std::atomic<std::int64_t> open_from_ = 0;  // when the last closing ends: nobody looks after that
  std::shared_mutex closed_mutex_;
  std::map<Hash128, limit::Moment> closed_;

  ReservationIds ids_;
  std::mutex holds_mutex_;
  std::map<std::uint64_t, Hold> holds_;
  std::uint64_t holds_swept_to_ = 0;
};

}  // namespace pawl
