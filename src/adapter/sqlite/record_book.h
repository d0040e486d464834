// RecordBook: the records of intents in a SQLite file, within one transaction.
//
// Contract: each step decides as the pure machine does (core/idempotency/record.h), one after the
//           other, all at the one moment of the transaction. A step that fails by itself changes
//           nothing and the next one may go on.
// Fences:   one count for the whole file, which only grows: so those of a key do, whatever was
//           cleared or forgotten.
// Replays:  are counted in memory and written with the next change, so that a replay costs no sync.
//           Those of a transaction that fails, or of a process that is killed, are lost.
// Bounds:   `records_max` records; a new key beyond is an error.
// Threads:  one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "adapter/sqlite/book.h"
#include "adapter/sqlite/writer.h"
#include "port/record_store.h"

namespace pawl {

// Of records, by their fence: how often they were replayed since that was written.
using Replays = std::map<std::uint64_t, std::uint64_t>;

class RecordBook final : public sqlite::Book {
 public:
  static const sqlite::Schema schema;

  // Deletes some that have expired: as many as the transaction may add, and as many again.
  RecordBook(const sqlite::Transaction& transaction, std::size_t records_max, Replays& replays);

  Result<idempotency::Begun> begin(const RecordKey& key, const idempotency::Begin& ask);
  Result<void> renew(const RecordKey& key, std::uint64_t fence, Duration lease);
  Result<void> complete(const RecordKey& key, std::uint64_t fence, idempotency::Completion how);
  Result<void> settle(const RecordKey& key, idempotency::Completion how);
  Result<idempotency::Record> get(const RecordKey& key);
  Result<idempotency::Record> look_up(const RecordKey& key, std::string_view fingerprint);
  Result<void> clear(const RecordKey& key, bool force);
  Result<std::vector<KeptRecord>> list(const RecordFilter& filter);
  // Has save() write them, should nothing else have changed.
  void write_replays();

  Result<void> save() override;
  void touch() override;

 private:
  struct Totals {
    std::uint64_t fence = 0;  // the last one given out
    std::int64_t records = 0;
  };

  Result<std::optional<idempotency::Record>> find(const RecordKey& key);
  std::optional<idempotency::Record> with_late_replays(
      std::optional<idempotency::Record> record) const;
  template <class Step>
  Result<void> change(const RecordKey& key, Step step);
  Totals* totals();
  Result<void> start(const RecordKey& key, const idempotency::Record& record);
  Result<void> update(const idempotency::Record& record);
  bool select(const RecordFilter& filter, const sqlite::Database::Each& add);
  void forget_some(std::size_t rows, Instant then);

  const Instant now_;
  const std::size_t records_max_;
  Replays& replays_;
  std::optional<Totals> totals_;
  bool changed_ = false;
};

}  // namespace pawl
