#include "core/request/machine.h"

#include <algorithm>

#include "base/assert.h"
#include "core/limit/explain.h"
#include "core/limit/headers.h"

namespace pawl::request {
namespace {

constexpr int sends_max = 2;
constexpr std::int64_t overload_retry_seconds = 1;

http::ProblemCode problem_of(Failed::Kind kind) {
  return kind == Failed::Kind::timeout ? http::ProblemCode::upstream_timeout
                                       : http::ProblemCode::upstream_unreachable;
}

std::string_view what_happened(Failed::Kind kind) {
  switch (kind) {
    case Failed::Kind::unreachable:
      return "The upstream could not be reached or broke the connection.";
    case Failed::Kind::timeout:
      return "The upstream did not answer in time.";
    case Failed::Kind::bad_answer:
      return "The upstream sent an answer that is not HTTP/1.1.";
  }
  __builtin_unreachable();
}

std::string_view what_to_do(Outcome outcome, bool harmless) {
  if (harmless) return " It changes nothing: it is safe to send this again.";
  switch (outcome) {
    case Outcome::not_applied:
      return " Nothing was applied: it is safe to send this again.";
    case Outcome::applied:
    case Outcome::unknown:
      return " It may have been applied: look before you send it again.";
  }
  __builtin_unreachable();
}

Outcome outcome_of(int status) {
  // The upstream decided; whether a 5xx changed anything, only it knows.
  return status >= 500 ? Outcome::unknown : Outcome::applied;
}

}  // namespace

void Effects::add(Effect effect) {
  PAWL_ASSERT(count_ < items_.size());
  std::construct_at(items_.data() + count_++, std::move(effect));
}

Effects Machine::decide(const Event& event) {
  return std::visit([this](const auto& e) { return on(e); }, event);
}

Effects Machine::on(const Arrived& event) {
  PAWL_ASSERT(state_ == State::idle);
  harmless_ = event.harmless;
  counts_ = event.counts;
  rules_ = event.write;
  if (rules_ == nullptr) return charge();
  state_ = State::gathering;
  return {};
}

Effects Machine::charge() {
  Effects effects;
  if (counts_.empty()) {
    // No bucket counts it.
    answer_.allowed = true;
    state_ = State::recording;
    effects.add(RecordLimit{});
    return effects;
  }
  state_ = State::charging;
  Duration shortest = Duration::max();
  for (const limit::Count& count : counts_) {
    if (const auto* slots = std::get_if<limit::Concurrency>(&count.policy->rule)) {
      hold_ = std::max(hold_, slots->lease);
      shortest = std::min(shortest, slots->lease);
    }
  }
  // Twice may a renewal be late or lost.
  renew_every_ = shortest / 3;
  effects.add(ChargeLimit{counts_, hold_});
  return effects;
}

Effects Machine::on(const Charged& event) {
  PAWL_ASSERT(state_ == State::charging || state_ == State::ended);
  reservation_ = event.reservation;
  Effects effects;
  if (state_ == State::ended) {
    // Abandoned in the meantime: the charge stands, nobody is left to serve.
    settle(effects);
    return effects;
  }
  state_ = State::recording;
  answer_ = event.answer;
  has_answer_ = true;
  retry_after_ = event.retry_after;
  effects.add(RecordLimit{});
  return effects;
}

Effects Machine::on(const Recorded&) {
  PAWL_ASSERT(state_ == State::recording);
  if (answer_.allowed) return rules_ != nullptr ? claim() : send();
  return end_with({.code = http::ProblemCode::rate_limit,
                   .retry_after_seconds = limit::retry_after_seconds(answer_, retry_after_)},
                  Outcome::not_applied);
}

void Machine::append_words(std::string& out, const Refuse& refusal) const {
  if (!refusal.detail.empty()) {
    out.append(refusal.detail);
  } else {
    limit::append_explanation(out, counts_, answer_, {.audience = limit::Audience::clients});
  }
}

Refusers Machine::refusers() const {
  Refusers refusers;
  for (std::size_t i = 0; has_answer_ && i < counts_.size(); ++i) {
    const limit::Policy& policy = *counts_[i].policy;
    if (!answer_.verdicts[i].allowed && !policy.options.shadow) refusers.add(policy.name);
  }
  return refusers;
}

Effects Machine::send() {
  state_ = State::sending;
  ++sends_;
  Effects effects;
  effects.add(SendUpstream{});
  return effects;
}

// What cannot be shown afterwards is not done.
Effects Machine::on(const RecordFailed& event) {
  PAWL_ASSERT(state_ == State::recording);
  used_ = false;
  return end_with({http::ProblemCode::store_unavailable,
                   "The audit log does not take the event (" + event.error.message +
                       "). Nothing was applied: it is safe to send this again."},
                  Outcome::not_applied);
}

Effects Machine::on(const ChargeFailed& event) {
  PAWL_ASSERT(state_ == State::charging || state_ == State::ended);
  if (state_ == State::ended) return {};
  return end_with({http::ProblemCode::store_unavailable,
                   "The store of the limits does not answer (" + event.error.message +
                       "). Nothing was applied: it is safe to send this again."},
                  Outcome::not_applied);
}

Effects Machine::on(const Answered& event) {
  PAWL_ASSERT(state_ == State::sending);
  if (fence_ == 0) return end({outcome_of(event.status), event.status});
  end_ = {outcome_of(event.status), event.status};
  return complete(completion_of(*rules_, event.status, event.kept), answered_with(event.status));
}

Effects Machine::on(const CutOff& event) {
  PAWL_ASSERT(state_ == State::sending);
  return end({Outcome::unknown, event.status});
}

Effects Machine::on(const Failed& event) {
  PAWL_ASSERT(state_ == State::sending);
  may_be_applied_ = may_be_applied_ || !may_send_again(event.outcome);
  // A kept-alive connection may die of old age just as it is used again. That is worth one more try
  // where a second copy does no harm.
  const bool died_of_age = event.kind == Failed::Kind::unreachable && event.reused_connection;
  if (died_of_age && harmless_ && sends_ < sends_max) return send();
  const Outcome outcome = may_be_applied_ ? Outcome::unknown : Outcome::not_applied;
  std::string detail(what_happened(event.kind));
  if (fence_ == 0) {
    detail += what_to_do(outcome, harmless_);
    return end_with({problem_of(event.kind), std::move(detail)}, outcome);
  }
  const auto status = may_be_applied_ ? idempotency::Status::unknown : idempotency::Status::failed;
  idempotency::Completion how = completion_without_answer(*rules_, status, detail);
  refusal_ = Refuse{problem_of(event.kind), detail + std::string(what_to_do(outcome, false))};
  end_ = {outcome, http::status_of(refusal_->code)};
  return complete(std::move(how), std::move(detail));
}

Effects Machine::on(const Abandoned& event) {
  if (state_ == State::ended || state_ == State::idle) return {};
  if (fence_ != 0) {
    client_gone_ = true;
    return {};
  }
  const bool may_be_applied = may_be_applied_ || event.sent;
  return end({may_be_applied ? Outcome::unknown : Outcome::not_applied, event.status});
}

Effects Machine::on(const TimePassed& event) {
  Effects effects;
  const auto is_due = [&](SteadyInstant& at, Duration every) {
    const bool due = at != SteadyInstant() && event.now >= at;
    if (due || at == SteadyInstant()) at = event.now + every;
    return due;
  };
  if (state_ != State::sending && state_ != State::completing) return effects;
  if (reservation_ != 0 && is_due(renew_at_, renew_every_)) {
    effects.add(RenewLimit{counts_, reservation_, hold_});
  }
  if (fence_ != 0 && is_due(renew_claim_at_, rules_->lease / 3)) {
    effects.add(RenewClaim{fence_, rules_->lease});
  }
  return effects;
}

Effects Machine::on(const Unnamed& event) {
  PAWL_ASSERT(state_ == State::idle);
  std::string detail = "Nobody has the API key that this request came with.";
  if (!event.header.empty()) {
    detail = "The request names no tenant that can be believed. Send an API key, or the header " +
             std::string(event.header) + " once, through a trusted proxy.";
  }
  return end_with({http::ProblemCode::tenant_unknown, std::move(detail)}, Outcome::not_applied);
}

Effects Machine::on(const Overloaded&) {
  PAWL_ASSERT(state_ == State::idle || state_ == State::gathering);
  return end_with({.code = http::ProblemCode::overloaded,
                   .detail = "There is more to do than can be done. Nothing was applied: it is "
                             "safe to send this again, a little later.",
                   .retry_after_seconds = overload_retry_seconds},
                  Outcome::not_applied);
}

Effects Machine::on(const UpgradeRefused&) {
  PAWL_ASSERT(state_ == State::idle);
  return end_with({http::ProblemCode::upgrade_refused,
                   "The request asks for another protocol, which is not passed on here. Send it "
                   "without Upgrade; WebSocket is passed on where server.websocket is true."},
                  Outcome::not_applied);
}

Effects Machine::end(RecordEnd how) {
  state_ = State::ended;
  if (client_gone_) how.status = 0;
  Effects effects;
  leave_claim(effects, how);
  effects.add(how);
  settle(effects);
  return effects;
}

Effects Machine::end_with(Refuse refusal, Outcome outcome) {
  const int status = refusal.status != 0 ? refusal.status : http::status_of(refusal.code);
  Effects effects = end({outcome, status});
  effects.add(std::move(refusal));
  return effects;
}

void Machine::settle(Effects& effects) {
  if (reservation_ != 0) {
    effects.add(SettleLimit{counts_, reservation_, used_});
  } else if (!used_ && answer_.allowed) {
    effects.add(RefundLimit{counts_, limit::charged_mask(answer_)});
  }
  reservation_ = 0;
}

}  // namespace pawl::request
