#include "config/retry.h"

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/bounds.h"
#include "config/values.h"

namespace pawl::config {
namespace {

Type<std::optional<Duration>> delay() {
  return maybe(duration(Duration(), bounds::retry_delay_max));
}

std::string up_to(std::string_view what) {
  return "a list of up to " + std::to_string(bounds::retry_list_max) + " " + std::string(what);
}

Type<std::optional<std::vector<std::string>>> names() {
  return maybe(list_of(failure_name(), {0, bounds::retry_list_max},
                       up_to("kinds of failure, as in [rate_limited, TimeoutError]")));
}

Fields<RetryPolicy> delay_fields() {
  return {
      bind<RetryPolicy>(part("max_attempts", "How many attempts there are in all."),
                        maybe(whole_number<int>(1, bounds::retry_attempts_max)),
                        PAWL_MEMBER(max_attempts)),
      bind<RetryPolicy>(part("base_delay", "Before the second attempt."), delay(),
                        PAWL_MEMBER(base_delay)),
      bind<RetryPolicy>(part("max_delay", "No delay is longer."), delay(), PAWL_MEMBER(max_delay)),
      bind<RetryPolicy>(part("min_delay", "No delay is shorter, whatever the jitter."), delay(),
                        PAWL_MEMBER(min_delay)),
      bind<RetryPolicy>(part("multiplier", "By how much each delay is longer than the one before."),
                        maybe(factor(1000, bounds::retry_multiplier_milli_max)),
                        PAWL_MEMBER(multiplier_milli)),
      bind<RetryPolicy>(part("jitter",
                             "Chance, so that not all come back at once: 0.1 is up to a tenth more "
                             "or less; full is anything up to the delay, equal its upper half, "
                             "decorrelated between base_delay and three times the delay before."),
                        maybe(retry_jitter()), PAWL_MEMBER(jitter)),
      bind<RetryPolicy>(
          part("delays", "In place of base_delay and multiplier; the last one repeats."),
          maybe(list_of(duration(Duration(), bounds::retry_delay_max),
                        {0, bounds::retry_list_max, true}, up_to("durations, as in [1s, 5s]"))),
          PAWL_MEMBER(delays)),
  };
}

Fields<RetryPolicy> end_fields() {
  return {
      bind<RetryPolicy>(part("deadline", "For all attempts and waits together; 0s: none."),
                        maybe(duration(Duration(), bounds::retry_deadline_max)),
                        PAWL_MEMBER(deadline)),
      bind<RetryPolicy>(part("attempt_timeout", "For one attempt."),
                        maybe(duration(Duration::milliseconds(1), bounds::retry_timeout_max)),
                        PAWL_MEMBER(attempt_timeout)),
      bind<RetryPolicy>(part("retryable",
                             "Failures after which there is another attempt, whatever else is said "
                             "of them: their kinds, or the types of exceptions."),
                        names(), PAWL_MEMBER(retryable)),
      bind<RetryPolicy>(part("non_retryable", "Failures after which there is none."), names(),
                        PAWL_MEMBER(non_retryable)),
  };
}

template <class E>
std::pair<std::string, E> named(E value) {
  return {std::string(to_string(value)), value};
}

Type<retry::Failure> failure_kind() {
  using retry::Failure;
  return one_of<Failure>({named(Failure::none), named(Failure::transient_network),
                          named(Failure::rate_limited), named(Failure::conflict),
                          named(Failure::trade_not_completed), named(Failure::client_error),
                          named(Failure::server_error), named(Failure::unknown)});
}

Type<retry::Transport> transport() {
  using retry::Transport;
  return one_of<Transport>({named(Transport::answered), named(Transport::not_sent),
                            named(Transport::broke_off), named(Transport::timed_out),
                            named(Transport::raised)});
}

Type<Outcome> outcome() {
  return one_of<Outcome>(
      {named(Outcome::not_applied), named(Outcome::applied), named(Outcome::unknown)});
}

Fields<RetryRow> seen_fields() {
  return {
      bind<RetryRow>(part("status", "The row is for answers with this status; left out: any."),
                     maybe(status_range()), PAWL_MEMBER(status)),
      bind<RetryRow>(part("code",
                          "The error code in the answer's body, or the type of an exception; left "
                          "out: any, or none."),
                     maybe(failure_name()), PAWL_MEMBER(code)),
      bind<RetryRow>(row("transport",
                         "How far the attempt came: answered, not_sent (no byte of it left), "
                         "broke_off or timed_out (something had left), raised (an exception).",
                         Node::of("answered")),
                     transport(), PAWL_MEMBER(transport)),
      bind<RetryRow>(part("names_effect",
                          "Whether the answer names what it made, as an order's id; left out: "
                          "either."),
                     maybe(truth()), PAWL_MEMBER(names_effect)),
  };
}

Fields<RetryRow> meaning_fields() {
  return {
      bind<RetryRow>(row("failure", "The kind of failure that this is; none: it succeeded.", {}),
                     failure_kind(), PAWL_MEMBER(failure)),
      bind<RetryRow>(row("outcome",
                         "What became of the side effect. What is unknown is found out before "
                         "anything is sent again.",
                         {}),
                     outcome(), PAWL_MEMBER(outcome)),
      bind<RetryRow>(
          row("retryable", "Whether another attempt could end better.", truth().print(false)),
          truth(), PAWL_MEMBER(retryable)),
  };
}

retry::Row row_of(const RetryRow& given) {
  retry::Row row{.transport = given.transport,
                 .code = given.code.value_or(""),
                 .names_effect = given.names_effect,
                 .means = {given.failure, given.outcome, given.retryable}};
  if (given.status) {
    row.status_min = given.status->least;
    row.status_max = given.status->most;
  }
  return row;
}

// Whose rows of the file a table has, in order.
std::vector<std::string> tables_within(std::string_view name) {
  std::vector<std::string> names = {std::string(name)};
  if (name != http_table_name) names.emplace_back(http_table_name);
  return names;
}

std::span<const RetryRow> rows_in(const Retry& retry, const std::string& name) {
  const auto found = retry.classify.find(name);
  if (found == retry.classify.end()) return {};
  return found->second;
}

template <class T>
void replace(T& with_default, const std::optional<T>& given) {
  if (given) with_default = *given;
}

retry::Policy merged(const std::string& code, const RetryPolicy& given) {
  const auto category = retry::category_of(code);
  retry::Policy policy = category ? retry::default_policy(*category) : retry::default_policy();
  replace(policy.max_attempts, given.max_attempts);
  replace(policy.base_delay, given.base_delay);
  replace(policy.max_delay, given.max_delay);
  replace(policy.min_delay, given.min_delay);
  replace(policy.multiplier_milli, given.multiplier_milli);
  if (given.jitter) {
    policy.jitter = given.jitter->kind;
    if (policy.jitter == retry::Jitter::proportional) policy.jitter_milli = given.jitter->milli;
  }
  replace(policy.delays, given.delays);
  replace(policy.deadline, given.deadline);
  replace(policy.attempt_timeout, given.attempt_timeout);
  replace(policy.retryable, given.retryable);
  replace(policy.non_retryable, given.non_retryable);
  return policy;
}

// At the member that the message begins with, where the file has it.
void refuse(const std::string& path, const std::string& message, Reader& reader) {
  const std::string member = join(path, message.substr(0, message.find(' ')));
  const std::string& place = reader.line_of(member) > 0 ? member : path;
  reader.problem(reader.line_of(place), place, message);
}

void check_breaker(const retry::BreakerRule& rule, Reader& reader) {
  const std::string min = "retry.breaker.wait_min";
  const std::string max = "retry.breaker.wait_max";
  if (rule.wait_min <= rule.wait_max || !reader.sound(min) || !reader.sound(max)) return;
  const std::string& place = reader.line_of(max) > 0 ? max : min;
  reader.problem(reader.line_of(place), place,
                 "found a wait_max of " + to_string(rule.wait_max) +
                     ", which is shorter than the wait_min of " + to_string(rule.wait_min) +
                     "; allowed: one that is not");
}

}  // namespace

const Fields<RetryPolicy>& retry_policy_fields() {
  static const Fields<RetryPolicy> fields = joined({delay_fields(), end_fields()});
  return fields;
}

const Fields<RetryRow>& retry_row_fields() {
  static const Fields<RetryRow> fields = joined({seen_fields(), meaning_fields()});
  return fields;
}

Type<RetryRow> retry_row() {
  Type<RetryRow> type = map_of(retry_row_fields());
  type.read = [read = std::move(type.read)](Reader& reader, const Node& node,
                                            const std::string& path) -> std::optional<RetryRow> {
    auto value = read(reader, node, path);
    // One that is not as the file has it must not be compared with others.
    if (!value || node.kind != Node::Kind::map || !reader.sound_below(path)) return std::nullopt;
    const Result<void> checked = retry::check(row_of(*value));
    if (checked) return value;
    reader.problem(node.line, path, checked.error().message);
    return std::nullopt;
  };
  return type;
}

void check_retry(const Retry& retry, Reader& reader) {
  retry::PolicyTable table;
  std::set<retry::Category> seen;
  for (const auto& [code, given] : retry.policies) {
    const std::string path = join("retry.policies", code);
    const auto category = retry::category_of(code);
    if (category && !seen.insert(*category).second) {
      reader.problem(reader.line_of(path), path,
                     "found a second policy for " + std::string(retry::code(*category)) +
                         ", which has two names; keep one");
    }
    if (!reader.sound_below(path)) continue;
    const Result<void> set = table.set(code, merged(code, given));
    if (!set) refuse(path, set.error().message, reader);
  }
  check_breaker(retry.breaker, reader);
}

retry::PolicyTable policy_table(const Retry& retry) {
  retry::PolicyTable table;
  for (const auto& [code, given] : retry.policies) {
    const Result<void> set = table.set(code, merged(code, given));
    PAWL_ASSERT(set.has_value());
  }
  return table;
}

Result<retry::ClassificationTable> table_of(const Retry& retry, std::string_view name) {
  if (name != http_table_name && !retry.classify.contains(std::string(name))) {
    std::vector<std::string> names = {std::string(http_table_name)};
    for (const auto& [each, rows] : retry.classify) {
      if (each != http_table_name) names.push_back(each);
    }
    return failure(Code::not_found, "there is no classification table '" + std::string(name) +
                                        "'; take " + alternatives(names) +
                                        ", or define it in retry.classify");
  }
  std::vector<retry::Row> first;
  for (const std::string& each : tables_within(name)) {
    for (const RetryRow& given : rows_in(retry, each)) {
      first.push_back(row_of(given));
      PAWL_ASSERT(retry::check(first.back()).has_value());
    }
  }
  return retry::http_table().prepend(std::move(first));
}

std::string path_of_row(const Retry& retry, std::string_view name, std::size_t index) {
  for (const std::string& each : tables_within(name)) {
    const std::size_t count = rows_in(retry, each).size();
    if (index < count) return join("retry.classify", each) + "[" + std::to_string(index) + "]";
    index -= count;
  }
  return {};
}

RetryPolicy written_out(const retry::Policy& policy) {
  return {.max_attempts = policy.max_attempts,
          .base_delay = policy.base_delay,
          .max_delay = policy.max_delay,
          .min_delay = policy.min_delay,
          .multiplier_milli = policy.multiplier_milli,
          .jitter = RetryJitter{.kind = policy.jitter, .milli = policy.jitter_milli},
          .delays = policy.delays,
          .deadline = policy.deadline,
          .attempt_timeout = policy.attempt_timeout,
          .retryable = policy.retryable,
          .non_retryable = policy.non_retryable};
}

RetryRow written_out(const retry::Row& row) {
  RetryRow out{.transport = row.transport,
               .names_effect = row.names_effect,
               .failure = row.means.failure,
               .outcome = row.means.outcome,
               .retryable = row.means.retryable};
  const retry::Row any;
  if (row.status_min != any.status_min || row.status_max != any.status_max) {
    out.status = StatusRange{.least = row.status_min, .most = row.status_max};
  }
  if (!row.code.empty()) out.code = row.code;
  return out;
}

}  // namespace pawl::config
