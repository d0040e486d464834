#include "core/execution/execution.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace pawl::execution {
namespace {

using KeyAction = audit::IdempotencyAction;
using idempotency::Begun;
using idempotency::Status;
using How = Answer::How;

// Who waits for somebody else, or for a store that is away, looks again so soon, then less often.
constexpr Duration look_again_min = Duration::milliseconds(50);
constexpr Duration look_again_max = Duration::seconds(2);
// So long a result is offered to a store that is away: as long as the claim keeps others off it,
// within reason for a caller who waits.
constexpr Duration record_patience_max = Duration::seconds(30);
// What nobody knows the end of is not forgotten like a result, which is merely convenient.
constexpr Duration unknown_ttl = bounds::record_unknown_ttl;

Duration longer(Duration wait) {
  return std::clamp(wait * 2, look_again_min, look_again_max);
}

}  // namespace

Effects Execution::decide(const Event& event) {
  if (state_ == State::ended) return {};
  return std::visit([this](const auto& e) { return on(e); }, event);
}

Effects Execution::on(const Start& event) {
  PAWL_ASSERT(state_ == State::idle);
  started_ = event.now;
  if (!setup_.has_key) return begin(event, false);
  return setup_.slept_fence != 0 ? let_go() : claim();
}

Effects Execution::begin(const Start& event, bool taken_over) {
  return attempt(retry::Begin{.now = event.now,
                              .breaker_open = event.breaker_open,
                              .taken_over = taken_over,
                              .waited = event.now - started_,
                              .probe_in = event.probe_in});
}

// Of the claim under which it slept. Nothing is under way there, whatever its lease says.
Effects Execution::let_go() {
  state_ = State::letting_go;
  const retry::Facts& facts = attempts_.facts();
  complete(outcome_of(facts) == Outcome::not_applied ? Status::failed : Status::unknown,
           retry::decide(*setup_.attempts.policy, facts).reason);
  Effects effects;
  effects.add(Record{.fence = setup_.slept_fence, .how = completion_});
  return effects;
}

Effects Execution::claim() {
  state_ = State::claiming;
  Effects effects;
  effects.add(Claim{{.fingerprint = setup_.fingerprint,
                     .lease = setup_.lease,
                     .ttl = std::max(setup_.ttl, unknown_ttl),  // for when nobody completes it
                     .take_over = setup_.attempts.harmless || setup_.attempts.can_reconcile}});
  return effects;
}

Effects Execution::on(const Claimed& event) {
  PAWL_ASSERT(state_ == State::claiming);
  if (event.begun) return claimed(*event.begun, event);
  if (!cancelled_ && setup_.on_store_failure == OnStoreFailure::execute) {
    return begin({event.now, event.breaker_open, event.probe_in}, false);
  }
  state_ = State::ended;
  Effects effects;
  effects.add(NoteKey{KeyAction::unavailable});
  effects.add(Answer{.how = cancelled_ ? How::cancelled : How::no_store,
                     .outcome = Outcome::not_applied,
                     .store_said = event.begun.error()});
  return effects;
}

Effects Execution::claimed(const Begun& begun, const Claimed& event) {
  Effects effects;
  switch (begun.verdict) {
    case Begun::Verdict::started:
    case Begun::Verdict::took_over: {
      fence_ = begun.record.fence;
      const bool taken_over = begun.verdict == Begun::Verdict::took_over;
      if (taken_over) effects.add(NoteKey{KeyAction::take_over});
      const Effects next = cancelled_
                               ? attempt(retry::Cancelled{event.now, taken_over})
                               : begin({event.now, event.breaker_open, event.probe_in}, taken_over);
      for (const Effect& effect : next) effects.add(effect);
      return effects;
    }
    case Begun::Verdict::replay:
      effects.add(NoteKey{KeyAction::hit});
      answer_ = {
          .how = How::replayed, .outcome = Outcome::applied, .response = begun.record.response};
      break;
    case Begun::Verdict::in_flight:
      if (!cancelled_ && setup_.on_in_flight == OnInFlight::wait && event.now < wait_until()) {
        return wait_for_other(event.now, begun.retry_after);
      }
      effects.add(NoteKey{KeyAction::in_flight});
      answer_ = {
          .how = How::in_flight, .outcome = Outcome::not_applied, .retry_after = begun.retry_after};
      break;
    case Begun::Verdict::mismatch:
      effects.add(NoteKey{KeyAction::mismatch});
      answer_ = {.how = How::mismatch, .outcome = Outcome::not_applied};
      break;
    case Begun::Verdict::unknown:
      effects.add(NoteKey{KeyAction::unknown});
      answer_ = {.how = How::unresolved,
                 .outcome = Outcome::unknown,
                 .reason = retry::Reason::outcome_unknown};
      break;
  }
  state_ = State::ended;
  effects.add(answer_);
  return effects;
}

