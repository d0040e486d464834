#include "adapter/sqlite/counter_book.h"

#include <algorithm>
#include <array>
#include <vector>

namespace pawl {
namespace {

using limit::Moment;
using sqlite::Bytes;
using sqlite::bytes_of;
using sqlite::Row;
using sqlite::text_of;

// Times are nanoseconds since 1970 by the world's clock. `rule` is kept_rule.h's text; `marks` are
// three little-endian numbers of 8 bytes each: at, cost, holder.
constexpr sqlite::Sql first_version = R"(
CREATE TABLE counts (
  policy TEXT NOT NULL,
  key BLOB NOT NULL,
  rule TEXT NOT NULL,             -- that it was counted under
  a INTEGER NOT NULL,             -- what the rule's algorithm remembers
  b INTEGER NOT NULL,
  marks BLOB NOT NULL,
  closed_until INTEGER NOT NULL,
  rests_at INTEGER NOT NULL,      -- from then on the row says no more than none would
  PRIMARY KEY (policy, key)
) WITHOUT ROWID;
CREATE TABLE reservations (
  id INTEGER PRIMARY KEY,
  policy TEXT NOT NULL,           -- the first count it was made for
  key BLOB NOT NULL,
  cost INTEGER NOT NULL,
  charged INTEGER NOT NULL,       -- bit n: the n-th count was charged
  charged_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
);
CREATE INDEX reservations_by_end ON reservations (expires_at);
CREATE TABLE totals (            -- one row
  counts INTEGER NOT NULL,
  reservations INTEGER NOT NULL,
  touches INTEGER NOT NULL        -- means nothing; raised to see whether a write works
);
INSERT INTO totals VALUES (0, 0, 0);
)";
constexpr std::array<sqlite::Sql, 1> steps = {first_version};

constexpr std::size_t mark_bytes = 24;

void put(std::byte* to, std::uint64_t n) {
  for (int i = 0; i < 8; ++i) to[i] = static_cast<std::byte>(n >> (8 * i));
}

std::uint64_t get(const std::byte* from) {
  std::uint64_t n = 0;
  for (int i = 0; i < 8; ++i) n |= static_cast<std::uint64_t>(from[i]) << (8 * i);
  return n;
}

std::vector<std::byte> packed(const limit::Marks& marks) {
  std::vector<std::byte> bytes(marks.size() * mark_bytes);
  std::byte* to = bytes.data();
  for (const limit::Mark& mark : marks) {
    put(to, static_cast<std::uint64_t>(mark.at.ns()));
    put(to + 8, static_cast<std::uint64_t>(mark.cost));
    put(to + 16, mark.holder);
    to += mark_bytes;
  }
  return bytes;
}

limit::Marks unpacked(Bytes bytes) {
  limit::Marks marks;
  marks.reserve(bytes.size() / mark_bytes);
  for (; bytes.size() >= mark_bytes; bytes = bytes.subspan(mark_bytes)) {
    marks.push_back({.at = Moment::from_ns(static_cast<std::int64_t>(get(bytes.data()))),
                     .cost = static_cast<std::int64_t>(get(bytes.data() + 8)),
                     .holder = get(bytes.data() + 16)});
  }
  return marks;
}

// The store's time is the world's.
limit::Now now_at(std::int64_t ns) {
  return {.moment = Moment::from_ns(ns), .wall = Instant::from_ns(ns)};
}

}  // namespace

const sqlite::Schema CounterBook::schema = {
    .application_id = 0x70774c63, .what = "limit counters", .steps = steps};

// The states of one ask as copies, under the rules it is asked by; apply() changes what is kept.
class CounterBook::Step {
 public:
  static Result<Step> begin(CounterBook& book, Items items) {
    Step step(book, items);
    for (const Counted& item : items) PAWL_TRY(step.read(item));
    return step;
  }

