#include "core/limit/rule_text.h"

#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "base/bounds.h"

namespace pawl::limit {
namespace {

std::unexpected<Error> no_rule(std::string_view text) {
  return failure(Code::invalid, "'" + std::string(text) + "' is no rule that pawl writes");
}

std::optional<std::int64_t> parse_count(std::string_view text) {
  std::int64_t count = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc() || rest != end || count < 1 || count > bounds::limit_count_max) {
    return std::nullopt;
  }
  return count;
}

// What stands before `word`; that and the word are taken off. All of it where there is no word.
std::string_view take_until_word(std::string_view& text, std::string_view word) {
  const auto at = text.find(word);
  const std::string_view before = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + word.size());
  return before;
}

// "100/1m burst 20"
Result<Rule> parse_bucket(std::string_view text) {
  std::string_view burst = text;
  const Rate rate = PAWL_TRY(parse_rate(take_until_word(burst, " burst ")));
  if (burst.empty()) return TokenBucket(rate, 0);
  const auto count = parse_count(burst);
  if (!count) return no_rule(text);
  return TokenBucket(rate, *count);
}

// "1000 a month in Europe/Zurich from 2026-01-31T00:00:00.000"
Result<Rule> parse_calendar(std::string_view text, const Zones& zones) {
  std::string_view anchor = text;
  const auto count = parse_count(take_until_word(anchor, " a "));
  const auto unit = calendar_unit(take_until_word(anchor, " in "));
  const std::string_view zone = take_until_word(anchor, " from ");
  if (!count || !unit || zone.empty()) return no_rule(text);
  Calendar calendar{.count = *count, .rule = {.unit = *unit}};
  if (!anchor.empty()) {
    const auto instant = parse_instant(std::string(anchor) + "Z");
    if (!instant) return no_rule(text);
    calendar.rule.anchor = to_civil(*instant);
  }
  if (zone == Zone::utc().name()) return calendar;
  Result<Zone> found = zones(zone);
  if (!found) return failure(Code::not_found, std::move(found).error().message);
  calendar.rule.zone = *std::move(found);
  return calendar;
}

}  // namespace

Result<Rule> parse_rule(std::string_view algorithm, std::string_view text, const Zones& zones) {
  Result<Rule> rule = no_rule(text);
  if (algorithm == "token_bucket") {
    rule = parse_bucket(text);
  } else if (algorithm == "calendar") {
    rule = parse_calendar(text, zones);
  } else if (algorithm == "sliding_window") {
    rule = SlidingWindow{.rate = PAWL_TRY(parse_rate(text))};
  }
  if (rule && to_string(*rule) != text) return no_rule(text);
  return rule;
}

}  // namespace pawl::limit
