#include "library/order_notes.h"

#include <optional>
#include <utility>
#include <variant>

namespace pawl {
namespace {

using Level = OrderNote::Level;

OrderNote about(const Correlation& ids, Level level, std::string event, std::string message) {
  return {.level = level,
          .event = std::move(event),
          .external_reference = ids.external_reference,
          .request_id = ids.request_id,
          .message = std::move(message)};
}

Level level_of(order::Weight weight) {
  switch (weight) {
    case order::Weight::info:
      return Level::info;
    case order::Weight::warning:
      return Level::warn;
    case order::Weight::error:
      return Level::error;
  }
  __builtin_unreachable();
}

OrderNote told(const order::Note& note) {
  return {.level = level_of(order::weight_of(note.what)),
          .event = std::string(to_string(note.what)),
          .external_reference = note.external_reference,
          .request_id = note.request_id,
          .message = note.message};
}
OrderNote told(const desk::QuotaPassed& note) {
  return about(note.ids, Level::info, "order_frequency_check_passed",
               passed_text(note.quota, note.order));
}
OrderNote told(const desk::QuotaDenied& note) {
  return about(note.ids, Level::warn, "order_frequency_limit_exceeded",
               rejected_text(note.quota, note.order));
}
OrderNote told(const desk::QuotaReduceOnly& note) {
  return about(note.ids, Level::info, "order_frequency_reduce_only",
               reduce_only_text(note.quota, note.order));
}
OrderNote told(const desk::StoreFailed& note) {
  const bool last = note.delay == Duration();
  return about(note.ids, last ? Level::error : Level::warn,
               last ? "order_store_failed" : "order_store_retry", note.error.message);
}
OrderNote told(const desk::StatusUpdated& note) {
  return about(note.ids, Level::info, "order_status_updated",
               "Order status updated: order_id=" + note.order_id +
                   ", status=" + std::string(to_string(note.life)));
}
OrderNote told(const desk::AuditFailed& note) {
  return about(note.ids, Level::error, "order_audit_failed", note.error.message);
}
// The rest is told by what is returned.
template <class Other>
std::optional<OrderNote> told(const Other&) {
  return std::nullopt;
}

}  // namespace

void add_notes(OrderOffice::Parts& parts, std::function<void(const OrderNote&)> note) {
  if (!note) return;
  parts.note = [note](const desk::Note& each) {
    const auto said =
        std::visit([](const auto& kind) -> std::optional<OrderNote> { return told(kind); }, each);
    if (said) note(*said);
  };
  parts.venue_note = [note](const std::string& venue, const std::string& text) {
    note({.level = Level::warn, .event = "venue_note", .message = venue + ": " + text});
  };
}

}  // namespace pawl
