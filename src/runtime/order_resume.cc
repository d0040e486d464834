// Open intents: taken over at the start, looked for on demand, settled by a person.
#include <memory>
#include <optional>
#include <utility>

#include "base/bounds.h"
#include "runtime/order_desk_state.h"
#include "runtime/order_work.h"

namespace pawl::desk {
namespace {

using order::Status;

bool is_worked_on(const order::Intent& intent) {
  return intent.progress.status == Status::sending || intent.progress.status == Status::reconciling;
}

struct Start : std::enable_shared_from_this<Start> {
  explicit Start(DeskPtr desk_) : desk(std::move(desk_)) {}

  void begin();
  void found(const std::vector<order::Intent>& open);
  void take(const std::string& reference);
  void taken(const order::Intent& intent);
  void one_less();
  void over();
  void count();
  void end(Result<Resumed> result);

  DeskPtr desk;
  Resumed summary = {};
  std::size_t missing = 1;  // that are not over, and the list itself
  std::optional<Error> untaken = {};
};

void Start::begin() {
  desk->store.history_is_empty(on_strand(desk, [here = desk](const Result<bool>& empty) {
    if (empty && *empty) here->tell(HistoryIsEmpty{});
  }));
  desk->store.list(
      {.statuses = {Status::sending, Status::reconciling}, .limit = bounds::orders_listed_max},
      on_strand(desk, [self = shared_from_this()](const Result<std::vector<order::Intent>>& open) {
        if (!open) return self->end(std::unexpected(open.error()));
        self->found(*open);
      }));
}

void Start::found(const std::vector<order::Intent>& open) {
  if (open.size() >= bounds::orders_listed_max) {
    return end(failure(Code::refused,
                       "Not sent: " + std::to_string(open.size()) +
                           " orders or more are open, too many to find out about before a new one "
                           "is sent. Run `pawl order reconcile`, until there are fewer."));
  }
  for (const order::Intent& intent : open) {
    if (!desk->works.contains(intent.reference)) take(intent.reference);
  }
  one_less();
}

void Start::one_less() {
  if (--missing == 0) over();
}

void Start::over() {
  if (untaken) return end(std::unexpected(*untaken));
  count();
}

void Start::take(const std::string& reference) {
  ++missing;
  desk->store.take(reference,
                   on_strand(desk, [self = shared_from_this()](const Result<TakenIntent>& got) {
                     if (got && got->mine) return self->taken(got->intent);
                     // Held by another, it is theirs. Else nobody has found out about it.
                     if (!got) self->untaken = got.error();
                     self->one_less();
                   }));
}

void Start::taken(const order::Intent& intent) {
  const Result<Seat*> seat = desk->seat(intent.order.venue);
  if (!seat || !is_worked_on(intent) || desk->draining) {
    desk->store.release(intent.id);
    return one_less();
  }
  ++summary.taken;
  const auto work = OrderWork::open(desk, **seat, intent);
  work->watch([self = shared_from_this()](const WorkEnd& end) {
    if (end.kept && !order::is_open(end.intent.progress.status)) ++self->summary.resolved;
    self->one_less();
  });
  // Nobody is there any more who asked for it, unless they ask again just now.
  work->start(order::TakenOver{.resend = desk->is_wanted(intent)});
}

void Start::count() {
  desk->store.list({.statuses = {Status::unresolved}, .limit = bounds::orders_listed_max},
                   on_strand(desk, [self = shared_from_this()](
                                       const Result<std::vector<order::Intent>>& unresolved) {
                     if (!unresolved) return self->end(std::unexpected(unresolved.error()));
                     self->desk->tally.found_unresolved(*unresolved);
                     self->summary.unresolved = unresolved->size();
                     self->end(self->summary);
                   }));
}

void Start::end(Result<Resumed> result) {
  desk->gate = result ? Desk::Gate::open : Desk::Gate::closed;
  if (result) desk->tell(*result);
  Result<void> passed;
  if (!result) passed = std::unexpected(result.error());
  for (auto& waiter : std::exchange(desk->at_gate, {})) waiter(passed);
  for (Done<Resumed>& each : std::exchange(desk->resumers, {})) each(result);
}

// Looks at open intents, for somebody who asks what became of them.
struct Look : std::enable_shared_from_this<Look> {
  Look(DeskPtr desk_, Done<std::vector<Placed>> done_)
      : desk(std::move(desk_)), done(std::move(done_)) {}

  // `only`: nothing else was asked for, so it is told whatever it is.
  void all(const std::vector<order::Intent>& intents, bool only);
  void one(const order::Intent& intent, bool only);
  void taken(const TakenIntent& got, bool only);
  void listen(const std::shared_ptr<OrderWork>& work);
  void add(Placed result);
  void one_less();
  void answer();

