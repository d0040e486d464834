#include "core/audit/event.h"

#include <array>

namespace pawl::audit {
namespace {

constexpr std::array<EventType, 19> types = {
    EventType::limit,
    EventType::pace,
    EventType::request,
    EventType::config,
    EventType::rejected,
    EventType::retry_attempt,
    EventType::retry_exhausted,
    EventType::retry_succeeded,
    EventType::idempotency,
    EventType::breaker,
    EventType::budget,
    EventType::hedge,
    EventType::reconcile,
    EventType::quota,
    EventType::order,
    EventType::task,
    EventType::limit_near,
    EventType::operation_slept,
    EventType::operation_resumed,
};

}  // namespace

std::string_view to_string(EventType type) {
  switch (type) {
    case EventType::limit:
      return "limit";
    case EventType::pace:
      return "pace";
    case EventType::request:
      return "request";
    case EventType::config:
      return "config";
    case EventType::rejected:
      return "rejected";
    case EventType::retry_attempt:
      return "retry_attempt";
    case EventType::retry_exhausted:
      return "retry_exhausted";
    case EventType::retry_succeeded:
      return "retry_succeeded";
    case EventType::idempotency:
      return "idempotency";
    case EventType::breaker:
      return "breaker";
    case EventType::budget:
      return "budget";
    case EventType::hedge:
      return "hedge";
    case EventType::reconcile:
      return "reconcile";
    case EventType::quota:
      return "quota";
    case EventType::order:
      return "order";
    case EventType::task:
      return "task";
    case EventType::limit_near:
      return "limit_near";
    case EventType::operation_slept:
      return "operation_slept";
    case EventType::operation_resumed:
      return "operation_resumed";
  }
  __builtin_unreachable();
}

std::span<const EventType> all_event_types() {
  return types;
}

}  // namespace pawl::audit
