#include "core/audit/late.h"

#include <string>

#include "base/bounds.h"
#include "core/request/limit_record.h"

namespace pawl::audit {
namespace {

// The most that a byte of a text becomes: \u0001. What scrubbing adds is less than that.
constexpr std::size_t quoted_bytes_max = 6;
// The most that a record has besides its texts, its place in the chain included, and the most that
// each policy adds to that.
constexpr std::size_t record_bytes = 1024;
constexpr std::size_t policy_bytes = 512;
// How often a policy is named with its rule at most: in its entry, in `why` and as the binding one.
constexpr std::size_t namings_max = 3;

std::size_t bytes_of(std::string_view operation, const Ids& ids) {
  return operation.size() + ids.tenant_id.size() + ids.request_id.size() +
         ids.external_reference.size() + ids.correlation_id.size() + ids.trace_id.size();
}

bool fits(std::size_t text_bytes, std::size_t other_bytes) {
  return text_bytes <= bounds::audit_event_bytes_max &&
         quoted_bytes_max * text_bytes + other_bytes <= bounds::audit_event_bytes_max;
}

// Of a success its trail was checked.
bool surely_fits(const Success&) {
  return true;
}

bool surely_fits(const LimitDecided& decided) {
  std::size_t texts = bytes_of(decided.operation, decided.correlation);
  for (const limit::Count& count : decided.counts) {
    texts += count.key.name().size();
    texts += namings_max * (count.policy->name.size() + count.policy->text.size());
  }
  return fits(texts, record_bytes + decided.counts.size() * policy_bytes);
}

bool surely_fits(const RequestEnded& ended) {
  return fits(bytes_of(ended.operation, ended.correlation), record_bytes);
}

Correlation owned(const Ids& ids) {
  return {.tenant_id = std::string(ids.tenant_id),
          .request_id = std::string(ids.request_id),
          .external_reference = std::string(ids.external_reference),
          .correlation_id = std::string(ids.correlation_id),
          .trace_id = std::string(ids.trace_id)};
}

}  // namespace

Event to_event(const LimitDecided& decided) {
  return {.type = EventType::limit,
          .timestamp = decided.timestamp,
          .operation = std::string(decided.operation),
          .correlation = owned(decided.correlation),
          .details = request::limit_record(decided.counts, *decided.answer, decided.cost)};
}

Event to_event(const RequestEnded& ended) {
  return {.type = EventType::request,
          .timestamp = ended.timestamp,
          .operation = std::string(ended.operation),
          .correlation = owned(ended.correlation),
          .details = {{"outcome", to_string(ended.outcome)}, {"status", ended.status}}};
}

Event to_event(const Late& late) {
  return std::visit([](const auto& each) { return to_event(each); }, late);
}

bool surely_fits(const Late& late) {
  return std::visit([](const auto& each) { return surely_fits(each); }, late);
}

}  // namespace pawl::audit
