#include "adapter/sqlite/record_book.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace pawl {
namespace {

using idempotency::Begun;
using idempotency::Completion;
using idempotency::Record;
using sqlite::bytes_of;
using sqlite::Row;
using sqlite::text_of;

// Times are nanoseconds since 1970 by the world's clock.
constexpr sqlite::Sql first_version = R"(
CREATE TABLE records (
  fence INTEGER PRIMARY KEY,      -- under which it was begun, the last time
  scope BLOB NOT NULL,
  key BLOB NOT NULL,
  status TEXT NOT NULL,           -- in_flight, done, failed, unknown
  fingerprint BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  lease_until INTEGER NOT NULL,   -- 0 unless in_flight
  expires_at INTEGER NOT NULL,    -- from then on the row says no more than none would
  replays INTEGER NOT NULL,
  tombstone INTEGER NOT NULL,     -- 1: the body was too large to keep
  metadata TEXT NOT NULL,
  body BLOB NOT NULL
);
CREATE UNIQUE INDEX records_by_key ON records (scope, key);
CREATE INDEX records_by_time ON records (created_at);
CREATE INDEX records_by_scope_and_time ON records (scope, created_at);
CREATE INDEX records_by_end ON records (expires_at);
CREATE TABLE totals (            -- one row
  fence INTEGER NOT NULL,         -- the last one given out; it never goes back
  records INTEGER NOT NULL
);
INSERT INTO totals VALUES (0, 0);
)";
// What has not ended, or nobody knows how, is found among however many that have.
constexpr sqlite::Sql second_version = R"(
CREATE INDEX records_open ON records (created_at) WHERE status IN ('in_flight', 'unknown');
)";
constexpr std::array<sqlite::Sql, 2> steps = {first_version, second_version};

// A begin adds one row at the most: so the forgetting outpaces the growth.
constexpr std::size_t rows_forgotten_a_row = 2;

// The first columns of every SELECT: fence, status, fingerprint, created_at, lease_until,
// expires_at, replays, tombstone, metadata. None when that is nothing pawl wrote.
std::optional<Record> record_of(const Row& row) {
  const std::optional<idempotency::Status> status = idempotency::status_of(row.text(1));
  if (!status) return std::nullopt;
  return Record{.status = *status,
                .fence = static_cast<std::uint64_t>(row.number(0)),
                .fingerprint = text_of(row.bytes(2)),
                .created_at = Instant::from_ns(row.number(3)),
                .lease_until = Instant::from_ns(row.number(4)),
                .expires_at = Instant::from_ns(row.number(5)),
                .response = {.body = {},
                             .metadata = std::string(row.text(8)),
                             .tombstone = row.number(7) != 0},
                .replays = static_cast<std::uint64_t>(row.number(6))};
}

std::unexpected<Error> damaged(const RecordKey& key) {
  return failure(Code::invalid, "the record of '" + key.key +
                                    "' is not as pawl wrote it: put back a copy of the file, or "
                                    "clear the record by force");
}

}  // namespace

const sqlite::Schema RecordBook::schema = {
    .application_id = 0x70774972, .what = "idempotency records", .steps = steps};

RecordBook::RecordBook(const sqlite::Transaction& transaction, std::size_t records_max,
                       Replays& replays)
    : Book(transaction.database),
      now_(transaction.now),
      records_max_(records_max),
      replays_(replays) {
  if (transaction.rows > 0) {
    forget_some(transaction.rows * rows_forgotten_a_row, transaction.forgettable);
  }
}

void RecordBook::forget_some(std::size_t rows, Instant then) {
  std::int64_t forgotten = 0;
  run("DELETE FROM records WHERE fence IN "
      "(SELECT fence FROM records WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2) "
      "RETURNING fence",
      {then.ns(), static_cast<std::int64_t>(rows)}, [&](const Row&) { ++forgotten; });
  if (forgotten == 0) return;
  if (Totals* all = totals()) all->records -= forgotten;
  changed_ = true;
}

Result<std::optional<Record>> RecordBook::find(const RecordKey& key) {
  std::optional<Record> found;
  bool is_damaged = false;
  const bool done =
      run("SELECT fence, status, fingerprint, created_at, lease_until, expires_at, replays, "
          "tombstone, metadata, body FROM records WHERE scope = ?1 AND key = ?2",
          {bytes_of(key.scope), bytes_of(key.key)}, [&](const Row& row) {
            found = with_late_replays(record_of(row));
            is_damaged = !found;
            if (found) found->response.body = text_of(row.bytes(9));
          });
  if (!done) return std::unexpected(*broken());
  if (is_damaged) return damaged(key);
  return found;
}

