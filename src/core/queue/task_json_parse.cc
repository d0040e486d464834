// The lines of an export, read back (task_json.h).
#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "base/bounds_queue.h"
#include "base/member_reader.h"
#include "core/queue/command_check.h"
#include "core/queue/task_json.h"

namespace pawl::queue {
namespace {

constexpr std::int64_t u32_max = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t i64_max = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t second_digits = 9;  // behind the point
constexpr std::size_t millisecond_digits = 6;
constexpr std::size_t factor_digits = 3;

template <class T>
std::optional<T> whole_number(std::string_view text) {
  T value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end) return {};
  return value;
}

// "1.5" with three digits is 1500. Neither a sign nor an exponent.
std::optional<std::int64_t> exact_number(std::string_view text, std::size_t digits) {
  const auto point = text.find('.');
  std::string all(text.substr(0, point));
  const std::string_view fraction = point == text.npos ? "" : text.substr(point + 1);
  if (all.empty() || all.starts_with('-') || fraction.size() > digits) return {};
  all.append(fraction).append(digits - fraction.size(), '0');
  return whole_number<std::int64_t>(all);
}

std::optional<Instant> instant_of(std::string_view text) {
  const auto parsed = parse_instant(text);
  return parsed ? std::optional(*parsed) : std::nullopt;
}

std::optional<TaskId> task_id_of(std::string_view text) {
  const auto parsed = parse_task_id(text);
  return parsed ? std::optional(*parsed) : std::nullopt;
}

// The members of a task's JSON, on top of those that all readers know.
class Reader : public MemberReader {
 public:
  explicit Reader(const json::Value& object) : MemberReader(object), value_(object) {}

  bool is_null(std::string_view name) const {
    const json::Value* value = value_.find(name);
    return value != nullptr && value->is_null();
  }
  std::string text(std::string_view name) {
    return is_null(name) ? std::string() : std::string(word(name));
  }
  Instant instant(std::string_view name) { return one_of(name, instant_of); }
  std::optional<Instant> optional_instant(std::string_view name) {
    if (is_null(name)) return {};
    return instant(name);
  }
  std::uint32_t count(std::string_view name) {
    return static_cast<std::uint32_t>(number(name, u32_max));
  }
  std::int32_t signed_number(std::string_view name) {
    const auto found = whole_number<std::int32_t>(number_text(value_.find(name)));
    if (!found) fail(name);
    return found.value_or(0);
  }
  std::int64_t exact(std::string_view name, std::size_t digits) {
    return exact_of(name, value_.find(name), digits);
  }
  std::vector<Duration> milliseconds(std::string_view name) {
    std::vector<Duration> found;
    for (const json::Value& item : array(name)) {
      found.push_back(Duration::nanoseconds(exact_of(name, &item, millisecond_digits)));
    }
    return found;
  }
  std::string json_text(std::string_view name) {
    const json::Value* value = value_.find(name);
    if (value == nullptr) return fail(name), std::string();
    return json::print(*value);
  }
  // An example has all the members that there may be.
  void no_others_than(const json::Value& example) {
    for (const auto& [name, _] : *value_.if_object()) {
      if (example.find(name) == nullptr) fail(name);
    }
  }

 private:
  static std::string_view number_text(const json::Value* value) {
    const json::Number* found = value == nullptr ? nullptr : value->if_number();
    return found == nullptr ? std::string_view() : std::string_view(found->text);
  }
  std::int64_t exact_of(std::string_view name, const json::Value* value, std::size_t digits) {
    const auto found = exact_number(number_text(value), digits);
    if (!found) fail(name);
    return found.value_or(0);
  }

