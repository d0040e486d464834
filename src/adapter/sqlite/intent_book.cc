#include "adapter/sqlite/intent_book.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/calendar.h"
#include "base/json.h"
#include "core/order/intent_text.h"

namespace pawl {
namespace {

using order::Intent;
using order::Life;
using order::Progress;
using order::Quota;
using order::Status;
using sqlite::FileId;
using sqlite::Row;

constexpr sqlite::Sql first_version = R"(
CREATE TABLE order_history (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  order_id TEXT NOT NULL,
  inst_id TEXT NOT NULL,
  side TEXT NOT NULL,
  ord_type TEXT NOT NULL,
  size TEXT NOT NULL,
  price TEXT,
  reduce_only BOOLEAN NOT NULL DEFAULT 0,
  placed_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
  week_start DATE NOT NULL,
  status TEXT NOT NULL,             -- placed, filled, canceled
  created_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
  venue TEXT NOT NULL DEFAULT '',
  reference TEXT NOT NULL DEFAULT '',
  counts INTEGER NOT NULL DEFAULT 1 -- against the weekly limit
);
CREATE INDEX idx_order_history_week ON order_history (week_start);
CREATE INDEX idx_order_history_placed_at ON order_history (placed_at);
CREATE INDEX idx_order_history_order_id ON order_history (order_id);
CREATE INDEX idx_order_history_reference ON order_history (venue, reference) WHERE reference <> '';
CREATE TABLE intents (
  id INTEGER PRIMARY KEY,
  reference TEXT NOT NULL,
  venue TEXT NOT NULL,
  terms TEXT NOT NULL,              -- the order, as JSON
  counts INTEGER NOT NULL,
  created_at INTEGER NOT NULL,      -- nanoseconds since 1970
  week_start DATE NOT NULL,
  status TEXT NOT NULL,             -- sending, reconciling, unresolved, confirmed, rejected
  open INTEGER NOT NULL,            -- 1: the first three
  slot INTEGER NOT NULL,            -- 1: it is open and counts, and order_history does not have it
  working INTEGER NOT NULL,         -- 1: confirmed, and not known to be over
  order_id TEXT NOT NULL,           -- of the venue; empty: not known
  progress TEXT NOT NULL            -- as JSON
);
CREATE UNIQUE INDEX intents_by_reference ON intents (reference);
CREATE INDEX intents_by_venue ON intents (venue);
CREATE INDEX intents_open ON intents (week_start, slot) WHERE open = 1;
CREATE INDEX intents_working ON intents (venue) WHERE working = 1;
CREATE INDEX intents_rejected ON intents (id) WHERE status = 'rejected';
CREATE INDEX intents_by_order ON intents (order_id) WHERE order_id <> '';
CREATE TABLE work (                 -- one row, once a store was opened: the file PATH-work
  device INTEGER NOT NULL,
  inode INTEGER NOT NULL,
  touches INTEGER NOT NULL
);
)";
// What the venue calls an order, where that is not its reference. Intents of the first version have
// none: an open one of them whose order a backfill brings by that name counts twice until it is
// settled, so that the limit holds; then its row is found by the order's id, and it counts once.
constexpr sqlite::Sql second_version = R"(
ALTER TABLE intents ADD COLUMN venue_name TEXT NOT NULL DEFAULT '';
CREATE INDEX intents_open_by_name ON intents (venue, venue_name)
  WHERE open = 1 AND venue_name <> '';
)";
constexpr std::array<sqlite::Sql, 2> steps = {first_version, second_version};
constexpr std::string_view if_damaged =
    "put back a copy of it, or move it away with all that begins with its name and run `pawl "
    "backfill-orders`, which counts this week's orders again; see to those that were unresolved";

std::unexpected<Error> damaged(std::int64_t id) {
  return failure(Code::unavailable,
                 "intent " + std::to_string(id) +
                     " in the order database is not as pawl wrote it: " + std::string(if_damaged));
}

Result<order::Order> order_in(std::string_view text) {
  return order::order_of(PAWL_TRY(json::parse(text)));
}

Result<Progress> progress_in(std::string_view text) {
  return order::progress_of(PAWL_TRY(json::parse(text)));
}

