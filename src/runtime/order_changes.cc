// Modify and cancel: runs the machine of core/order/change.h.
//
// What was done, or may have been, is looked for at the end: an order that shows the change settles
// what the answers left open.
//
// Modifications of one order go one after the other, as they came: the last word is the last one's,
// and none begins before it is known what became of the one before. Cancels wait for nobody.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/bounds.h"
#include "core/order/change.h"
#include "core/order/words.h"
#include "runtime/order_desk_state.h"

namespace pawl::desk {
namespace {

using order::ChangeKind;
using order::Sent;

class Changing : public std::enable_shared_from_this<Changing> {
 public:
  Changing(DeskPtr desk, ChangeKind kind, OrderChange change, Done<Changed> done)
      : desk_(std::move(desk)), kind_(kind), change_(std::move(change)), done_(std::move(done)) {
    desk_->changes.emplace(this, [this] { withdraw(); });
  }
  void begin(const std::string& reference);

 private:
  void start();
  Result<void> check() const;

  // What waits for its turn is not sent any more.
  void withdraw();
  void handle(const order::ChangeEvent& event);
  void decide(const order::ChangeEvent& event);
  void run(const order::AskPace& effect);
  void run(const order::LeavePace& effect);
  void run(const order::Send& effect);
  void run(const order::WakeAt& effect);
  void run(const order::Keep& effect);
  void run(const order::Note& effect);
  void run(const order::ChangeDone& effect);

  ChangeAsk ask() const;
  void prepare(bool urgent);
  void prepared(Venue::Prepared ask, bool urgent);
  void ask_pacer(bool urgent);
  void paced(Result<void> granted);
  Result<void> record_attempt();
  void answered(order::Answer answer);
  void looked(const Result<void>& result, const Result<order::VenueOrder>& seen);
  bool shows_it(const order::VenueOrder& order) const;
  void found();
  void end(Result<Changed> result);
  // Before there was an attempt.
  void refuse(Error error);
  void answer(Result<Changed> result);
  void pass_turn();
  // Of the last attempt.
  const std::string& request_id() const { return machine_->intent().progress.request_id; }
  std::string verb() const { return kind_ == ChangeKind::cancel ? "cancel" : "modify"; }
  audit::Event event() const;

