#include "runtime/engine.h"

#include <utility>
#include <variant>

#include "core/request/limit_record.h"

namespace pawl {
namespace {

constexpr std::int64_t cost_of_a_request = 1;

audit::Event event_of(const Door& door, audit::EventType type, Instant now) {
  return {.type = type,
          .timestamp = now,
          .operation = door.operation,
          .correlation = door.correlation,
          .details = {}};
}

}  // namespace

void Engine::handle(Door& door, const request::Event& event) {
  for (const request::Effect& effect : door.machine.decide(event)) {
    std::visit([&](const auto& e) { run(door, e); }, effect);
  }
}

// The store may answer later and from another thread; the door is kept until then.
void Engine::run(Door& door, const request::ChargeLimit& effect) {
  auto self = door.shared_from_this();
  if (effect.hold > Duration()) {
    ports_.counters.reserve(effect.counts, cost_of_a_request, effect.hold,
                            [this, self = std::move(self)](Result<Reservation> reserved) mutable {
                              charged(std::move(self), std::move(reserved));
                            });
    return;
  }
  ports_.counters.check(effect.counts, cost_of_a_request,
                        [this, self = std::move(self)](Result<limit::Answer> answer) mutable {
                          Result<Reservation> reserved = Reservation();
                          if (answer) {
                            reserved->answer = *answer;
                          } else {
                            reserved = std::unexpected(std::move(answer).error());
                          }
                          charged(std::move(self), std::move(reserved));
                        });
}

void Engine::charged(std::shared_ptr<Door> door, Result<Reservation> reserved) {
  Door& target = *door;
  target.resume([this, door = std::move(door), reserved = std::move(reserved)]() mutable {
    if (!reserved) {
      handle(*door, request::ChargeFailed{reserved.error()});
      return;
    }
    limit::Answer& answer = reserved->answer;
    // A store that had no use for the world's clock has not read it; headers and audit need it.
    if (answer.now.wall == Instant()) answer.now.wall = ports_.clock.wall_now();
    const Duration hint = answer.allowed ? Duration() : hints_.wait(door->machine.counts(), answer);
    handle(*door,
           request::Charged{.answer = answer, .reservation = reserved->id, .retry_after = hint});
  });
}

void Engine::run(Door& door, const request::RecordLimit&) {
  audit::Event event = event_of(door, audit::EventType::limit, ports_.clock.wall_now());
  event.details =
      request::limit_record(door.machine.counts(), door.machine.answer(), cost_of_a_request);
  const Result<void> recorded = ports_.audit.append(std::move(event));
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
  audit::Event event = event_of(door, audit::EventType::request, ports_.clock.wall_now());
  event.details = {{"outcome", to_string(effect.outcome)}, {"status", effect.status}};
  door.ended(effect, ports_.audit.append(std::move(event)));
}

}  // namespace pawl
