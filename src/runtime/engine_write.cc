// The engine's part in writes with a key: the asks of the record store.
#include <utility>

#include "core/audit/retry_event.h"
#include "core/request/write.h"
#include "runtime/engine.h"

namespace pawl {
namespace {

using audit::IdempotencyAction;
using Verdict = idempotency::Begun::Verdict;
using request::WriteEvent;

// By then the store's own health tells of a connection that is lost.
constexpr Duration lately = Duration::seconds(10);

// A key that cannot be read, or is missing, is no key of a record.
std::optional<IdempotencyAction> action_of(WriteEvent event) {
  switch (event) {
    case WriteEvent::executed:
    case WriteEvent::not_stored:
      return IdempotencyAction::record;
    case WriteEvent::replayed:
    case WriteEvent::tombstone:
      return IdempotencyAction::hit;
    case WriteEvent::in_flight:
      return IdempotencyAction::in_flight;
    case WriteEvent::mismatch:
      return IdempotencyAction::mismatch;
    case WriteEvent::unknown:
      return IdempotencyAction::unknown;
    case WriteEvent::store_failure:
      return IdempotencyAction::unavailable;
    case WriteEvent::taken_over:
      return IdempotencyAction::take_over;
    case WriteEvent::invalid_key:
    case WriteEvent::missing_key:
      return std::nullopt;
  }
  __builtin_unreachable();
}

// An ask of the store, until its answer has been taken or thrown away.
class Ask {
 public:
  explicit Ask(Visits& asks) : asks_(&asks) { asks.begun(); }
  Ask(Ask&& other) noexcept : asks_(std::exchange(other.asks_, nullptr)) {}
  ~Ask() {
    if (asks_ != nullptr) asks_->finished();
  }

