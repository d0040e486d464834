#include "runtime/order_desk.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/audit/order_correlation.h"
#include "runtime/order_desk_state.h"
#include "runtime/order_work.h"

namespace pawl {

std::string_view to_string(PlacedAs as) {
  switch (as) {
    case PlacedAs::confirmed:
      return "confirmed";
    case PlacedAs::rejected:
      return "rejected";
    case PlacedAs::denied:
      return "denied";
    case PlacedAs::unresolved:
      return "unresolved";
  }
  return "unresolved";
}

namespace desk {
namespace {

PlacedAs placed_as(order::Status status) {
  if (status == order::Status::confirmed) return PlacedAs::confirmed;
  if (status == order::Status::rejected) return PlacedAs::rejected;
  return PlacedAs::unresolved;
}

}  // namespace

Desk::Desk(OrderDesk::Options options_, OrderDesk::Ports ports_)
    : options(std::move(options_)),
      ports(std::move(ports_)),
      store(ports.store, ports.timers, ports.note ? ports.note : [](const Note&) {}) {}

Result<void> Desk::keep(audit::Event event) {
  if (ports.audit == nullptr) return {};
  const Correlation ids = event.correlation;
  event.correlation = audit::found_by_reference(ids);
  const std::string operation = event.operation;
  Result<void> kept = ports.audit->append(std::move(event));
  if (!kept) tell(AuditFailed{.ids = ids, .operation = operation, .error = kept.error()});
  return kept;
}

Result<void> Desk::may_begin() const {
  if (draining) return failure(Code::unavailable, "Not sent: pawl is shutting down.");
  if (ports.audit == nullptr) return {};
  return ports.audit->alive();
}

Result<Seat*> Desk::seat(const std::string& venue) {
  const auto found = seats.find(venue);
  if (found != seats.end()) return &found->second;
  std::string known;
  for (const auto& [name, seat] : seats) known += known.empty() ? name : ", " + name;
  return failure(Code::not_found, "No venue '" + venue + "' is configured. There is: " +
                                      (known.empty() ? "none" : known) + ".");
}

bool Desk::is_wanted(const order::Intent& intent) const {
  const auto [first, last] = wanted.equal_range(intent.reference);
  return std::any_of(first, last, [&](const auto& each) { return each.second == intent.order; });
}

void Desk::look_whether_drained() {
  if (!draining || !works.empty() || !changes.empty() || placings > 0) return;
  for (Done<void>& each : std::exchange(drainers, {})) each({});
}

void Desk::Tally::ended(const order::Intent& intent) {
  const std::lock_guard lock(mutex_);
  unresolved_.erase(intent.reference);
  if (intent.progress.status == order::Status::confirmed) {
    ++counts_.confirmed;
  } else if (intent.progress.status == order::Status::rejected) {
    ++counts_.rejected;
  } else {
    ++counts_.left_unresolved;
    unresolved_.insert(intent.reference);
  }
}

void Desk::Tally::denied() {
  const std::lock_guard lock(mutex_);
  ++counts_.denied;
}

void Desk::Tally::replayed() {
  const std::lock_guard lock(mutex_);
  ++counts_.replayed;
}

void Desk::Tally::found_unresolved(const std::vector<order::Intent>& intents) {
  const std::lock_guard lock(mutex_);
  unresolved_.clear();
  for (const order::Intent& intent : intents) unresolved_.insert(intent.reference);
}

void Desk::Tally::under_way(std::size_t number) {
  const std::lock_guard lock(mutex_);
  counts_.under_way = number;
}

OrderCounts Desk::Tally::counts() const {
  const std::lock_guard lock(mutex_);
  OrderCounts counts = counts_;
  counts.unresolved = unresolved_.size();
  return counts;
}

std::string tagged(std::string text, std::string_view reference, std::string_view request_id) {
  text += " (external_reference=";
  text += reference;
  if (!request_id.empty()) text.append(", request_id=").append(request_id);
  text += ")";
  return text;
}

Error tagged(Error error, std::string_view reference, std::string_view request_id) {
  error.message = tagged(std::move(error.message), reference, request_id);
  return error;
}

Correlation ids_of(const order::Intent& intent) {
  return {.request_id = intent.progress.request_id, .external_reference = intent.reference};
}

Placed placed(order::Intent intent, order::Quota quota) {
  Placed placed{.as = placed_as(intent.progress.status), .quota = quota};
  if (placed.as != PlacedAs::confirmed) {
    const order::Progress& progress = intent.progress;
    const std::string why = progress.unsent           ? order::unsent_text(progress)
                            : progress.reason.empty() ? "its outcome is not known yet; "
                                                        "`pawl order reconcile` looks for it"
                                                      : progress.reason;
    placed.message = tagged(why, intent.reference, progress.request_id);
  }
  placed.intent = std::move(intent);
  return placed;
}

audit::Event order_event(Instant at, std::string operation, const order::Intent& intent) {
  return {.type = audit::EventType::order,
          .timestamp = at,
          .operation = std::move(operation),
          .correlation = ids_of(intent),
          .details = {{"venue", intent.order.venue},
                      {"instrument", order::instrument_name(intent.order)},
                      {"order_id", intent.progress.order_id}}};
}

}  // namespace desk

OrderDesk::OrderDesk(Options options, Ports ports, std::vector<VenueSeat> seats)
    : desk_(std::make_shared<desk::Desk>(std::move(options), std::move(ports))) {
  for (VenueSeat& seat : seats) {
    const VenueTraits& traits = seat.venue.traits();
    const std::size_t room =
        1 + static_cast<std::size_t>(std::max<std::int64_t>(0, seat.pace.burst));
    const std::size_t batch_max = std::max<std::size_t>(1, std::min(traits.batch_max, room));
    auto pace = OrderPace::open(std::move(seat.pace),
                                {.clock = desk_->ports.clock,
                                 .timers = desk_->ports.timers,
                                 .counters = desk_->ports.counters,
                                 .audit = desk_->ports.audit,
                                 .note = desk_->ports.pace_note},
                                seat.venue);
    desk_->seats.emplace(traits.name, desk::Seat{seat.venue, std::move(pace), batch_max});
    seat.venue.watch([weak = std::weak_ptr(desk_), name = traits.name](order::VenueOrder order) {
      const auto here = weak.lock();
      if (!here) return;
      here->strand.post([here, name, order = std::move(order)] {
        desk::record_life(here, order, {name, {.external_reference = order.reference}},
                          [](auto) {});
      });
    });
  }
}

OrderDesk::~OrderDesk() {
  desk_->strand.close();
  // Works hold the desk; and a pacer must not end in a callback of its own.
  desk_->works.clear();
  desk_->modifying.clear();
  desk_->at_gate.clear();
  desk_->resumers.clear();
  desk_->drainers.clear();
  desk_->seats.clear();
}

void OrderDesk::place(PlaceRequest request, Done<Placed> done) {
  desk_->strand.post(
      [desk = desk_, request = std::move(request), done = std::move(done)]() mutable {
        desk::place(desk, std::move(request), std::move(done));
      });
}

void OrderDesk::place_batch(std::vector<PlaceRequest> requests,
                            Done<std::vector<Result<Placed>>> done) {
  desk_->strand.post(
      [desk = desk_, requests = std::move(requests), done = std::move(done)]() mutable {
        desk::place_batch(desk, std::move(requests), std::move(done));
      });
}

void OrderDesk::dry_run(PlaceRequest request, Done<DryRun> done) {
  desk_->strand.post(
      [desk = desk_, request = std::move(request), done = std::move(done)]() mutable {
        desk::dry_run(desk, std::move(request), std::move(done));
      });
}

void OrderDesk::precheck(order::Order order, Done<Precheck> done) {
  desk_->strand.post([desk = desk_, order = std::move(order), done = std::move(done)]() mutable {
    desk::precheck(desk, std::move(order), std::move(done));
  });
}

void OrderDesk::modify(std::string reference, OrderChange change, Done<Changed> done) {
  desk_->strand.post([desk = desk_, reference = std::move(reference), change = std::move(change),
                      done = std::move(done)]() mutable {
    desk::modify(desk, std::move(reference), std::move(change), std::move(done));
  });
}

void OrderDesk::cancel(std::string reference, Done<Changed> done) {
  desk_->strand.post(
      [desk = desk_, reference = std::move(reference), done = std::move(done)]() mutable {
        desk::cancel(desk, std::move(reference), std::move(done));
      });
}

void OrderDesk::status(std::string reference, bool look, Done<Placed> done) {
  desk_->strand.post(
      [desk = desk_, reference = std::move(reference), look, done = std::move(done)]() mutable {
        desk::status(desk, std::move(reference), look, std::move(done));
      });
}

void OrderDesk::list(IntentFilter filter, Done<std::vector<order::Intent>> done) {
  desk_->store.list(std::move(filter), desk::on_strand(desk_, std::move(done)));
}

void OrderDesk::reconcile(std::string reference, Done<std::vector<Placed>> done) {
  desk_->strand.post(
      [desk = desk_, reference = std::move(reference), done = std::move(done)]() mutable {
        desk::reconcile(desk, std::move(reference), std::move(done));
      });
}

void OrderDesk::resolve(std::string reference, order::Resolution resolution, Done<Placed> done) {
  desk_->strand.post([desk = desk_, reference = std::move(reference),
                      resolution = std::move(resolution), done = std::move(done)]() mutable {
    desk::resolve(desk, std::move(reference), std::move(resolution), std::move(done));
  });
}

void OrderDesk::quota(Done<order::Quota> done) {
  desk_->store.quota(desk_->options.limit, desk_->ports.clock.wall_now(),
                     desk::on_strand(desk_, std::move(done)));
}

void OrderDesk::backfill(BackfillAsk ask, std::function<void(const BackfillProgress&)> progress,
                         Done<BackfillSummary> done) {
  desk_->strand.post([desk = desk_, ask = std::move(ask), progress = std::move(progress),
                      done = std::move(done)]() mutable {
    desk::backfill(desk, std::move(ask), std::move(progress), std::move(done));
  });
}

void OrderDesk::resume(Done<desk::Resumed> done) {
  desk_->strand.post(
      [desk = desk_, done = std::move(done)]() mutable { desk::resume(desk, std::move(done)); });
}

void OrderDesk::poll_statuses(Done<std::size_t> done) {
  desk_->strand.post([desk = desk_, done = std::move(done)]() mutable {
    desk::poll_statuses(desk, std::move(done));
  });
}

void OrderDesk::seen(const std::string& venue, const order::VenueOrder& order) {
  desk_->strand.post([desk = desk_, venue, order] {
    desk::record_life(desk, order, {venue, {.external_reference = order.reference}}, [](auto) {});
  });
}

void OrderDesk::reopen(const std::string& venue, Done<void> done) {
  desk_->strand.post([desk = desk_, venue, done = std::move(done)]() mutable {
    const Result<desk::Seat*> seat = desk->seat(venue);
    if (!seat) return done(std::unexpected(seat.error()));
    (*seat)->pace->pacer().reopen(desk::on_strand(desk, std::move(done)));
  });
}

void OrderDesk::drain(Done<void> done) {
  desk_->strand.post([desk = desk_, done = std::move(done)]() mutable {
    desk->draining = true;
    desk->drainers.push_back(std::move(done));
    const Result<void> over = desk->may_begin();
    for (auto& waiter : std::exchange(desk->at_gate, {})) waiter(over);
    const auto works = desk->works;  // those that end take themselves out
    for (const auto& [reference, work] : works) work->drain();
    const auto changes = desk->changes;
    for (const auto& [change, withdraw] : changes) withdraw();
    desk->look_whether_drained();
  });
}

OrderCounts OrderDesk::counts() const {
  return desk_->tally.counts();
}

}  // namespace pawl
