// order_history from what the venues keep.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/bounds.h"
#include "runtime/order_desk_state.h"

namespace pawl::desk {
namespace {

HistoryRow row_of(const order::VenueOrder& order, const std::string& venue,
                  const order::FrequencyLimit& limit) {
  // The venue shows the flag, so the venue holds it.
  const bool excluded = limit.exclude_reduce_only && order.reduce_only;
  return {.order_id = order.order_id,
          .instrument = order.instrument,
          .side = order.side,
          .type = order.type,
          .size = to_string(order.size),
          .price = order.price ? to_string(*order.price) : std::string(),
          .reduce_only = order.reduce_only,
          .counts = !excluded,
          .placed_at = order.placed_at,
          .status = std::string(history_status(order.life)),
          .venue = venue,
          .reference = order.reference};
}

struct Backfilling : std::enable_shared_from_this<Backfilling> {
  Backfilling(DeskPtr desk_, BackfillAsk ask_) : desk(std::move(desk_)), ask(std::move(ask_)) {}

  void next_venue();
  void read(std::string page);
  void got(HistoryPage page);
  void kept(std::size_t inserted, std::string next);
  // That so many were added to what the weekly limit counts.
  Result<void> tell_audit(std::size_t inserted);
  void fail(Error error);
  Result<void> may_go_on() const;
  // Never less than before: lists may grow while they are read.
  void measure(const HistoryPage& page);

  DeskPtr desk;
  BackfillAsk ask;
  std::function<void(const BackfillProgress&)> progress = {};
  Done<BackfillSummary> done = {};
  std::vector<std::string> venues = {};
  BackfillProgress now = {};         // of this venue
  std::set<std::string> known = {};  // its orders so far: its lists overlap
  std::size_t lists_done = 0;        // of this venue
  BackfillSummary summary = {};
};

void Backfilling::next_venue() {
  if (venues.empty()) return done(std::move(summary));
  now = {.venue = std::move(venues.back()), .reached = ask.to};
  venues.pop_back();
  known.clear();
  lists_done = 0;
  read({});
}

void Backfilling::read(std::string page) {
  const Result<Seat*> seat = desk->seat(now.venue);
  if (!seat) return fail(seat.error());
  if (const Result<void> may = may_go_on(); !may) return fail(may.error());
  if (now.pages >= bounds::order_history_pages_max) {
    return fail({Code::invalid, Outcome::unknown,
                 "The venue shows more pages than pawl reads. Backfill fewer days at a time."});
  }
  (*seat)->venue.history(ask.from, ask.to, std::move(page),
                         on_strand(desk, [self = shared_from_this()](Result<HistoryPage> got) {
                           if (!got) return self->fail(got.error());
                           self->got(*std::move(got));
                         }));
}

void Backfilling::measure(const HistoryPage& page) {
  constexpr std::int64_t whole = 1000;
  std::int64_t of_list = 0;
  if (page.lists_done == lists_done) {  // it goes on in the same list
    Instant oldest = ask.to;
    for (const order::VenueOrder& each : page.orders) oldest = std::min(oldest, each.placed_at);
    const std::int64_t step = std::max<std::int64_t>(1, (ask.to - ask.from).ns() / whole);
    of_list = std::clamp<std::int64_t>((ask.to - oldest).ns() / step, 0, whole);
  }
  lists_done = page.lists_done;
  const std::int64_t so_far = (static_cast<std::int64_t>(page.lists_done) * whole + of_list) /
                              static_cast<std::int64_t>(page.lists);
  now.done_milli = std::max(now.done_milli, static_cast<int>(std::min(so_far, whole)));
}

void Backfilling::got(HistoryPage page) {
  ++now.pages;
  measure(page);
  if (!page.note.empty() && std::ranges::find(summary.notes, page.note) == summary.notes.end()) {
    summary.notes.push_back(page.note);
  }
  std::vector<HistoryRow> rows;
  for (const order::VenueOrder& order : page.orders) {
    const bool is_asked_for = order.placed_at >= ask.from && order.placed_at < ask.to;
    // What the venue refused was never placed.
    if (!is_asked_for || order.life == order::Life::rejected) continue;
    if (!known.insert(order.order_id).second) continue;
    now.reached = std::min(now.reached, order.placed_at);
    rows.push_back(row_of(order, now.venue, desk->options.limit));
  }
  now.orders += rows.size();
  summary.orders += rows.size();
  if (rows.empty()) return kept(0, std::move(page.next));
  desk->store.backfill(std::move(rows),
                       on_strand(desk, [self = shared_from_this(), next = std::move(page.next)](
                                           const Result<std::size_t>& inserted) {
                         if (!inserted) return self->fail(inserted.error());
                         self->kept(*inserted, next);
                       }));
}

Result<void> Backfilling::may_go_on() const {
  if (desk->draining) return failure(Code::unavailable, "pawl is shutting down.");
  return desk->may_begin();
}

Result<void> Backfilling::tell_audit(std::size_t inserted) {
  return desk->keep({.type = audit::EventType::config,
                     .timestamp = desk->ports.clock.wall_now(),
                     .operation = "backfill_orders",
                     .correlation = {},
                     .details = {{"venue", now.venue},
                                 {"inserted", static_cast<std::int64_t>(inserted)},
                                 {"from", to_string(ask.from)},
                                 {"to", to_string(ask.to)}}});
}

void Backfilling::kept(std::size_t inserted, std::string next) {
  now.inserted += inserted;
  summary.inserted += inserted;
  if (inserted > 0) {
    if (const Result<void> told = tell_audit(inserted); !told) return fail(told.error());
  }
  if (progress) progress(now);
  if (!next.empty()) return read(std::move(next));
  desk->tell(Backfilled{.venue = now.venue, .inserted = now.inserted});
  next_venue();
}

// What was inserted stays: the next one begins where this ended.
void Backfilling::fail(Error error) {
  error.message = "Backfill from " + now.venue +
                  " stopped (orders added, which stay: " + std::to_string(now.inserted) +
                  "): " + error.message;
  done(std::unexpected(std::move(error)));
}

}  // namespace

void backfill(const DeskPtr& desk, BackfillAsk ask,
              std::function<void(const BackfillProgress&)> progress, Done<BackfillSummary> done) {
  const auto filling = std::make_shared<Backfilling>(desk, std::move(ask));
  filling->progress = std::move(progress);
  filling->done = std::move(done);
  if (desk->seats.empty()) {
    return filling->done(failure(Code::not_found, "No venue is configured."));
  }
  if (!filling->ask.venue.empty()) {
    filling->venues = {filling->ask.venue};
  } else {
    for (const auto& [name, seat] : desk->seats) filling->venues.push_back(name);
  }
  filling->next_venue();
}

}  // namespace pawl::desk