  std::span<const limit::Member> members() {
    for (std::size_t i = 0; i < items_.size(); ++i) members_[i] = {items_[i].policy, &state(i)};
    return {members_.data(), items_.size()};
  }
  limit::State& state(std::size_t i) {
    states_[i].marks = &marks_[i];
    return states_[i];
  }

  // Of a refusal, what was carried over from another rule is not kept unless it would else last.
  void apply(const limit::Answer& answer) {
    if (answer.allowed || !is_carried_ || lasts_) apply();
  }
  void apply() {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      Kept& kept = *kept_[i];
      const limit::State& now = states_[i];
      if (kept.cell == now.cell && kept.closed_until == now.closed_until &&
          kept.marks == marks_[i] && kept.rule == items_[i].rule) {
        continue;
      }
      if (!kept.stored && !kept.changed) ++book_.added_;
      kept.cell = now.cell;
      kept.closed_until = now.closed_until;
      kept.marks = std::move(marks_[i]);
      kept.rule = items_[i].rule;
      kept.policy = items_[i].policy;
      kept.changed = true;
    }
  }

 private:
  Step(CounterBook& book, Items items) : book_(book), items_(items) {}

  Result<void> read(const Counted& item) {
    Kept* kept = book_.find(item);
    if (kept == nullptr) return std::unexpected(*book_.broken());
    if (kept->damaged) {
      return failure(Code::invalid, "the count of '" + item.policy->name +
                                        "' is not as pawl wrote it: reset it, or put back a copy "
                                        "of the file");
    }
    const std::size_t i = count_++;
    kept_[i] = kept;
    states_[i] = {.cell = kept->cell, .closed_until = kept->closed_until};
    marks_[i] = kept->marks;
    if (kept->rule.empty() || kept->rule == item.rule) return {};
    const limit::Rule from = PAWL_TRY(rebuild(kept->rule, book_.options_.zones));
    is_carried_ = true;
    lasts_ = limit::carry_over(from, *item.policy, state(i), book_.now_) || lasts_;
    return {};
  }

  CounterBook& book_;
  Items items_;
  std::size_t count_ = 0;
  bool is_carried_ = false;
  bool lasts_ = false;
  std::array<Kept*, bounds::limit_policies_max> kept_ = {};
  std::array<limit::State, bounds::limit_policies_max> states_ = {};
  std::array<limit::Marks, bounds::limit_policies_max> marks_ = {};
  std::array<limit::Member, bounds::limit_policies_max> members_ = {};
};

CounterBook::CounterBook(sqlite::Database& database, const CounterBookOptions& options, Instant now)
    : Book(database), options_(options), now_(now_at(now.ns())) {}

CounterBook::Kept* CounterBook::find(const Counted& item) {
  const auto [place, is_new] = kept_.try_emplace({item.policy->name, item.key});
  Kept& kept = place->second;
  if (!is_new) return broken() ? nullptr : &kept;
  const bool done =
      run("SELECT rule, a, b, closed_until, marks FROM counts WHERE policy = ?1 AND key = ?2",
          {std::string_view(item.policy->name), bytes_of(item.key)}, [&](const Row& row) {
            kept.rule = row.text(0);
            kept.cell = {.a = row.number(1), .b = row.number(2)};
            kept.closed_until = Moment::from_ns(row.number(3));
            kept.marks = unpacked(row.bytes(4));
            kept.damaged = row.bytes(4).size() % mark_bytes != 0 || kept.rule.empty();
            kept.stored = true;
          });
  return done ? &kept : nullptr;
}

CounterBook::Totals* CounterBook::totals() {
  if (!totals_) {
    Totals read;
    const bool done = run("SELECT counts, reservations FROM totals", {}, [&](const Row& row) {
      read = {.counts = row.number(0), .reservations = row.number(1)};
    });
    if (!done) return nullptr;
    totals_ = read;
  }
  return &*totals_;
}