// "2025-12-03 15:30:00", as SQLite's CURRENT_TIMESTAMP has it.
std::string time_text(Instant instant) {
  constexpr std::size_t date_bytes = 10;
  constexpr std::size_t time_bytes = 8;
  const std::string text = to_string(instant);
  return text.substr(0, date_bytes) + " " + text.substr(date_bytes + 1, time_bytes);
}

std::int64_t row_count(std::size_t limit) {
  return static_cast<std::int64_t>(std::min(limit, bounds::orders_listed_max));
}

}  // namespace

const sqlite::Schema IntentBook::schema = {.application_id = 0x70774f72,
                                           .what = "orders",
                                           .steps = steps,
                                           .if_damaged = if_damaged,
                                           .damaged = Code::unavailable};

const sqlite::Sql IntentBook::count_week =
    "SELECT count(*) FROM (SELECT 1 FROM order_history WHERE week_start = ?1 AND counts = 1 "
    "LIMIT ?2)";

const sqlite::Sql IntentBook::count_slots =
    "SELECT count(*) FROM (SELECT 1 FROM intents WHERE open = 1 AND week_start = ?1 AND slot = 1 "
    "LIMIT ?2)";

// The last term leads to the index: it has only rows for which that is so.
const sqlite::Sql IntentBook::find_history =
    "SELECT order_id FROM order_history WHERE venue = ?1 AND reference = ?2 AND reference <> '' "
    "ORDER BY id LIMIT 1";
const sqlite::Sql IntentBook::free_slot_by_name =
    "UPDATE intents SET slot = 0 WHERE venue_name = ?1 AND venue_name <> '' AND venue = ?2 "
    "AND open = 1 RETURNING counts";

// Left to itself, SQLite walks through all intents for these: that gives their order.
const sqlite::Sql IntentBook::list_open =
    "SELECT id FROM intents INDEXED BY intents_open WHERE open = 1 AND (?1 = '' OR venue = ?1) "
    "AND instr(?2, ' ' || status || ' ') > 0 ORDER BY id DESC LIMIT ?3";
const sqlite::Sql IntentBook::list_rejected =
    "SELECT id FROM intents INDEXED BY intents_rejected WHERE status = 'rejected' "
    "AND (?1 = '' OR venue = ?1) ORDER BY id DESC LIMIT ?2";
const sqlite::Sql IntentBook::list_working =
    "SELECT id FROM intents INDEXED BY intents_working WHERE working = 1 AND venue = ?1 "
    "AND id > ?2 ORDER BY id LIMIT ?3";

Result<void> IntentBook::claim_work() {
  std::optional<FileId> noted;
  run("SELECT device, inode FROM work", {},
      [&](const Row& row) { noted = {.device = row.number(0), .inode = row.number(1)}; });
  if (broken()) return std::unexpected(*broken());
  PAWL_TRY(locks_.claim(noted));
  const FileId mine = locks_.id();
  if (noted == mine) return {};
  if (noted) {
    run("UPDATE work SET device = ?1, inode = ?2", {mine.device, mine.inode});
  } else {
    run("INSERT INTO work VALUES (?1, ?2, 0)", {mine.device, mine.inode});
  }
  return save();
}

Result<Intent> IntentBook::load(std::int64_t id) {
  std::optional<Intent> intent;
  bool found = false;
  const auto read = [&](const Row& row) {
    found = true;
    const Result<order::Order> order = order_in(row.text(1));
    const Result<Progress> progress = progress_in(row.text(4));
    if (!order || !progress) return;
    intent = Intent{.id = id,
                    .reference = std::string(row.text(0)),
                    .order = *order,
                    .counts = row.number(2) != 0,
                    .created = Instant::from_ns(row.number(3)),
                    .progress = *progress};
  };
  run("SELECT reference, terms, counts, created_at, progress FROM intents WHERE id = ?1", {id},
      read);
  if (broken()) return std::unexpected(*broken());
  if (!found) return failure(Code::not_found, "there is no intent " + std::to_string(id));
  if (!intent) return damaged(id);
  return *std::move(intent);
}

Result<std::vector<Intent>> IntentBook::load_all(const std::vector<std::int64_t>& ids) {
  if (broken()) return std::unexpected(*broken());
  std::vector<Intent> all;
  for (const std::int64_t id : ids) all.push_back(PAWL_TRY(load(id)));
  return all;
}

