// SqliteCounterStore: counts in a SQLite file, for limits that must outlive the process.
//
// Why:      a monthly quota survives kill -9 and a power cut, and processes of one machine share a
//           limit through the file.
// Contract: CounterStore. What was charged is on the disk before it is answered, so a restart finds
//           every use that anybody was told of, and at most those besides that were under way.
//           Time is the world's clock, which restarts and processes have in common; see
//           core/limit for what becomes of a count when it is set. Counts that are at rest are
//           forgotten little by little, by a time that no leap of the clock makes later.
// Speed:    one writer thread decides on all asks that wait in one transaction: one commit
//           for up to bounds::sqlite_batch_max of them. Asks that change nothing (looks, refusals)
//           cost no sync.
// Trouble:  a full or failing disk, a file that is locked for too long, not writable, moved away or
//           damaged: the asks of that transaction fail with the reason and the outcome, those that
//           wait behind it with not_applied, and the next ones try with a new connection. So all
//           goes on by itself once the trouble is over. A file that is gone is not made anew: that
//           would hand out every quota again. Open a new store for that.
// Bounds:   queue_max asks wait; one more fails at once with unavailable, not_applied. See
//           counter_book.h for what the file holds.
// Threads:  any. `done` is called by the writer, or by the caller when the queue is full; it must
//           not block, nor destroy the store. The destructor answers all that waits.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "adapter/sqlite/counter_book.h"
#include "adapter/sqlite/database.h"
#include "pawl/clock.h"
#include "port/counter_store.h"
#include "port/entropy.h"
#include "port/reservation_ids.h"

namespace pawl {

struct SqliteCounterStoreOptions {
  std::string path;
  CounterBookOptions book = {};
  Duration busy_timeout = bounds::sqlite_busy_timeout;
  std::size_t queue_max = bounds::sqlite_queue_max;
};

class SqliteCounterStore final : public CounterStore {
 public:
  // Makes the file where it is missing. `clock` must outlive the store.
  static Result<std::unique_ptr<SqliteCounterStore>> open(SqliteCounterStoreOptions options,
                                                          Clock& clock, Entropy& entropy);
  ~SqliteCounterStore() override;

  void check(Counts counts, std::int64_t cost, Done<limit::Answer> done) override;
  void reserve(Counts counts, std::int64_t cost, Duration hold, Done<Reservation> done) override;
  void settle(Counts counts, std::uint64_t id, Settlement how, Done<void> done) override;
  void refund(const Count& count, std::int64_t cost, Done<void> done) override;
  void reset(const Count& count, Done<void> done) override;
  void close(const Count& count, Instant until, Done<void> done) override;
  // As the last transaction went. After a failed one, asking has a new one tried.
  Result<void> health() override;

 private:
  struct Job;
  template <class T>
  class JobOf;
  using Jobs = std::deque<std::unique_ptr<Job>>;

  SqliteCounterStore(SqliteCounterStoreOptions options, sqlite::Database database, Clock& clock,
                     Entropy& entropy);

  template <class T, class Step>
  void submit(Counts counts, Done<T> done, Step step);
  void work_until_closed();
  Jobs take_batch();
  Result<void> commit(const Jobs& batch);
  Result<void> decide(const Jobs& batch);
  limit::Moment time_to_forget(Instant now);

  const SqliteCounterStoreOptions options_;
  Clock& clock_;
  ReservationIds ids_;

  // The writer's alone.
  std::optional<sqlite::Database> database_;  // none after an error
  ForgetCursor forget_cursor_;
  const Instant opened_wall_;
  const SteadyInstant opened_steady_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable work_;
  Jobs queue_;
  std::optional<Error> failed_;
  bool trying_ = false;  // a job that health() sent is waiting
  bool closing_ = false;

  std::thread writer_;  // starts when all the rest stands
};

}  // namespace pawl
