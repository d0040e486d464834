#include "log/order_log.h"

#include <string>
#include <string_view>
#include <variant>

#include "base/text.h"

namespace pawl::log {
namespace {

using order::Told;

double hundredths_up(Duration wait) {
  return static_cast<double>(wait.up_in(Duration::milliseconds(10))) / 100.0;
}

void put(const Logger& logger, Told told, Name name, Logger::Fields fields) {
  switch (order::weight_of(told)) {
    case order::Weight::info:
      return logger.info(name, fields);
    case order::Weight::warning:
      return logger.warn(name, fields);
    case order::Weight::error:
      return logger.error(name, fields);
  }
}

void tell_sending(const Logger& logger, const order::Note& note) {
  if (note.what == Told::executing_operation) {
    return put(logger, note.what, "executing_operation",
               {{"operation", note.operation},
                {"attempt", note.attempt},
                {"max_attempts", note.max_attempts},
                {"venue", note.venue}});
  }
  put(logger, note.what, "operation_failed",
      {{"operation", note.operation},
       {"attempt", note.attempt},
       {"status_code", note.status},
       {"category", note.category},
       {"error", note.message},
       {"order_id", note.order_id},
       {"rate_limits", note.limits},
       {"x_correlation", note.correlation}});
}

// Why it is not sent again.
void tell_stop(const Logger& logger, const order::Note& note, Name name) {
  put(logger, note.what, name,
      {{"operation", note.operation},
       {"status_code", note.status},
       {"message", note.message},
       {"order_id", note.order_id}});
}

void tell_found(const Logger& logger, const order::Note& note, Name name) {
  put(logger, note.what, name,
      {{"operation", note.operation}, {"order_id", note.order_id}, {"message", note.message}});
}

void tell_wait(const Logger& logger, const order::Note& note) {
  put(logger, note.what, "retrying_after_delay",
      {{"operation", note.operation},
       {"delay_seconds", hundredths_up(note.delay)},
       {"next_attempt", note.attempt + 1}});
}

void tell_end(const Logger& logger, const order::Note& note, Name name) {
  put(logger, note.what, name,
      {{"operation", note.operation},
       {"venue", note.venue},
       {"attempts", note.attempt},
       {"order_id", note.order_id},
       {"error", note.message}});
}

void tell_save(const Logger& logger, const order::Note& note, Name name) {
  put(logger, note.what, name,
      {{"operation", note.operation},
       {"order_id", note.order_id},
       {"delay_seconds", hundredths_up(note.delay)},
       {"error", note.message}});
}

void tell_note(const Logger& logger, const order::Note& note) {
  switch (note.what) {
    case Told::executing_operation:
    case Told::operation_failed:
      return tell_sending(logger, note);
    case Told::conflict_no_retry:
      return tell_stop(logger, note, "conflict_no_retry");
    case Told::trade_not_completed_no_retry:
      return tell_stop(logger, note, "trade_not_completed_no_retry");
    case Told::client_error_no_retry:
      return tell_stop(logger, note, "client_error_no_retry");
    case Told::retrying_after_delay:
      return tell_wait(logger, note);
    case Told::max_retries_exhausted:
      return tell_end(logger, note, "max_retries_exhausted");
    case Told::reconciling_before_retry:
      return tell_found(logger, note, "reconciling_before_retry");
    case Told::order_found_in_reconciliation:
      return tell_found(logger, note, "order_found_in_reconciliation");
    case Told::order_found_skipping_retry:
      return tell_found(logger, note, "order_found_skipping_retry");
    case Told::safe_to_retry_after_reconciliation:
      return tell_found(logger, note, "safe_to_retry_after_reconciliation");
    case Told::no_order_found_retrying:
      return tell_found(logger, note, "no_order_found_retrying");
    case Told::order_placement_failed_final:
      return tell_end(logger, note, "order_placement_failed_final");
    case Told::order_confirmed:
      return tell_found(logger, note, "order_confirmed");
    case Told::order_unresolved:
      return tell_end(logger, note, "order_unresolved");
    case Told::order_settled:
      return tell_found(logger, note, "order_settled");
    case Told::order_save_retry:
      return tell_save(logger, note, "order_save_retry");
    case Told::order_not_saved:
      return tell_save(logger, note, "order_not_saved");
  }
}

Correlation ids_of(const order::Note& note) {
  return {.request_id = note.request_id, .external_reference = note.external_reference};
}

Correlation ids_of(const order::Intent& intent) {
  return {.request_id = intent.progress.request_id, .external_reference = intent.reference};
}

void tell(const Logger& logger, const order::Note& note) {
  tell_note(logger.with(ids_of(note)), note);
}

struct QuotaLine {
  const Correlation& ids;
  const order::Quota& quota;
  const order::Order& order;
  std::string message;
  std::string summary;
};

void tell_quota(const Logger& logger, const QuotaLine& line, Level level, Name name) {
  const std::string inst = instrument_name(line.order);
  const std::string size = to_string(line.order.size);
  const std::string week = order::week_text(line.quota.week_start);
  const Logger mine = logger.with(line.ids);
  const Logger::Fields fields = {{"message", line.message},
                                 {"summary", line.summary},
                                 {"inst_id", inst},
                                 {"side", to_string(line.order.side)},
                                 {"size", size},
                                 {"used", line.quota.used},
                                 {"limit", line.quota.limit},
                                 {"week_start", week}};
  level == Level::warn ? mine.warn(name, fields) : mine.info(name, fields);
}

// "4/5 orders"
std::string share(const order::Quota& quota) {
  return std::to_string(quota.used) + "/" + std::to_string(quota.limit) + " orders";
}

void tell(const Logger& logger, const desk::QuotaPassed& note) {
  const std::string_view is_new = note.quota.used == 0 ? " (new week)" : "";
  tell_quota(
      logger,
      {.ids = note.ids,
       .quota = note.quota,
       .order = note.order,
       .message = passed_text(note.quota, note.order),
       .summary =
           ("Order frequency check passed: " + share(note.quota) + " this week").append(is_new)},
      Level::info, "order_frequency_check_passed");
}

void tell(const Logger& logger, const desk::QuotaDenied& note) {
  tell_quota(logger,
             {.ids = note.ids,
              .quota = note.quota,
              .order = note.order,
              .message = rejected_text(note.quota, note.order),
              .summary = "Order rejected: weekly limit exceeded (" + share(note.quota) + ")"},
             Level::warn, "order_frequency_limit_exceeded");
}

void tell(const Logger& logger, const desk::QuotaReduceOnly& note) {
  tell_quota(logger,
             {.ids = note.ids,
              .quota = note.quota,
              .order = note.order,
              .message = reduce_only_text(note.quota, note.order),
              .summary = "Reduce-only order allowed despite limit (excluded from count)"},
             Level::info, "order_frequency_reduce_only");
}

void tell(const Logger& logger, const desk::ReduceOnlyIsAWord& note) {
  logger.with(note.ids).warn(
      "order_reduce_only_unproven",
      {{"message", "Reduce-only order " + brief(note.order) +
                       " is counted: that it reduces is the caller's word, the venue does not "
                       "enforce it"}});
}

void tell(const Logger& logger, const desk::QuotaBypassed& note) {
  logger.with(note.ids).info(
      "order_frequency_limit_bypassed",
      {{"message", "Frequency limit bypassed (disabled in config)"}, {"order", brief(note.order)}});
}

void tell_retry(const Logger& logger, const desk::StoreFailed& note, Name name) {
  logger.warn(name, {{"attempt", note.attempt},
                     {"max_attempts", note.max_attempts},
                     {"delay_seconds", hundredths_up(note.delay)},
                     {"error", note.error.message}});
}

void tell(const Logger& logger, const desk::StoreFailed& note) {
  const Logger mine = logger.with(note.ids);
  const bool last = note.delay == Duration();
  switch (note.what) {
    case desk::StoreFailed::What::check:
      if (!last) return tell_retry(mine, note, "order_frequency_check_retry");
      return mine.error(
          "order_frequency_check_failed",
          {{"message", "Order rejected: unable to verify frequency limit (database error)"},
           {"error", note.error.message}});
    case desk::StoreFailed::What::record:
      if (!last) return tell_retry(mine, note, "order_record_retry");
      return mine.error("order_record_failed",
                        {{"message",
                          "Order stays as the venue has it, but tracking is incomplete (database "
                          "error)"},
                         {"error", note.error.message}});
    case desk::StoreFailed::What::read:
      if (!last) return tell_retry(mine, note, "order_store_retry");
      return mine.error("order_store_failed", {{"error", note.error.message}});
  }
}

// What failed was told as order_placement_failed_final.
void tell(const Logger& logger, const desk::PlacementEnded& note) {
  const order::Intent& intent = note.intent;
  if (intent.progress.status != order::Status::confirmed) return;
  const Logger mine = logger.with(ids_of(intent));
  mine.debug("order_recorded", {{"message", "Order recorded in history"},
                                {"order_id", intent.progress.order_id},
                                {"inst_id", instrument_name(intent.order)},
                                {"side", to_string(intent.order.side)},
                                {"size", to_string(intent.order.size)},
                                {"week_start", order::week_text(intent.created)}});
}

void tell(const Logger& logger, const desk::WaitsForOther& note) {
  logger.with(note.ids).info("order_waits_for_other_process");
}

void tell(const Logger& logger, const desk::StatusUpdated& note) {
  const std::string_view status = to_string(note.life);
  logger.with(note.ids).info("order_status_updated",
                             {{"message", "Order status updated: order_id=" + note.order_id +
                                              ", status=" + std::string(status)},
                              {"venue", note.venue},
                              {"order_id", note.order_id},
                              {"status", status}});
}

void tell(const Logger& logger, const desk::ChangeEnded& note) {
  const Logger mine = logger.with(note.ids);
  const Logger::Fields fields = {
      {"operation", note.operation},       {"venue", note.venue},
      {"order_id", note.order_id},         {"ended", to_string(note.answer.sent)},
      {"status_code", note.answer.status}, {"error", note.answer.message}};
  note.answer.sent == order::Sent::accepted ? mine.info("order_changed", fields)
                                            : mine.warn("order_change_failed", fields);
}

void tell(const Logger& logger, const desk::HistoryIsEmpty&) {
  logger.warn("order_history_empty",
              {{"message", "Order history table is empty, consider backfilling from OKX"},
               {"command", "pawl backfill-orders --days 7"}});
}

void tell(const Logger& logger, const desk::Resumed& note) {
  if (note.taken > 0) {
    logger.info(
        "orders_resumed",
        {{"taken", note.taken}, {"resolved", note.resolved}, {"unresolved", note.unresolved}});
  }
  write_unresolved(logger, note.unresolved);
}

// As people write it.
std::string name_of(const std::string& venue) {
  return venue == "okx" ? "OKX" : venue == "saxo" ? "Saxo" : venue;
}

void tell(const Logger& logger, const desk::Backfilled& note) {
  logger.info("order_history_backfilled",
              {{"message", "Backfilled " + std::to_string(note.inserted) + " orders from " +
                               name_of(note.venue) + " history"},
               {"venue", note.venue},
               {"orders", note.inserted}});
}

void tell(const Logger& logger, const desk::AuditFailed& note) {
  logger.with(note.ids).error("order_audit_failed",
                              {{"operation", note.operation}, {"error", note.error.message}});
}

}  // namespace

void write(const Logger& logger, const order::Note& note) {
  tell(logger, note);
}

void write(const Logger& logger, const desk::Note& note) {
  std::visit([&](const auto& kind) { tell(logger, kind); }, note);
}

void write_limit(const Logger& logger, const order::FrequencyLimit& limit, bool given) {
  std::string message = "Using default order frequency limit configuration";
  if (!limit.enabled) {
    message = "Order frequency limit disabled in configuration";
  } else if (given) {
    message = "Order frequency limit configuration loaded: weekly_max=" +
              std::to_string(limit.weekly_max_orders) +
              ", exclude_reduce_only=" + (limit.exclude_reduce_only ? "true" : "false");
  }
  logger.info("order_frequency_limit_loaded", {{"message", message}});
}

void write_history_initialized(const Logger& logger) {
  logger.info("order_history_initialized",
              {{"message", "Order history table initialized successfully"}});
}

void write_unresolved(const Logger& logger, std::size_t count) {
  if (count == 0) return;
  logger.error("orders_unresolved",
               {{"message", std::to_string(count) + (count == 1 ? " order is" : " orders are") +
                                " unresolved: nobody knows whether the venue has it. See `pawl "
                                "order list --unresolved`, then `pawl order reconcile`"},
                {"count", count}});
}

void write_left_open(const Logger& logger, std::size_t count) {
  if (count == 0) return;
  logger.error("orders_left_open",
               {{"message", std::to_string(count) + (count == 1 ? " order was" : " orders were") +
                                " left open by a process that ended, and nobody works on it. `pawl "
                                "order reconcile` finds out what became of it"},
                {"count", count}});
}

}  // namespace pawl::log