Result<std::optional<Intent>> IntentBook::find(const std::string& reference) {
  std::optional<std::int64_t> id;
  run("SELECT id FROM intents WHERE reference = ?1", {std::string_view(reference)},
      [&](const Row& row) { id = row.number(0); });
  if (broken()) return std::unexpected(*broken());
  if (!id) return std::optional<Intent>();
  return std::optional(PAWL_TRY(load(*id)));
}

Result<Intent> IntentBook::get(const std::string& reference) {
  std::optional<Intent> found = PAWL_TRY(find(reference));
  if (!found) return intent_not_found(reference);
  return *std::move(found);
}

Result<std::int64_t> IntentBook::used(Instant now, std::int64_t most) {
  const std::string week = order::week_text(now);
  std::int64_t sum = 0;
  const auto add = [&](const Row& row) { sum += row.number(0); };
  run(count_week, {std::string_view(week), most}, add);
  run(count_slots, {std::string_view(week), most}, add);
  if (broken()) return std::unexpected(*broken());
  return sum;
}

Result<Quota> IntentBook::quota_at(const order::FrequencyLimit& limit, Instant now,
                                   std::int64_t most) {
  return Quota{.used = limit.enabled ? PAWL_TRY(used(now, most)) : 0,
               .limit = limit.weekly_max_orders,
               .week_start = week_start(now),
               .enabled = limit.enabled};
}

Result<Quota> IntentBook::quota(const order::FrequencyLimit& limit, Instant now) {
  return quota_at(limit, now, std::numeric_limits<std::int64_t>::max());
}

// One may still be held by a store whose transaction came to nothing.
Result<std::int64_t> IntentBook::next_id() {
  std::int64_t id = 0;
  run("SELECT ifnull(max(id), 0) FROM intents", {}, [&](const Row& row) { id = row.number(0); });
  if (broken()) return std::unexpected(*broken());
  while (!PAWL_TRY(locks_.take(++id))) {
  }
  return id;
}

Result<void> IntentBook::insert(const Intent& intent, const std::string& venue_name) {
  const std::string terms = json::print(order::to_json(intent.order));
  const std::string progress = json::print(order::to_json(intent.progress));
  const std::string week = order::week_text(intent.created);
  const bool is_other_name = venue_name != intent.reference;
  run("INSERT INTO intents VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 1, ?5, 0, '', ?9, ?10)",
      {intent.id, std::string_view(intent.reference), std::string_view(intent.order.venue),
       std::string_view(terms), std::int64_t{intent.counts}, intent.created.ns(),
       std::string_view(week), order::to_string(intent.progress.status), std::string_view(progress),
       is_other_name ? std::string_view(venue_name) : std::string_view()});
  return save();
}

Result<void> IntentBook::update(const Intent& intent) {
  const Progress& now = intent.progress;
  const bool is_working = now.status == Status::confirmed && !is_over(now.life);
  const std::string progress = json::print(order::to_json(now));
  run("UPDATE intents SET status = ?2, open = ?3, slot = min(slot, ?3), working = ?4, "
      "order_id = ?5, progress = ?6 WHERE id = ?1",
      {intent.id, order::to_string(now.status), std::int64_t{order::is_open(now.status)},
       std::int64_t{is_working}, std::string_view(now.order_id), std::string_view(progress)});
  return save();
}

Result<std::optional<std::string>> IntentBook::order_in_history(const NewIntent& ask) {
  std::optional<std::string> order_id;
  const auto found = [&](const Row& row) { order_id = row.text(0); };
  const std::string_view venue = ask.order.venue;
  run(find_history, {venue, std::string_view(ask.reference)}, found);
  if (!order_id && ask.venue_name != ask.reference) {
    run(find_history, {venue, std::string_view(ask.venue_name)}, found);
  }
  if (broken()) return std::unexpected(*broken());
  return order_id;
}