  const json::Value& value_;
};

RetryRule read_rule(Reader& outer) {
  const json::Value& value = outer.object("retry_policy");
  if (!outer.wrong().empty()) return {};
  Reader reader(value);
  RetryRule rule;
  rule.base_delay = Duration::nanoseconds(reader.exact("initial_interval_ms", millisecond_digits));
  rule.max_delay = Duration::nanoseconds(reader.exact("max_interval_ms", millisecond_digits));
  rule.multiplier_milli = reader.exact("multiplier", factor_digits);
  rule.jitter_milli = reader.exact("jitter_percent", factor_digits);
  rule.delays = reader.milliseconds("delays_ms");
  reader.no_others_than(*to_json(Task()).find("retry_policy"));
  if (!reader.wrong().empty()) outer.fail("retry_policy." + reader.wrong());
  return rule;
}

TaskTerms read_task_terms(Reader& reader) {
  TaskTerms terms;
  terms.type = reader.word("task_type");
  terms.input = reader.json_text("input");
  terms.key = reader.text("key");
  terms.unique = reader.text("unique");
  terms.priority = reader.signed_number("priority");
  terms.max_retries = reader.count("max_retries");
  if (!reader.is_null("max_reschedules")) terms.max_reschedules = reader.count("max_reschedules");
  terms.timeout = Duration::nanoseconds(reader.exact("timeout_seconds", second_digits));
  terms.retry = read_rule(reader);
  return terms;
}

Error not_what(std::string_view thing, const std::string& member) {
  return Error(Code::invalid, Outcome::not_applied,
               "it is not " + std::string(thing) + ": \"" + member +
                   "\" is missing, unknown, or not what it must be");
}

Task read_task(Reader& reader) {
  Task task;
  task.id = reader.one_of("id", task_id_of);
  task.terms = read_task_terms(reader);
  task.status = reader.one_of("status", status_of);
  task.attempt = reader.count("attempt");
  task.retry_count = reader.count("retry_count");
  task.reschedule_count = reader.count("reschedule_count");
  task.created_at = reader.instant("created_at");
  task.available_at = reader.instant("available_at");
  task.updated_at = reader.instant("updated_at");
  task.expires_at = reader.optional_instant("expires_at");
  task.lease_expires_at = reader.optional_instant("lease_expires_at");
  task.completed_at = reader.optional_instant("completed_at");
  task.fence = static_cast<std::uint64_t>(reader.number("fence", i64_max));
  task.worker = reader.text("worker_id");
  // Who completed with null has an output, and that is it.
  const bool none = reader.is_null("output") && task.status != Status::completed;
  task.output = none ? std::string() : reader.json_text("output");
  task.last_error = reader.text("last_error");
  task.cancel_requested = reader.truth("cancel_requested");
  task.cancelled_by = reader.text("cancelled_by");
  return task;
}

Version read_version(Reader& reader) {
  Version version;
  version.at = reader.instant("at");
  version.status = reader.one_of("status", status_of);
  version.reason = reader.one_of("reason", reason_of);
  version.worker = reader.text("worker_id");
  version.delay = Duration::nanoseconds(reader.exact("delay_seconds", second_digits));
  version.count = reader.count("count");
  version.detail = reader.text("detail");
  return version;
}

History read_history(Reader& outer) {
  History history;
  const json::Value& value = outer.object("history");
  if (!outer.wrong().empty()) return history;
  const json::Value example = to_json(History{.versions = {Version()}});
  const json::Value& version_example = example.find("versions")->if_array()->front();
  Reader reader(value);
  history.left_out = reader.count("left_out");
  for (const json::Value& item : reader.array("versions")) {
    if (item.if_object() == nullptr || history.versions.size() > bounds::task_versions_max) {
      reader.fail("versions");
      break;
    }
    Reader one(item);
    history.versions.push_back(read_version(one));
    const auto number = version_number(history, history.versions.size() - 1);
    if (one.count("version") != number) one.fail("version");
    one.no_others_than(version_example);
    if (!one.wrong().empty()) reader.fail("versions." + one.wrong());
  }
  reader.no_others_than(example);
  if (!reader.wrong().empty()) outer.fail("history." + reader.wrong());
  return history;
}

}  // namespace

Result<Exported> parse_export_line(std::string_view line) {
  const json::Value value = PAWL_TRY(json::parse(line));
  if (value.if_object() == nullptr) {
    return failure(Code::invalid, "it is not a task: a line of an export is one JSON object");
  }
  Reader reader(value);
  Exported exported;
  exported.task = read_task(reader);
  if (reader.has("history")) exported.history = read_history(reader);
  json::Object example = *to_json(Task()).if_object();
  example.emplace("history", json::Value());
  reader.no_others_than(std::move(example));
  if (!reader.wrong().empty()) {
    return std::unexpected(not_what("a task", reader.wrong()));
  }
  PAWL_TRY(check(exported.task.terms));
  return exported;
}

Result<RetryRule> parse_retry_policy(const json::Value& object) {
  const json::Object* given = object.if_object();
  if (given == nullptr) return failure(Code::invalid, "a retry_policy is a JSON object");
  const json::Value example = to_json(Task());
  json::Object whole = *example.find("retry_policy")->if_object();
  for (const auto& [name, value] : *given) whole.insert_or_assign(name, value);
  const json::Value outer = json::Object{{"retry_policy", std::move(whole)}};
  Reader reader(outer);
  RetryRule rule = read_rule(reader);
  if (!reader.wrong().empty()) {
    return std::unexpected(not_what("a retry policy", reader.wrong()));
  }
  if (!given->contains("max_interval_ms")) {
    rule.max_delay = std::max(rule.max_delay, rule.base_delay);
  }
  return rule;
}

}  // namespace pawl::queue
