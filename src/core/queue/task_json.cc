#include "core/queue/task_json.h"

#include <utility>
#include <vector>

#include "base/bounds_queue.h"
#include "base/text.h"
#include "base/utf8.h"

namespace pawl::queue {
namespace {

using json::text_or_null;
using json::Value;
using Members = std::vector<std::pair<std::string_view, Value>>;

constexpr std::int64_t millisecond = 1'000'000;
constexpr std::int64_t second = 1'000'000'000;

// Whole units and their fraction, without zeros at its end.
Value decimal(std::int64_t amount, std::int64_t unit) {
  std::string text;
  append_number(text, amount / unit);
  if (const std::int64_t rest = amount % unit; rest > 0) {
    std::string fraction = std::to_string(rest + unit).substr(1);  // with zeros in front
    fraction.erase(fraction.find_last_not_of('0') + 1);
    text.append(".").append(fraction);
  }
  return json::Number{std::move(text)};
}

// What is no JSON was not written by pawl; it is shown as the text it is.
Value json_or_null(const std::string& text) {
  if (text.empty()) return {};
  auto parsed = json::parse(text);
  return parsed ? *std::move(parsed) : Value(text);
}

std::string exact(Instant instant) {
  std::string text = to_string(instant);
  const std::int64_t finer = (instant.ns() % millisecond + millisecond) % millisecond;
  if (finer == 0) return text;
  return text.insert(text.size() - 1, std::to_string(finer + millisecond).substr(1));
}

Value instant_or_null(const std::optional<Instant>& instant) {
  return instant ? Value(exact(*instant)) : Value();
}

Value to_json(const RetryRule& rule) {
  json::Array delays;
  for (const Duration delay : rule.delays) delays.push_back(decimal(delay.ns(), millisecond));
  return json::Object{
      {"initial_interval_ms", decimal(rule.base_delay.ns(), millisecond)},
      {"max_interval_ms", decimal(rule.max_delay.ns(), millisecond)},
      {"multiplier", decimal(rule.multiplier_milli, 1000)},
      {"jitter_percent", decimal(rule.jitter_milli, 1000)},
      {"delays_ms", std::move(delays)},
  };
}

// In the order in which people read them.
Members members_of(const Task& task) {
  const TaskTerms& terms = task.terms;
  return {
      {"id", to_string(task.id)},
      {"task_type", terms.type},
      {"status", to_string(task.status)},
      {"input", json_or_null(terms.input)},
      {"output", json_or_null(task.output)},
      {"key", text_or_null(terms.key)},
      {"unique", text_or_null(terms.unique)},
      {"priority", terms.priority},
      {"attempt", task.attempt},
      {"retry_count", task.retry_count},
      {"max_retries", terms.max_retries},
      {"retry_policy", to_json(terms.retry)},
      {"reschedule_count", task.reschedule_count},
      {"max_reschedules", terms.max_reschedules ? Value(*terms.max_reschedules) : Value()},
      {"timeout_seconds", decimal(terms.timeout.ns(), second)},
      {"available_at", exact(task.available_at)},
      {"created_at", exact(task.created_at)},
      {"updated_at", exact(task.updated_at)},
      {"completed_at", instant_or_null(task.completed_at)},
      {"expires_at", instant_or_null(task.expires_at)},
      {"lease_expires_at", instant_or_null(task.lease_expires_at)},
      {"fence", task.fence},
      {"worker_id", text_or_null(task.worker)},
      {"last_error", text_or_null(task.last_error)},
      {"cancel_requested", task.cancel_requested},
      {"cancelled_by", text_or_null(task.cancelled_by)},
  };
}

json::Object object_of(Members members) {
  json::Object object;
  for (auto& [name, value] : members) object.emplace(name, std::move(value));
  return object;
}

Value to_json(const Version& version, std::size_t number) {
  return json::Object{
      {"version", number},
      {"at", exact(version.at)},
      {"status", to_string(version.status)},
      {"reason", to_string(version.reason)},
      {"worker_id", text_or_null(version.worker)},
      {"delay_seconds", decimal(version.delay.ns(), second)},
      {"count", version.count},
      {"detail", text_or_null(version.detail)},
  };
}

}  // namespace

Value to_json(const Task& task) {
  return object_of(members_of(task));
}

Value to_json(const History& history) {
  json::Array versions;
  for (std::size_t i = 0; i < history.versions.size(); ++i) {
    versions.push_back(to_json(history.versions[i], version_number(history, i)));
  }
  return json::Object{{"left_out", history.left_out}, {"versions", std::move(versions)}};
}

std::string to_lines(const Task& task) {
  std::string out;
  for (const auto& [name, value] : members_of(task)) {
    // A text that is one needs no quotes; `input` may be any JSON.
    const std::string* text = name == "input" || name == "output" ? nullptr : value.if_string();
    const bool bare = text != nullptr && is_printable(*text);
    out.append(name).append(": ").append(bare ? *text : json::print(value)).append("\n");
  }
  return out;
}

std::size_t version_number(const History& history, std::size_t place) {
  const bool behind = place >= bounds::task_versions_max / 2;
  return place + 1 + (behind ? history.left_out : 0);
}

std::string export_line(const Exported& exported) {
  json::Object object = object_of(members_of(exported.task));
  if (exported.history) object.emplace("history", to_json(*exported.history));
  return json::print(std::move(object));
}

Submit submit_of(const Task& task) {
  Submit submit = {.id = task.id, .terms = task.terms};
  if (is_over(task.status)) return submit;
  if (task.status == Status::pending) submit.at = task.available_at;
  submit.expires = task.expires_at;
  submit.counts = {
      .attempts = task.attempt, .retries = task.retry_count, .reschedules = task.reschedule_count};
  return submit;
}

}  // namespace pawl::queue