std::optional<Record> RecordBook::with_late_replays(std::optional<Record> record) const {
  const auto late = record ? replays_.find(record->fence) : replays_.end();
  if (late != replays_.end()) record->replays += late->second;
  return record;
}

RecordBook::Totals* RecordBook::totals() {
  if (!totals_) {
    Totals read;
    // Should somebody have put totals back, no fence is given out twice.
    const bool done =
        run("SELECT max(fence, (SELECT ifnull(max(fence), 0) FROM records)), records FROM totals",
            {}, [&](const Row& row) {
              read = {.fence = static_cast<std::uint64_t>(row.number(0)), .records = row.number(1)};
            });
    if (!done) return nullptr;
    totals_ = read;
  }
  return &*totals_;
}

// In place of whatever was there for the key.
Result<void> RecordBook::start(const RecordKey& key, const Record& record) {
  const bool done =
      run("INSERT OR REPLACE INTO records VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0, 0, '', x'')",
          {static_cast<std::int64_t>(record.fence), bytes_of(key.scope), bytes_of(key.key),
           idempotency::to_string(record.status), bytes_of(record.fingerprint),
           record.created_at.ns(), record.lease_until.ns(), record.expires_at.ns()});
  if (!done) return std::unexpected(*broken());
  changed_ = true;
  return {};
}

// What a step on a record can change.
Result<void> RecordBook::update(const Record& record) {
  const bool done =
      run("UPDATE records SET status = ?2, lease_until = ?3, expires_at = ?4, tombstone = ?5, "
          "metadata = ?6, body = ?7 WHERE fence = ?1",
          {static_cast<std::int64_t>(record.fence), idempotency::to_string(record.status),
           record.lease_until.ns(), record.expires_at.ns(),
           static_cast<std::int64_t>(record.response.tombstone),
           std::string_view(record.response.metadata), bytes_of(record.response.body)});
  if (!done) return std::unexpected(*broken());
  changed_ = true;
  return {};
}

Result<Begun> RecordBook::begin(const RecordKey& key, const idempotency::Begin& ask) {
  std::optional<Record> kept = PAWL_TRY(find(key));
  Totals* all = totals();
  if (all == nullptr) return std::unexpected(*broken());
  const bool is_new = !kept;
  if (is_new && all->records >= static_cast<std::int64_t>(records_max_)) {
    return failure(Code::unavailable, "all " + std::to_string(records_max_) +
                                          " records are in use: new keys have to wait until some "
                                          "have expired");
  }
  Begun begun = idempotency::begin(kept, ask, all->fence + 1, now_);
  if (begun.verdict == Begun::Verdict::replay) ++replays_[kept->fence];
  if (begun.verdict == Begun::Verdict::started || begun.verdict == Begun::Verdict::took_over) {
    PAWL_TRY(start(key, *kept));
    all->fence = kept->fence;
    all->records += is_new ? 1 : 0;
  }
  return begun;
}

template <class Step>
Result<void> RecordBook::change(const RecordKey& key, Step step) {
  std::optional<Record> kept = PAWL_TRY(find(key));
  PAWL_TRY(step(kept));
  return update(*kept);
}

Result<void> RecordBook::renew(const RecordKey& key, std::uint64_t fence, Duration lease) {
  return change(key, [&](std::optional<Record>& kept) {
    return idempotency::renew(kept, fence, lease, now_);
  });
}

Result<void> RecordBook::complete(const RecordKey& key, std::uint64_t fence, Completion how) {
  return change(key, [&](std::optional<Record>& kept) {
    return idempotency::complete(kept, fence, std::move(how), now_);
  });
}

Result<void> RecordBook::settle(const RecordKey& key, Completion how) {
  return change(key, [&](std::optional<Record>& kept) {
    return idempotency::settle(kept, std::move(how), now_);
  });
}

Result<Record> RecordBook::look_up(const RecordKey& key, std::string_view fingerprint) {
  std::optional<Record> kept = PAWL_TRY(find(key));
  const std::uint64_t before = kept ? kept->replays : 0;
  std::optional<Record> seen = idempotency::looked_up(kept, fingerprint, now_);
  if (!seen) return idempotency::record_not_found();
  if (kept->replays != before) ++replays_[kept->fence];
  return *std::move(seen);
}

