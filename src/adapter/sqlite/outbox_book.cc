#include "adapter/sqlite/outbox_book.h"

#include <algorithm>
#include <array>

namespace pawl {

using sqlite::bytes_of;
using sqlite::Row;
using sqlite::text_of;
using webhook::Delivery;
using webhook::State;

namespace {

constexpr sqlite::Sql first_version = R"(
CREATE TABLE deliveries (
  number INTEGER PRIMARY KEY,     -- in the order in which they came
  endpoint BLOB NOT NULL,
  event_id BLOB NOT NULL,
  type BLOB NOT NULL,
  tenant BLOB NOT NULL,
  state TEXT NOT NULL,            -- pending, acknowledged, given_up
  attempts INTEGER NOT NULL,
  created_at INTEGER NOT NULL,    -- times are nanoseconds since 1970
  next_at INTEGER NOT NULL,       -- of pending ones
  ended_at INTEGER NOT NULL,      -- of the others
  last_status INTEGER NOT NULL,
  last_error BLOB NOT NULL,
  trail BLOB NOT NULL,            -- how to go on; empty once it has ended
  body BLOB NOT NULL              -- empty once it has ended
);
CREATE UNIQUE INDEX deliveries_by_event ON deliveries (endpoint, event_id);
CREATE INDEX deliveries_by_state ON deliveries (state, number);
CREATE INDEX deliveries_by_turn ON deliveries (endpoint, next_at) WHERE state = 'pending';
CREATE INDEX deliveries_by_end ON deliveries (ended_at, number) WHERE state <> 'pending';
CREATE TABLE totals (             -- one row
  pending INTEGER NOT NULL,
  ended INTEGER NOT NULL
);
INSERT INTO totals VALUES (0, 0);
)";
constexpr std::array<sqlite::Sql, 1> steps = {first_version};

// The first columns of every SELECT: event_id, endpoint, type, tenant, state, attempts, created_at,
// next_at, ended_at, last_status, last_error. None when that is nothing pawl wrote.
std::optional<Delivery> delivery_of(const Row& row) {
  const std::optional<State> state = webhook::state_of(row.text(4));
  if (!state) return std::nullopt;
  return Delivery{.event_id = text_of(row.bytes(0)),
                  .endpoint = text_of(row.bytes(1)),
                  .type = text_of(row.bytes(2)),
                  .tenant = text_of(row.bytes(3)),
                  .state = *state,
                  .attempts = static_cast<int>(row.number(5)),
                  .created_at = Instant::from_ns(row.number(6)),
                  .next_at = Instant::from_ns(row.number(7)),
                  .ended_at = Instant::from_ns(row.number(8)),
                  .last_status = static_cast<int>(row.number(9)),
                  .last_error = text_of(row.bytes(10))};
}

std::unexpected<Error> damaged() {
  return failure(Code::invalid,
                 "a delivery in the outbox is not as pawl wrote it: put back a copy of the file, "
                 "or move it away to start without it");
}

}  // namespace

const sqlite::Schema OutboxBook::schema = {
    .application_id = 0x70774f62, .what = "deliveries of webhooks", .steps = steps};

OutboxBook::Totals* OutboxBook::totals() {
  if (!totals_) {
    Totals read;
    const bool done = run("SELECT pending, ended FROM totals", {}, [&](const Row& row) {
      read = {.pending = row.number(0), .ended = row.number(1)};
    });
    if (!done) return nullptr;
    totals_ = read;
  }
  return &*totals_;
}

bool OutboxBook::has(const NewDelivery& one) {
  bool found = false;
  run("SELECT 1 FROM deliveries WHERE endpoint = ?1 AND event_id = ?2",
      {bytes_of(one.endpoint), bytes_of(one.event_id)}, [&](const Row&) { found = true; });
  return found;
}

Result<std::size_t> OutboxBook::add(const std::vector<NewDelivery>& deliveries) {
  std::vector<const NewDelivery*> fresh;
  for (const NewDelivery& one : deliveries) {
    if (!has(one)) fresh.push_back(&one);
  }
  Totals* all = totals();
  if (broken()) return std::unexpected(*broken());
  const auto count = static_cast<std::int64_t>(fresh.size());
  if (all->pending + count > static_cast<std::int64_t>(bounds_.pending_max)) {
    return failure(Code::unavailable, "all " + std::to_string(bounds_.pending_max) +
                                          " places of the outbox are in use: no event is taken "
                                          "until some are delivered");
  }
  std::size_t added = 0;
  for (const NewDelivery* one : fresh) {
    run("INSERT INTO deliveries VALUES (NULL, ?1, ?2, ?3, ?4, 'pending', 0, ?5, ?5, 0, 0, x'', "
        "x'', ?6) ON CONFLICT DO NOTHING RETURNING number",
        {bytes_of(one->endpoint), bytes_of(one->event_id), bytes_of(one->type),
         bytes_of(one->tenant), now_.ns(), bytes_of(one->body)},
        [&](const Row&) { ++added; });
  }
  if (broken()) return std::unexpected(*broken());
  all->pending += static_cast<std::int64_t>(added);
  changed_ = changed_ || added > 0;
  return added;
}

