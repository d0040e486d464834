// RecordStore: where the records of intents live (core/idempotency/record.h).
//
// Contract: each call is one step, however many threads or processes call at once, decided as the
//           pure machine does, on the store's own clock: one for all who share the records, where
//           there is such a one. begin() that says started or took_over is durable, as durability()
//           promises, before `done` is called: durable before effect. So is everything else that
//           succeeds; only the number of replays may get lost. `done` is called exactly once,
//           before the call returns or later, on any thread. What the arguments point at must live
//           until the call returns, not until `done`.
// Fences:   those of a key only grow, also after it was cleared or has expired, and after a restart
//           of a store whose records survive one. Numbers may be left out.
// Errors:   as the machine gives them; invalid for what is out of bounds (check() here and of
//           record.h), before anything is done; unavailable when the store cannot be asked or is
//           full. The outcome says whether something may have been changed. After one that is
//           unknown, every call may be sent again: complete() and renew() with the same fence; a
//           second begin() is told in_flight when the first has counted after all.
// Bounds:   bounds::record_key_bytes_max, bounds::tenant_bytes_max a scope; a response above
//           bounds::record_bytes_max, or above what the store's server takes, is kept as a
//           tombstone (kept_of). A store that is full refuses new keys (unavailable); it forgets
//           none that has not expired.
// Threads:  any.
// Held by:  adapter/memory, adapter/sqlite, adapter/redis, adapter/nats.
// See:      record_store_conformance.h, which every store passes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bounds.h"
#include "core/idempotency/record.h"
#include "pawl/durability.h"
#include "pawl/result.h"

namespace pawl {

// Any bytes. Two that differ, in whichever part, are two keys.
struct RecordKey {
  std::string scope = {};  // the tenant, or empty; listing goes by it
  std::string key = {};    // not empty
  auto operator<=>(const RecordKey&) const = default;
};

inline Result<void> check(const RecordKey& key) {
  if (key.key.empty() || key.key.size() > bounds::record_key_bytes_max) {
    return failure(Code::invalid, "the key of a record has 1 to " +
                                      std::to_string(bounds::record_key_bytes_max) +
                                      " bytes, not " + std::to_string(key.key.size()));
  }
  if (key.scope.size() > bounds::tenant_bytes_max) {
    return failure(Code::invalid, "the scope of a record has at most " +
                                      std::to_string(bounds::tenant_bytes_max) + " bytes, not " +
                                      std::to_string(key.scope.size()));
  }
  return {};
}

struct KeptRecord {
  RecordKey key;
  idempotency::Record record;
};

// Which records are wanted, and how many: at most bounds::record_list_max.
struct RecordFilter {
  std::string scope = {};     // of this one alone; empty: of all
  std::string key_part = {};  // stands somewhere in the key; empty: whatever the key
  std::optional<idempotency::Status> status = {};  // as they read now; nothing: any
  std::size_t limit = bounds::record_list_max;
};
inline bool fits(const RecordFilter& filter, const RecordKey& key) {
  return (filter.scope.empty() || key.scope == filter.scope) &&
         key.key.find(filter.key_part) != std::string::npos;
}
inline bool fits(const RecordFilter& filter, idempotency::Status status) {
  return !filter.status || *filter.status == status;
}

class RecordStore {
 public:
  template <class T>
  using Done = std::move_only_function<void(Result<T>)>;

  virtual ~RecordStore() = default;

  virtual void begin(const RecordKey& key, const idempotency::Begin& ask,
                     Done<idempotency::Begun> done) = 0;
  virtual void renew(const RecordKey& key, std::uint64_t fence, Duration lease,
                     Done<void> done) = 0;
  virtual void complete(const RecordKey& key, std::uint64_t fence, idempotency::Completion how,
                        Done<void> done) = 0;
  // For operators: how one ended that is unknown.
  virtual void settle(const RecordKey& key, idempotency::Completion how, Done<void> done) = 0;
  // Looks, changes nothing: the record as it reads now. not_found: there is none.
  virtual void get(const RecordKey& key, Done<idempotency::Record> done) = 0;
  // The same for who repeats a request: where it is done and has this fingerprint it is a replay,
  // which most stores count.
  virtual void look_up(const RecordKey& key, std::string_view /*fingerprint*/,
                       Done<idempotency::Record> done) {
    get(key, std::move(done));
  }
  // As if the key had never been used, but for its fences. One in flight is refused unless `force`.
  virtual void clear(const RecordKey& key, bool force, Done<void> done) = 0;
  // As they read now, by created_at, the newest first. Bodies are left out. By a part of the key,
  // or by their status, all records may have to be looked at: for people who look for one, not for
  // every request.
  virtual void list(const RecordFilter& filter, Done<std::vector<KeptRecord>> done) = 0;

  // What the store was found to give when it was opened.
  virtual Durability durability() const = 0;
  // The error that calls would give now; no error when they would be served.
  virtual Result<void> health() { return {}; }
};

}  // namespace pawl
