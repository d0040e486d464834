#include "core/audit/replay.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/bounds.h"
#include "base/member_reader.h"
#include "core/audit/event.h"
#include "core/audit/retry_event.h"
#include "core/order/record.h"
#include "core/retry/decision_record.h"

namespace pawl::audit {
namespace {

using request::LimitDecision;
using request::RecordedLimit;
using request::Said;

Replayed agrees() {
  return {.how = Replayed::How::agrees};
}

Replayed no_decision() {
  return {.how = Replayed::How::no_decision};
}

Replayed not_replayable(std::string why) {
  return {.how = Replayed::How::not_replayable, .why = std::move(why)};
}

Replayed differs(json::Value recorded, json::Value again) {
  return {
      .how = Replayed::How::differs, .recorded = std::move(recorded), .again = std::move(again)};
}

Replayed unreadable(std::string why) {
  return {.how = Replayed::How::differs, .why = std::move(why)};
}

// Empty when there is no such member, or it is no text.
std::string_view text_in(const json::Value& record, std::string_view name) {
  const json::Value* member = record.find(name);
  const std::string* text = member == nullptr ? nullptr : member->if_string();
  return text == nullptr ? std::string_view() : *text;
}

// ---- retries

EventType type_of(retry::Next next) {
  switch (next) {
    case retry::Next::done:
      return EventType::retry_succeeded;
    case retry::Next::backoff:
    case retry::Next::sleep:
      return EventType::retry_attempt;
    case retry::Next::give_up:
    case retry::Next::unresolved:
      return EventType::retry_exhausted;
    case retry::Next::reconcile:
      return EventType::reconcile;
  }
  __builtin_unreachable();
}

json::Object value_of(const retry::Decision& decision) {
  return {{"next", to_string(decision.next)},
          {"reason", to_string(decision.reason)},
          {"outcome", to_string(decision.outcome)},
          {"delay_ns", std::to_string(decision.delay.ns())}};
}

// What the record of such a decision says besides it.
json::Object told_beside(const retry::RecordedDecision& of, const retry::Decision& decision) {
  const EventType type = type_of(decision.next);
  json::Object told{{"event_type", to_string(type)}};
  if (type == EventType::retry_attempt) {
    told["attempt_number"] = of.facts.attempt;
    told["max_attempts"] = of.policy.max_attempts;
    told["delay_seconds"] = seconds_number(decision.delay);
  } else if (type == EventType::reconcile) {
    told["attempt_number"] = of.facts.attempt;
    told["delay_seconds"] = seconds_number(decision.delay);
  } else {
    told["total_attempts"] = of.facts.attempt;
  }
  return told;
}

// Those members as the record has them.
json::Object found_in(const json::Value& record, json::Object members) {
  for (auto& [name, value] : members) {
    const json::Value* found = record.find(name);
    value = found == nullptr ? json::Value() : *found;
  }
  return members;
}

// By value: a record's numbers have the form of a double's.
bool alike(const json::Object& a, const json::Object& b) {
  const Result<std::string> one = json::canonical(a);
  const Result<std::string> other = json::canonical(b);
  return one && other && *one == *other;
}

Replayed replay_retry(const json::Value& record) {
  const json::Value* written = record.find("decision");
  if (written == nullptr) return unreadable("it has no decision: pawl writes one");
  const auto read = retry::read_decision(*written);
  if (!read) return unreadable(read.error().message);
  const retry::Decision decision = retry::decide(read->policy, read->facts);
  json::Object again = told_beside(*read, decision);
  json::Object recorded = found_in(record, again);
  if (decision == read->decision && alike(recorded, again)) return agrees();
  recorded.merge(value_of(read->decision));
  again.merge(value_of(decision));
  return differs(std::move(recorded), std::move(again));
}

// ---- orders

json::Object value_of(const order::Decision& decision) {
  return {{"next", to_string(decision.next)},
          {"reason", to_string(decision.reason)},
          {"delay_ns", std::to_string(decision.delay.ns())}};
}

json::Object told_beside(const order::DecisionFacts& facts, const order::Decision& decision) {
  const bool is_reading = std::holds_alternative<order::Read>(facts);
  const EventType type = is_reading ? EventType::reconcile : EventType::order;
  json::Object told{{"event_type", to_string(type)},
                    {"state", to_string(order::status_after(decision.next))}};
  told["attempt_number"] = std::visit([](const auto& each) { return each.attempt; }, facts);
  if (is_reading) told["found"] = to_string(order::outcome_after(decision));
  return told;
}

Replayed replay_order_decision(const json::Value& record, const json::Value& written) {
  const auto read = order::read_decision(written);
  if (!read) return unreadable(read.error().message);
  const order::Decision decision = order::decide(read->settings, read->facts);
  json::Object again = told_beside(read->facts, decision);
  json::Object recorded = found_in(record, again);
  if (decision == read->decision && alike(recorded, again)) return agrees();
  recorded.merge(value_of(read->decision));
  again.merge(value_of(decision));
  return differs(std::move(recorded), std::move(again));
}

// Some hold no decision on facts: a state that was reached (opened, taken over, settled by a
// person), or an attempt to change an order.
Replayed replay_order(const json::Value& record) {
  if (const json::Value* written = record.find("decision")) {
    return replay_order_decision(record, *written);
  }
  const bool is_attempt = text_in(record, "operation") != order::place_operation &&
                          record.find("attempt_number") != nullptr;
  if (is_attempt || order::status_of(text_in(record, "state"))) return no_decision();
  return unreadable("it has neither a decision nor the state that was reached: pawl writes one");
}

Replayed replay_quota(const json::Value& record) {
  MemberReader from(record);
  order::Quota quota;
  constexpr std::int64_t most = bounds::limit_used_max;
  quota.used = from.number("used", most);
  quota.limit = from.number("limit", most);
  quota.enabled = from.truth("enabled");
  const bool counts = from.truth("counts");
  const bool allowed = from.truth("allowed");
  if (!from.wrong().empty()) {
    return unreadable("the quota's member '" + from.wrong() + "' is missing or no sense");
  }
  const bool again = order::is_allowed(quota, counts);
  if (again == allowed) return agrees();
  return differs(json::Object{{"allowed", allowed}}, json::Object{{"allowed", again}});
}

// Three kinds have that name: that it was decided to look, what was found, and what the reading of
// a venue means.
Replayed replay_reconcile(const json::Value& record) {
  if (const json::Value* written = record.find("decision")) {
    return order::is_order_decision(*written) ? replay_order_decision(record, *written)
                                              : replay_retry(record);
  }
  const std::string_view found = text_in(record, "found");
  for (const Outcome each : {Outcome::applied, Outcome::not_applied, Outcome::unknown}) {
    if (found == to_string(each)) return no_decision();
  }
  return unreadable("it has neither a decision nor what was found: pawl writes one of them");
}

// ---- limits

json::Value wait_value(std::int64_t wait_ms) {
  if (wait_ms == request::never_ms) return "never";
  return wait_ms;
}

json::Value value_of(const LimitDecision& decision, const RecordedLimit& of) {
  json::Array policies;
  for (std::size_t i = 0; i < decision.size; ++i) {
    const Said& said = decision.said[i];
    policies.push_back(json::Object{{"name", of.policies[i].name},
                                    {"allowed", said.allowed},
                                    {"limit", said.limit},
                                    {"remaining", said.remaining},
                                    {"retry_after_ms", wait_value(said.wait_ms)}});
  }
  return json::Object{{"allowed", decision.allowed},
                      {"policy", of.policies[decision.binding].name},
                      {"retry_after_ms", wait_value(decision.wait_ms)},
                      {"policies", std::move(policies)}};
}

// The policies that keep a cell, with states of their own to decide on.
struct Cells {
  explicit Cells(const RecordedLimit& recorded) {
    for (std::size_t i = 0; i < recorded.policies.size(); ++i) {
      const request::RecordedPolicy& policy = recorded.policies[i];
      if (!policy.cell) continue;
      states[size].cell = policy.before;
      members[size] = {.policy = &*policy.cell, .state = &states[size]};
      place[size++] = i;
    }
  }
  limit::Answer decide(std::int64_t cost, limit::Now now) {
    return limit::decide({members.data(), size}, {.cost = cost}, now);
  }

