#include "adapter/sqlite/kept_rule.h"

#include <charconv>
#include <cstdint>
#include <optional>

#include "base/bounds.h"
#include "base/json.h"

namespace pawl {
namespace {

using limit::Calendar;
using limit::CalendarRule;
using limit::CalendarUnit;

json::Object object_of(const limit::Rate& rate) {
  return {{"count", rate.count}, {"period_ns", rate.period.ns()}};
}

struct ToObject {
  json::Object operator()(const limit::TokenBucket& bucket) {
    json::Object object = object_of(bucket.rate);
    object.emplace("burst", bucket.burst);
    return object;
  }
  json::Object operator()(const limit::SlidingWindow& window) { return object_of(window.rate); }
  json::Object operator()(const limit::SlidingLog& log) { return object_of(log.rate); }
  json::Object operator()(const limit::Concurrency& rule) {
    return {{"slots", rule.slots}, {"lease_ns", rule.lease.ns()}};
  }
  json::Object operator()(const Calendar& calendar) {
    const CivilTime& at = calendar.rule.anchor;
    return {{"count", calendar.count},
            {"unit", limit::to_string(calendar.rule.unit)},
            {"zone", calendar.rule.zone.name()},
            {"anchor", json::Array{at.date.year, at.date.month, at.date.day, at.hour, at.minute,
                                   at.second, at.nanosecond}}};
  }
};

std::optional<std::int64_t> integer(const json::Value* value) {
  const json::Number* number = value == nullptr ? nullptr : value->if_number();
  if (number == nullptr) return std::nullopt;
  std::int64_t n = 0;
  const char* end = number->text.data() + number->text.size();
  const auto [rest, error] = std::from_chars(number->text.data(), end, n);
  if (error != std::errc() || rest != end) return std::nullopt;
  return n;
}

// Reads the members of one kept rule; what is missing or out of range spoils the whole.
class Reader {
 public:
  explicit Reader(const json::Value& value) : value_(value) {}

  std::int64_t number(std::string_view name, std::int64_t least, std::int64_t most) {
    return within(integer(value_.find(name)), least, most);
  }
  std::string text(std::string_view name) {
    const json::Value* member = value_.find(name);
    if (member != nullptr && member->if_string() != nullptr) return *member->if_string();
    good_ = false;
    return {};
  }
  limit::Rate rate() {
    const std::int64_t count = number("count", 1, bounds::limit_count_max);
    return {.count = count,
            .period = Duration::nanoseconds(number("period_ns", 1, bounds::limit_period_max.ns()))};
  }
  CivilTime anchor() {
    const json::Value* member = value_.find("anchor");
    const json::Array* parts = member == nullptr ? nullptr : member->if_array();
    if (parts == nullptr || parts->size() != 7) {
      good_ = false;
      return CalendarRule().anchor;
    }
    const auto part = [&](std::size_t i, std::int64_t least, std::int64_t most) {
      return static_cast<std::int32_t>(within(integer(&(*parts)[i]), least, most));
    };
    const CivilDate date = {part(0, 1, 9999), part(1, 1, 12), part(2, 1, 31)};
    if (!good_ || !exists(date)) {
      good_ = false;
      return CalendarRule().anchor;
    }
    return {.date = date,
            .hour = part(3, 0, 23),
            .minute = part(4, 0, 59),
            .second = part(5, 0, 59),
            .nanosecond = part(6, 0, 999'999'999)};
  }
  CalendarUnit unit() {
    const auto unit = limit::calendar_unit(text("unit"));
    if (!unit) good_ = false;
    return unit.value_or(CalendarUnit::month);
  }
  void spoil() { good_ = false; }
  bool good() const { return good_; }

 private:
  // `least` in place of what is wrong, so that rules can be made of it all the same.
  std::int64_t within(std::optional<std::int64_t> n, std::int64_t least, std::int64_t most) {
    if (n && *n >= least && *n <= most) return *n;
    good_ = false;
    return least;
  }

  const json::Value& value_;
  bool good_ = true;
};

limit::Rule plain_rule(Reader& reader, std::string_view algorithm) {
  if (algorithm == "token_bucket") {
    const limit::Rate rate = reader.rate();
    return limit::TokenBucket(rate, reader.number("burst", 0, bounds::limit_count_max));
  }
  if (algorithm == "sliding_window") return limit::SlidingWindow{.rate = reader.rate()};
  if (algorithm == "sliding_log") return limit::SlidingLog{.rate = reader.rate()};
  if (algorithm != "concurrency") reader.spoil();
  return limit::Concurrency{
      .slots = reader.number("slots", 1, bounds::limit_slots_max),
      .lease = Duration::nanoseconds(reader.number("lease_ns", 1, Duration::max().ns()))};
}

}  // namespace

std::string text_of(const limit::Rule& rule) {
  json::Object object = std::visit(ToObject(), rule);
  object.emplace("algorithm", limit::algorithm_of(rule));
  return json::print(std::move(object));
}

Result<limit::Rule> rebuild(std::string_view text, const ZoneLookup& zones) {
  const auto unknown = [&] {
    return failure(Code::invalid, "a count was kept under the rule '" + std::string(text) +
                                      "', which this pawl does not know: use the pawl that kept "
                                      "it, or reset the count");
  };
  const Result<json::Value> value = json::parse(text);
  if (!value) return unknown();
  Reader reader(*value);
  const std::string algorithm = reader.text("algorithm");
  if (algorithm != "calendar") {
    limit::Rule rule = plain_rule(reader, algorithm);
    if (!reader.good()) return unknown();
    return rule;
  }
  Calendar calendar{.count = reader.number("count", 1, bounds::limit_count_max),
                    .rule = {.unit = reader.unit(), .anchor = reader.anchor()}};
  const std::string zone = reader.text("zone");
  if (!reader.good() || (zone != Zone::utc().name() && !zones)) return unknown();
  if (zone != Zone::utc().name()) calendar.rule.zone = PAWL_TRY(zones(zone));
  return calendar;
}

}  // namespace pawl
