#include "core/order/change.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "core/order/record.h"
#include "core/order/words.h"
#include "core/retry/backoff.h"

namespace pawl::order {
namespace {

constexpr std::string_view given_up = "whoever wanted it gave up";

// As explain(), where a change is not what a placement is.
std::string_view explain_change(Reason reason) {
  if (reason == Reason::withdrawn) return given_up;
  if (reason == Reason::attempts_exhausted) return "it was sent as often as it may be";
  if (reason == Reason::outcome_unknown) return "the venue refused a copy after one that got lost";
  return explain(reason);
}

}  // namespace

Change::Change(Intent intent, ChangeKind kind, Settings settings, const Entropy16& entropy)
    : intent_(std::move(intent)), kind_(kind), settings_(std::move(settings)), entropy_(entropy) {
  PAWL_ASSERT(check(settings_).has_value());
  intent_.progress.attempts = 0;
}

ChangeEffects Change::decide(const ChangeEvent& event, Time now) {
  ChangeEffects out;
  now_ = now;
  if (!is_over()) std::visit([&](const auto& each) { on(each, out); }, event);
  return out;
}

void Change::on(const Begun&, ChangeEffects& out) {
  PAWL_ASSERT(state_ == State::idle);
  if (withdrawn_) return stop(Code::unavailable, std::string(given_up), out);
  next_attempt(out);
}

void Change::on(const PaceGranted&, ChangeEffects& out) {
  if (state_ != State::pacing) return;
  state_ = State::sending;
  out.emplace_back(note(Told::executing_operation));
  out.emplace_back(Send{intent_.progress.attempts, intent_.progress.request_id});
}

void Change::on(const PaceRefused& event, ChangeEffects& out) {
  if (state_ != State::pacing) return;
  if (unknown_) return stop(event.error.code, event.error.message, out);
  Error error = event.error;
  error.outcome = Outcome::not_applied;  // whatever became of the pacer's own effects
  end(std::unexpected(std::move(error)), out);
}

void Change::on(const Answered& event, ChangeEffects& out) {
  PAWL_ASSERT(state_ == State::sending);
  const Answer& answer = event.answer;
  const Ended facts{.attempt = intent_.progress.attempts,
                    .sent = answer.sent,
                    .turned_away = answer.turned_away,
                    .has_order_id = !answer.order_id.empty(),
                    .not_completed = answer.code == not_completed_code,
                    .retry_after = std::max(answer.retry_after, Duration()),
                    .withdrawn = withdrawn_,
                    .repeatable = true,
                    .unknown_before = unknown_,
                    .key = retry::jitter_key(intent_.progress.request_id)};
  const Decision decision = order::decide(settings_, facts);
  const std::string why = std::string(explain_change(decision.reason)) + ": " + text_of(answer);
  const Decided decided{settings_, facts, decision, why, operation()};
  out.emplace_back(Keep{decision_event(intent_, decided, {}, now_.wall)});
  tell(answer, decision, out);
  unknown_ = unknown_ || outcome_of(answer.sent) == Outcome::unknown;
  if (decision.next == Next::confirm) return end({}, out);
  if (decision.next != Next::send_again) {
    return stop(decision.reason == Reason::refused ? Code::refused : Code::unavailable, why, out);
  }
  state_ = State::waiting;
  wake_at_ = now_.steady + decision.delay;
  out.emplace_back(WakeAt{wake_at_});
}

void Change::on(const Woken&, ChangeEffects& out) {
  if (state_ != State::waiting) return;
  if (now_.steady < wake_at_) {
    out.emplace_back(WakeAt{wake_at_});
    return;
  }
  next_attempt(out);
}

// One that is under way is waited for.
void Change::on(const Withdrawn&, ChangeEffects& out) {
  withdrawn_ = true;
  if (state_ != State::pacing && state_ != State::waiting) return;
  if (state_ == State::pacing) out.emplace_back(LeavePace{});
  stop(Code::unavailable, std::string(given_up), out);
}

void Change::next_attempt(ChangeEffects& out) {
  Progress& progress = intent_.progress;
  ++progress.attempts;
  const std::string_view name = kind_ == ChangeKind::cancel ? "cancel" : "modify";
  progress.request_id =
      request_id(intent_.reference, name, now_.wall, attempt_entropy(entropy_, progress.attempts));
  state_ = State::pacing;
  out.emplace_back(AskPace{.urgent = kind_ == ChangeKind::cancel || intent_.order.reduce_only});
}

// `code` is for what was certainly not done.
void Change::stop(Code code, const std::string& why, ChangeEffects& out) {
  const std::string subject = "'" + intent_.reference + "': " + std::string(operation());
  if (!unknown_) return end(failure(code, subject + " was not done: " + why), out);
  Error error(Code::unresolved, Outcome::unknown,
              subject + " may have been done: " + why +
                  ". Look at the order's status, and ask again where it was not");
  end(std::unexpected(std::move(error)), out);
}

void Change::end(Result<void> result, ChangeEffects& out) {
  state_ = State::ended;
  out.emplace_back(ChangeDone{.result = std::move(result),
                              .attempts = intent_.progress.attempts,
                              .request_id = intent_.progress.request_id});
}

void Change::tell(const Answer& answer, const Decision& decision, ChangeEffects& out) const {
  for (Note& each : notes_of(answer, decision, note(Told::operation_failed))) {
    out.emplace_back(std::move(each));
  }
}

Note Change::note(Told what) const {
  return {.what = what,
          .operation = std::string(operation()),
          .venue = intent_.order.venue,
          .external_reference = intent_.reference,
          .request_id = intent_.progress.request_id,
          .attempt = intent_.progress.attempts,
          .max_attempts = settings_.retry.max_attempts,
          .order_id = intent_.progress.order_id};
}

std::string_view Change::operation() const {
  return kind_ == ChangeKind::cancel ? cancel_operation : modify_operation;
}

}  // namespace pawl::order