Result<Record> RecordBook::get(const RecordKey& key) {
  std::optional<Record> seen = idempotency::seen(PAWL_TRY(find(key)), now_);
  if (!seen) return idempotency::record_not_found();
  return *std::move(seen);
}

Result<void> RecordBook::clear(const RecordKey& key, bool force) {
  Result<std::optional<Record>> kept = find(key);
  const bool is_damaged = !kept && !broken();
  if (!kept && !(is_damaged && force)) return std::unexpected(kept.error());
  if (kept) PAWL_TRY(idempotency::clear(*kept, force, now_));
  run("DELETE FROM records WHERE scope = ?1 AND key = ?2",
      {bytes_of(key.scope), bytes_of(key.key)});
  if (Totals* all = totals()) --all->records;
  if (broken()) return std::unexpected(*broken());
  changed_ = true;
  return {};
}

// Those that fit, the newest first; a lease that is over makes one unknown. False: it is broken.
bool RecordBook::select(const RecordFilter& filter, const sqlite::Database::Each& add) {
  using idempotency::Status;
  const auto rows = static_cast<std::int64_t>(std::min(filter.limit, bounds::record_list_max));
  const bool in_flight = filter.status == Status::in_flight;
  if (in_flight || filter.status == Status::unknown) {
    return run(
        "SELECT fence, status, fingerprint, created_at, lease_until, expires_at, replays, "
        "tombstone, metadata, scope, key FROM records INDEXED BY records_open "
        "WHERE status IN ('in_flight', 'unknown') "
        "AND (status = 'in_flight' AND lease_until > ?1) = ?5 AND expires_at > ?1 "
        "AND (length(?4) = 0 OR scope = ?4) AND (length(?3) = 0 OR instr(key, ?3) > 0) "
        "ORDER BY created_at DESC, fence DESC LIMIT ?2",
        {now_.ns(), rows, bytes_of(filter.key_part), bytes_of(filter.scope),
         std::int64_t(in_flight)},
        add);
  }
  const std::string_view status = filter.status ? to_string(*filter.status) : "";
  return filter.scope.empty()
             ? run("SELECT fence, status, fingerprint, created_at, lease_until, expires_at, "
                   "replays, tombstone, metadata, scope, key FROM records WHERE expires_at > ?1 "
                   "AND (length(?3) = 0 OR instr(key, ?3) > 0) AND (?4 = '' OR status = ?4) "
                   "ORDER BY created_at DESC, fence DESC LIMIT ?2",
                   {now_.ns(), rows, bytes_of(filter.key_part), status}, add)
             : run("SELECT fence, status, fingerprint, created_at, lease_until, expires_at, "
                   "replays, tombstone, metadata, scope, key FROM records WHERE scope = ?5 AND "
                   "expires_at > ?1 AND (length(?3) = 0 OR instr(key, ?3) > 0) AND (?4 = '' OR "
                   "status = ?4) ORDER BY created_at DESC, fence DESC LIMIT ?2",
                   {now_.ns(), rows, bytes_of(filter.key_part), status, bytes_of(filter.scope)},
                   add);
}

Result<std::vector<KeptRecord>> RecordBook::list(const RecordFilter& filter) {
  std::vector<KeptRecord> all;
  std::optional<RecordKey> bad;
  const auto add = [&](const Row& row) {
    RecordKey key = {.scope = text_of(row.bytes(9)), .key = text_of(row.bytes(10))};
    std::optional<Record> seen = idempotency::seen(with_late_replays(record_of(row)), now_);
    if (seen) {
      all.push_back({.key = std::move(key), .record = *std::move(seen)});
    } else {
      bad = std::move(key);
    }
  };
  if (!select(filter, add)) return std::unexpected(*broken());
  if (bad) return damaged(*bad);
  return all;
}

void RecordBook::write_replays() {
  changed_ = changed_ || !replays_.empty();
}

void RecordBook::touch() {
  if (Totals* all = totals()) ++all->fence;
  changed_ = true;
}

Result<void> RecordBook::save() {
  if (changed_ || replays_.size() > bounds::sqlite_replays_max) {
    for (const auto& [fence, late] : replays_) {
      run("UPDATE records SET replays = replays + ?2 WHERE fence = ?1",
          {static_cast<std::int64_t>(fence), static_cast<std::int64_t>(late)});
    }
    replays_.clear();
  }
  if (changed_ && totals_) {
    run("UPDATE totals SET fence = ?1, records = ?2",
        {static_cast<std::int64_t>(totals_->fence), totals_->records});
  }
  if (broken()) return std::unexpected(*broken());
  return {};
}

}  // namespace pawl
