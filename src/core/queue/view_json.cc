#include "core/queue/view_json.h"

#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "core/queue/task_json.h"

namespace pawl::queue {
namespace {

using json::text_or_null;
using json::Value;

constexpr std::array<std::string_view, 7> hold_names = {
    "is_over", "running", "not_due", "closed", "rate", "concurrency", "waits"};
constexpr std::array<std::string_view, 4> limited_names = {"queue", "type", "key", "each_key"};

Value instant_or_null(const std::optional<Instant>& instant) {
  return instant ? Value(to_string(*instant)) : Value();
}

json::Object object_of(const Depth& depth) {
  return {{"task_type", depth.type},
          {"pending", depth.pending},
          {"due", depth.due},
          {"running", depth.running},
          {"completed", depth.completed},
          {"failed", depth.failed},
          {"cancelled", depth.cancelled},
          {"expired", depth.expired},
          {"oldest_due", instant_or_null(depth.oldest_due)}};
}

json::Object object_of(const Totals& totals) {
  return {{"submitted", totals.submitted}, {"claimed", totals.claimed},
          {"completed", totals.completed}, {"failed", totals.failed},
          {"retried", totals.retried},     {"rescheduled", totals.rescheduled},
          {"timed_out", totals.timed_out}, {"cancelled", totals.cancelled},
          {"expired", totals.expired},     {"refused", totals.refused}};
}

}  // namespace

std::string_view to_string(Hold hold) {
  return hold_names[static_cast<std::size_t>(hold) - 1];
}

std::string_view to_string(Limited limited) {
  return limited_names[static_cast<std::size_t>(limited) - 1];
}

bool is_scoped(const Why& why) {
  return why.hold == Hold::closed || why.hold == Hold::rate || why.hold == Hold::concurrency;
}

Value to_json(const Why& why) {
  return json::Object{{"hold", to_string(why.hold)},
                      {"scope", is_scoped(why) ? Value(to_string(why.scope)) : Value()},
                      {"name", text_or_null(why.name)},
                      {"until", instant_or_null(why.until)},
                      {"ahead", why.ahead},
                      {"worker", text_or_null(why.worker)}};
}

Value to_json(const Stats& stats) {
  json::Array types;
  for (const Depth& depth : stats.types) types.push_back(object_of(depth));
  return json::Object{{"types", std::move(types)}, {"totals", object_of(stats.totals)}};
}

Value to_json(const Closing& closing) {
  return json::Object{{"scope", to_string(closing.scope)},
                      {"name", text_or_null(closing.name)},
                      {"until", to_string(closing.until)}};
}

Value to_json(const SetLimit& limit) {
  return json::Object{
      {"scope", to_string(limit.limited)},
      {"name", text_or_null(limit.name)},
      {"rate", limit.rate > 0 ? Value(std::to_string(limit.rate) + "/" + to_string(limit.period))
                              : Value()},
      {"running", limit.running > 0 ? Value(limit.running) : Value()}};
}

// The terms as a task has them that has not begun.
Value to_json(const Schedule& schedule) {
  const SetSchedule& set = schedule.set;
  const Value task = to_json(Task{.terms = set.terms});
  json::Object object{{"name", set.name},
                      {"cron", set.cron},
                      {"zone", set.zone.empty() ? "UTC" : set.zone},
                      {"enabled", set.enabled},
                      {"next", set.enabled ? Value(to_string(schedule.next)) : Value()},
                      {"last", instant_or_null(schedule.last)}};
  for (const char* member : {"task_type", "input", "key", "unique", "priority", "max_retries",
                             "retry_policy", "max_reschedules", "timeout_seconds"}) {
    object.emplace(member, *task.find(member));
  }
  return object;
}

}  // namespace pawl::queue