// For somebody else who has the key.
SteadyInstant Execution::wait_until() const {
  const Duration deadline = setup_.attempts.policy->deadline;
  return started_ + (deadline > Duration() ? std::min(deadline, setup_.wait_max) : setup_.wait_max);
}

// It usually ends long before its lease does.
Effects Execution::wait_for_other(SteadyInstant now, Duration retry_after) {
  state_ = State::waiting;
  wait_ = longer(wait_);
  wait_over_ = std::min(now + std::min(wait_, std::max(retry_after, look_again_min)), wait_until());
  Effects effects;
  effects.add(retry::WaitUntil{wait_over_});
  return effects;
}

Effects Execution::on(const Attempted& event) {
  PAWL_ASSERT(state_ == State::attempting);
  if (event.ended.seen.outcome == Outcome::applied) response_ = event.response;
  return attempt(event.ended);
}

Effects Execution::on(const Found& event) {
  PAWL_ASSERT(state_ == State::attempting);
  if (event.reconciled.found == Outcome::applied) response_ = event.response;
  return attempt(event.reconciled);
}

Effects Execution::on(const retry::BudgetAnswered& event) {
  PAWL_ASSERT(state_ == State::attempting);
  return attempt(event);
}

Effects Execution::on(const retry::Woken& event) {
  if (state_ == State::attempting) return attempt(event);
  const bool waits = state_ == State::waiting || state_ == State::settling;
  if (!waits) return {};
  Effects effects;
  if (event.now < wait_over_) {
    effects.add(retry::WaitUntil{wait_over_});
    return effects;
  }
  if (state_ == State::waiting) return claim();
  state_ = State::recording;
  effects.add(Record{.fence = fence_, .how = completion_});
  return effects;
}

Effects Execution::on(const Cancelled& event) {
  cancelled_ = true;
  closing_ = closing_ || event.closing;
  const Answer cancelled{
      .how = How::cancelled, .outcome = Outcome::not_applied, .reason = retry::Reason::cancelled};
  switch (state_) {
    case State::idle:
      return answer(cancelled);
    case State::waiting: {
      Effects effects;
      effects.add(NoteKey{KeyAction::in_flight});
      state_ = State::ended;
      effects.add(cancelled);
      return effects;
    }
    case State::attempting:
      return attempt(retry::Cancelled{event.now});
    case State::settling:
      if (closing_) return not_recorded(std::nullopt);
      return {};
    case State::claiming:
    case State::recording:
    case State::lying_down:
    case State::letting_go:
    case State::ended:
      return {};  // the claim, the record or what goes on later is on its way
  }
  __builtin_unreachable();
}

Effects Execution::attempt(const retry::Event& event) {
  state_ = State::attempting;
  const retry::Effect effect = attempts_.decide(event);
  Effects effects;
  if (const auto* finished = std::get_if<retry::Finish>(&effect)) return finish(finished->decision);
  if (const auto* sleep = std::get_if<retry::SleepFor>(&effect)) return lie_down(sleep->delay);
  const bool goes_on = std::holds_alternative<retry::WaitUntil>(effect) ||
                       std::holds_alternative<retry::Reconcile>(effect);
  if (goes_on && attempts_.decided()) effects.add(NoteDecision{});
  std::visit(
      [&](const auto& e) {
        if constexpr (std::is_constructible_v<Effect, decltype(e)>) effects.add(e);
      },
      effect);
  return effects;
}

Effects Execution::lie_down(Duration delay) {
  state_ = State::lying_down;
  const retry::Decision& decision = attempts_.decision();
  answer_ = {
      .how = How::asleep, .outcome = decision.outcome, .reason = decision.reason, .sleep = delay};
  Effects effects;
  effects.add(NoteDecision{});
  effects.add(retry::SleepFor{delay});
  return effects;
}

