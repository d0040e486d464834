// What changes nothing: status, dry run, precheck.
#include <memory>
#include <string>
#include <utility>

#include "base/id.h"
#include "runtime/order_desk_state.h"

namespace pawl::desk {
namespace {

void answer_status(const DeskPtr& desk, Placed stored, Done<Placed> done) {
  desk->store.quota(desk->options.limit, desk->ports.clock.wall_now(),
                    on_strand(desk, [stored = std::move(stored), done = std::move(done)](
                                        const Result<order::Quota>& quota) mutable {
                      if (!quota) return done(std::unexpected(quota.error()));
                      stored.quota = *quota;
                      done(std::move(stored));
                    }));
}

void quota_of_dry_run(const DeskPtr& desk, DryRun run, Done<DryRun> done) {
  desk->store.quota(desk->options.limit, desk->ports.clock.wall_now(),
                    on_strand(desk, [run = std::move(run), done = std::move(done)](
                                        const Result<order::Quota>& quota) mutable {
                      if (!quota) return done(std::unexpected(quota.error()));
                      run.quota = *quota;
                      if (!run.message.empty()) return done(std::move(run));
                      run.would_send = !run.counts || order::has_room(*quota);
                      run.message = run.would_send ? "It would be sent: " + order::brief(run.order)
                                                   : order::exceeded_text(*quota);
                      done(std::move(run));
                    }));
}

void look_up_dry_run(const DeskPtr& desk, DryRun run, Done<DryRun> done) {
  const std::string reference = run.reference;
  desk->store.get(reference, on_strand(desk, [desk, run = std::move(run), done = std::move(done)](
                                                 const Result<order::Intent>& known) mutable {
                    if (!known) {
                      if (known.error().code != Code::not_found)
                        return done(std::unexpected(known.error()));
                      return quota_of_dry_run(desk, std::move(run), std::move(done));
                    }
                    if (order::may_open_again(*known, run.order)) {
                      return quota_of_dry_run(desk, std::move(run), std::move(done));
                    }
                    const bool same = known->order == run.order;
                    run.message =
                        same ? "Nothing would be sent: the reference is known, and the order is " +
                                   std::string(to_string(known->progress.status)) + "."
                             : "It would be refused: the reference stands for another order: " +
                                   order::difference(known->order, run.order) + ".";
                    quota_of_dry_run(desk, std::move(run), std::move(done));
                  }));
}

}  // namespace

void status(const DeskPtr& desk, std::string reference, bool look, Done<Placed> done) {
  desk->store.get(reference, on_strand(desk, [desk, look, reference, done = std::move(done)](
                                                 Result<order::Intent> intent) mutable {
                    if (!intent) return done(std::unexpected(tagged(intent.error(), reference)));
                    const bool confirmed = intent->progress.status == order::Status::confirmed;
                    const bool over = intent->progress.life == order::Life::filled ||
                                      intent->progress.life == order::Life::canceled;
                    if (!look || !confirmed || over) {
                      return answer_status(desk, placed(*std::move(intent), {}), std::move(done));
                    }
                    order::Intent asked = *intent;
                    look_at(desk, asked,
                            [desk, asked, done = std::move(done)](
                                const Result<order::VenueOrder>& seen) mutable {
                              if (seen) asked.progress.life = seen->life;
                              Placed answer = placed(asked, {});
                              if (!seen) answer.message = seen.error().message;
                              answer_status(desk, std::move(answer), std::move(done));
                            });
                  }));
}

void dry_run(const DeskPtr& desk, PlaceRequest request, Done<DryRun> done) {
  const auto checked = [&]() -> Result<Venue*> {
    PAWL_TRY(order::check(request.order));
    if (request.reference.empty()) {
      request.reference =
          order::make_reference(desk->ports.clock.wall_now(), desk->ports.entropy.next());
    }
    PAWL_TRY(order::check_reference(request.reference));
    Venue& venue = PAWL_TRY(desk->seat(request.order.venue))->venue;
    PAWL_TRY(venue.check(request.order, request.reference));
    return &venue;
  }();
  if (!checked) return done(std::unexpected(tagged(checked.error(), request.reference)));
  auto go_on = [desk, venue = *checked, done = std::move(done),
                run = DryRun{.reference = request.reference, .order = request.order}](
                   const Result<void>&) mutable {
    const bool enforced = venue->enforces_reduce_only(run.order);
    run.counts = order::counts(desk->options.limit, run.order, enforced);
    look_up_dry_run(desk, std::move(run), std::move(done));
  };
  if (!request.order.reduce_only) return go_on({});
  (*checked)->ready(Leaving::order, on_strand(desk, std::move(go_on)));
}

namespace {

// One precheck: in its turn where the venue counts it, and once more under another id where it did
// not get through. It changes nothing.
class Prechecking : public std::enable_shared_from_this<Prechecking> {
 public:
  Prechecking(DeskPtr desk, Seat& seat, order::Order order, Done<Precheck> done)
      : desk_(std::move(desk)), seat_(seat), order_(std::move(order)), done_(std::move(done)) {}

