#include "core/order/placement.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/bounds.h"
#include "core/order/names.h"
#include "core/order/record.h"
#include "core/order/words.h"
#include "core/retry/backoff.h"

namespace pawl::order {
namespace {

constexpr Names<2> as_names = {"placed", "absent"};

std::string failed_text(const std::string& reason) {
  return "Order placement failed: " + reason + ", not recorded in history";
}

std::unexpected<Error> unfit(std::string why) {
  return failure(Code::usage, std::move(why));
}

}  // namespace

std::string_view to_string(Resolution::As as) {
  return name_in(as_names, as);
}
std::optional<Resolution::As> resolution_of(std::string_view name) {
  return find_in<Resolution::As>(as_names, name);
}

Result<void> check(const Resolution& resolution, const Intent& intent) {
  const Progress& progress = intent.progress;
  if (!is_open(progress.status)) {
    return failure(Code::refused, "the order '" + intent.reference + "' is " +
                                      std::string(to_string(progress.status)) +
                                      ": only one that is open can be settled");
  }
  if (line_of(resolution.reason).find_first_not_of(' ') == std::string::npos) {
    return unfit("a reason must be given: it is kept with the order");
  }
  const bool placed = resolution.as == Resolution::As::placed;
  if (placed && resolution.order_id.empty() && progress.order_id.empty()) {
    return unfit("the venue's order id must be given for an order that was placed");
  }
  if (resolution.order_id.size() > bounds::order_name_bytes_max) {
    return unfit("the order id is longer than any venue's");
  }
  const auto is_sign = [](char c) { return c > ' ' && c <= '~'; };
  if (!std::ranges::all_of(resolution.order_id, is_sign)) {
    return unfit("the order id has blanks or signs in it that no venue's has");
  }
  if (!placed && !resolution.order_id.empty()) {
    return unfit("an order that is absent has no id: leave it out, or settle it as placed");
  }
  return {};
}

Placement::Placement(Intent intent, Settings settings, const Entropy16& entropy)
    : intent_(std::move(intent)), settings_(std::move(settings)), entropy_(entropy) {
  PAWL_ASSERT(check(settings_).has_value());
}

Effects Placement::decide(const Event& event, Time now) {
  Effects out;
  now_ = now;
  if (!is_over()) std::visit([&](const auto& each) { on(each, out); }, event);
  return out;
}

// ---- events

void Placement::on(const Begun&, Effects& out) {
  PAWL_ASSERT(state_ == State::idle && intent_.progress.status == Status::sending);
  if (withdrawn_) return end(Status::rejected, std::string(explain(Reason::withdrawn)), out);
  ask_pace("it was opened, and what it takes is reserved", out);
}

void Placement::on(const TakenOver& event, Effects& out) {
  PAWL_ASSERT(state_ == State::idle && is_open(intent_.progress.status));
  withdrawn_ = withdrawn_ || !event.resend;
  left_ = true;
  quiet_since_ = now_.steady;
  // Until when a venue takes what the last owner sent (expTime) is on disk only with the answer.
  const bool is_on_its_way = intent_.progress.status == Status::sending;
  if (is_on_its_way || !intent_.progress.expires) {
    quiet_since_ = quiet_since_ + settings_.retry.attempt_timeout;
  }
  const std::string was(to_string(intent_.progress.status));
  add("take over", "it was found " + was + " after attempt " +
                       std::to_string(intent_.progress.attempts) + ": it is looked for");
  intent_.progress.status = Status::reconciling;
  out.emplace_back(Keep{state_event(intent_, "it was found " + was, now_.wall)});
  out.emplace_back(note(Told::reconciling_before_retry));
  save(Then::read, out);
}

void Placement::on(const PaceGranted&, Effects& out) {
  if (state_ != State::pacing) return;
  state_ = State::sending;
  out.emplace_back(note(Told::executing_operation));
  out.emplace_back(Send{intent_.progress.attempts, intent_.progress.request_id});
}

void Placement::on(const PaceRefused& event, Effects& out) {
  if (state_ != State::pacing) return;
  add("pace", event.error.message);
  end(Status::rejected, event.error.message, out);
}

void Placement::on(const Saved&, Effects& out) {
  PAWL_ASSERT(state_ == State::saving);
  save_failures_ = 0;
  switch (then_) {
    case Then::pace:
      if (withdrawn_) return end(Status::rejected, std::string(explain(Reason::withdrawn)), out);
      return ask_pace("it is sent again, under a new request id", out);
    case Then::read:
      return read(out);
    case Then::finish:
      return finish(out);
  }
}

void Placement::on(const SaveFailed& event, Effects& out) {
  PAWL_ASSERT(state_ == State::saving);
  if (save_failures_ < bounds::order_save_retries) {
    const Duration delay = Duration::seconds(1) * (std::int64_t{1} << save_failures_++);
    Note told = note(Told::order_save_retry, event.error.message);
    told.delay = delay;
    out.emplace_back(std::move(told));
    return wait(delay, State::save_waiting, out);
  }
  Progress& progress = intent_.progress;
  progress.reason = line_of("it is " + std::string(to_string(progress.status)) +
                            ", which could not be kept: " + event.error.message);
  progress.status = Status::unresolved;
  progress.unsent = false;
  state_ = State::ended;
  out.emplace_back(note(Told::order_not_saved, progress.reason));
  out.emplace_back(Finish{.progress = progress, .kept = false});
}

void Placement::on(const Answered& event, Effects& out) {
  PAWL_ASSERT(state_ == State::sending);
  const Answer& answer = event.answer;
  heard(answer);
  const Ended facts{.attempt = intent_.progress.attempts,
                    .sent = answer.sent,
                    .turned_away = answer.turned_away,
                    .has_order_id = !answer.order_id.empty(),
                    .not_completed = answer.code == not_completed_code,
                    .retry_after = std::max(answer.retry_after, Duration()),
                    .withdrawn = withdrawn_,
                    .key = retry::jitter_key(intent_.reference)};
  const Decision decision = order::decide(settings_, facts);
  const std::string why = std::string(explain(decision.reason)) + ": " + text_of(answer);
  const Decided decided{settings_, facts, decision, why};
  out.emplace_back(Keep{decision_event(intent_, decided, {}, now_.wall)});
  for (Note& each : notes_of(answer, decision, note(Told::operation_failed))) {
    out.emplace_back(std::move(each));
  }
  if (decision.next == Next::read) {
    intent_.progress.status = Status::reconciling;
    out.emplace_back(note(Told::reconciling_before_retry));
    return save(Then::read, out);
  }
  go_on(decision, why, out);
}

void Placement::on(const ReadDone& event, Effects& out) {
  PAWL_ASSERT(state_ == State::reading);
  const Reading& reading = event.reading;
  ++readings_;
  const Sighting seen = judge(intent_, reading);
  const Read facts = facts_of(reading, seen);
  const Decision decision = order::decide(settings_, facts);
  if (counts_for_absence(settings_, facts) && !absent_since_) absent_since_ = read_begun_;
  add_reading(intent_, reading, now_.wall);
  std::string why(explain(decision.reason));
  if (!reading.whole && !reading.why_not_whole.empty()) why += " (" + reading.why_not_whole + ")";
  const Decided decided{settings_, facts, decision, why};
  out.emplace_back(Keep{decision_event(intent_, decided, reading.sources, now_.wall)});
  if (decision.reason == Reason::found || decision.reason == Reason::found_refused) {
    intent_.progress.order_id = line_of(seen.found->order_id);
    intent_.progress.life = seen.found->life;
  }
  tell_read(decision, out);
  go_on(decision, why, out);
}

void Placement::on(const Woken&, Effects& out) {
  const bool waits =
      state_ == State::waiting || state_ == State::save_waiting || state_ == State::resting;
  if (!waits) return;
  if (now_.steady < wake_at_) {
    out.emplace_back(WakeAt{wake_at_});
    return;
  }
  if (state_ == State::waiting) return next_attempt(out);
  if (state_ == State::resting) return read(out);
  save(then_, out);
}

// In the other states an attempt is under way, of unknown outcome, or over.
void Placement::on(const Withdrawn&, Effects& out) {
  withdrawn_ = true;
  const bool is_certain = state_ == State::pacing || state_ == State::waiting;
  if (!is_certain) return;
  if (state_ == State::pacing) out.emplace_back(LeavePace{});
  add("caller", "gave up before it left");
  end(Status::rejected, std::string(explain(Reason::withdrawn)), out);
}

void Placement::on(const Settled& event, Effects& out) {
  PAWL_ASSERT(state_ == State::idle);
  const Resolution& said = event.resolution;
  PAWL_ASSERT(check(said, intent_).has_value());
  left_ = true;
  const bool placed = said.as == Resolution::As::placed;
  Progress& progress = intent_.progress;
  if (!said.order_id.empty()) progress.order_id = said.order_id;
  const std::string text = said.who + ": settled as " + std::string(to_string(said.as)) +
                           (placed ? " (order " + progress.order_id + "): " : ": ") + said.reason;
  add("person", text);
  progress.status = placed ? Status::confirmed : Status::rejected;
  out.emplace_back(Keep{state_event(intent_, text, now_.wall)});
  out.emplace_back(note(Told::order_settled, text));
  end(progress.status, placed ? std::string() : text, out);
}

// ---- what they lead to

// Whatever it was, no copy of it leaves any more.
void Placement::heard(const Answer& answer) {
  Progress& progress = intent_.progress;
  quiet_since_ = now_.steady;
  readings_ = 0;
  absent_since_.reset();
  if (!answer.order_id.empty()) progress.order_id = line_of(answer.order_id);
  if (answer.expires) {
    progress.expires = std::max(progress.expires.value_or(*answer.expires), *answer.expires);
  }
  const bool venue_has_it = !answer.order_id.empty() || answer.sent == Sent::duplicate ||
                            answer.code == not_completed_code;
  progress.sealed = progress.sealed || venue_has_it;
  left_ = left_ || venue_has_it || answer.sent != Sent::not_sent || answer.turned_away;
  add("place attempt " + std::to_string(progress.attempts), text_of(answer));
}

Read Placement::facts_of(const Reading& reading, const Sighting& seen) const {
  const auto since = [](SteadyInstant to, SteadyInstant from) {
    return std::max(to - from, Duration());
  };
  return {.attempt = intent_.progress.attempts,
          .readings = readings_,
          .orders = seen.orders,
          .strangers = seen.strangers,
          .probable = seen.probable,
          .venue_refused = seen.found && seen.found->life == Life::rejected,
          .whole = reading.whole,
          .readable = seen.readable,
          .expired = seen.expired,
          .quiet = since(read_begun_, quiet_since_),
          .absent_before = absent_since_.has_value(),
          .since_absent = absent_since_ ? since(read_begun_, *absent_since_) : Duration(),
          .elapsed = since(now_.steady, quiet_since_),
          .sealed = intent_.progress.sealed,
          .withdrawn = withdrawn_};
}

void Placement::go_on(const Decision& decision, std::string why, Effects& out) {
  switch (decision.next) {
    case Next::confirm:
      return end(Status::confirmed, {}, out);
    case Next::reject:
      return end(Status::rejected, std::move(why), out);
    case Next::unresolved:
      return end(Status::unresolved, std::move(why), out);
    case Next::read:
      return wait(decision.delay, State::resting, out);
    case Next::send_again:
      if (decision.delay == Duration()) return next_attempt(out);
      return wait(decision.delay, State::waiting, out);
  }
}

void Placement::ask_pace(std::string_view why, Effects& out) {
  out.emplace_back(Keep{state_event(intent_, why, now_.wall)});
  state_ = State::pacing;
  out.emplace_back(AskPace{.urgent = intent_.order.reduce_only});
}

// The one place where an attempt is followed by another.
void Placement::next_attempt(Effects& out) {
  Progress& progress = intent_.progress;
  PAWL_ASSERT(!progress.sealed && !withdrawn_);
  progress.status = Status::sending;
  ++progress.attempts;
  progress.request_id = request_id(intent_.reference, "place", now_.wall,
                                   attempt_entropy(entropy_, progress.attempts));
  save(Then::pace, out);
}

void Placement::read(Effects& out) {
  state_ = State::reading;
  read_begun_ = now_.steady;
  out.emplace_back(ReadVenue{intent_.progress.order_id});
}

void Placement::wait(Duration delay, State state, Effects& out) {
  state_ = state;
  wake_at_ = now_.steady + delay;
  out.emplace_back(WakeAt{wake_at_});
}

void Placement::end(Status status, std::string reason, Effects& out) {
  Progress& progress = intent_.progress;
  progress.status = status;
  progress.reason = line_of(reason);
  progress.unsent = status == Status::rejected && !left_;
  if (status == Status::confirmed && progress.life == Life::unknown) {
    progress.life = Life::working;
  }
  save(Then::finish, out);
}

void Placement::save(Then then, Effects& out) {
  then_ = then;
  state_ = State::saving;
  out.emplace_back(Save{intent_.progress});
}

void Placement::finish(Effects& out) {
  const Progress& progress = intent_.progress;
  state_ = State::ended;
  if (progress.status == Status::confirmed) out.emplace_back(note(Told::order_confirmed));
  if (progress.status == Status::rejected) {
    out.emplace_back(note(Told::order_placement_failed_final, failed_text(progress.reason)));
  }
  if (progress.status == Status::unresolved) {
    out.emplace_back(note(Told::order_unresolved, progress.reason));
  }
  out.emplace_back(Finish{.progress = progress, .kept = true});
}

// ---- what is told

void Placement::tell_read(const Decision& decision, Effects& out) const {
  const std::string why(explain(decision.reason));
  switch (decision.reason) {
    case Reason::found:
    case Reason::found_refused:
      out.emplace_back(note(Told::order_found_in_reconciliation, why));
      out.emplace_back(note(Told::order_found_skipping_retry, why));
      return;
    case Reason::absence_earned:
      out.emplace_back(note(Told::safe_to_retry_after_reconciliation, why));
      out.emplace_back(note(Told::no_order_found_retrying, why));
      return;
    case Reason::absent_exhausted:
      out.emplace_back(note(Told::max_retries_exhausted, why));
      return;
    default:
      return;
  }
}

Note Placement::note(Told what, std::string message) const {
  const Progress& progress = intent_.progress;
  return {.what = what,
          .operation = std::string(place_operation),
          .venue = intent_.order.venue,
          .external_reference = intent_.reference,
          .request_id = progress.request_id,
          .attempt = progress.attempts,
          .max_attempts = settings_.retry.max_attempts,
          .order_id = progress.order_id,
          .message = std::move(message)};
}

void Placement::add(std::string source, std::string says) {
  add_evidence(intent_.progress, {now_.wall, std::move(source), std::move(says)});
}

}  // namespace pawl::order