// That every count has a row, or may get one.
Result<void> CounterBook::make_room(Items items) {
  std::int64_t missing = 0;
  for (const Counted& item : items) {
    const Kept* kept = find(item);
    if (kept == nullptr) return std::unexpected(*broken());
    if (!kept->stored && !kept->changed) ++missing;
  }
  if (missing == 0) return {};
  const Totals* all = totals();
  if (all == nullptr) return std::unexpected(*broken());
  if (all->counts + added_ + missing <= static_cast<std::int64_t>(options_.counts_max)) return {};
  return failure(Code::refused, "all " + std::to_string(options_.counts_max) +
                                    " counts are in use: new keys are refused until some are at "
                                    "rest; keep them in a Redis, or count fewer keys");
}

Result<limit::Answer> CounterBook::check(Items items, limit::Ask ask) {
  if (ask.cost > 0) PAWL_TRY(make_room(items));
  Step step = PAWL_TRY(Step::begin(*this, items));
  limit::Answer answer = limit::decide(step.members(), ask, now_);
  if (ask.cost > 0) step.apply(answer);
  return answer;
}

Result<Reservation> CounterBook::reserve(Items items, limit::Ask ask, Duration hold) {
  Totals* all = totals();
  if (all == nullptr) return std::unexpected(*broken());
  if (all->reservations >= static_cast<std::int64_t>(options_.reservations_max)) {
    return failure(Code::refused, "too many open reservations (" +
                                      std::to_string(all->reservations) +
                                      "): settle some, or let them run out");
  }
  Reservation reservation{.id = 0, .answer = PAWL_TRY(check(items, ask))};
  if (!reservation.answer.allowed) return reservation;
  const std::int64_t charged = limit::charged_mask(reservation.answer);
  const bool done =
      run("INSERT INTO reservations VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
          {static_cast<std::int64_t>(ask.holder), std::string_view(items[0].policy->name),
           bytes_of(items[0].key), ask.cost, charged, now_.moment.ns(), (now_.moment + hold).ns()});
  if (!done) return std::unexpected(*broken());
  ++all->reservations;
  totals_changed_ = true;
  reservation.id = ask.holder;
  return reservation;
}

Result<void> CounterBook::settle(Items items, std::uint64_t id, Settlement how) {
  const auto row_id = static_cast<std::int64_t>(id);
  std::optional<limit::Ask> reserved;
  std::uint8_t charged = 0;
  const bool done = run(
      "SELECT cost, charged, charged_at FROM reservations WHERE id = ?1 AND policy = ?2 "
      "AND key = ?3 AND expires_at > ?4",
      {row_id, std::string_view(items[0].policy->name), bytes_of(items[0].key), now_.moment.ns()},
      [&](const Row& row) {
        charged = static_cast<std::uint8_t>(row.number(1));
        reserved = {.cost = row.number(0), .holder = id, .charged = now_at(row.number(2))};
      });
  if (!done) return std::unexpected(*broken());
  if (!reserved) return reservation_not_found();
  Step step = PAWL_TRY(Step::begin(*this, items));
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!limit::is_charged(charged, i)) continue;
    if (!limit::settle(*items[i].policy, step.state(i), *reserved, how, now_)) {
      return reservation_not_found();
    }
  }
  if (how.kind == Settlement::Kind::renew) {
    run("UPDATE reservations SET expires_at = ?2 WHERE id = ?1",
        {row_id, (now_.moment + how.hold).ns()});
  } else if (Totals* all = totals()) {
    run("DELETE FROM reservations WHERE id = ?1", {row_id});
    --all->reservations;
    totals_changed_ = true;
  }
  if (broken()) return std::unexpected(*broken());
  step.apply();
  return {};
}

Result<void> CounterBook::refund(Items items, std::int64_t cost) {
  Step step = PAWL_TRY(Step::begin(*this, items));
  limit::give_back(*items[0].policy, step.state(0), {.cost = cost, .charged = now_}, now_);
  step.apply();
  return {};
}