  void begin(std::string reference) {
    reference_ = std::move(reference);
    id_ = request_id(reference_, "precheck", desk_->ports.clock.wall_now(),
                     desk_->ports.entropy.next());
    if (!seat_.venue.traits().paces_prechecks) return send();
    seat_.venue.ready(Leaving::order,
                      on_strand(desk_, [self = shared_from_this()](const Result<void>& ready) {
                        if (!ready) return self->end(std::unexpected(ready.error()));
                        self->ask_pacer();
                      }));
  }

 private:
  void ask_pacer() {
    SessionPacer::Ask ask{.operation = "precheck_order",
                          .correlation = {.request_id = id_, .external_reference = reference_}};
    seat_.pace->pacer().ask(
        std::move(ask), on_strand(desk_, [self = shared_from_this()](const Result<void>& granted) {
          const Result<void> may = granted ? self->desk_->may_begin() : granted;
          if (!may) return self->end(std::unexpected(may.error()));
          self->send();
        }));
  }
  void send() {
    seat_.venue.precheck({.order = order_,
                          .reference = reference_,
                          .request_id = id_,
                          .timeout = desk_->options.placement.retry.attempt_timeout},
                         on_strand(desk_, [self = shared_from_this()](Result<Precheck> checked) {
                           self->answered(std::move(checked));
                         }));
  }
  void answered(Result<Precheck> checked) {
    const bool again = !checked && checked.error().code == Code::unavailable &&
                       may_send_again(checked.error().outcome);
    if (!again || std::exchange(sent_again_, true)) return end(std::move(checked));
    begin(reference_);
  }
  void end(Result<Precheck> checked) {
    if (checked) return std::exchange(done_, {})(std::move(checked));
    std::exchange(done_, {})(std::unexpected(tagged(checked.error(), reference_, id_)));
  }

  const DeskPtr desk_;
  Seat& seat_;
  const order::Order order_;
  Done<Precheck> done_;
  std::string reference_;
  std::string id_;
  bool sent_again_ = false;
};

}  // namespace

void precheck(const DeskPtr& desk, order::Order order, Done<Precheck> done) {
  const std::string reference =
      order::make_reference(desk->ports.clock.wall_now(), desk->ports.entropy.next());
  const auto seat = [&]() -> Result<Seat*> {
    PAWL_TRY(order::check(order));
    Seat* found = PAWL_TRY(desk->seat(order.venue));
    PAWL_TRY(found->venue.check(order, reference));
    return found;
  }();
  if (!seat) return done(std::unexpected(seat.error()));
  std::make_shared<Prechecking>(desk, **seat, std::move(order), std::move(done))->begin(reference);
}

}  // namespace pawl::desk
