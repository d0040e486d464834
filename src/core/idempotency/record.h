// Record: what is known of one intent, and who may act on it. The machine behind every store.
//
//                                complete: done
//                   ┌───────────────────────────────────▶ done ── begin: replay
//                   │ ┌────────────────▶ failed            ▲
//          begin    │ │ complete: failed │  ▲              │
//   absent ──────▶ in_flight ◀── begin ───┘  │ settle       │ settle
//                   │ ▲                      │              │
//                   │ └─ begin, take_over ─┐ │              │
//                   └───────────────────▶ unknown ──────────┘
//                      complete: unknown, or the lease is over
//
//   Each but one in flight is absent again when its ttl is over; clear() makes every one so. An
//   owner whose lease is over, and whom nobody has followed, may still renew and complete.
//   docs/state-machines.md has the table of all edges.
//
// Why:      an answer that got lost must be found again, and a second attempt must not start while
//           the first may still act.
// Contract: pure; each function decides on one record at one `now`, which the store reads from its
//           own clock. A fence is greater than every one given out for the key before; only the
//           owner of the latest may renew or complete, all others are refused as stale, whatever
//           their clocks say. What is done stays as it is. A stored null is a result like another.
// Time:     lease_until and expires_at are on the store's clock, which may jump. The ttl counts
//           from the completion, or, while nobody has completed, from the end of the lease: so one
//           in flight never expires, and one that nobody knows the end of is told for a whole ttl.
// For whom: a store that can hold the record while it decides calls these functions: it reads
//           `kept`, calls one, and writes `kept` back when it was told that something has changed.
//           One that decides on its server does the same in the server's tongue; the conformance
//           suite walks it beside these.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bounds.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::idempotency {

enum class Status : std::uint8_t { in_flight, done, failed, unknown };
std::string_view to_string(Status status);
std::optional<Status> status_of(std::string_view name);

struct Response {
  std::string body = {};      // whatever the caller keeps; may be empty, and empty is a result
  std::string metadata = {};  // JSON, for the caller's own use (status, headers)
  bool tombstone = false;     // it was too large to keep: protected, not replayable; no body
  bool operator==(const Response&) const = default;
};

// What is kept of it: a body above `bytes_max` makes it a tombstone. So do metadata above their
// own bound, and then they are left out as well.
Response kept_of(Response response, std::size_t bytes_max = bounds::record_bytes_max);

struct Record {
  Status status = Status::in_flight;
  std::uint64_t fence = 0;  // 1 … bounds::record_number_max
  std::string fingerprint = {};
  Instant created_at = {};   // begun, the last time
  Instant lease_until = {};  // of in_flight; zero afterwards
  Instant expires_at = {};
  Response response = {};     // of done; of failed and unknown: metadata says why
  std::uint64_t replays = 0;  // for people: a store may lose some, and counts none twice
  bool operator==(const Record&) const = default;
};

struct Begin {
  std::string fingerprint = {};
  Duration lease = {};
  Duration ttl = {};
  bool take_over = false;  // one that is unknown is begun anew: the caller reconciles first
};
// Whether lease, ttl and fingerprint are within bounds; every store asks before it does anything.
Result<void> check(const Begin& ask);

struct Begun {
  enum class Verdict : std::uint8_t {
    started,    // the caller has it, under record.fence
    took_over,  // so it has, after somebody who may have acted: reconcile first
    replay,     // done before: record.response is the answer
    in_flight,  // somebody else has it; ask again after retry_after
    mismatch,   // the key was used with another fingerprint
    unknown,    // somebody had it and nobody knows how it ended
  };
  Verdict verdict;
  Duration retry_after = {};  // of in_flight: when the lease is over
  Record record = {};         // as it is now
};
std::string_view to_string(Begun::Verdict verdict);

// `kept` is what the store has, or none. It is changed when the verdict is started or took_over,
// and must be durable then before anybody is told; and when it is replay, in the number of replays
// alone, which may get lost. `next_fence` is greater than every fence of records that the store has
// forgotten; that it is greater than the one in `kept` is seen to here.
Begun begin(std::optional<Record>& kept, const Begin& ask, std::uint64_t next_fence, Instant now);

// What a look for a repetition is told: the record as it reads now. Where it is done and has the
// fingerprint, one replay more is counted in `kept`, which may get lost.
std::optional<Record> looked_up(std::optional<Record>& kept, std::string_view fingerprint,
                                Instant now);

struct Completion {
  Status status = Status::done;  // or failed (nothing was applied), or unknown; never in_flight
  Response response = {};
  Duration ttl = {};
};

// Both change `kept` when they succeed. A completion said twice by its owner succeeds twice, and
// the second changes nothing: the answer to the first may have been lost.
// Errors: refused (stale: another owner has it, or it has ended), not_found.
Result<void> complete(std::optional<Record>& kept, std::uint64_t fence, Completion how,
                      Instant now);
// A lease gets longer or stays.
Result<void> renew(std::optional<Record>& kept, std::uint64_t fence, Duration lease, Instant now);

// What a person, or a reconciliation, found out about one that is unknown: done or failed.
// Errors: refused (it is not unknown: in flight, or it has ended), not_found.
Result<void> settle(std::optional<Record>& kept, Completion how, Instant now);

// Makes `kept` none. Errors: refused (in flight, and no `force`), not_found.
Result<void> clear(std::optional<Record>& kept, bool force, Instant now);

// What everything but begin() says of a key without a record.
std::unexpected<Error> record_not_found();

// As it reads now: a lease that is over makes it unknown, a ttl that is over makes it none.
std::optional<Status> status_at(const Record& kept, Instant now);
std::optional<Record> seen(const std::optional<Record>& kept, Instant now);

}  // namespace pawl::idempotency
