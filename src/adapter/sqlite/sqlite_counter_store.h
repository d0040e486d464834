// SqliteCounterStore: counts in a SQLite file, for limits that must outlive the process.
//
// Why:      a monthly quota survives kill -9 and a power cut, and processes of one machine share a
//           limit through the file.
// Contract: CounterStore. What was charged is on the disk before it is answered, so a restart finds
//           every use that anybody was told of, and at most those besides that were under way.
//           Time is the world's clock, which restarts and processes have in common; see
//           core/limit for what becomes of a count when it is set. Counts that are at rest are
//           forgotten little by little.
//           Counts that are no loss (a pace) need not be synced: they survive a kill, and a power
//           cut may have them begin anew.
// Speed, trouble, bounds, threads: writer.h. A file that is gone is not made anew: that would hand
//           out every quota again. See counter_book.h for what the file holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "adapter/sqlite/counter_book.h"
#include "adapter/sqlite/writer.h"
#include "pawl/clock.h"
#include "port/counter_store.h"
#include "port/entropy.h"
#include "port/reservation_ids.h"

namespace pawl {

struct SqliteCounterStoreOptions {
  std::string path;
  bool synced = true;  // false: sqlite::Journal::unsynced
  CounterBookOptions book = {};
  Duration busy_timeout = bounds::sqlite_busy_timeout;
  std::size_t queue_max = bounds::sqlite_queue_max;
};

class SqliteCounterStore final : public CounterStore {
 public:
  // Makes the file where it is missing. `clock` must outlive the store.
  static Result<std::unique_ptr<SqliteCounterStore>> open(SqliteCounterStoreOptions options,
                                                          Clock& clock, Entropy& entropy);

  void check(Counts counts, std::int64_t cost, Done<limit::Answer> done) override;
  void reserve(Counts counts, std::int64_t cost, Duration hold, Done<Reservation> done) override;
  void settle(Counts counts, std::uint64_t id, Settlement how, Done<void> done) override;
  void refund(const Count& count, std::int64_t cost, Done<void> done) override;
  void reset(const Count& count, Done<void> done) override;
  void close(const Count& count, Instant until, Done<void> done) override;
  Result<void> health() override;

 private:
  SqliteCounterStore(CounterBookOptions book, Entropy& entropy);

  std::unique_ptr<CounterBook> open_book(const sqlite::Transaction& transaction);
  template <class T, class Step>
  void submit(Counts counts, Done<T> done, Step step);

  const CounterBookOptions book_;
  ReservationIds ids_;
  ForgetCursor forget_cursor_;              // the writer's alone
  std::unique_ptr<sqlite::Writer> writer_;  // uses the rest, and ends before it
};

}  // namespace pawl