  std::array<limit::State, bounds::limit_policies_max> states;
  std::array<limit::Member, bounds::limit_policies_max> members;
  std::array<std::size_t, bounds::limit_policies_max> place;  // among all policies
  std::size_t size = 0;
};

Replayed replay_limit(const json::Value& record, const limit::Zones& zones) {
  const auto read = request::read_limit(record, zones);
  if (!read && read.error().code == Code::not_found) return not_replayable(read.error().message);
  if (!read) return unreadable(read.error().message);
  if (read->derived) {
    return not_replayable(
        "it was put together from several decisions, or rests on what no record holds");
  }
  const bool any_cell = std::ranges::any_of(
      read->policies, [](const request::RecordedPolicy& each) { return each.cell.has_value(); });
  if (!any_cell) return not_replayable("its policies keep marks, which are not on record");
  const LimitDecision again = decide_again(*read);
  if (again == read->decision) return agrees();
  return differs(value_of(read->decision, *read), value_of(again, *read));
}

}  // namespace

LimitDecision decide_again(const RecordedLimit& recorded) {
  LimitDecision again = recorded.decision;
  Cells cells(recorded);
  const limit::Answer answer = cells.decide(recorded.cost, recorded.now);
  again.allowed = answer.allowed;
  again.wait_ms = request::wait_ms(answer.retry_after);
  for (std::size_t i = 0; i < recorded.policies.size(); ++i) {
    const request::RecordedPolicy& policy = recorded.policies[i];
    if (policy.cell || policy.shadow || recorded.decision.said[i].allowed) continue;
    again.allowed = false;
    again.wait_ms = std::max(again.wait_ms, recorded.decision.said[i].wait_ms);
  }
  // Refused by one that keeps marks: those that had room were not charged, and still have it.
  std::optional<limit::Answer> look;
  if (answer.allowed && !again.allowed) look = Cells(recorded).decide(0, recorded.now);
  for (std::size_t i = 0; i < cells.size; ++i) {
    const bool kept = look && answer.verdicts[i].allowed;
    again.said[cells.place[i]] = request::said(kept ? look->verdicts[i] : answer.verdicts[i]);
  }
  // Which of several binds depends on more than a record holds of those that keep marks.
  if (cells.size == recorded.policies.size()) again.binding = answer.binding;
  return again;
}

Replayed replay(const json::Value& record, const limit::Zones& zones) {
  const std::span<const EventType> types = all_event_types();
  const auto type = std::ranges::find(types, text_in(record, "event_type"),
                                      [](EventType each) { return to_string(each); });
  if (type == types.end()) return unreadable("its event_type is none that pawl writes");
  switch (*type) {
    case EventType::retry_attempt:
    case EventType::retry_exhausted:
    case EventType::retry_succeeded:
      return replay_retry(record);
    case EventType::reconcile:
      return replay_reconcile(record);
    case EventType::limit:
      return replay_limit(record, zones);
    case EventType::order:
      return replay_order(record);
    case EventType::quota:
      return replay_quota(record);
    case EventType::pace:
      if (text_in(record, "decision").empty()) {
        return unreadable("it does not say what the pacer decided: pawl writes that");
      }
      return not_replayable("what a pacer decided on is not on record");
    default:
      break;
  }
  if (record.find("decision") != nullptr) {
    return unreadable("it has a decision, and pawl writes none into a record of its kind");
  }
  return no_decision();
}

}  // namespace pawl::audit
