// DrainableCounterStore: a store at the bottom of a stack, which ends while all above it still
// stand.
//
// Why:      an answer goes up through every layer, and may come down again to another store. So no
//           layer may go before all is answered, and what was asked last (a settlement, units that
//           go back) wants to arrive.
// Contract: CounterStore, as the store it owns is. The stores of a stack share one Drain. To end
//           it: wait_until_idle(); then close(), after which calls fail at once, and end() of each
//           store, which answers what it still had. Then the layers may go in any order.
// Threads:  any. close() and end(): one that is not a store's own, when nobody asks the stack any
//           more but answers that go through it.
// Lifetime: the Drain outlives its stores.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "port/counter_store.h"

namespace pawl {

class Drain {
 public:
  // True when, within that time, no call is under way: none inside a store, and none that has not
  // been answered, with all that came of the answer.
  bool wait_until_idle(Duration at_most);
  // Returns when no call is inside a store any more.
  void close();

 private:
  friend class DrainableCounterStore;

  bool enter();  // false: closed
  void leave();
  void answered();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t inside_ = 0;
  std::uint64_t unanswered_ = 0;
  bool closed_ = false;
};

class DrainableCounterStore final : public CounterStore {
 public:
  DrainableCounterStore(Drain& drain, std::unique_ptr<CounterStore> store)
      : drain_(drain), store_(std::move(store)) {}

  void check(Counts counts, std::int64_t cost, Done<limit::Answer> done) override;
  void reserve(Counts counts, std::int64_t cost, Duration hold, Done<Reservation> done) override;
  void settle(Counts counts, std::uint64_t id, Settlement how, Done<void> done) override;
  void refund(const Count& count, std::int64_t cost, Done<void> done) override;
  void reset(const Count& count, Done<void> done) override;
  void close(const Count& count, Instant until, Done<void> done) override;
  Result<void> health() override;

  void end() { store_.reset(); }

 private:
  template <class T, class Ask>
  void call(Done<T> done, const Ask& ask);

  Drain& drain_;
  std::unique_ptr<CounterStore> store_;
};

}  // namespace pawl
