#include "cli/audit_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "cli/table.h"

namespace pawl::cli {
namespace {

using audit::CategoryStats;

// A text that needs no quotes between blanks.
bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return c > ' ' && c <= '~' && c != '"' && c != '\\' && c != '=';
  });
}

std::string value_text(const json::Value& value) {
  const std::string* text = value.if_string();
  return text != nullptr && is_word(*text) ? *text : json::print(value);
}

// The member as it is, or nothing.
std::string take_text(json::Object& members, std::string_view name) {
  const auto found = members.find(name);
  if (found == members.end()) return {};
  std::string text = value_text(found->second);
  members.erase(found);
  return text;
}

// With so many digits behind the point.
std::string fixed(double number, int places) {
  std::array<char, 64> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number,
                                          std::chars_format::fixed, places);
  return {digits.data(), end};
}

json::Value rounded(const std::optional<double>& number) {
  return number ? json::Value(json::Number{fixed(*number, 4)}) : json::Value();
}

std::vector<std::string> row(const std::string& name, const CategoryStats& of) {
  const auto rate = of.success_rate();
  const auto average = of.average_attempts();
  return {name.empty() ? "(none)" : name,    std::to_string(of.succeeded + of.exhausted),
          std::to_string(of.attempts),       std::to_string(of.retries),
          std::to_string(of.replayed),       rate ? fixed(100 * *rate, 1) + "%" : "-",
          average ? fixed(*average, 2) : "-"};
}

}  // namespace

std::string record_text(std::string_view line) {
  const Result<json::Value> record = json::parse(line);
  const json::Object* found = record ? record->if_object() : nullptr;
  if (found == nullptr) {
    std::string quoted;
    json::append_quoted(quoted, line);
    return quoted;
  }
  json::Object members = *found;
  std::string out = take_text(members, "timestamp");
  out.append(" ").append(take_text(members, "event_type"));
  if (const std::string operation = take_text(members, "operation"); !operation.empty()) {
    out.append(" ").append(operation);
  }
  for (const auto& [name, value] : members) {
    if (name == "hash" || name == "prev") continue;
    out.append(" ");
    is_word(name) ? out.append(name) : out.append(json::print(name));
    out.append("=").append(value_text(value));
  }
  return out;
}

std::string stats_text(const StatsView& view) {
  const audit::Stats& stats = view.stats;
  std::string out = view.file + ": " + std::to_string(stats.records()) +
                    (stats.records() == 1 ? " record" : " records");
  if (stats.unreadable() > 0) {
    out += ", and " + std::to_string(stats.unreadable()) +
           " lines that are none ('pawl audit verify' shows where)";
  }
  out += "\n\n";
  if (stats.categories().empty()) {
    out += "no operations with retries\n\n";
  } else {
    std::vector<std::vector<std::string>> rows = {
        {"category", "ended", "attempts", "retries", "replayed", "success", "average attempts"}};
    for (const auto& [name, of] : stats.categories()) rows.push_back(row(name, of));
    out += table(rows) + "\n";
  }
  const std::uint64_t last = stats.retry_rate().in_minute_before(view.now);
  out += "retries in the last minute: " + std::to_string(last);
  if (stats.peak()) {
    out += ", at most " + std::to_string(stats.peak()->retries) + " a minute (" +
           to_string(stats.peak()->at) + ")";
  }
  out += "\nalert above " + std::to_string(view.alert_above) + ": " +
         (last > view.alert_above ? "yes" : "no") + "\n";
  return out;
}

std::string stats_json(const StatsView& view) {
  json::Object categories;
  for (const auto& [name, of] : view.stats.categories()) {
    categories.emplace(name, json::Object{{"attempts", of.attempts},
                                          {"retries", of.retries},
                                          {"succeeded", of.succeeded},
                                          {"exhausted", of.exhausted},
                                          {"replayed", of.replayed},
                                          {"success_rate", rounded(of.success_rate())},
                                          {"average_attempts", rounded(of.average_attempts())}});
  }
  const std::uint64_t last = view.stats.retry_rate().in_minute_before(view.now);
  const auto& peak = view.stats.peak();
  json::Object rate{{"last_minute", last},
                    {"highest_minute", peak ? peak->retries : 0},
                    {"highest_at", peak ? json::Value(to_string(peak->at)) : json::Value()},
                    {"alert_above", view.alert_above},
                    {"alert", last > view.alert_above}};
  const json::Object result{{"file", view.file},
                            {"records", view.stats.records()},
                            {"unreadable", view.stats.unreadable()},
                            {"categories", std::move(categories)},
                            {"retry_rate", std::move(rate)}};
  return json::print(result) + "\n";
}

}  // namespace pawl::cli