Result<DueDeliveries> OutboxBook::due(const std::string& endpoint, std::size_t limit) {
  DueDeliveries found;
  PAWL_TRY(look(endpoint, limit, found));
  Totals* all = totals();
  if (all == nullptr) return std::unexpected(*broken());
  found.pending = static_cast<std::size_t>(std::max<std::int64_t>(0, all->pending));
  return found;
}

// One more than are wanted, to see when that one's turn is.
Result<void> OutboxBook::look(const std::string& endpoint, std::size_t limit,
                              DueDeliveries& found) {
  bool is_damaged = false;
  const auto add = [&](const Row& row) {
    std::optional<Delivery> delivery = delivery_of(row);
    is_damaged = is_damaged || !delivery;
    if (!delivery || found.next) return;
    if (delivery->next_at > now_ || found.items.size() == limit) {
      found.next = std::max(Duration(), delivery->next_at - now_);
      return;
    }
    found.items.push_back({.delivery = *std::move(delivery),
                           .body = text_of(row.bytes(12)),
                           .trail = text_of(row.bytes(11))});
  };
  const bool done = run(
      "SELECT event_id, endpoint, type, tenant, state, attempts, created_at, next_at, ended_at, "
      "last_status, last_error, trail, body FROM deliveries "
      "WHERE endpoint = ?1 AND state = 'pending' ORDER BY next_at, number LIMIT ?2",
      {bytes_of(endpoint), static_cast<std::int64_t>(limit + 1)}, add);
  if (!done) return std::unexpected(*broken());
  if (is_damaged) return damaged();
  return {};
}

Result<void> OutboxBook::save(const std::string& endpoint, const std::string& event_id,
                              const DeliveryStep& step) {
  std::optional<std::int64_t> number;
  std::optional<State> state;
  const bool found =
      run("SELECT number, state FROM deliveries WHERE endpoint = ?1 AND event_id = ?2",
          {bytes_of(endpoint), bytes_of(event_id)}, [&](const Row& row) {
            number = row.number(0);
            state = webhook::state_of(row.text(1));
          });
  if (!found) return std::unexpected(*broken());
  if (!number) return failure(Code::not_found, "there is no such delivery");
  if (!state) return damaged();
  if (*state != State::pending) return failure(Code::refused, "the delivery has ended before");
  changed_ = true;
  if (step.state != State::pending) return end(*number, step);
  const bool done =
      run("UPDATE deliveries SET attempts = ?2, next_at = ?3, last_status = ?4, last_error = ?5, "
          "trail = ?6 WHERE number = ?1",
          {*number, std::int64_t{step.attempts}, (now_ + step.wait).ns(),
           std::int64_t{step.last_status}, bytes_of(step.last_error), bytes_of(step.trail)});
  if (!done) return std::unexpected(*broken());
  return {};
}

Result<void> OutboxBook::end(std::int64_t number, const DeliveryStep& step) {
  run("UPDATE deliveries SET state = ?2, attempts = ?3, next_at = 0, ended_at = ?4, "
      "last_status = ?5, last_error = ?6, trail = x'', body = x'' WHERE number = ?1",
      {number, webhook::to_string(step.state), std::int64_t{step.attempts}, now_.ns(),
       std::int64_t{step.last_status}, bytes_of(step.last_error)});
  if (Totals* all = totals()) {
    --all->pending;
    ++all->ended;
  }
  if (broken()) return std::unexpected(*broken());
  return {};
}

Result<std::vector<Delivery>> OutboxBook::list(std::size_t limit, std::optional<State> state) {
  std::vector<Delivery> all;
  bool is_damaged = false;
  const auto add = [&](const Row& row) {
    std::optional<Delivery> delivery = delivery_of(row);
    is_damaged = is_damaged || !delivery;
    if (delivery) all.push_back(*std::move(delivery));
  };
  const auto rows = static_cast<std::int64_t>(std::min(limit, bounds::webhook_list_max));
  const bool done =
      state ? run("SELECT event_id, endpoint, type, tenant, state, attempts, created_at, next_at, "
                  "ended_at, last_status, last_error FROM deliveries WHERE state = ?2 "
                  "ORDER BY number DESC LIMIT ?1",
                  {rows, webhook::to_string(*state)}, add)
            : run("SELECT event_id, endpoint, type, tenant, state, attempts, created_at, next_at, "
                  "ended_at, last_status, last_error FROM deliveries ORDER BY number DESC LIMIT ?1",
                  {rows}, add);
  if (!done) return std::unexpected(*broken());
  if (is_damaged) return damaged();
  return all;
}

void OutboxBook::forget_some() {
  const std::int64_t more = totals_->ended - static_cast<std::int64_t>(bounds_.ended_max);
  if (more <= 0) return;
  run("DELETE FROM deliveries WHERE number IN (SELECT number FROM deliveries "
      "WHERE state <> 'pending' ORDER BY ended_at, number LIMIT ?1)",
      {more});
  totals_->ended -= more;
}

Result<void> OutboxBook::save() {
  if (changed_ && totals_) {
    forget_some();
    run("UPDATE totals SET pending = ?1, ended = ?2", {totals_->pending, totals_->ended});
  }
  if (broken()) return std::unexpected(*broken());
  return {};
}

}  // namespace pawl
