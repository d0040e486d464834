#include "runtime/engine.h"

#include <utility>
#include <variant>

namespace pawl {
namespace {

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

void Engine::run(Door& door, const request::ChargeLimit& effect) {
  // The store may answer later and from another thread; the door is kept until then.
  ports_.counters.charge(
      {.policy = *effect.policy, .key = effect.tenant},
      [this, self = door.shared_from_this()](Result<limit::Verdict> verdict) mutable {
        Door& target = *self;
        target.resume([this, self = std::move(self), verdict = std::move(verdict)] {
          // Abandoned in the meantime: the charge stands, nobody is left to serve.
          if (self->machine.state() != request::Machine::State::charging) return;
          if (verdict) {
            handle(*self, request::Charged{*verdict});
          } else {
            handle(*self, request::ChargeFailed{verdict.error()});
          }
        });
      });
}

void Engine::run(Door& door, const request::RecordLimit& effect) {
  audit::Event event = event_of(door, audit::EventType::limit, ports_.clock.wall_now());
  const limit::Verdict& verdict = effect.verdict;
  event.details = {{"policy", door.machine.policy_name()},
                   {"cost", 1},
                   {"allowed", verdict.allowed},
                   {"limit", verdict.limit},
                   {"remaining", verdict.remaining},
                   {"retry_after_ms", verdict.retry_after.milliseconds_up()}};
  const Result<void> recorded = ports_.audit.append(std::move(event));
  if (recorded) {
    handle(door, request::Recorded{});
  } else {
    handle(door, request::RecordFailed{recorded.error()});
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
