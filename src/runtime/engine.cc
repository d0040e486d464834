#include "runtime/engine.h"

#include <utility>
#include <variant>

namespace pawl {
namespace {

constexpr std::int64_t cost_of_a_request = 1;

}  // namespace

void Engine::handle(Door& door, const request::Event& event) {
  for (const request::Effect& effect : door.machine.decide(event)) {
    std::visit([&](const auto& e) { run(door, e); }, effect);
  }
}

// The store may answer later and from another thread; the door is kept until then.
void Engine::run(Door& door, const request::ChargeLimit& effect) {
  // The engine is found by the door, so that what is kept is small enough to need no memory.
  door.driver = this;
  auto self = door.shared_from_this();
  if (effect.hold > Duration()) {
    ports_.counters.reserve(effect.counts, cost_of_a_request, effect.hold,
                            [self = std::move(self)](Result<Reservation> reserved) mutable {
                              Engine& engine = *self->driver;
                              engine.charged(std::move(self), std::move(reserved));
                            });
    return;
  }
  ports_.counters.check(effect.counts, cost_of_a_request,
                        [self = std::move(self)](Result<limit::Answer> answer) mutable {
                          Engine& engine = *self->driver;
                          Result<Reservation> reserved = Reservation();
                          if (answer) {
                            reserved->answer = *answer;
                          } else {
                            reserved = std::unexpected(std::move(answer).error());
                          }
                          engine.charged(std::move(self), std::move(reserved));
                        });
}

void Engine::charged(std::shared_ptr<Door> door, Result<Reservation> reserved) {
  Door& target = *door;
  if (target.is_here()) {
    decided(target, std::move(reserved));
    return;
  }
  target.resume([this, door = std::move(door), reserved = std::move(reserved)]() mutable {
    decided(*door, std::move(reserved));
  });
}

void Engine::decided(Door& door, Result<Reservation> reserved) {
  if (!reserved) {
    handle(door, request::ChargeFailed{reserved.error()});
    return;
  }
  limit::Answer& answer = reserved->answer;
  // A store that had no use for the world's clock has not read it; headers and audit need it.
  if (answer.now.wall == Instant()) answer.now.wall = ports_.clock.wall_now();
  const Duration hint = answer.allowed ? Duration() : hints_.wait(door.machine.counts(), answer);
  handle(door,
         request::Charged{.answer = answer, .reservation = reserved->id, .retry_after = hint});
}

void Engine::run(Door& door, const request::RecordLimit&) {
  if (door.machine.counts().empty()) {
    // No bucket counts it, so there is no decision to record; but somebody must take its end.
    record_of_limit(door, ports_.audit.alive());
    return;
  }
  record_of_limit(door, ports_.audit.append_late(
                            audit::LimitDecided{.timestamp = door.machine.answer().now.wall,
                                                .operation = door.operation,
                                                .correlation = door.correlation,
                                                .counts = door.machine.counts(),
                                                .answer = &door.machine.answer(),
                                                .cost = cost_of_a_request,
                                                .policies = &door.policies}));
}

void Engine::record_of_limit(Door& door, const Result<void>& recorded) {
  if (recorded) {
    handle(door, request::Recorded{});
  } else {
    handle(door, request::RecordFailed{recorded.error()});
  }
}

// Nobody waits for the answers of these three: a slot whose loan was not renewed or settled comes
// back by its lease, and what could not be given back stays charged.
void Engine::run(Door& door, const request::RenewLimit& effect) {
  ports_.counters.settle(effect.counts, effect.reservation,
                         {.kind = Settlement::Kind::renew, .hold = effect.hold},
                         [policies = door.policies](const Result<void>&) {});
}

void Engine::run(Door& door, const request::SettleLimit& effect) {
  const auto kind = effect.used ? Settlement::Kind::commit : Settlement::Kind::cancel;
  ports_.counters.settle(effect.counts, effect.reservation,
                         {.kind = kind, .actual = cost_of_a_request},
                         [policies = door.policies](const Result<void>&) {});
}

void Engine::run(Door& door, const request::RefundLimit& effect) {
  for (std::size_t i = 0; i < effect.counts.size(); ++i) {
    if (!limit::is_charged(effect.charged, i)) continue;
    ports_.counters.refund(effect.counts[i], cost_of_a_request,
                           [policies = door.policies](const Result<void>&) {});
  }
}

void Engine::run(Door& door, const request::SendUpstream&) {
  door.send_upstream();
}

void Engine::run(Door& door, const request::Refuse& effect) {
  door.refuse(effect);
}

void Engine::run(Door& door, const request::RecordEnd& effect) {
  // What was not sent may have a claim under way that its own key must not meet.
  if (door.write && door.machine.sent()) door.write->flight.end();
  door.ended(effect,
             ports_.audit.append_late(audit::RequestEnded{.timestamp = ports_.clock.wall_now(),
                                                          .operation = door.operation,
                                                          .correlation = door.correlation,
                                                          .outcome = effect.outcome,
                                                          .status = effect.status}));
}

}  // namespace pawl
