#include "core/audit/success.h"

#include "base/bounds.h"
#include "core/retry/decision_record.h"

namespace pawl::audit {

Result<void> check(const Trail& trail) {
  const Correlation& ids = trail.correlation;
  std::size_t bytes = trail.category.size() + trail.operation.size();
  for (const std::string* id : {&ids.tenant_id, &ids.request_id, &ids.external_reference,
                                &ids.correlation_id, &ids.trace_id}) {
    bytes += id->size();
  }
  for (const auto& [name, value] : trail.context) bytes += name.size() + value.size();
  if (bytes <= bounds::audit_trail_bytes_max) return {};
  return failure(Code::invalid, "the names and ids of an operation have " + std::to_string(bytes) +
                                    " bytes; the audit log takes " +
                                    std::to_string(bounds::audit_trail_bytes_max));
}

Event to_event(const Success& success) {
  const Trail& trail = *success.trail;
  Event event = to_event(RetrySucceeded{.subject = trail.subject(success.timestamp),
                                        .total_attempts = success.facts.attempt});
  event.details.emplace_back("decision",
                             retry::decision_record(trail.policy, success.facts, success.decision));
  add_context(event, trail);
  return event;
}

void add_context(Event& event, const Trail& trail) {
  if (trail.context.empty()) return;
  json::Object context;
  for (const auto& [name, value] : trail.context) context[name] = value;
  event.details.emplace_back("context", std::move(context));
}

}  // namespace pawl::audit
