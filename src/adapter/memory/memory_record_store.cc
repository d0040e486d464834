#include "adapter/memory/memory_record_store.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"

namespace pawl {
namespace {

using idempotency::Begin;
using idempotency::Begun;
using idempotency::Completion;
using idempotency::Record;

constexpr std::size_t forgotten_at_once = 4;
// Of a record beside its texts: nodes of two maps, and what the allocator adds.
constexpr std::size_t record_overhead_bytes = 512;

std::size_t bytes_of(const RecordKey& key, const Record& record) {
  return record_overhead_bytes + key.scope.size() + key.key.size() + record.fingerprint.size() +
         record.response.body.size() + record.response.metadata.size();
}

// As it is listed: everything but the body, which may be large.
Record without_body(const Record& record, idempotency::Status status) {
  return {.status = status,
          .fence = record.fence,
          .fingerprint = record.fingerprint,
          .created_at = record.created_at,
          .lease_until = record.lease_until,
          .expires_at = record.expires_at,
          .response = {.body = {},
                       .metadata = record.response.metadata,
                       .tombstone = record.response.tombstone},
          .replays = record.replays};
}

bool is_newer(const Record& a, const Record& b) {
  return std::pair(a.created_at, a.fence) > std::pair(b.created_at, b.fence);
}

}  // namespace

MemoryRecordStore::MemoryRecordStore(Clock& clock, Options options)
    : clock_(clock),
      options_(options),
      wall_start_(clock.wall_now()),
      steady_start_(clock.steady_now()) {}

Instant MemoryRecordStore::now() {
  return wall_start_ + (clock_.steady_now() - steady_start_);
}

MemoryRecordStore::Shard& MemoryRecordStore::shard_of(const RecordKey& key) {
  return shards_[hash_of(key.key, hash_of(key.scope, 0).low).low % shards_.size()];
}

bool MemoryRecordStore::take_room(std::size_t bytes) {
  if (bytes_.fetch_add(bytes) + bytes <= options_.bytes_max) return true;
  bytes_ -= bytes;
  return false;
}

bool MemoryRecordStore::take_place(std::size_t bytes) {
  if (records_.fetch_add(1) < options_.records_max && take_room(bytes)) return true;
  --records_;
  return false;
}

void MemoryRecordStore::erase(Shard& shard, Records::iterator kept) {
  bytes_ -= kept->second.bytes;
  --records_;
  shard.by_expiry.erase(kept->second.expiry);
  shard.records.erase(kept);
}

void MemoryRecordStore::forget_expired(Shard& shard, Instant now, std::size_t at_most) {
  for (std::size_t i = 0; i < at_most && !shard.by_expiry.empty(); ++i) {
    const Records::iterator first = shard.by_expiry.begin()->second;
    if (idempotency::status_at(*first->second.record, now)) return;
    erase(shard, first);
  }
}

void MemoryRecordStore::insert(Shard& shard, const RecordKey& key, Record record) {
  const std::size_t bytes = bytes_of(key, record);
  const Instant expires_at = record.expires_at;
  const auto kept =
      shard.records.emplace(key, Kept{.record = std::move(record), .bytes = bytes, .expiry = {}})
          .first;
  kept->second.expiry = shard.by_expiry.emplace(expires_at, kept);
}

void MemoryRecordStore::update(Shard& shard, Records::iterator kept) {
  const Record& record = *kept->second.record;
  const std::size_t bytes = bytes_of(kept->first, record);
  bytes_ += bytes - kept->second.bytes;  // less may be added than nothing: it wraps, and fits
  kept->second.bytes = bytes;
  if (kept->second.expiry->first == record.expires_at) return;
  shard.by_expiry.erase(kept->second.expiry);
  kept->second.expiry = shard.by_expiry.emplace(record.expires_at, kept);
}

template <class Decide>
auto MemoryRecordStore::step(const RecordKey& key, const Decide& decide) {
  Shard& shard = shard_of(key);
  const std::lock_guard lock(shard.mutex);
  const Instant at = now();
  forget_expired(shard, at, forgotten_at_once);
  const Records::iterator kept = shard.records.find(key);
  if (kept == shard.records.end()) {
    std::optional<Record> fresh;
    auto result = decide(fresh, at);
    if (fresh) insert(shard, key, std::move(*fresh));
    return result;
  }
  auto result = decide(kept->second.record, at);
  if (kept->second.record) {
    update(shard, kept);
  } else {
    erase(shard, kept);
  }
  return result;
}

Result<Begun> MemoryRecordStore::try_begin(const RecordKey& key, const Begin& ask) {
  return step(key, [&](std::optional<Record>& kept, Instant at) -> Result<Begun> {
    const Record fresh{.fingerprint = ask.fingerprint};
    if (!kept && !take_place(bytes_of(key, fresh))) {
      return failure(Code::unavailable, "the store has no room for a new record (it has " +
                                            std::to_string(records_.load()) + " of " +
                                            std::to_string(options_.records_max) + ", " +
                                            std::to_string(bytes_.load()) + " bytes of " +
                                            std::to_string(options_.bytes_max) +
                                            "): let some expire, or use a store on disk");
    }
    return idempotency::begin(kept, ask, ++fence_, at);
  });
}

void MemoryRecordStore::begin(const RecordKey& key, const Begin& ask, Done<Begun> done) {
  if (auto good = check(key); !good) return done(std::unexpected(good.error()));
  if (auto good = idempotency::check(ask); !good) return done(std::unexpected(good.error()));
  Result<Begun> begun = try_begin(key, ask);
  if (!begun) {
    for (Shard& shard : shards_) {
      const std::lock_guard lock(shard.mutex);
      forget_expired(shard, now(), std::numeric_limits<std::size_t>::max());
    }
    begun = try_begin(key, ask);
  }
  done(std::move(begun));
}

void MemoryRecordStore::renew(const RecordKey& key, std::uint64_t fence, Duration lease,
                              Done<void> done) {
  done(step(key, [&](std::optional<Record>& kept, Instant at) {
    return idempotency::renew(kept, fence, lease, at);
  }));
}

template <class End>
Result<void> MemoryRecordStore::finish(const RecordKey& key, Completion how, const End& end) {
  how.response = idempotency::kept_of(std::move(how.response));
  std::size_t room = how.response.body.size() + how.response.metadata.size();
  if (!take_room(room)) {
    how.response = {.tombstone = true};
    room = 0;
  }
  Result<void> result = step(
      key, [&](std::optional<Record>& kept, Instant at) { return end(kept, std::move(how), at); });
  bytes_ -= room;  // by now it is counted with the record, or not needed
  return result;
}

void MemoryRecordStore::complete(const RecordKey& key, std::uint64_t fence, Completion how,
                                 Done<void> done) {
  done(finish(key, std::move(how), [&](std::optional<Record>& kept, Completion as, Instant at) {
    return idempotency::complete(kept, fence, std::move(as), at);
  }));
}

void MemoryRecordStore::settle(const RecordKey& key, Completion how, Done<void> done) {
  done(finish(key, std::move(how), idempotency::settle));
}

void MemoryRecordStore::get(const RecordKey& key, Done<Record> done) {
  done(step(key, [&](std::optional<Record>& kept, Instant at) -> Result<Record> {
    std::optional<Record> record = idempotency::seen(kept, at);
    if (!record) return idempotency::record_not_found();
    return std::move(*record);
  }));
}

void MemoryRecordStore::look_up(const RecordKey& key, std::string_view fingerprint,
                                Done<Record> done) {
  done(step(key, [&](std::optional<Record>& kept, Instant at) -> Result<Record> {
    std::optional<Record> record = idempotency::looked_up(kept, fingerprint, at);
    if (!record) return idempotency::record_not_found();
    return std::move(*record);
  }));
}

void MemoryRecordStore::clear(const RecordKey& key, bool force, Done<void> done) {
  done(step(key, [&](std::optional<Record>& kept, Instant at) {
    return idempotency::clear(kept, force, at);
  }));
}

std::vector<KeptRecord> MemoryRecordStore::newest(Shard& shard, const RecordFilter& filter) {
  const std::lock_guard lock(shard.mutex);
  const Instant at = now();
  std::vector<Records::const_iterator> found;
  auto each = shard.records.lower_bound({.scope = filter.scope, .key = {}});
  for (; each != shard.records.end(); ++each) {
    if (!filter.scope.empty() && each->first.scope != filter.scope) break;
    if (!fits(filter, each->first)) continue;
    const auto status = idempotency::status_at(*each->second.record, at);
    if (status && fits(filter, *status)) found.push_back(each);
  }
  const auto end =
      found.begin() + static_cast<std::ptrdiff_t>(std::min(filter.limit, found.size()));
  std::partial_sort(found.begin(), end, found.end(), [](const auto& a, const auto& b) {
    return is_newer(*a->second.record, *b->second.record);
  });
  std::vector<KeptRecord> listed;
  for (auto it = found.begin(); it != end; ++it) {
    const Record& record = *(*it)->second.record;
    listed.push_back({(*it)->first, without_body(record, *idempotency::status_at(record, at))});
  }
  return listed;
}

void MemoryRecordStore::list(const RecordFilter& filter, Done<std::vector<KeptRecord>> done) {
  const std::size_t limit = std::min(filter.limit, bounds::record_list_max);
  std::vector<KeptRecord> listed;
  for (Shard& shard : shards_) {
    std::ranges::move(newest(shard, filter), std::back_inserter(listed));
  }
  std::ranges::sort(listed, [](const KeptRecord& a, const KeptRecord& b) {
    return is_newer(a.record, b.record);
  });
  if (listed.size() > limit) listed.resize(limit);
  done(std::move(listed));
}

}  // namespace pawl
