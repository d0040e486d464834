// The part of the request machine that is about writes with a key.
#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "core/request/machine.h"

namespace pawl::request {
namespace {

using idempotency::Status;
using Verdict = idempotency::Begun::Verdict;

// Who waits for somebody else looks again so soon, then less often.
constexpr Duration look_again_min = Duration::milliseconds(20);
constexpr Duration look_again_max = Duration::seconds(1);
// What somebody is told who comes while the first is under way: most are done by then.
constexpr std::int64_t in_flight_retry_seconds = 1;

WriteEvent event_of(Status status) {
  switch (status) {
    case Status::done:
      return WriteEvent::executed;
    case Status::unknown:
      return WriteEvent::unknown;
    case Status::failed:
    case Status::in_flight:
      return WriteEvent::not_stored;
  }
  __builtin_unreachable();
}

bool is_ours(const Result<idempotency::Begun>& begun) {
  return begun && (begun->verdict == Verdict::started || begun->verdict == Verdict::took_over);
}

}  // namespace

Effects Machine::on(const BadKey& event) {
  PAWL_ASSERT(state_ == State::idle);
  const std::string header(event.header);
  if (event.kind == KeyFound::Kind::missing) {
    return end_write(WriteEvent::missing_key,
                     {http::ProblemCode::idempotency_key_missing,
                      "This path takes no write without a key. Send the header " + header +
                          " with a value of your own for this intent, a UUID for one, and the "
                          "same one when you send it again."});
  }
  return end_write(
      WriteEvent::invalid_key,
      {http::ProblemCode::idempotency_key_invalid,
       "The header " + header + " must be there once and have 1 to " +
           std::to_string(bounds::idempotency_key_bytes_max) +
           " characters of printable ASCII, in double quotes, or bare and without a comma."});
}

Effects Machine::on(const Gathered& event) {
  PAWL_ASSERT(state_ == State::gathering);
  fingerprint_ = event.fingerprint;
  credentials_ = event.credentials;
  return look_up();
}

Effects Machine::on(const TooLarge& event) {
  PAWL_ASSERT(state_ == State::gathering);
  return end_with(
      {http::ProblemCode::too_large,
       "A write with a key is compared as a whole and may have " + std::to_string(event.bytes_max) +
           " bytes (idempotency.body_limit). Send it without a key, or in parts."},
      Outcome::not_applied);
}

Effects Machine::look_up() {
  state_ = State::looking;
  unprotected_ = false;  // the store may be back
  Effects effects;
  effects.add(LookUp{++ask_, fingerprint_, rules_->store_deadline});
  return effects;
}

Effects Machine::on(const LookedUp& event) {
  if (state_ != State::looking || event.ask != ask_) return {};
  if (!event.found) return store_failed(event.found.error().message);
  const std::optional<idempotency::Record>& record = *event.found;
  if (!record) return charge();
  const bool same = record->fingerprint == fingerprint_;
  const bool may_begin =
      record->status == Status::failed ||
      (record->status == Status::unknown && rules_->on_unknown == OnUnknown::execute);
  return same && may_begin ? charge() : found(*record);
}

Effects Machine::claim() {
  state_ = State::claiming;
  claim_may_come_ = !unprotected_;
  Effects effects;
  effects.add(Claim{.ask = ++ask_,
                    .begin = {.fingerprint = fingerprint_,
                              .lease = rules_->lease,
                              // For when nobody completes it.
                              .ttl = std::max(rules_->ttl, bounds::record_unknown_ttl),
                              .take_over = rules_->on_unknown == OnUnknown::execute},
                    .deadline = rules_->store_deadline,
                    .here_alone = unprotected_});
  return effects;
}

Effects Machine::on(const Claimed& event) {
  if (state_ != State::claiming || event.ask != ask_) return {};
  claim_may_come_ = false;
  if (!event.begun) return store_failed(event.begun.error().message);
  if (!is_ours(event.begun)) {
    used_ = false;
    return found(event.begun->record);
  }
  fence_ = event.begun->record.fence;
  Effects effects;
  if (event.begun->verdict == Verdict::took_over) effects.add(NoteWrite{WriteEvent::taken_over});
  for (const Effect& effect : send()) effects.add(effect);
  return effects;
}

// Somebody was here before.
Effects Machine::found(const idempotency::Record& record) {
  if (record.fingerprint != fingerprint_) {
    return end_write(
        WriteEvent::mismatch,
        {.code = http::ProblemCode::idempotency_mismatch,
         .detail = "The key was used before for a request with another body or query. Nothing was "
                   "applied: send the first request again, or this one with a key of its own.",
         .status = rules_->on_mismatch == OnMismatch::conflict ? 409 : 0});
  }
  switch (record.status) {
    case Status::done:
      return done_before(record.response);
    case Status::in_flight:
      return held_by_other();
    case Status::unknown:
    case Status::failed:
      break;
  }
  return end_write(WriteEvent::unknown,
                   {http::ProblemCode::outcome_unknown,
                    "A request with this key was begun and nobody knows how it ended. It is not "
                    "sent again: look at the service what became of it, then settle the key with "
                    "`pawl idempotency settle`, or use a new one."});
}

Effects Machine::done_before(const idempotency::Response& kept) {
  Result<ReplayedHead> head = replayed_head(kept);
  if (kept.tombstone || !head) {
    return end_write(WriteEvent::tombstone,
                     {http::ProblemCode::idempotency_not_replayable,
                      "A request with this key was executed. Its answer was too large to keep, or "
                      "was none that is kept, so it cannot be given again; nothing was sent."});
  }
  if (head->credentials != credentials_) {
    return end_write(WriteEvent::tombstone,
                     {http::ProblemCode::idempotency_not_replayable,
                      "A request with this key was executed for somebody from this address with "
                      "other credentials, who alone gets its answer again; nothing was sent."});
  }
  Effects effects;
  effects.add(NoteWrite{WriteEvent::replayed});
  for (const Effect& effect : end({Outcome::applied, head->status})) effects.add(effect);
  effects.add(Replay{*std::move(head), kept.body});
  return effects;
}

Effects Machine::held_by_other() {
  const Duration wait = std::clamp(waited_, look_again_min, look_again_max);
  // Without the store there will be no answer to wait for.
  if (rules_->on_in_flight == OnInFlight::conflict || unprotected_ ||
      waited_ + wait > bounds::write_wait_max) {
    return end_write(WriteEvent::in_flight,
                     {.code = http::ProblemCode::idempotency_in_flight,
                      .detail = "A request with this key is under way. Nothing was sent a second "
                                "time: ask again for its answer.",
                      .retry_after_seconds = in_flight_retry_seconds});
  }
  waited_ = waited_ + wait;
  state_ = State::waiting;
  Effects effects;
  settle(effects);
  used_ = true;
  has_answer_ = false;
  answer_ = {};
  effects.add(WaitForOther{++ask_, wait});
  return effects;
}

Effects Machine::store_failed(const std::string& why) {
  NoteWrite note{WriteEvent::store_failure, why};
  const bool was_claiming = state_ == State::claiming;
  Effects effects;
  effects.add(std::move(note));
  if (rules_->on_store_failure == OnRecordFailure::execute) {
    unprotected_ = true;
    for (const Effect& effect : was_claiming ? send() : charge()) effects.add(effect);
    return effects;
  }
  used_ = !was_claiming;
  for (const Effect& effect :
       end_with({http::ProblemCode::store_unavailable,
                 "The store of idempotency keys does not answer (" + why +
                     "). Nothing was applied: it is safe to send this again."},
                Outcome::not_applied)) {
    effects.add(effect);
  }
  return effects;
}

Effects Machine::on(const Overdue& event) {
  if (event.ask != ask_) return {};
  switch (state_) {
    case State::looking:
    case State::claiming:
      return store_failed("no answer within " + to_string(rules_->store_deadline));
    case State::waiting:
      return look_up();
    case State::completing:
      return completed(
          {WriteEvent::store_failure, "not recorded within " + to_string(rules_->store_deadline)});
    case State::idle:
    case State::gathering:
    case State::charging:
    case State::recording:
    case State::sending:
    case State::ended:
      return {};
  }
  __builtin_unreachable();
}

Effects Machine::on(const Overflowed& event) {
  PAWL_ASSERT(state_ == State::sending && fence_ != 0);
  streams_on_ = true;
  return complete(completion_of(*rules_, event.status,
                                {.body = {}, .metadata = event.metadata, .tombstone = true}),
                  answered_with(event.status));
}

Effects Machine::complete(idempotency::Completion how, std::string why) {
  state_ = State::completing;
  ended_as_ = {.what = event_of(how.status), .detail = std::move(why), .of_this_one = true};
  Effects effects;
  effects.add(RecordWrite{
      .ask = ++ask_, .fence = fence_, .how = std::move(how), .deadline = rules_->store_deadline});
  return effects;
}

Effects Machine::on(const Written& event) {
  if (state_ != State::completing || event.ask != ask_) return {};
  if (event.recorded) return completed(std::move(ended_as_));
  return completed({WriteEvent::store_failure, event.recorded.error().message});
}

// A claim that nobody waited for may have been taken all the same. It is to say how this ended, so
// that the next one with the key need not be told that nobody knows.
void Machine::leave_claim(Effects& effects, const RecordEnd& how) {
  if (!std::exchange(claim_may_come_, false)) return;
  if (how.outcome == Outcome::applied) {
    effects.add(LeaveClaim{completion_of(*rules_, how.status, {.tombstone = true})});
    return;
  }
  const bool free = how.outcome == Outcome::not_applied;
  effects.add(LeaveClaim{
      completion_without_answer(*rules_, free ? Status::failed : Status::unknown,
                                "the store had not answered before it was sent or given up")});
}

// Now the client may hear of it. One that the store did not take reads as unknown once its lease is
// over: nothing is sent a second time.
Effects Machine::completed(NoteWrite note) {
  fence_ = 0;
  Effects effects;
  const bool lost = note.what == WriteEvent::store_failure;
  effects.add(std::move(note));
  if (lost && ended_as_.what == WriteEvent::unknown) effects.add(std::move(ended_as_));
  if (streams_on_) {
    state_ = State::sending;
    effects.add(Deliver{});
    return effects;
  }
  for (const Effect& effect : end(end_)) effects.add(effect);
  if (refusal_) {
    effects.add(*std::move(refusal_));
  } else {
    effects.add(Deliver{});
  }
  return effects;
}

Effects Machine::end_write(WriteEvent what, Refuse refusal) {
  Effects effects;
  effects.add(NoteWrite{what});
  for (const Effect& effect : end_with(std::move(refusal), Outcome::not_applied)) {
    effects.add(effect);
  }
  return effects;
}

}  // namespace pawl::request
