// SqliteIntentStore: intents, quota slots and the order history in a SQLite file.
//
// Why:      an intent is on the disk before its first byte leaves, and its outcome before anybody
//           hears it; after kill -9 or a power cut the next process finds both. All processes of a
//           machine share the weekly limit and the work through the file.
// Contract: IntentStore. One sync a commit (a WAL; see database.h for how that is safe here), which
//           calls that wait at the same time share. Looks cost none.
// Speed, trouble, threads: writer.h. A file that is gone is not made anew by a store that has it
//           open. A damaged one is an error that says to move it away and to run `pawl
//           backfill-orders`. See intent_book.h for what the file holds.
// Work:     work_locks.h. A store whose lock file was taken away starts no attempt any more.
// Files:    PATH; PATH-wal and PATH-shm, which are part of it; PATH-lock and PATH-work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "adapter/sqlite/intent_book.h"
#include "adapter/sqlite/work_locks.h"
#include "adapter/sqlite/writer.h"
#include "pawl/clock.h"
#include "port/intent_store.h"

namespace pawl {

struct SqliteIntentStoreOptions {
  std::string path;
  Duration busy_timeout = bounds::sqlite_busy_timeout;
  std::size_t queue_max = bounds::sqlite_queue_max;
};

class SqliteIntentStore final : public IntentStore {
 public:
  // Makes the file where it is missing. `clock` must outlive the store.
  static Result<std::unique_ptr<SqliteIntentStore>> open(SqliteIntentStoreOptions options,
                                                         Clock& clock);

  void open(NewIntent intent, Done<Opening> done) override;
  void take(std::string reference, Done<TakenIntent> done) override;
  void save(std::int64_t id, order::Progress progress, Done<void> done) override;
  void release(std::int64_t id) override;
  void get(std::string reference, Done<order::Intent> done) override;
  void list(IntentFilter filter, Done<std::vector<order::Intent>> done) override;
  void quota(order::FrequencyLimit limit, Instant now, Done<order::Quota> done) override;
  void backfill(std::vector<HistoryRow> rows, Done<std::size_t> done) override;
  void set_life(std::string venue, std::string order_id, order::Life life,
                Done<bool> done) override;
  void unfinished(std::string venue, std::int64_t after, std::size_t limit,
                  Done<std::vector<order::Intent>> done) override;
  void history_is_empty(Done<bool> done) override;
  Result<void> health() override;

 private:
  SqliteIntentStore() = default;

  // `step` may take the work on an intent and then says which; when the transaction comes to
  // nothing, that is let go again.
  template <class T, class Step>
  void submit_work(Done<T> done, Step step);

  std::unique_ptr<WorkLocks> locks_;
  std::unique_ptr<sqlite::Writer> writer_;  // uses the rest, and ends before it
};

}  // namespace pawl