 private:
  Visits* asks_;
};

idempotency::Record had_by_other(std::string fingerprint) {
  return {.status = idempotency::Status::in_flight, .fingerprint = std::move(fingerprint)};
}

}  // namespace

// The store may answer when the door is at its next request; then the answer is nobody's.
void Engine::run(Door& door, const request::LookUp& effect) {
  door.wake_after(effect.deadline, effect.ask);
  if (auto fingerprint = flights_.find(door.write->key)) {
    handle(door, request::LookedUp{effect.ask, had_by_other(*std::move(fingerprint))});
    return;
  }
  ports_.records->look_up(
      door.write->key, effect.fingerprint,
      [this, here = Ask(asks_), self = door.shared_from_this(), write = door.write,
       ask = effect.ask](Result<idempotency::Record> got) mutable {
        request::LookedUp event{ask, std::nullopt};
        if (got) {
          event.found = *std::move(got);
        } else if (got.error().code != Code::not_found) {
          event.found = std::unexpected(std::move(got).error());
        }
        Door& target = *self;
        target.resume(
            [this, self = std::move(self), write = std::move(write), event = std::move(event)] {
              if (self->write == write) handle(*self, event);
            });
      });
}

void Engine::run(Door& door, const request::Claim& effect) {
  door.wake_after(effect.deadline, effect.ask);
  auto flight = flights_.begin(door.write->key, effect.begin.fingerprint);
  if (!flight) {
    const auto fingerprint = flights_.find(door.write->key);
    handle(door, request::Claimed{effect.ask,
                                  idempotency::Begun{.verdict = Verdict::in_flight,
                                                     .retry_after = {},
                                                     .record = had_by_other(fingerprint.value_or(
                                                         effect.begin.fingerprint))}});
    return;
  }
  door.write->flight = *std::move(flight);
  if (effect.here_alone) {
    handle(door, request::Claimed{effect.ask, idempotency::Begun{.verdict = Verdict::started,
                                                                 .retry_after = {},
                                                                 .record = {}}});
    return;
  }
  ports_.records->begin(
      door.write->key, effect.begin,
      [this, here = Ask(asks_), self = door.shared_from_this(), write = door.write,
       ask = effect.ask](Result<idempotency::Begun> begun) mutable {
        Door& target = *self;
        target.resume([this, self = std::move(self), write = std::move(write),
                       event = request::Claimed{ask, std::move(begun)}]() mutable {
          claimed(*self, write, std::move(event));
        });
      });
}

void Engine::claimed(Door& door, const std::shared_ptr<Write>& write, request::Claimed event) {
  const bool ours = event.begun && (event.begun->verdict == Verdict::started ||
                                    event.begun->verdict == Verdict::took_over);
  if (!ours) write->flight.end();
  if (door.write == write && door.machine.state() == request::Machine::State::claiming) {
    handle(door, event);
  } else if (ours) {
    write->late_fence = event.begun->record.fence;
    end_late_claim(write);
  }
}

void Engine::run(Door& door, const request::LeaveClaim& effect) {
  door.write->left_as = effect.how;
  end_late_claim(door.write);
}

// Once both are known, in whichever order: that it was taken, and how the write ended without it.
void Engine::end_late_claim(const std::shared_ptr<Write>& write) {
  if (write->late_fence == 0 || !write->left_as) return;
  ports_.records->complete(write->key, write->late_fence, *write->left_as,
                           [here = Ask(asks_), write](const Result<void>&) {});
}

void Engine::run(Door& door, const request::RecordWrite& effect) {
  door.wake_after(effect.deadline, effect.ask);
  ports_.records->complete(door.write->key, effect.fence, effect.how,
                           [this, here = Ask(asks_), self = door.shared_from_this(),
                            write = door.write, ask = effect.ask](Result<void> recorded) mutable {
                             Door& target = *self;
                             target.resume([this, self = std::move(self), write = std::move(write),
                                            event = request::Written{ask, std::move(recorded)}] {
                               write->flight.end();
                               if (self->write == write) handle(*self, event);
                             });
                           });
}

// Nobody waits for the answer: a claim that could not be renewed reads as unknown when its lease is
// over, and nothing is sent a second time.
void Engine::run(Door& door, const request::RenewClaim& effect) {
  ports_.records->renew(door.write->key, effect.fence, effect.lease,
                        [here = Ask(asks_), write = door.write](const Result<void>&) {});
}

void Engine::run(Door& door, const request::WaitForOther& effect) {
  door.wake_after(effect.wait, effect.ask);
  // Who has left meanwhile is not kept for this.
  flights_.on_end(door.write->key, [this, weak_door = door.weak_from_this(),
                                    weak_write = std::weak_ptr(door.write), ask = effect.ask] {
    auto self = weak_door.lock();
    auto write = weak_write.lock();
    if (!self || !write) return;
    Door& target = *self;
    target.resume([this, self = std::move(self), write = std::move(write), ask] {
      if (self->write == write) handle(*self, request::Overdue{ask});
    });
  });
}

void Engine::run(Door& door, const request::NoteWrite& effect) {
  const Instant now = ports_.clock.wall_now();
  const std::string client_key = door.write ? door.write->client_key : std::string();
  write_stats_.note({.at = now,
                     .what = effect.what,
                     .tenant = door.correlation.tenant_id,
                     .operation = door.operation,
                     .key = client_key});
  if (effect.what == WriteEvent::store_failure) records_lost_at_ = ports_.clock.steady_now();
  door.noted(effect);
  const auto action = action_of(effect.what);
  if (!action) return;
  audit::Event event = to_event(audit::Idempotency{.subject = {.category = {},
                                                               .operation = door.operation,
                                                               .correlation = door.correlation,
                                                               .timestamp = now},
                                                   .idempotency_key = client_key,
                                                   .action = *action});
  // The limit's decision is on record before anything is sent; what the log does not take of the
  // rest, its health tells.
  (void)ports_.audit.append(std::move(event));
}

bool Engine::lost_records_lately() const {
  const SteadyInstant at = records_lost_at_;
  return at != SteadyInstant() && ports_.clock.steady_now() - at < lately;
}

void Engine::run(Door& door, const request::Deliver&) {
  door.deliver();
}

void Engine::run(Door& door, const request::Replay& effect) {
  door.replay(effect);
}

}  // namespace pawl