Result<Opening> IntentBook::open(const NewIntent& ask, std::int64_t& held) {
  const std::optional<Intent> known = PAWL_TRY(find(ask.reference));
  if (known && !order::may_open_again(*known, ask.order)) return Opening(KnownIntent{*known});
  if (const auto order_id = PAWL_TRY(order_in_history(ask))) {
    return reference_is_taken(ask, *order_id);
  }
  const Quota quota = PAWL_TRY(
      quota_at(ask.limit, ask.now, ask.limit.weekly_max_orders + bounds::order_count_excess_max));
  if (ask.counts && !order::has_room(quota)) return Opening(DeniedIntent{quota});
  if (known) {
    if (!PAWL_TRY(locks_.take(known->id))) return Opening(KnownIntent{*known});
    held = known->id;
    run("DELETE FROM intents WHERE id = ?1", {held});
  } else {
    held = PAWL_TRY(next_id());
  }
  const Intent intent = new_intent(ask, held, known ? &*known : nullptr);
  PAWL_TRY(insert(intent, ask.venue_name));
  return Opening(OpenedIntent{.intent = intent, .quota = quota});
}

Result<TakenIntent> IntentBook::take(const std::string& reference, std::int64_t& held) {
  TakenIntent taken = {.intent = PAWL_TRY(get(reference))};
  if (order::is_open(taken.intent.progress.status)) {
    taken.mine = PAWL_TRY(locks_.take(taken.intent.id));
    if (taken.mine) held = taken.intent.id;
  }
  return taken;
}

Result<void> IntentBook::save(std::int64_t id, const Progress& progress) {
  Intent intent = PAWL_TRY(load(id));
  const bool was_confirmed = intent.progress.status == Status::confirmed;
  intent.progress = progress;
  PAWL_TRY(update(intent));
  if (progress.status != Status::confirmed) return {};
  if (!was_confirmed) PAWL_TRY(add_history(history_row_of(intent)));
  if (is_over(progress.life)) {
    PAWL_TRY(
        set_history_status(intent.order.venue, progress.order_id, history_status(progress.life)));
  }
  return {};
}

Result<bool> IntentBook::add_history(const HistoryRow& row) {
  bool known = false;
  if (!row.order_id.empty()) {
    run("SELECT 1 FROM order_history WHERE order_id = ?1 AND venue = ?2",
        {std::string_view(row.order_id), std::string_view(row.venue)},
        [&](const Row&) { known = true; });
  }
  if (known && !row.reference.empty()) {
    run("UPDATE order_history SET reference = ?3 WHERE order_id = ?1 AND venue = ?2 "
        "AND reference = ''",
        {std::string_view(row.order_id), std::string_view(row.venue),
         std::string_view(row.reference)});
  }
  if (known || broken()) return save() ? Result<bool>(false) : std::unexpected(*broken());
  const std::string placed_at = time_text(row.placed_at);
  const std::string week = order::week_text(row.placed_at);
  run("INSERT INTO order_history (order_id, inst_id, side, ord_type, size, price, reduce_only, "
      "placed_at, week_start, status, venue, reference, counts) "
      "VALUES (?1, ?2, ?3, ?4, ?5, nullif(?6, ''), ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
      {std::string_view(row.order_id), std::string_view(row.instrument), order::to_string(row.side),
       std::string_view(row.type), std::string_view(row.size), std::string_view(row.price),
       std::int64_t{row.reduce_only}, std::string_view(placed_at), std::string_view(week),
       std::string_view(row.status), std::string_view(row.venue), std::string_view(row.reference),
       std::int64_t{row.counts}});
  if (broken()) return std::unexpected(*broken());
  return true;
}

Result<std::size_t> IntentBook::backfill(const std::vector<HistoryRow>& rows) {
  std::size_t added = 0;
  for (const HistoryRow& row : rows) {
    if (!PAWL_TRY(add_history(row))) continue;
    ++added;
    take_slot(row);
  }
  if (broken()) return std::unexpected(*broken());
  return added;
}

// What the history has now, the open intent need not hold any more.
void IntentBook::take_slot(const HistoryRow& row) {
  std::optional<bool> counts;
  const auto took = [&](const Row& intent) {
    counts = intent.number(0) != 0 || counts.value_or(false);
  };
  const std::string_view venue = row.venue;
  run("UPDATE intents SET slot = 0 WHERE reference = ?1 AND venue = ?2 AND open = 1 "
      "RETURNING counts",
      {std::string_view(row.reference), venue}, took);
  run(free_slot_by_name, {std::string_view(row.reference), venue}, took);
  run("UPDATE intents SET slot = 0 WHERE order_id = ?1 AND order_id <> '' AND venue = ?2 "
      "AND open = 1 RETURNING counts",
      {std::string_view(row.order_id), venue}, took);
  if (!counts || *counts == row.counts) return;
  run("UPDATE order_history SET counts = ?3 WHERE order_id = ?1 AND venue = ?2",
      {std::string_view(row.order_id), venue, std::int64_t{*counts}});
}