  const DeskPtr desk_;
  const ChangeKind kind_;
  const OrderChange change_;
  Done<Changed> done_;
  std::string reference_;
  bool has_turn_ = false;  // of the order's modifications, or waits for it
  order::Intent intent_;   // as it was placed
  Seat* seat_ = nullptr;
  std::optional<order::Change> machine_;
  std::optional<SessionPacer::Ticket> ticket_;
  Venue::Prepared prepared_;                      // of the attempt under way
  std::optional<Error> forbidden_;                // why nothing more may be sent
  order::Answer answer_{.sent = Sent::not_sent};  // the last one
};

void Changing::begin(const std::string& reference) {
  reference_ = reference;
  if (kind_ == ChangeKind::cancel) return start();
  const auto [turn, is_first] = desk_->modifying.try_emplace(reference_);
  if (turn->second.size() >= bounds::orders_under_way_max) {
    return refuse(Error(Code::unavailable, Outcome::not_applied,
                        "Not sent: " + std::to_string(turn->second.size()) +
                            " modifications of the order wait already. Ask again later."));
  }
  has_turn_ = true;
  if (is_first) return start();
  turn->second.emplace_back([self = shared_from_this()] { self->start(); });
}

void Changing::start() {
  if (const Result<void> may = desk_->may_begin(); !may) return refuse(may.error());
  desk_->store.get(
      reference_, on_strand(desk_, [self = shared_from_this()](Result<order::Intent> intent) {
        if (!intent) return self->refuse(intent.error());
        self->intent_ = *std::move(intent);
        const Result<void> may_begin = self->desk_->may_begin();
        if (!may_begin) return self->refuse(may_begin.error());
        const Result<void> checked = self->check();
        if (!checked) return self->refuse(checked.error());
        self->seat_ = *self->desk_->seat(self->intent_.order.venue);
        self->machine_.emplace(self->intent_, self->kind_, self->desk_->options.placement,
                               self->desk_->ports.entropy.next());
        self->handle(order::Begun{});
      }));
}

void Changing::withdraw() {
  const auto self = shared_from_this();  // the pacer lets go of what waits for its turn
  if (machine_) decide(order::Withdrawn{});
}

Result<void> Changing::check() const {
  PAWL_TRY(desk_->seat(intent_.order.venue));
  const order::Progress& progress = intent_.progress;
  if (order::is_open(progress.status) && progress.order_id.empty()) {
    return failure(Code::refused,
                   "Nobody knows yet whether the order was placed. Reconcile it "
                   "first: `pawl order reconcile " +
                       intent_.reference + "`.");
  }
  if (progress.status == order::Status::rejected) {
    return failure(Code::refused, "The order was not placed, so there is nothing to " + verb() +
                                      ": " + progress.reason);
  }
  if (progress.life == order::Life::filled || progress.life == order::Life::canceled) {
    return failure(Code::refused,
                   "The order is over: it is " + std::string(to_string(progress.life)) + ".");
  }
  const bool changes = change_.size || change_.price || change_.stop_price;
  if (kind_ == ChangeKind::modify && !changes) {
    return failure(Code::usage, "Nothing to modify: give a size, a price or a stop price.");
  }
  return order::check(changed(intent_.order, change_));
}

// A desk that drains sends nothing more; what is on the wire is waited for.
void Changing::handle(const order::ChangeEvent& event) {
  if (desk_->draining) decide(order::Withdrawn{});
  decide(event);
}

void Changing::decide(const order::ChangeEvent& event) {
  for (const order::ChangeEffect& effect : machine_->decide(event, desk_->now())) {
    std::visit([this](const auto& one) { run(one); }, effect);
  }
}

void Changing::run(const order::Keep& effect) {
  const Result<void> kept = desk_->keep(effect.event);
  if (!kept) forbidden_ = kept.error();
}

void Changing::run(const order::Note& effect) {
  desk_->tell(effect);
}

void Changing::run(const order::AskPace& effect) {
  // Else what the venue must learn first would make it leave later than its turn.
  const auto go_on = [self = shared_from_this(), urgent = effect.urgent](Result<void> ready) {
    if (self->desk_->draining) return self->handle(order::Withdrawn{});
    if (self->forbidden_) ready = std::unexpected(*self->forbidden_);
    if (!ready) return self->handle(order::PaceRefused{std::move(ready.error())});
    self->prepare(urgent);
  };
  seat_->venue.ready(Leaving::change, on_strand(desk_, go_on));
}

ChangeAsk Changing::ask() const {
  return {.order = intent_.order,
          .reference = intent_.reference,
          .order_id = intent_.progress.order_id,
          .request_id = request_id(),
          .timeout = desk_->options.placement.retry.attempt_timeout,
          .change = change_};
}

void Changing::prepare(bool urgent) {
  if (kind_ == ChangeKind::cancel) return prepared(ask(), urgent);
  seat_->venue.prepare(ask(),
                       on_strand(desk_, [self = shared_from_this(), urgent](Venue::Prepared ask) {
                         self->prepared(std::move(ask), urgent);
                       }));
}

// What is not to be sent takes no turn: it is an attempt that ends where it began.
void Changing::prepared(Venue::Prepared ask, bool urgent) {
  if (desk_->draining) return handle(order::Withdrawn{});
  prepared_ = std::move(ask);
  if (!prepared_) return handle(order::PaceGranted{});
  ask_pacer(urgent);
}

void Changing::ask_pacer(bool urgent) {
  SessionPacer::Ask ask{.operation = std::string(machine_->operation()),
                        .urgent = urgent,
                        .correlation = ids_of(machine_->intent())};
  ticket_ = seat_->pace->pacer().ask(
      std::move(ask), on_strand(desk_, [self = shared_from_this()](Result<void> granted) {
        self->paced(std::move(granted));
      }));
}

void Changing::run(const order::LeavePace&) {
  if (ticket_) seat_->pace->pacer().withdraw(*ticket_);
}

// What the audit log does not take does not leave.
void Changing::paced(Result<void> granted) {
  if (desk_->draining) return handle(order::Withdrawn{});
  if (granted) granted = record_attempt();
  if (!granted) return handle(order::PaceRefused{granted.error()});
  handle(order::PaceGranted{});
}

audit::Event Changing::event() const {
  audit::Event event = order_event(desk_->ports.clock.wall_now(),
                                   std::string(machine_->operation()), machine_->intent());
  event.details.emplace_back("attempt_number", machine_->intent().progress.attempts);
  return event;
}

Result<void> Changing::record_attempt() {
  audit::Event attempt = event();
  if (change_.size) attempt.details.emplace_back("size", to_string(*change_.size));
  if (change_.price) attempt.details.emplace_back("price", to_string(*change_.price));
  if (change_.stop_price) {
    attempt.details.emplace_back("stop_price", to_string(*change_.stop_price));
  }
  return desk_->keep(std::move(attempt));
}

void Changing::run(const order::Send&) {
  if (!prepared_) return answered(prepared_.error());
  auto done = on_strand(desk_, [self = shared_from_this()](order::Answer answer) {
    self->answered(std::move(answer));
  });
  if (kind_ == ChangeKind::cancel) return seat_->venue.cancel(*prepared_, std::move(done));
  seat_->venue.modify(*prepared_, std::move(done));
}

void Changing::answered(order::Answer answer) {
  answer_ = std::move(answer);
  handle(order::Answered{answer_});
}

void Changing::run(const order::WakeAt& effect) {
  const Duration wait = std::max(Duration(), effect.at - desk_->ports.clock.steady_now());
  desk_->ports.timers.after(wait, on_strand(desk_, [self = shared_from_this()](bool closing) {
                              if (closing) return self->handle(order::Withdrawn{});
                              self->handle(order::Woken{});
                            }));
}

void Changing::run(const order::ChangeDone& effect) {
  const bool is_certain = !effect.result && effect.result.error().code != Code::unresolved;
  if (is_certain) return end(std::unexpected(effect.result.error()));
  look_at(desk_, intent_,
          [self = shared_from_this(), result = effect.result](
              const Result<order::VenueOrder>& seen) { self->looked(result, seen); });
}

void Changing::looked(const Result<void>& result, const Result<order::VenueOrder>& seen) {
  if (!result) {
    if (!seen || !shows_it(*seen)) return end(std::unexpected(result.error()));
    found();
  }
  Changed changed{.intent = intent_, .answer = answer_};
  changed.intent.order = pawl::changed(intent_.order, change_);  // as it is now
  changed.intent.progress.request_id = request_id();
  if (seen) changed.intent.progress.life = changed.life = seen->life;
  end(std::move(changed));
}

bool Changing::shows_it(const order::VenueOrder& order) const {
  if (kind_ == ChangeKind::cancel) {
    return order.life != order::Life::working && order.life != order::Life::unknown;
  }
  // A stop price is not shown: nobody knows.
  return !change_.stop_price && (!change_.size || order.size == *change_.size) &&
         (!change_.price || order.price == change_.price);
}

void Changing::found() {
  answer_ = {.sent = Sent::accepted,
             .status = answer_.status,
             .message = "the order shows it; the last answer was: " + text_of(answer_)};
  audit::Event seen = event();
  seen.type = audit::EventType::reconcile;
  seen.details.emplace_back("found", to_string(Outcome::applied));
  (void)desk_->keep(std::move(seen));  // it is done, on record or not
}

void Changing::end(Result<Changed> result) {
  ChangeEnded ended{.ids = ids_of(machine_->intent()),
                    .operation = verb(),
                    .venue = intent_.order.venue,
                    .order_id = intent_.progress.order_id,
                    .answer = answer_};
  if (!result) {
    Error error = result.error();
    const bool is_final = error.code == Code::refused;  // another attempt would end alike
    if (desk_->draining && !is_final) error.message = "pawl is shutting down: " + error.message;
    // Of several attempts, the last answer is not what became of the change.
    if (error.code == Code::unresolved) ended.answer.sent = Sent::unknown;
    ended.answer.message = error.message;
    result = std::unexpected(tagged(std::move(error), reference_, request_id()));
  }
  desk_->tell(ended);
  answer(std::move(result));
}

void Changing::refuse(Error error) {
  answer(std::unexpected(tagged(std::move(error), reference_)));
}

void Changing::answer(Result<Changed> result) {
  desk_->changes.erase(this);
  pass_turn();
  std::exchange(done_, {})(std::move(result));
  desk_->look_whether_drained();
}

void Changing::pass_turn() {
  if (!has_turn_) return;
  const auto turn = desk_->modifying.find(reference_);
  if (turn->second.empty()) {
    desk_->modifying.erase(turn);
    return;
  }
  desk_->strand.post(std::move(turn->second.front()));
  turn->second.pop_front();
}

}  // namespace

void modify(const DeskPtr& desk, std::string reference, OrderChange change, Done<Changed> done) {
  std::make_shared<Changing>(desk, ChangeKind::modify, std::move(change), std::move(done))
      ->begin(reference);
}

void cancel(const DeskPtr& desk, std::string reference, Done<Changed> done) {
  std::make_shared<Changing>(desk, ChangeKind::cancel, OrderChange{}, std::move(done))
      ->begin(reference);
}

}  // namespace pawl::desk
