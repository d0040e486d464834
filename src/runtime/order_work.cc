#include "runtime/order_work.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/calendar.h"
#include "runtime/order_batch.h"

namespace pawl::desk {
namespace {

using State = order::Placement::State;

order::Answer not_sent(const Error& error) {
  return {.sent = order::Sent::not_sent,
          .code = std::string(to_string(error.code)),
          .message = error.message};
}

order::Answer no_answer() {
  return {.sent = order::Sent::unknown,
          .code = "no_answer",
          .message = "the venue's code gave no answer for this order"};
}

}  // namespace

std::shared_ptr<OrderWork> OrderWork::open(const DeskPtr& desk, Seat& seat, order::Intent intent) {
  const std::string reference = intent.reference;
  std::shared_ptr<OrderWork> work(new OrderWork(desk, seat, std::move(intent)));
  const bool is_new = desk->works.emplace(reference, work).second;
  PAWL_ASSERT(is_new);
  desk->tally.under_way(desk->works.size());
  return work;
}

OrderWork::OrderWork(DeskPtr desk, Seat& seat, order::Intent intent)
    : desk_(std::move(desk)),
      seat_(seat),
      machine_(std::move(intent), desk_->options.placement, desk_->ports.entropy.next()) {}

OrderWork::ListenerId OrderWork::listen(Listener listener) {
  listeners_.push_back({.id = ++last_listener_, .listener = std::move(listener)});
  want();
  return last_listener_;
}

void OrderWork::watch(Listener listener) {
  listeners_.push_back({.id = ++last_listener_, .listener = std::move(listener), .wants = false});
}

void OrderWork::want() {
  if (!desk_->draining) handle(order::WantedAgain{});
}

bool OrderWork::is_wanted() const {
  return desk_->is_wanted(machine_.intent()) ||
         std::ranges::any_of(listeners_,
                             [](const Heard& each) { return each.wants && !each.overdue; });
}

void OrderWork::join(std::shared_ptr<OrderBatch> batch) {
  batch_ = std::move(batch);
}

template <class Make>
auto OrderWork::bring(Make make) {
  return on_strand(desk_, [self = shared_from_this(), make = std::move(make)](
                              auto... given) mutable { self->handle(make(std::move(given)...)); });
}

void OrderWork::handle(const order::Event& event) {
  if (over_) return;
  const auto self = shared_from_this();  // its end takes it out of the desk
  for (const order::Effect& effect : machine_.decide(event, desk_->now())) {
    std::visit([this](const auto& one) { run(one); }, effect);
    if (over_) return;
  }
  if (desk_->draining && may_park()) return park();
  const bool is_about_to_end =
      !is_wanted() && (machine_.state() == State::pacing || machine_.state() == State::saving);
  if (!is_about_to_end) give_up_waiting();
}

// What the audit log did not take is not sent: the pace is refused, or the attempt was none.
void OrderWork::run(const order::Keep& effect) {
  const Result<void> kept = desk_->keep(effect.event);
  if (!kept) forbidden_ = kept.error();
}

void OrderWork::run(const order::AskPace& effect) {
  if (forbidden_) {
    return bring([error = *std::exchange(forbidden_, {})] {
      return order::Event(order::PaceRefused{error});
    })();
  }
  // Else what the venue must learn first would make it leave later than its turn.
  const auto go_on = [self = shared_from_this(), urgent = effect.urgent](Result<void> ready) {
    if (self->over_ || self->machine_.state() != State::pacing) return;
    if (!ready) return self->handle(order::PaceRefused{std::move(ready.error())});
    if (!self->batch_) return self->ask_pacer(urgent);
    self->has_gathered_ = true;
    // Who goes without having left it would else be held by it for ever.
    self->batch_->gather([weak = self->weak_from_this(), urgent] {
      const auto here = weak.lock();
      if (here && !here->over_ && here->machine_.state() == State::pacing) here->ask_pacer(urgent);
    });
  };
  seat_.venue.ready(Leaving::order, on_strand(desk_, go_on));
}

void OrderWork::ask_pacer(bool urgent) {
  SessionPacer::Ask ask{
      .operation = "place_order", .urgent = urgent, .correlation = ids_of(machine_.intent())};
  ticket_ = seat_.pace->pacer().ask(std::move(ask), bring([](Result<void> granted) {
                                      if (granted) return order::Event(order::PaceGranted{});
                                      return order::Event(order::PaceRefused{granted.error()});
                                    }));
}

void OrderWork::run(const order::LeavePace&) {
  if (ticket_) seat_.pace->pacer().withdraw(*ticket_);
  leave_batch();
}

void OrderWork::run(const order::Save& effect) {
  leave_batch();
  desk_->store.save(machine_.intent().id, effect.progress, bring([](Result<void> saved) {
                      if (saved) return order::Event(order::Saved{});
                      return order::Event(order::SaveFailed{saved.error()});
                    }));
}

void OrderWork::run(const order::Send& effect) {
  auto answered =
      bring([](order::Answer answer) { return order::Event(order::Answered{std::move(answer)}); });
  if (forbidden_) return answered(not_sent(*std::exchange(forbidden_, {})));
  const order::Intent& intent = machine_.intent();
  if (is_of_another_week(intent)) {
    leave_batch();
    return answered(
        order::Answer{.sent = order::Sent::refused,
                      .code = "week_over",
                      .message = "the week whose slot it holds is over, and in this one it is not "
                                 "counted; place it under a new reference"});
  }
  PlaceAsk ask{.order = intent.order,
               .reference = intent.reference,
               .request_id = effect.request_id,
               .timeout = machine_.settings().retry.attempt_timeout};
  if (batch_) {
    std::exchange(batch_, {})->send(std::move(ask), std::move(answered));
    return;
  }
  std::vector<PlaceAsk> asks;
  asks.push_back(std::move(ask));
  seat_.venue.place(std::move(asks),
                    [answered = std::move(answered)](std::vector<order::Answer> answers) mutable {
                      answered(answers.size() == 1 ? std::move(answers.front()) : no_answer());
                    });
}

// It waited for so long that it would be an order too many of this week.
bool OrderWork::is_of_another_week(const order::Intent& intent) const {
  if (!desk_->options.limit.enabled || !intent.counts) return false;
  return week_start(desk_->ports.clock.wall_now()) != week_start(intent.created);
}

void OrderWork::run(const order::ReadVenue& effect) {
  const order::Intent& intent = machine_.intent();
  seat_.venue.read({.order = intent.order,
                    .reference = intent.reference,
                    .order_id = effect.order_id,
                    .since = intent.created,
                    .now = desk_->ports.clock.wall_now()},
                   bring([](order::Reading reading) {
                     return order::Event(order::ReadDone{std::move(reading)});
                   }));
}

void OrderWork::run(const order::WakeAt& effect) {
  desk_->ports.timers.cancel(timer_);
  const Duration wait = std::max(Duration(), effect.at - desk_->ports.clock.steady_now());
  timer_ =
      desk_->ports.timers.after(wait, on_strand(desk_, [self = shared_from_this()](bool closing) {
                                  if (!closing) return self->handle(order::Woken{});
                                  if (!self->over_ && self->may_park()) self->park();
                                }));
}

void OrderWork::run(const order::Note& effect) {
  desk_->tell(effect);
}

void OrderWork::run(const order::Finish& effect) {
  order::Intent intent = machine_.intent();
  intent.progress = effect.progress;
  desk_->tally.ended(intent);
  desk_->tell(PlacementEnded{.intent = intent});
  let_go();
  tell_all({.intent = std::move(intent), .kept = effect.kept});
}

void OrderWork::let_go() {
  over_ = true;
  desk_->ports.timers.cancel(timer_);
  leave_batch();
  desk_->store.release(machine_.intent().id);
  desk_->works.erase(machine_.intent().reference);
  desk_->tally.under_way(desk_->works.size());
  desk_->look_whether_drained();
}

void OrderWork::leave_batch() {
  if (batch_) std::exchange(batch_, {})->leave(has_gathered_);
}

bool OrderWork::may_park() const {
  const State state = machine_.state();
  return state == State::reading || state == State::resting || state == State::waiting;
}

void OrderWork::park() {
  WorkEnd end{.intent = machine_.intent(), .parked = true};
  let_go();
  tell_all(end);
}

void OrderWork::give_up_waiting() {
  if (std::ranges::none_of(listeners_, &Heard::overdue)) return;
  std::vector<Heard> all = std::exchange(listeners_, {});
  std::vector<Heard> overdue;
  for (Heard& each : all) (each.overdue ? overdue : listeners_).push_back(std::move(each));
  for (Heard& each : overdue) each.listener({.intent = machine_.intent(), .goes_on = true});
}

void OrderWork::tell_all(const WorkEnd& end) {
  for (Heard& each : std::exchange(listeners_, {})) each.listener(end);
}

void OrderWork::time_is_up(ListenerId id) {
  if (over_) return;
  const auto found = std::ranges::find(listeners_, id, &Heard::id);
  if (found == listeners_.end()) return;
  found->overdue = true;
  if (is_wanted()) return give_up_waiting();
  handle(order::Withdrawn{});
}

void OrderWork::drain() {
  handle(order::Withdrawn{});
}

}  // namespace pawl::desk
