#include "cli/retry_text.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "cli/config_json.h"
#include "cli/table.h"
#include "config/retry.h"
#include "config/values.h"
#include "core/retry/decide.h"

namespace pawl::cli {
namespace {

using config::Node;

// One policy beside what it would be by default.
struct Line {
  std::string code;
  bool own;  // of a caller, and none of pawl's categories
  config::RetryPolicy policy;
  config::RetryPolicy standard;
};

std::vector<Line> lines_of(const retry::PolicyTable& table) {
  std::vector<Line> lines;
  const auto add = [&](std::string_view code, const retry::Policy& policy,
                       const retry::Policy& standard, bool own) {
    lines.push_back(
        {std::string(code), own, config::written_out(policy), config::written_out(standard)});
  };
  for (std::size_t i = 0; i < retry::categories_count; ++i) {
    const auto category = static_cast<retry::Category>(i);
    add(retry::code(category), table.find(category), retry::default_policy(category), false);
  }
  for (const auto& [code, policy] : table.own()) add(code, policy, retry::default_policy(), true);
  return lines;
}

struct Column {
  std::string_view head;
  std::string_view member;
};
constexpr std::array<Column, 7> columns = {{{"attempts", "max_attempts"},
                                            {"base", "base_delay"},
                                            {"max", "max_delay"},
                                            {"multiplier", "multiplier"},
                                            {"jitter", "jitter"},
                                            {"deadline", "deadline"},
                                            {"timeout", "attempt_timeout"}}};

bool is_column(std::string_view member) {
  return std::ranges::find(columns, member, &Column::member) != columns.end();
}

const config::Field<config::RetryPolicy>& field_of(std::string_view member) {
  const auto& fields = config::retry_policy_fields();
  return *std::ranges::find(fields, member, &config::Field<config::RetryPolicy>::path);
}

bool is_changed(const config::Field<config::RetryPolicy>& field, const Line& line) {
  return !same(field.print(line.policy), field.print(line.standard));
}

std::string text_of(const Node& node) {
  if (node.kind != Node::Kind::list) return node.text;
  std::string text;
  for (const Node& item : node.items) text += (text.empty() ? "" : ", ") + item.text;
  return text.empty() ? "none" : text;
}

std::vector<std::string> row_of(const Line& line) {
  std::vector<std::string> cells = {(line.own ? "*" : "") + line.code};
  for (const Column& column : columns) {
    const auto& field = field_of(column.member);
    std::string text = text_of(field.print(line.policy));
    if (column.member == "deadline" && text == "0s") text = "none";
    cells.push_back((is_changed(field, line) ? "*" : "") + text);
  }
  return cells;
}

// What has no column, and is not the default: "  min_delay: 100ms".
std::string notes_of(const Line& line) {
  std::string notes;
  for (const auto& field : config::retry_policy_fields()) {
    if (is_column(field.path) || !is_changed(field, line)) continue;
    notes += "  *" + field.path + ": " + text_of(field.print(line.policy)) + "\n";
  }
  return notes.empty() ? notes : "\n" + line.code + "\n" + notes;
}

std::string print_ratio(std::int64_t milli) {
  return config::factor(0, milli).print(milli).text;
}

// What comes next after a first attempt, as long as no policy's list says otherwise.
retry::Next next_of(const retry::Classification& means) {
  return retry::decide(retry::default_policy(),
                       {.attempt = 1, .seen = means, .can_reconcile = true})
      .next;
}

// And once it was found out that the attempt did nothing.
retry::Next next_if_nothing(const retry::Classification& means) {
  return retry::decide(retry::default_policy(), {.attempt = 1,
                                                 .seen = means,
                                                 .reconciles = 1,
                                                 .found = Outcome::not_applied,
                                                 .can_reconcile = true})
      .next;
}

std::string_view consequence(const retry::Classification& means) {
  using retry::Next;
  const Next next = next_of(means);
  if (next == Next::done) return "it has been done, and is never sent again";
  if (next == Next::backoff) return "it may be sent again";
  if (next == Next::give_up) return "it is never sent again";
  return next_if_nothing(means) == Next::backoff
             ? "what became of it is found out first; if nothing, it may be sent again"
             : "what became of it is found out first; it is never sent again";
}

// What a row is for, without what it means: "status: 500-599".
std::string condition(const config::RetryRow& row) {
  std::string out;
  for (const auto& field : config::retry_row_fields()) {
    if (field.path == "failure") break;
    const Node node = field.print(row);
    const bool told = field.path != "transport" || row.transport != retry::Transport::answered;
    if (node.kind == Node::Kind::nothing || !told) continue;
    out += (out.empty() ? "" : ", ") + field.path + ": " + node.text;
  }
  return out.empty() ? "any answer" : out;
}

std::string decided_by(const Verdict& verdict) {
  if (!verdict.row) return "no row: nothing matches";
  return (verdict.path.empty() ? "a built-in row" : verdict.path) + " (" + condition(*verdict.row) +
         ")";
}

}  // namespace

std::string policies_text(const config::Retry& retry) {
  std::vector<std::string> head = {"category"};
  for (const Column& column : columns) head.emplace_back(column.head);
  std::vector<std::vector<std::string>> rows = {std::move(head)};
  const std::vector<Line> lines = lines_of(policy_table(retry));
  for (const Line& line : lines) rows.push_back(row_of(line));
  const config::RetryPolicy other = config::written_out(retry::default_policy());
  rows.push_back(row_of({.code = "(any other)", .own = false, .policy = other, .standard = other}));
  std::string out = table(rows);
  for (const Line& line : lines) out += notes_of(line);
  out += "\nbudget: " + print_ratio(retry.budget.ratio_milli) + " retries a call, and " +
         std::to_string(retry.budget.min_per_second) + " a second\n";
  out += "breaker: opens after " + std::to_string(retry.breaker.failures) +
         " failures in a row, for " + to_string(retry.breaker.wait_min) + " to " +
         to_string(retry.breaker.wait_max) + "\n";
  return out + (out.find('*') == std::string::npos ? "" : "* not the default\n");
}

json::Array policy_list(const config::Retry& retry) {
  json::Array policies;
  for (const Line& line : lines_of(policy_table(retry))) {
    json::Array changed;
    for (const auto& field : config::retry_policy_fields()) {
      if (is_changed(field, line)) changed.emplace_back(field.path);
    }
    json::Object object = policy_json(line.policy);
    object["category"] = line.code;
    object["own"] = line.own;
    object["changed"] = std::move(changed);
    policies.push_back(std::move(object));
  }
  return policies;
}

std::string policies_json(const config::Retry& retry) {
  const json::Object result{
      {"policies", policy_list(retry)},
      {"any_other", policy_json(config::written_out(retry::default_policy()))},
      {"budget", json::Object{{"ratio", json::Number{print_ratio(retry.budget.ratio_milli)}},
                              {"min_per_second", retry.budget.min_per_second}}},
      {"breaker", json::Object{{"failures", retry.breaker.failures},
                               {"wait_min", to_string(retry.breaker.wait_min)},
                               {"wait_max", to_string(retry.breaker.wait_max)}}}};
  return json::print(result) + "\n";
}

Result<Verdict> verdict_of(const config::Retry& retry, std::string_view table,
                           const retry::Observation& seen) {
  const retry::ClassificationTable rows = PAWL_TRY(config::table_of(retry, table));
  Verdict verdict{.means = rows.classify(seen)};
  const retry::Row* row = rows.find(seen);
  if (row == nullptr) return verdict;
  verdict.row = config::written_out(*row);
  verdict.path =
      config::path_of_row(retry, table, static_cast<std::size_t>(row - rows.rows().data()));
  return verdict;
}

std::string verdict_text(const Verdict& verdict) {
  std::string out = "failure: " + std::string(to_string(verdict.means.failure)) + "\n";
  out += "outcome: " + std::string(to_string(verdict.means.outcome)) + "\n";
  out += std::string("retryable: ") + (verdict.means.retryable ? "true" : "false") + "\n";
  out += "then: " + std::string(consequence(verdict.means)) + "\n";
  return out + "decided by: " + decided_by(verdict) + "\n";
}

std::string verdict_json(const Verdict& verdict) {
  json::Value row;
  if (verdict.row) {
    row = json::Object{{"path", verdict.path.empty() ? json::Value() : json::Value(verdict.path)},
                       {"row", row_json(*verdict.row)}};
  }
  const json::Object result{
      {"failure", to_string(verdict.means.failure)}, {"outcome", to_string(verdict.means.outcome)},
      {"retryable", verdict.means.retryable},        {"next", to_string(next_of(verdict.means))},
      {"then", consequence(verdict.means)},          {"decided_by", std::move(row)}};
  return json::print(result) + "\n";
}

}  // namespace pawl::cli
