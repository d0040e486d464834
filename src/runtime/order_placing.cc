#include "runtime/order_placing.h"

#include <utility>

#include "base/bounds.h"
#include "base/id.h"
#include "core/order/record.h"

namespace pawl::desk {

Placing::Placing(DeskPtr desk, PlaceRequest request, Done<Placed> done)
    : desk_(std::move(desk)), request_(std::move(request)), done_(std::move(done)) {
  ++desk_->placings;
}

Result<void> Placing::check() {
  PAWL_TRY(order::check(request_.order));
  if (request_.reference.empty()) {
    request_.reference =
        order::make_reference(desk_->ports.clock.wall_now(), desk_->ports.entropy.next());
  }
  PAWL_TRY(order::check_reference(request_.reference));
  seat_ = PAWL_TRY(desk_->seat(request_.order.venue));
  PAWL_TRY(seat_->venue.check(request_.order, request_.reference));
  PAWL_TRY(desk_->may_begin());
  if (desk_->placings > bounds::orders_under_way_max) {
    return failure(Code::refused, "Not sent: too many orders are under way. Wait for some to end.");
  }
  return {};
}

void Placing::begin() {
  if (const Result<void> checked = check(); !checked) {
    return answer(std::unexpected(checked.error()));
  }
  if (request_.wait_max != Duration::max()) {
    timer_ = desk_->ports.timers.after(request_.wait_max,
                                       on_strand(desk_, [self = shared_from_this()](bool over) {
                                         if (!over) self->time_is_up();
                                       }));
  }
  wait_at_gate();
}

void Placing::wait_at_gate() {
  wanted_ = desk_->wanted.emplace(request_.reference, request_.order);
  const auto found = desk_->works.find(request_.reference);
  if (found != desk_->works.end() && desk_->is_wanted(found->second->intent())) {
    const std::shared_ptr<OrderWork> work = found->second;
    work->want();
  }
  pass_gate(desk_,
            [self = shared_from_this()](const Result<void>& passed) { self->passed(passed); });
}

void Placing::passed(const Result<void>& passed) {
  if (!leave_gate()) return;
  if (passed) return get_ready();
  Error error = passed.error();
  if (desk_->draining) return give_up_at_gate(std::move(error));
  if (error.code == Code::unavailable) {
    desk_->tell(StoreFailed{.what = StoreFailed::What::check, .ids = ids(), .error = error});
    error.outcome = Outcome::unknown;  // of one that an earlier process may have left open
  }
  unverified(std::move(error));
}

bool Placing::leave_gate() {
  if (!wanted_) return false;
  desk_->wanted.erase(*std::exchange(wanted_, {}));
  return true;
}

void Placing::give_up_at_gate(Error why) {
  leave_gate();
  leave_batch();
  stage_ = Stage::opening;
  late_ = true;
  if (attach()) return;
  desk_->store.get(request_.reference,
                   on_strand(desk_, [self = shared_from_this(), why = std::move(why)](
                                        const Result<order::Intent>& intent) mutable {
                     if (!self->attach()) self->found_at_gate(intent, std::move(why));
                   }));
}

void Placing::found_at_gate(const Result<order::Intent>& intent, Error why) {
  if (intent) {
    if (intent->order != request_.order) return on(KnownIntent{*intent});
    return replay(*intent);
  }
  if (intent.error().code == Code::not_found) {
    why.message += " Nothing was kept.";
  } else {
    why.outcome = Outcome::unknown;
    why.message += " Whether an earlier process left it open cannot be read: ";
    why.message += intent.error().message;
  }
  answer(std::unexpected(std::move(why)));
}

// Whether a reduce-only order counts may be known only then.
void Placing::get_ready() {
  stage_ = Stage::opening;
  if (!request_.order.reduce_only) return open();
  // An error ends the attempt before its turn, on record.
  const auto go_on = [self = shared_from_this()](const Result<void>&) { self->open(); };
  seat_->venue.ready(Leaving::order, on_strand(desk_, go_on));
}

void Placing::open() {
  if (attach()) return;
  const Instant now = desk_->ports.clock.wall_now();
  const bool enforced = seat_->venue.enforces_reduce_only(request_.order);
  counts_ = order::counts(desk_->options.limit, request_.order, enforced);
  request_id_ = request_id(request_.reference, "place", now, desk_->ports.entropy.next());
  desk_->store.open({.reference = request_.reference,
                     .venue_name = seat_->venue.name_of(request_.reference),
                     .order = request_.order,
                     .request_id = request_id_,
                     .counts = counts_,
                     .limit = desk_->options.limit,
                     .now = now},
                    on_strand(desk_, [self = shared_from_this()](Result<Opening> opening) {
                      self->opened(std::move(opening));
                    }));
}

void Placing::opened(Result<Opening> opening) {
  if (!opening) return unverified(opening.error());
  std::visit([this](auto& one) { on(std::move(one)); }, *opening);
}

void Placing::unverified(Error error) {
  if (error.code == Code::unavailable) error.message = order::unverified_text(error.message);
  answer(std::unexpected(std::move(error)));
}

void Placing::on(OpenedIntent opened) {
  quota_ = opened.quota;
  if (counts_ && quota_->enabled) ++quota_->used;
  tell_quota(opened.quota);
  const Result<void> kept = desk_->keep(quota_event(true, opened.quota));
  const auto work = OrderWork::open(desk_, *seat_, std::move(opened.intent));
  if (!kept) work->forbid(kept.error());
  if (batch_) work->join(std::exchange(batch_, {}));
  start(work, order::Begun{});
}

void Placing::on(const DeniedIntent& denied) {
  desk_->tally.denied();
  desk_->tell(QuotaDenied{.ids = ids(), .quota = denied.quota, .order = request_.order});
  (void)desk_->keep(quota_event(false, denied.quota));  // it is not sent, on record or not
  Placed placed{.as = PlacedAs::denied,
                .quota = denied.quota,
                .message = tagged(order::exceeded_text(denied.quota), request_.reference)};
  placed.intent.reference = request_.reference;
  placed.intent.order = request_.order;
  answer(std::move(placed));
}

void Placing::on(KnownIntent known) {
  leave_batch();
  if (known.intent.order != request_.order) {
    return answer(
        failure(Code::refused, "The reference stands for another order: " +
                                   order::difference(known.intent.order, request_.order) +
                                   ". Nothing was sent. Give this order a reference of its own."));
  }
  follow(known.intent);
}

void Placing::follow(const order::Intent& intent) {
  if (attach()) return;
  const order::Status status = intent.progress.status;
  if (!order::is_open(status) || status == order::Status::unresolved) return replay(intent);
  desk_->store.take(request_.reference,
                    on_strand(desk_, [self = shared_from_this()](const Result<TakenIntent>& got) {
                      self->taken(got);
                    }));
}

void Placing::taken(const Result<TakenIntent>& taken) {
  if (!taken) {
    if (stage_ == Stage::answered) return;
    Placed unknown{.as = PlacedAs::unresolved,
                   .message = tagged("another process works on it, and what became of it cannot be "
                                     "read: " +
                                         taken.error().message,
                                     request_.reference)};
    unknown.intent.reference = request_.reference;
    unknown.intent.order = request_.order;
    return answer(std::move(unknown));
  }
  const order::Intent& intent = taken->intent;
  const order::Progress& progress = intent.progress;
  if (stage_ == Stage::answered) {
    if (taken->mine) desk_->store.release(intent.id);
    return;
  }
  if (taken->mine && progress.status == order::Status::unresolved) {
    desk_->store.release(intent.id);
    return replay(intent);
  }
  if (taken->mine) {
    // An open() whose answer got lost, and that was made again, finds its own intent.
    const bool is_own = progress.request_id == request_id_ && progress.attempts == 1 &&
                        progress.status == order::Status::sending;
    if (is_own) return work_on(intent, order::Begun{});
    return work_on(intent, order::TakenOver{.resend = true});
  }
  const bool is_worked_on =
      progress.status == order::Status::sending || progress.status == order::Status::reconciling;
  if (!is_worked_on) return replay(intent);
  if (attach()) return;
  wait_for_other();
}

void Placing::wait_for_other() {
  if (desk_->draining || late_) {
    stage_ = Stage::other;
    return time_is_up();
  }
  if (std::exchange(stage_, Stage::other) != Stage::other) {
    desk_->tell(WaitsForOther{.ids = {.external_reference = request_.reference}});
  }
  poll_ = desk_->ports.timers.after(
      desk_->options.others_poll, on_strand(desk_, [self = shared_from_this()](bool over) {
        if (self->stage_ != Stage::other) return;
        if (over || self->desk_->draining) return self->time_is_up();
        if (self->attach()) return;
        self->desk_->store.take(
            self->request_.reference,
            on_strand(self->desk_, [self](const Result<TakenIntent>& got) { self->taken(got); }));
      }));
}

bool Placing::attach() {
  const auto found = desk_->works.find(request_.reference);
  if (found == desk_->works.end()) return false;
  const std::shared_ptr<OrderWork> work = found->second;
  leave_batch();
  if (work->intent().order != request_.order) {
    on(KnownIntent{work->intent()});
    return true;
  }
  listen(work);
  if (late_) work->time_is_up(listener_);
  return true;
}

void Placing::work_on(order::Intent intent, const order::Event& first) {
  start(OrderWork::open(desk_, *seat_, std::move(intent)), first);
}

void Placing::start(const std::shared_ptr<OrderWork>& work, const order::Event& first) {
  listen(work);
  if (desk_->draining) work->drain();  // the drain did not know of it yet
  work->start(first);
  if (late_) work->time_is_up(listener_);
}

void Placing::listen(const std::shared_ptr<OrderWork>& work) {
  stage_ = Stage::working;
  work_ = work;
  listener_ = work->listen([self = shared_from_this()](const WorkEnd& end) { self->ended(end); });
}

void Placing::ended(const WorkEnd& end) {
  Placed told = placed(end.intent, quota_.value_or(order::Quota{}));
  if (!end.kept || end.goes_on || end.parked) {
    told.as = PlacedAs::unresolved;
    const std::string_view why = end.goes_on  ? "the time to wait for it is over, and its outcome "
                                                "is not known yet; work on it goes on"
                                 : end.parked ? "pawl is shutting down, and its outcome is not "
                                                "known yet; the next start goes on with it"
                                              : "its outcome could not be recorded; it stays open, "
                                                "and `pawl order reconcile` goes on with it";
    told.message = tagged(std::string(why), end.intent.reference, end.intent.progress.request_id);
  }
  if (told.as == PlacedAs::rejected && end.intent.progress.unsent) {
    return answer(nothing_sent(end.intent));
  }
  if (!quota_) return answer_with_quota(std::move(told));
  if (told.as == PlacedAs::rejected && counts_ && told.quota.enabled) --told.quota.used;
  answer(std::move(told));
}

// Whoever ended it has not let go of it yet, else it had been opened anew.
void Placing::replay(order::Intent intent) {
  if (intent.progress.unsent) return answer(nothing_sent(intent));
  desk_->tally.replayed();
  Placed stored = placed(std::move(intent), {});
  stored.replayed = true;
  answer_with_quota(std::move(stored));
}

void Placing::answer_with_quota(Placed placed) {
  desk_->store.quota(desk_->options.limit, desk_->ports.clock.wall_now(),
                     on_strand(desk_, [self = shared_from_this(), placed = std::move(placed)](
                                          const Result<order::Quota>& quota) mutable {
                       if (quota)
                         placed.quota =
                             *quota;  // what became of the order matters more than the count
                       self->answer(std::move(placed));
                     }));
}

void Placing::time_is_up() {
  switch (stage_) {
    case Stage::gate:
      return give_up_at_gate({Code::unavailable, Outcome::not_applied,
                              "Not sent: its time was up before it was known what became of orders "
                              "that earlier processes may have left open."});
    case Stage::opening:
      late_ = true;
      return;
    case Stage::working:
      if (const auto work = work_.lock()) work->time_is_up(listener_);
      return;
    case Stage::other: {
      Placed open{.as = PlacedAs::unresolved,
                  .message = tagged("another process works on it, and its outcome is not known yet",
                                    request_.reference)};
      open.intent.reference = request_.reference;
      open.intent.order = request_.order;
      return answer(std::move(open));
    }
    case Stage::answered:
      return;
  }
}

// The caller may do better to wait than to think of another order.
std::unexpected<Error> Placing::nothing_sent(const order::Intent& intent) {
  request_id_ = intent.progress.request_id;
  return std::unexpected(
      Error(Code::unavailable, Outcome::not_applied, order::unsent_text(intent.progress)));
}

void Placing::leave_batch() {
  if (batch_) std::exchange(batch_, {})->leave(false);
}

void Placing::answer(Result<Placed> answer) {
  if (stage_ == Stage::answered) return;
  stage_ = Stage::answered;
  leave_batch();
  desk_->ports.timers.cancel(timer_);
  desk_->ports.timers.cancel(poll_);
  --desk_->placings;
  if (!answer) {
    answer = std::unexpected(tagged(answer.error(), request_.reference, request_id_));
  }
  std::exchange(done_, {})(std::move(answer));
  desk_->look_whether_drained();
}

audit::Event Placing::quota_event(bool allowed, const order::Quota& quota) const {
  return order::quota_event({.reference = request_.reference,
                             .request_id = request_id_,
                             .order = request_.order,
                             .counts = counts_,
                             .quota = quota,
                             .allowed = allowed},
                            desk_->ports.clock.wall_now());
}

void Placing::tell_quota(const order::Quota& quota) {
  const order::Order& order = request_.order;
  if (!desk_->options.limit.enabled) {
    return desk_->tell(QuotaBypassed{.ids = ids(), .order = order});
  }
  if (!counts_) return desk_->tell(QuotaReduceOnly{.ids = ids(), .quota = quota, .order = order});
  if (order.reduce_only && desk_->options.limit.exclude_reduce_only) {
    desk_->tell(ReduceOnlyIsAWord{.ids = ids(), .order = order});
  }
  desk_->tell(QuotaPassed{.ids = ids(), .quota = quota, .order = order});
}

void place(const DeskPtr& desk, PlaceRequest request, Done<Placed> done) {
  std::make_shared<Placing>(desk, std::move(request), std::move(done))->begin();
}

void place_batch(const DeskPtr& desk, std::vector<PlaceRequest> requests,
                 Done<std::vector<Result<Placed>>> done) {
  struct Gathered {
    std::vector<Result<Placed>> answers;
    std::size_t missing;
    Done<std::vector<Result<Placed>>> done;
  };
  const std::size_t size = requests.size();
  if (size == 0) return done(std::vector<Result<Placed>>());
  const auto gathered = std::make_shared<Gathered>(
      Gathered{std::vector<Result<Placed>>(size, Placed{}), size, std::move(done)});
  std::vector<std::shared_ptr<Placing>> placings;
  std::map<std::string, std::vector<std::shared_ptr<Placing>>> by_venue;
  for (std::size_t i = 0; i < size; ++i) {
    const std::string venue = requests[i].order.venue;
    auto placing = std::make_shared<Placing>(desk, std::move(requests[i]),
                                             [gathered, i](Result<Placed> answer) {
                                               gathered->answers[i] = std::move(answer);
                                               if (--gathered->missing == 0)
                                                 gathered->done(std::move(gathered->answers));
                                             });
    if (desk->seats.contains(venue)) by_venue[venue].push_back(placing);
    placings.push_back(std::move(placing));
  }
  for (auto& [venue, members] : by_venue) {
    Seat& seat = desk->seats.find(venue)->second;
    for (std::size_t from = 0; from < members.size(); from += seat.batch_max) {
      const std::size_t count = std::min(seat.batch_max, members.size() - from);
      const auto batch = std::make_shared<OrderBatch>(seat.venue, count);
      for (std::size_t i = from; i < from + count; ++i) members[i]->join(batch);
    }
  }
  for (const auto& placing : placings) placing->begin();
}

}  // namespace pawl::desk
