#include "core/order/record.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/json.h"

namespace pawl::order {
namespace {

constexpr std::size_t sources_told_max = 16;

audit::Event begin(const Intent& intent, std::string_view operation, Instant now) {
  audit::Event event{.type = audit::EventType::order,
                     .timestamp = now,
                     .operation = std::string(operation),
                     .correlation = {.request_id = intent.progress.request_id,
                                     .external_reference = intent.reference},
                     .details = {{"venue", intent.order.venue}, {"order", brief(intent.order)}}};
  if (!intent.progress.order_id.empty()) {
    event.details.emplace_back("order_id", intent.progress.order_id);
  }
  return event;
}

json::Value told(std::span<const SourceRead> sources) {
  json::Array rows;
  for (const SourceRead& each : sources.first(std::min(sources.size(), sources_told_max))) {
    rows.push_back(json::Object{{"source", line_of(each.source)},
                                {"at", to_string(each.at)},
                                {"found", to_string(each.found)},
                                {"says", line_of(each.says)}});
  }
  return rows;
}

// In the order of Reason.
constexpr std::array<std::string_view, 26> explanations = {
    "the venue accepted it",
    "the venue refused it",
    "the venue's rate limit turned it away, so it is sent again",
    "it did not reach the venue, or a gate turned it away, so it is sent again",
    "nobody knows whether it was done, and a second copy does no harm, so it is sent again",
    "it was turned away as often as it may be sent",
    "the venue named a wait that is too long for an order",
    "whoever wanted it gave up before it was placed",
    "the venue has seen it before, so the first copy arrived: it is looked for",
    "the venue took it and did not finish: it is looked for",
    "nobody knows whether it was placed: it is looked for",
    "the venue shows it",
    "the venue took it, and refused it then",
    "the venue shows more than one order for the reference",
    "the venue shows an order with the reference that is not this one",
    "the venue shows an order that looks like it, and nothing says whose it is",
    "it is absent from every source, twice, after the settle time: it is sent again",
    "it is absent from every source, twice, after the settle time, and was sent as often as it may",
    "it is absent from every source, twice, after the settle time, and nobody waits for it",
    "it is absent from every source, although the venue had said that it has it",
    "the settle time is not over",
    "the venue may still take a copy that is under way",
    "it was absent once after the settle time",
    "not every source could be read",
    "the venue no longer keeps what would show it",
    "it was looked for as long as patience allows, and nobody knows",
};

}  // namespace

audit::Event state_event(const Intent& intent, std::string_view why, Instant now) {
  audit::Event event = begin(intent, place_operation, now);
  event.details.emplace_back("state", to_string(intent.progress.status));
  event.details.emplace_back("attempt_number", intent.progress.attempts);
  event.details.emplace_back("why", line_of(why));
  return event;
}

audit::Event decision_event(const Intent& intent, const Decided& decided,
                            std::span<const SourceRead> sources, Instant now) {
  audit::Event event = begin(intent, decided.operation, now);
  event.details.emplace_back("state", to_string(status_after(decided.decision.next)));
  const auto attempt = [](const auto& facts) { return facts.attempt; };
  event.details.emplace_back("attempt_number", std::visit(attempt, decided.facts));
  event.details.emplace_back("why", line_of(decided.why));
  if (std::holds_alternative<Read>(decided.facts)) {
    event.type = audit::EventType::reconcile;
    event.details.emplace_back("found", to_string(outcome_after(decided.decision)));
    event.details.emplace_back("sources", told(sources));
  }
  event.details.emplace_back("decision",
                             decision_record(decided.settings, decided.facts, decided.decision));
  return event;
}

audit::Event quota_event(const QuotaCheck& check, Instant now) {
  return {.type = audit::EventType::quota,
          .timestamp = now,
          .operation = std::string(place_operation),
          .correlation = {.request_id = check.request_id, .external_reference = check.reference},
          .details = {{"venue", check.order.venue},
                      {"order", brief(check.order)},
                      {"allowed", check.allowed},
                      {"enabled", check.quota.enabled},
                      {"counts", check.counts},
                      {"used", check.quota.used},
                      {"limit", check.quota.limit},
                      {"week_start", week_text(check.quota.week_start)}}};
}

bool is_allowed(const Quota& quota, bool counts) {
  return !counts || has_room(quota);
}

Status status_after(Next next) {
  switch (next) {
    case Next::confirm:
      return Status::confirmed;
    case Next::reject:
      return Status::rejected;
    case Next::send_again:
      return Status::sending;
    case Next::read:
      return Status::reconciling;
    case Next::unresolved:
      return Status::unresolved;
  }
  __builtin_unreachable();
}

Outcome outcome_after(const Decision& decision) {
  switch (decision.next) {
    case Next::confirm:
      return Outcome::applied;
    case Next::reject:
    case Next::send_again:
      return Outcome::not_applied;
    case Next::read:
    case Next::unresolved:
      return Outcome::unknown;
  }
  __builtin_unreachable();
}

std::string_view explain(Reason reason) {
  return explanations[static_cast<std::size_t>(reason)];
}

}  // namespace pawl::order