Result<bool> IntentBook::set_history_status(const std::string& venue, const std::string& order_id,
                                            std::string_view status) {
  bool changed = false;
  run("UPDATE order_history SET status = ?3 WHERE order_id = ?1 AND venue = ?2 "
      "AND status = 'placed' RETURNING id",
      {std::string_view(order_id), std::string_view(venue), status},
      [&](const Row&) { changed = true; });
  if (broken()) return std::unexpected(*broken());
  return changed;
}

Result<bool> IntentBook::set_life(const std::string& venue, const std::string& order_id,
                                  Life life) {
  if (!is_over(life) || order_id.empty()) return false;
  bool changed = PAWL_TRY(set_history_status(venue, order_id, history_status(life)));
  std::optional<std::int64_t> id;
  run("SELECT id FROM intents WHERE order_id = ?1 AND order_id <> '' AND venue = ?2 "
      "AND working = 1",
      {std::string_view(order_id), std::string_view(venue)},
      [&](const Row& row) { id = row.number(0); });
  if (broken()) return std::unexpected(*broken());
  if (!id) return changed;
  Intent intent = PAWL_TRY(load(*id));
  intent.progress.life = life;
  PAWL_TRY(update(intent));
  return true;
}

Result<std::vector<Intent>> IntentBook::list(const IntentFilter& filter) {
  // " confirmed rejected ", or nothing for all.
  std::string wanted;
  for (const Status status : filter.statuses) {
    wanted += (wanted.empty() ? " " : "") + std::string(order::to_string(status)) + " ";
  }
  const auto all_are = [&](auto is) {
    return !filter.statuses.empty() && std::ranges::all_of(filter.statuses, is);
  };
  std::vector<std::int64_t> ids;
  const auto add = [&](const Row& row) { ids.push_back(row.number(0)); };
  const std::string_view venue = filter.venue;
  const std::int64_t rows = row_count(filter.unattended ? bounds::orders_listed_max : filter.limit);
  // Each through the index that leads to few rows beside those that are wanted.
  if (all_are(order::is_open)) {
    run(list_open, {venue, std::string_view(wanted), rows}, add);
  } else if (all_are([](Status status) { return status == Status::rejected; })) {
    run(list_rejected, {venue, rows}, add);
  } else if (!venue.empty()) {
    run("SELECT id FROM intents WHERE venue = ?1 "
        "AND (?2 = '' OR instr(?2, ' ' || status || ' ') > 0) ORDER BY id DESC LIMIT ?3",
        {venue, std::string_view(wanted), rows}, add);
  } else {
    run("SELECT id FROM intents WHERE ?1 = '' OR instr(?1, ' ' || status || ' ') > 0 "
        "ORDER BY id DESC LIMIT ?2",
        {std::string_view(wanted), rows}, add);
  }
  if (filter.unattended) PAWL_TRY(keep_unattended(ids, filter.limit));
  return load_all(ids);
}

Result<void> IntentBook::keep_unattended(std::vector<std::int64_t>& ids, std::size_t limit) {
  std::vector<std::int64_t> left;
  for (const std::int64_t id : ids) {
    if (left.size() < limit && PAWL_TRY(locks_.is_free(id))) left.push_back(id);
  }
  ids = std::move(left);
  return {};
}

Result<std::vector<Intent>> IntentBook::unfinished(const std::string& venue, std::int64_t after,
                                                   std::size_t limit) {
  std::vector<std::int64_t> ids;
  run(list_working, {std::string_view(venue), after, row_count(limit)},
      [&](const Row& row) { ids.push_back(row.number(0)); });
  return load_all(ids);
}

Result<bool> IntentBook::history_is_empty() {
  bool empty = true;
  run("SELECT 1 FROM order_history LIMIT 1", {}, [&](const Row&) { empty = false; });
  if (broken()) return std::unexpected(*broken());
  return empty;
}

void IntentBook::touch() {
  run("UPDATE work SET touches = touches + 1", {});
}

Result<void> IntentBook::save() {
  if (broken()) return std::unexpected(*broken());
  return {};
}

}  // namespace pawl
