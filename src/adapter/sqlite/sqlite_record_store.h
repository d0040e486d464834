// SqliteRecordStore: records of intents in a SQLite file, for those that must outlive the process.
//
// Why:      what was begun and what came of it survives kill -9 and a power cut, and processes of
//           one machine that share the file run an intent once between them.
// Contract: RecordStore. What a call changed is on the disk before it is answered. Replays, looks
//           and refusals cost no sync. Time is the world's clock, which restarts and processes have
//           in common. Records that have expired are forgotten little by little.
// Speed, trouble, bounds, threads: writer.h. A file that is gone is not made anew: that would run
//           every intent again. See record_book.h for what the file holds.
// One file: a path of its own. One that holds something else, the counts of limits as well, is
//           refused when it is opened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "adapter/sqlite/record_book.h"
#include "adapter/sqlite/writer.h"
#include "pawl/clock.h"
#include "port/record_store.h"

namespace pawl {

struct SqliteRecordStoreOptions {
  std::string path;
  std::size_t records_max = bounds::sqlite_records_max;
  Duration busy_timeout = bounds::sqlite_busy_timeout;
  std::size_t queue_max = bounds::sqlite_queue_max;
};

class SqliteRecordStore final : public RecordStore {
 public:
  // Makes the file where it is missing. `clock` must outlive the store.
  static Result<std::unique_ptr<SqliteRecordStore>> open(SqliteRecordStoreOptions options,
                                                         Clock& clock);
  ~SqliteRecordStore() override;

  void begin(const RecordKey& key, const idempotency::Begin& ask,
             Done<idempotency::Begun> done) override;
  void renew(const RecordKey& key, std::uint64_t fence, Duration lease, Done<void> done) override;
  void complete(const RecordKey& key, std::uint64_t fence, idempotency::Completion how,
                Done<void> done) override;
  void settle(const RecordKey& key, idempotency::Completion how, Done<void> done) override;
  void get(const RecordKey& key, Done<idempotency::Record> done) override;
  void look_up(const RecordKey& key, std::string_view fingerprint,
               Done<idempotency::Record> done) override;
  void clear(const RecordKey& key, bool force, Done<void> done) override;
  void list(const RecordFilter& filter, Done<std::vector<KeptRecord>> done) override;

  // fsync; process where the file lies in memory (tmpfs).
  Durability durability() const override;
  Result<void> health() override;

 private:
  explicit SqliteRecordStore(std::size_t records_max) : records_max_(records_max) {}

  template <class T, class Step>
  void submit(std::size_t rows, const RecordKey& key, Done<T> done, Step step);

  const std::size_t records_max_;
  Replays replays_;                         // the writer's alone
  std::unique_ptr<sqlite::Writer> writer_;  // uses the rest, and ends before it
};

}  // namespace pawl