Result<void> CounterBook::reset(Items items) {
  Kept* kept = find(items[0]);
  if (kept == nullptr) return std::unexpected(*broken());
  // Whatever it was, readable or not: a new count, of which save() deletes the row.
  *kept = {.rule = items[0].rule,
           .cell = {},
           .closed_until = {},
           .marks = {},
           .policy = items[0].policy,
           .stored = kept->stored,
           .changed = true};
  return {};
}

Result<void> CounterBook::close(Items items, Instant until) {
  PAWL_TRY(make_room(items));
  Step step = PAWL_TRY(Step::begin(*this, items));
  limit::State& state = step.state(0);
  state.closed_until = std::max(state.closed_until, Moment::from_ns(until.ns()));
  step.apply();
  return {};
}

void CounterBook::touch() {
  run("UPDATE totals SET touches = touches + 1", {});
}

void CounterBook::write(std::string_view policy, std::string_view key, Kept& kept) {
  const limit::State state{
      .cell = kept.cell, .closed_until = kept.closed_until, .marks = &kept.marks};
  const Duration in_use_for = limit::until_unused(kept.policy->rule, state, now_);
  const std::int64_t rows_before = kept.stored ? 1 : 0;
  const std::int64_t rows = in_use_for > Duration() ? 1 : 0;
  if (rows == 1) {
    const std::vector<std::byte> marks = packed(kept.marks);
    run("INSERT OR REPLACE INTO counts VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        {policy, bytes_of(key), std::string_view(kept.rule), kept.cell.a, kept.cell.b, Bytes(marks),
         kept.closed_until.ns(), (now_.moment + in_use_for).ns()});
  } else if (rows_before == 1) {
    run("DELETE FROM counts WHERE policy = ?1 AND key = ?2", {policy, bytes_of(key)});
  }
  if (rows == rows_before) return;
  if (Totals* all = totals()) all->counts += rows - rows_before;
  totals_changed_ = true;
}

Result<void> CounterBook::save() {
  for (auto& [name, kept] : kept_) {
    if (kept.changed) write(name.first, name.second, kept);
  }
  const Totals* all = totals_changed_ ? totals() : nullptr;
  if (all != nullptr) {
    run("UPDATE totals SET counts = ?1, reservations = ?2", {all->counts, all->reservations});
  }
  if (broken()) return std::unexpected(*broken());
  return {};
}

void CounterBook::forget_some(ForgetCursor& cursor, std::size_t rows, Moment then) {
  std::size_t seen = 0;
  std::vector<std::pair<std::string, std::string>> rested;
  ForgetCursor last;
  run("SELECT policy, key, rests_at FROM counts WHERE (policy, key) > (?1, ?2) "
      "ORDER BY policy, key LIMIT ?3",
      {std::string_view(cursor.policy), bytes_of(cursor.key), static_cast<std::int64_t>(rows)},
      [&](const Row& row) {
        ++seen;
        last = {.policy = std::string(row.text(0)), .key = text_of(row.bytes(1))};
        if (row.number(2) <= then.ns()) rested.emplace_back(last.policy, last.key);
      });
  cursor = seen == rows ? last : ForgetCursor();
  for (const auto& [policy, key] : rested) {
    run("DELETE FROM counts WHERE policy = ?1 AND key = ?2",
        {std::string_view(policy), bytes_of(key)});
  }
  std::int64_t over = 0;
  run("DELETE FROM reservations WHERE id IN "
      "(SELECT id FROM reservations WHERE expires_at <= ?1 LIMIT ?2) RETURNING id",
      {then.ns(), static_cast<std::int64_t>(rows)}, [&](const Row&) { ++over; });
  if (rested.empty() && over == 0) return;
  if (Totals* all = totals()) {
    all->counts -= static_cast<std::int64_t>(rested.size());
    all->reservations -= over;
  }
  totals_changed_ = true;
}

}  // namespace pawl