Effects Execution::on(const Slept& event) {
  PAWL_ASSERT(state_ == State::lying_down);
  const bool nothing_applied = answer_.outcome == Outcome::not_applied;
  if (!event.written) {
    answer_.how = How::not_slept;
    answer_.store_said = event.written.error();
    // It may have been written, and then goes on.
    if (event.written.error().outcome != Outcome::not_applied) answer_.outcome = Outcome::unknown;
  }
  if (fence_ == 0) return answer(answer_);
  state_ = State::recording;
  complete(nothing_applied ? Status::failed : Status::unknown, answer_.reason);
  Effects effects;
  effects.add(Record{.fence = fence_, .how = completion_});
  return effects;
}

// What is on its way to sleep does so, whatever becomes of its key: who goes on lets go of that.
bool Execution::lies_down() const {
  return answer_.how == How::asleep || answer_.how == How::not_slept;
}

Effects Execution::finish(const retry::Decision& decision) {
  answer_ = {.how = How::gave_up, .outcome = decision.outcome, .reason = decision.reason};
  if (decision.next == retry::Next::done) {
    answer_.how = How::done;
    answer_.response = response_;
  } else if (decision.next == retry::Next::unresolved) {
    answer_.how = How::unresolved;
  } else if (decision.reason == retry::Reason::cancelled) {
    answer_.how = How::cancelled;
  }
  if (fence_ == 0) {
    Effects effects;
    effects.add(NoteDecision{});
    state_ = State::ended;
    effects.add(answer_);
    return effects;
  }
  if (answer_.how == How::done) return record(Status::done);
  return record(decision.outcome == Outcome::not_applied ? Status::failed : Status::unknown);
}

Effects Execution::record(Status status) {
  state_ = State::recording;
  complete(status, attempts_.decision().reason);
  Effects effects;
  effects.add(NoteDecision{});
  effects.add(Record{.fence = fence_, .how = completion_});
  return effects;
}

void Execution::complete(Status status, retry::Reason why) {
  completion_ = {.status = status, .response = {}, .ttl = setup_.ttl};
  if (status == Status::unknown) completion_.ttl = std::max(setup_.ttl, unknown_ttl);
  if (status == Status::done) {
    completion_.response = response_;
  } else {
    completion_.response.metadata = "{\"reason\":\"" + std::string(to_string(why)) + "\"}";
  }
}

Effects Execution::on(const Recorded& event) {
  if (state_ == State::letting_go) return have_let_go(event);
  PAWL_ASSERT(state_ == State::recording);
  if (!event.recorded) return not_taken(event);
  state_ = State::ended;
  Effects effects;
  effects.add(NoteKey{KeyAction::record});
  effects.add(answer_);
  return effects;
}

// Usually it was let go by who slept, and the store says so.
Effects Execution::have_let_go(const Recorded& event) {
  const bool there = event.recorded || event.recorded.error().code != Code::unavailable;
  if (there) return claim();
  state_ = State::claiming;
  return on(Claimed{.now = event.now, .begun = std::unexpected(event.recorded.error())});
}

Effects Execution::not_taken(const Recorded& event) {
  const Error& error = event.recorded.error();
  if (error.code == Code::refused || error.code == Code::not_found) {
    state_ = State::ended;
    if (!lies_down()) answer_.how = How::stale;
    Effects effects;
    effects.add(NoteKey{KeyAction::stale});
    effects.add(answer_);
    return effects;
  }
  if (!store_away_since_) store_away_since_ = event.now;
  const Duration away = event.now - *store_away_since_;
  const bool goes_on = error.code == Code::unavailable && !closing_ &&
                       away < std::min(setup_.lease, record_patience_max);
  if (!goes_on) return not_recorded(error);
  state_ = State::settling;
  wait_ = longer(wait_);
  wait_over_ = event.now + wait_;
  Effects effects;
  effects.add(retry::WaitUntil{wait_over_});
  return effects;
}

Effects Execution::not_recorded(std::optional<Error> why) {
  state_ = State::ended;
  if (!lies_down()) {
    answer_.how = How::not_recorded;
    answer_.store_said = std::move(why);
  }
  Effects effects;
  effects.add(NoteKey{KeyAction::not_recorded});
  effects.add(answer_);
  return effects;
}

Effects Execution::answer(Answer answer) {
  state_ = State::ended;
  Effects effects;
  effects.add(std::move(answer));
  return effects;
}

}  // namespace pawl::execution
