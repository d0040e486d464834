#include "core/request/machine.h"

#include <algorithm>

#include "base/assert.h"
#include "core/limit/explain.h"
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

std::vector<std::string_view> refusing(limit::Counts counts, const limit::Answer& answer) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const limit::Policy& policy = *counts[i].policy;
    if (!answer.verdicts[i].allowed && !policy.options.shadow) names.push_back(policy.name);
  }
  return names;
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
  PAWL_ASSERT(state_ == State::idle && !event.counts.empty());
  state_ = State::charging;
  harmless_ = event.harmless;
  counts_ = event.counts;
  Duration shortest = Duration::max();
  for (const limit::Count& count : counts_) {
    if (const auto* slots = std::get_if<limit::Concurrency>(&count.policy->rule)) {
      hold_ = std::max(hold_, slots->lease);
      shortest = std::min(shortest, slots->lease);
    }
  }
  // Twice may a renewal be late or lost.
  renew_every_ = Duration::nanoseconds(shortest.ns() / 3);
  Effects effects;
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
  if (answer_.allowed) {
    state_ = State::sending;
    sends_ = 1;
    Effects effects;
    effects.add(SendUpstream{});
    return effects;
  }
  return end_with({.code = http::ProblemCode::rate_limit,
                   .detail = limit::explain(counts_, answer_, 1, limit::Audience::clients),
                   .retry_after_seconds = limit::retry_after_seconds(answer_, retry_after_),
                   .violated_policies = refusing(counts_, answer_)},
                  Outcome::not_applied);
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
  // The upstream decided; whether a 5xx changed anything, only it knows.
  return end({event.status >= 500 ? Outcome::unknown : Outcome::applied, event.status});
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
  if (state_ == State::ended || state_ == State::idle) return {};
  const bool may_be_applied = may_be_applied_ || event.sent;
  return end({may_be_applied ? Outcome::unknown : Outcome::not_applied, event.status});
}

Effects Machine::on(const TimePassed& event) {
  Effects effects;
  if (reservation_ == 0 || state_ != State::sending) return effects;
  if (renew_at_ == SteadyInstant()) {
    renew_at_ = event.now + renew_every_;
  } else if (event.now >= renew_at_) {
    renew_at_ = event.now + renew_every_;
    effects.add(RenewLimit{counts_, reservation_, hold_});
  }
  return effects;
}

Effects Machine::on(const Unnamed& event) {
  PAWL_ASSERT(state_ == State::idle);
  return end_with({http::ProblemCode::tenant_unknown,
                   "The request names no tenant that can be believed. Send the header " +
                       std::string(event.header) + " once, through a trusted proxy."},
                  Outcome::not_applied);
}

Effects Machine::end(RecordEnd how) {
  state_ = State::ended;
  Effects effects;
  effects.add(how);
  settle(effects);
  return effects;
}

Effects Machine::end_with(Refuse refusal, Outcome outcome) {
  Effects effects = end({outcome, http::status_of(refusal.code)});
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
