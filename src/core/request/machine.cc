#include "core/request/machine.h"

#include "base/assert.h"
#include "core/limit/headers.h"

namespace pawl::request {
namespace {

constexpr int sends_max = 2;

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

std::string_view what_to_do(Outcome outcome) {
  switch (outcome) {
    case Outcome::not_applied:
      return " Nothing was applied: it is safe to send this again.";
    case Outcome::applied:
    case Outcome::unknown:
      return " It may have been applied: look before you send it again.";
  }
  __builtin_unreachable();
}

}  // namespace

void Effects::add(Effect effect) {
  PAWL_ASSERT(count_ < items_.size());
  items_[count_++] = std::move(effect);
}

Effects Machine::decide(const Event& event) {
  return std::visit([this](const auto& e) { return on(e); }, event);
}

Effects Machine::on(const Arrived& event) {
  PAWL_ASSERT(state_ == State::idle && event.policy != nullptr);
  state_ = State::charging;
  harmless_ = event.harmless;
  policy_name_ = event.policy->name;
  Effects effects;
  effects.add(ChargeLimit{event.policy, event.tenant});
  return effects;
}

Effects Machine::on(const Charged& event) {
  PAWL_ASSERT(state_ == State::charging);
  state_ = State::recording;
  verdict_ = event.verdict;
  has_verdict_ = true;
  Effects effects;
  effects.add(RecordLimit{event.verdict});
  return effects;
}

Effects Machine::on(const Recorded&) {
  PAWL_ASSERT(state_ == State::recording);
  Effects effects;
  if (verdict_.allowed) {
    state_ = State::sending;
    sends_ = 1;
    effects.add(SendUpstream{});
    return effects;
  }
  const std::int64_t seconds = limit::retry_after_seconds(verdict_);
  return end_with(
      {http::ProblemCode::rate_limit,
       "Limit '" + std::string(policy_name_) + "' of " + std::to_string(verdict_.limit) +
           " is used up. Try again in " + std::to_string(seconds) + " s.",
       seconds},
      Outcome::not_applied);
}

// What cannot be shown afterwards is not done.
Effects Machine::on(const RecordFailed& event) {
  PAWL_ASSERT(state_ == State::recording);
  return end_with({http::ProblemCode::store_unavailable,
                   "The audit log does not take the event (" + event.error.message +
                       "). Nothing was applied: it is safe to send this again."},
                  Outcome::not_applied);
}

Effects Machine::on(const ChargeFailed& event) {
  PAWL_ASSERT(state_ == State::charging);
  return end_with({http::ProblemCode::store_unavailable,
                   "The store of the limits does not answer (" + event.error.message +
                       "). Nothing was applied: it is safe to send this again."},
                  Outcome::not_applied);
}

Effects Machine::on(const Answered& event) {
  PAWL_ASSERT(state_ == State::sending);
  state_ = State::ended;
  Effects effects;
  // The upstream decided; whether a 5xx changed anything, only it knows.
  const Outcome outcome = event.status >= 500 ? Outcome::unknown : Outcome::applied;
  effects.add(RecordEnd{outcome, event.status});
  return effects;
}

Effects Machine::on(const CutOff& event) {
  PAWL_ASSERT(state_ == State::sending);
  state_ = State::ended;
  Effects effects;
  effects.add(RecordEnd{Outcome::unknown, event.status});
  return effects;
}

Effects Machine::on(const Failed& event) {
  PAWL_ASSERT(state_ == State::sending);
  may_be_applied_ = may_be_applied_ || !may_send_again(event.outcome);
  // A kept-alive connection may die of old age just as it is used again. That is worth one more try
  // where a second copy does no harm.
  const bool died_of_age = event.kind == Failed::Kind::unreachable && event.reused_connection;
  if (died_of_age && harmless_ && sends_ < sends_max) {
    ++sends_;
    Effects effects;
    effects.add(SendUpstream{});
    return effects;
  }
  const Outcome outcome = may_be_applied_ ? Outcome::unknown : Outcome::not_applied;
  std::string detail(what_happened(event.kind));
  detail += what_to_do(outcome);
  return end_with({problem_of(event.kind), std::move(detail)}, outcome);
}

Effects Machine::on(const Abandoned& event) {
  Effects effects;
  if (state_ == State::ended || state_ == State::idle) return effects;
  state_ = State::ended;
  const bool may_be_applied = may_be_applied_ || event.sent;
  effects.add(RecordEnd{may_be_applied ? Outcome::unknown : Outcome::not_applied, event.status});
  return effects;
}

Effects Machine::on(const Unnamed& event) {
  PAWL_ASSERT(state_ == State::idle);
  return end_with({http::ProblemCode::tenant_unknown,
                   "The request names no tenant that can be believed. Send the header " +
                       std::string(event.header) + " once, through a trusted proxy."},
                  Outcome::not_applied);
}

Effects Machine::end_with(Refuse refusal, Outcome outcome) {
  state_ = State::ended;
  const int status = http::status_of(refusal.code);
  Effects effects;
  effects.add(std::move(refusal));
  effects.add(RecordEnd{outcome, status});
  return effects;
}

}  // namespace pawl::request
