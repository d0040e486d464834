// MemoryRecordStore: records in this process's memory, for tests and for programs whose intents may
// be forgotten with them.
//
// Contract: RecordStore; every call answers before it returns. Nothing survives the process. Its
//           clock is the world's at the moment it was made, and steady from then on, so setting the
//           machine's clock ends no lease.
// Bounds:   Options::records_max records and Options::bytes_max bytes. Expired ones are forgotten
//           little by little, and all of them before a new key is refused (unavailable); one that
//           has not expired, never. A response for which there is no room left is kept as a
//           tombstone.
// Threads:  any; a lock a shard, held while one record is decided on, never while `done` runs.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bounds.h"
#include "pawl/clock.h"
#include "port/record_store.h"

namespace pawl {

class MemoryRecordStore final : public RecordStore {
 public:
  struct Options {
    std::size_t records_max = bounds::memory_records_max;
    std::size_t bytes_max = bounds::memory_record_bytes_max;
  };
  explicit MemoryRecordStore(Clock& clock) : MemoryRecordStore(clock, Options{}) {}
  MemoryRecordStore(Clock& clock, Options options);

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
  Durability durability() const override { return Durability::none; }

  // With those that have expired and are not forgotten yet.
  std::size_t records() const { return records_.load(); }
  std::size_t bytes() const { return bytes_.load(); }

 private:
  struct Kept;
  using Records = std::map<RecordKey, Kept>;
  using ByExpiry = std::multimap<Instant, Records::iterator>;
  struct Kept {
    std::optional<idempotency::Record> record;  // always one; the machine wants it so
    std::size_t bytes = 0;
    ByExpiry::iterator expiry = {};
  };
  struct Shard {
    std::mutex mutex;
    Records records;
    ByExpiry by_expiry;
  };

  Instant now();
  Shard& shard_of(const RecordKey& key);
  // Decides on the record of the key, and keeps what was made of it.
  template <class Decide>
  auto step(const RecordKey& key, const Decide& decide);
  Result<idempotency::Begun> try_begin(const RecordKey& key, const idempotency::Begin& ask);
  template <class End>
  Result<void> finish(const RecordKey& key, idempotency::Completion how, const End& end);
  bool take_room(std::size_t bytes);
  bool take_place(std::size_t bytes);  // of one record more
  void insert(Shard& shard, const RecordKey& key, idempotency::Record record);
  void update(Shard& shard, Records::iterator kept);
  void erase(Shard& shard, Records::iterator kept);
  void forget_expired(Shard& shard, Instant now, std::size_t at_most);
  std::vector<KeptRecord> newest(Shard& shard, const RecordFilter& filter);

  Clock& clock_;
  const Options options_;
  const Instant wall_start_;
  const SteadyInstant steady_start_;
  std::atomic<std::uint64_t> fence_ = 0;
  std::atomic<std::size_t> records_ = 0;
  std::atomic<std::size_t> bytes_ = 0;
  std::array<Shard, 16> shards_;
};

}  // namespace pawl