  DeskPtr desk;
  Done<std::vector<Placed>> done;
  std::vector<Placed> results = {};
  std::size_t missing = 1;
};

void Look::all(const std::vector<order::Intent>& intents, bool only) {
  for (const order::Intent& intent : intents) {
    ++missing;
    one(intent, only);
  }
  one_less();
}

void Look::add(Placed result) {
  results.push_back(std::move(result));
  one_less();
}

void Look::one_less() {
  if (--missing == 0) answer();
}

void Look::one(const order::Intent& intent, bool only) {
  const auto found = desk->works.find(intent.reference);
  if (found != desk->works.end()) return listen(found->second);
  if (!order::is_open(intent.progress.status)) return add(placed(intent, {}));
  desk->store.take(intent.reference, on_strand(desk, [self = shared_from_this(), only,
                                                      intent](const Result<TakenIntent>& got) {
                     if (got) return self->taken(*got, only);
                     Placed unread = placed(intent, {});
                     unread.message = tagged(got.error(), intent.reference).message;
                     self->add(std::move(unread));
                   }));
}

void Look::taken(const TakenIntent& got, bool only) {
  const Result<Seat*> seat = desk->seat(got.intent.order.venue);
  if (got.mine && seat && !desk->draining) {
    const auto work = OrderWork::open(desk, **seat, got.intent);
    listen(work);
    return work->start(order::TakenOver{.resend = false});
  }
  if (got.mine) desk->store.release(got.intent.id);
  if (!got.mine && !only) return one_less();
  Placed as_is = placed(got.intent, {});
  if (!seat) {
    as_is.message = tagged(seat.error(), got.intent.reference).message;
  } else if (order::is_open(got.intent.progress.status)) {
    as_is.message =
        tagged("another process works on it", got.intent.reference, got.intent.progress.request_id);
  }
  add(std::move(as_is));
}

void Look::listen(const std::shared_ptr<OrderWork>& work) {
  work->watch([self = shared_from_this()](const WorkEnd& end) {
    Placed ended = placed(end.intent, {});
    if (!end.kept || end.parked || end.goes_on) ended.as = PlacedAs::unresolved;
    self->add(std::move(ended));
  });
}

void Look::answer() {
  desk->store.quota(desk->options.limit, desk->ports.clock.wall_now(),
                    on_strand(desk, [self = shared_from_this()](const Result<order::Quota>& quota) {
                      for (Placed& each : self->results) {
                        if (quota) each.quota = *quota;
                      }
                      std::exchange(self->done, {})(std::move(self->results));
                    }));
}

void settle(const DeskPtr& desk, const TakenIntent& got, order::Resolution resolution,
            Done<Placed> done) {
  const order::Intent& intent = got.intent;
  const auto refuse = [&](Error error) {
    if (got.mine) desk->store.release(intent.id);
    done(std::unexpected(tagged(std::move(error), intent.reference, intent.progress.request_id)));
  };
  if (!got.mine) {
    const bool open = order::is_open(intent.progress.status);
    return refuse({Code::refused, Outcome::not_applied,
                   open ? "Somebody works on this order just now. Wait for its outcome."
                        : "Nothing to settle: the order is " +
                              std::string(to_string(intent.progress.status)) + "."});
  }
  if (const Result<void> valid = order::check(resolution, intent); !valid) {
    return refuse(valid.error());
  }
  const Result<Seat*> seat = desk->seat(intent.order.venue);
  if (!seat) return refuse(seat.error());
  const auto work = OrderWork::open(desk, **seat, intent);
  work->watch([desk, done = std::move(done)](const WorkEnd& end) mutable {
    if (!end.kept) {
      return done(std::unexpected(tagged({Code::unavailable, Outcome::unknown,
                                          "What was said could not be recorded. Say it again."},
                                         end.intent.reference, end.intent.progress.request_id)));
    }
    desk->store.quota(desk->options.limit, desk->ports.clock.wall_now(),
                      on_strand(desk, [intent = end.intent, done = std::move(done)](
                                          const Result<order::Quota>& quota) mutable {
                        done(placed(std::move(intent), quota ? *quota : order::Quota{}));
                      }));
  });
  work->start(order::Settled{std::move(resolution)});
}

}  // namespace

void resume(const DeskPtr& desk, Done<Resumed> done) {
  if (const Result<void> may = desk->may_begin(); !may) return done(std::unexpected(may.error()));
  desk->resumers.push_back(std::move(done));
  if (desk->resumers.size() > 1) return;
  if (desk->gate == Desk::Gate::closed) desk->gate = Desk::Gate::resuming;
  std::make_shared<Start>(desk)->begin();
}

void pass_gate(const DeskPtr& desk, std::move_only_function<void(const Result<void>&)> then) {
  if (desk->gate == Desk::Gate::open) return then({});
  desk->at_gate.push_back(std::move(then));
  if (desk->gate == Desk::Gate::closed) resume(desk, [](const Result<Resumed>&) {});
}

void reconcile(const DeskPtr& desk, std::string reference, Done<std::vector<Placed>> done) {
  if (const Result<void> may = desk->may_begin(); !may) return done(std::unexpected(may.error()));
  const auto look = std::make_shared<Look>(desk, std::move(done));
  if (!reference.empty()) {
    return desk->store.get(
        reference, on_strand(desk, [look, reference](const Result<order::Intent>& intent) {
          if (!intent) return look->done(std::unexpected(tagged(intent.error(), reference)));
          look->all({*intent}, true);
        }));
  }
  desk->store.list({.statuses = {Status::sending, Status::reconciling, Status::unresolved},
                    .limit = bounds::orders_listed_max},
                   on_strand(desk, [look](const Result<std::vector<order::Intent>>& open) {
                     if (!open) return look->done(std::unexpected(open.error()));
                     look->all(*open, false);
                   }));
}

void resolve(const DeskPtr& desk, std::string reference, order::Resolution resolution,
             Done<Placed> done) {
  if (const Result<void> may = desk->may_begin(); !may) return done(std::unexpected(may.error()));
  desk->store.take(
      reference, on_strand(desk, [desk, reference, resolution = std::move(resolution),
                                  done = std::move(done)](const Result<TakenIntent>& got) mutable {
        if (!got) return done(std::unexpected(tagged(got.error(), reference)));
        settle(desk, *got, std::move(resolution), std::move(done));
      }));
}

}  // namespace pawl::desk
