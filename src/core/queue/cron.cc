#include "core/queue/cron.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <span>
#include <string>

#include "base/bounds_queue.h"
#include "base/calendar.h"
#include "base/text.h"

namespace pawl::queue {
namespace {

constexpr std::array<std::string_view, 12> month_names = {"jan", "feb", "mar", "apr", "may", "jun",
                                                          "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> weekday_names = {"sun", "mon", "tue", "wed",
                                                           "thu", "fri", "sat"};

struct Field {
  std::string_view name;
  int least;
  int most;
  std::span<const std::string_view> names = {};  // of `least` and those that follow
};
constexpr std::array<Field, 5> all_fields = {
    Field{.name = "minute", .least = 0, .most = 59},
    Field{.name = "hour", .least = 0, .most = 23},
    Field{.name = "day of the month", .least = 1, .most = 31},
    Field{.name = "month", .least = 1, .most = 12, .names = month_names},
    Field{.name = "weekday", .least = 0, .most = 7, .names = weekday_names},
};
constexpr int sunday_again = 7;

struct Named {
  std::string_view name;
  std::string_view means;
};
constexpr std::array<Named, 7> named = {
    Named{"@hourly", "0 * * * *"},  Named{"@daily", "0 0 * * *"},   Named{"@midnight", "0 0 * * *"},
    Named{"@weekly", "0 0 * * 0"},  Named{"@monthly", "0 0 1 * *"}, Named{"@yearly", "0 0 1 1 *"},
    Named{"@annually", "0 0 1 1 *"}};

constexpr bool has(std::uint64_t bits, int value) {
  return (bits >> value & 1) != 0;
}

std::unexpected<Error> wrong(const Field& field, std::string_view found, const std::string& what) {
  return failure(
      Code::invalid,
      std::string(field.name).append(": '").append(found.substr(0, 64)).append("' ").append(what));
}

Result<int> read_number(const Field& field, std::string_view text) {
  for (std::size_t i = 0; i < field.names.size(); ++i) {
    if (equal_ignoring_case(text, field.names[i])) return field.least + static_cast<int>(i);
  }
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const bool fits = error == std::errc() && rest == end && text.front() != '-';
  if (fits && number >= field.least && number <= field.most) return number;
  std::string allowed =
      "is not one of " + std::to_string(field.least) + " … " + std::to_string(field.most);
  if (!field.names.empty()) {
    allowed.append(" or ").append(field.names.front()).append(" … ").append(field.names.back());
  }
  return wrong(field, text, allowed);
}

// The values of one entry of a list: "*", "5", "1-5", "*/2", "1-5/2".
Result<std::uint64_t> read_entry(const Field& field, std::string_view entry) {
  std::string_view range = entry;
  const bool stepped = range.contains('/');
  const std::string_view values = take_until(range, '/');
  int step = 1;
  if (stepped) {
    const auto [rest, error] = std::from_chars(range.data(), range.data() + range.size(), step);
    if (error != std::errc() || rest != range.data() + range.size() || step < 1) {
      return wrong(field, entry, "has no step: a whole number from 1 follows the '/'");
    }
  }
  std::string_view last_text = values;
  const bool ranged = values.contains('-');
  const std::string_view first_text = take_until(last_text, '-');
  int first = field.least;
  int last = field.most;
  if (values != "*") {
    first = PAWL_TRY(read_number(field, first_text));
    last = ranged ? PAWL_TRY(read_number(field, last_text)) : first;
    if (stepped && !ranged) {
      return wrong(field, entry,
                   "has a step and no range: write " + std::string(values) + "-" +
                       std::to_string(field.most) + "/" + std::to_string(step));
    }
  }
  const bool over_sunday = field.most == sunday_again && first > last;
  if (first > last && !over_sunday) return wrong(field, entry, "ends before it begins");
  if (over_sunday) last += sunday_again;
  std::uint64_t bits = 0;
  for (std::int64_t value = first; value <= last; value += step) {
    bits |= std::uint64_t{1} << (over_sunday ? value % sunday_again : value);
  }
  return bits;
}

Result<std::uint64_t> read_field(const Field& field, std::string_view text) {
  std::uint64_t bits = 0;
  std::string_view rest = text;
  for (bool more = true; more;) {
    more = rest.contains(',');
    const std::string_view entry = take_until(rest, ',');
    if (entry.empty()) return wrong(field, text, "has an empty entry");
    bits |= PAWL_TRY(read_entry(field, entry));
  }
  if (field.most == sunday_again && has(bits, sunday_again)) {
    bits = (bits | 1) & ~(std::uint64_t{1} << sunday_again);
  }
  return bits;
}

// Some year has such a day; a weekday comes about for every date in the end.
bool ever_fires(const Cron& cron) {
  constexpr std::int32_t leap_year = 2024;
  if (cron.either_day) return true;
  for (int month = 1; month <= 12; ++month) {
    for (int day = 1; has(cron.months, month) && day <= 31; ++day) {
      if (has(cron.days, day) && exists({leap_year, month, day})) return true;
    }
  }
  return false;
}

constexpr Duration a_day = Duration::days(1);
constexpr Duration a_minute = Duration::minutes(1);
constexpr std::int64_t thursday = 4;  // 1970-01-01

bool has_day(const Cron& cron, std::int64_t day) {
  const CivilDate date = civil_from_days(day);
  if (!has(cron.months, date.month)) return false;
  const auto weekday = static_cast<int>(((day + thursday) % 7 + 7) % 7);
  const bool by_date = has(cron.days, date.day);
  const bool by_weekday = has(cron.weekdays, weekday);
  return cron.either_day ? by_date || by_weekday : by_date && by_weekday;
}

// The first minute of the day from `minute` on.
std::optional<std::int64_t> first_minute(const Cron& cron, std::int64_t minute) {
  for (int hour = static_cast<int>(minute / 60); hour < 24; ++hour) {
    if (!has(cron.hours, hour)) continue;
    const std::int64_t from = hour == minute / 60 ? minute % 60 : 0;
    const std::uint64_t left = cron.minutes >> from << from;
    if (left != 0) return hour * 60 + std::countr_zero(left);
  }
  return {};
}

// What the clocks show, as if it were UTC.
struct Local {
  Instant time;
};

// The first time at or after `from` that fits.
std::optional<Local> first_fit(const Cron& cron, Local from) {
  const std::int64_t ns = from.time.ns();
  std::int64_t day = ns / a_day.ns() - (ns % a_day.ns() < 0 ? 1 : 0);
  // Up to the end of the minute; that may be the day's.
  const Duration into = from.time - (Instant() + Duration::days(day));
  std::int64_t minute = into.up_in(a_minute);
  const std::int64_t last = day + std::int64_t{bounds::cron_years_max} * 366;
  for (; day <= last; ++day, minute = 0) {
    if (!has_day(cron, day)) continue;
    const auto found = first_minute(cron, minute);
    if (!found) continue;
    const Instant time = Instant() + Duration::days(day) + Duration::minutes(*found);
    if (time > Instant::max() - a_day) return {};  // where offsets cannot be told any more
    return Local{time};
  }
  return {};
}

// For a cron that names hours: by what the clocks show. A later local time never means an earlier
// instant, so those that come twice are passed one by one, and no more than a day of them.
std::optional<Instant> next_shown(const Cron& cron, const Zone& zone, Instant after) {
  Local from = {after + zone.span_at(after).utc_offset + Duration::nanoseconds(1)};
  for (;;) {
    const auto fit = first_fit(cron, from);
    if (!fit) return {};
    const Instant instant = zone.to_instant(to_civil(fit->time));
    if (instant > after) return instant;
    from = {fit->time + a_minute};
  }
}

// For one that fires in every hour: by the time that passes, from one change of the clocks to the
// next.
std::optional<Instant> next_passed(const Cron& cron, const Zone& zone, Instant after) {
  Instant from = after + Duration::nanoseconds(1);
  for (;;) {
    const ZoneSpan span = zone.span_at(from);
    const auto fit = first_fit(cron, {from + span.utc_offset});
    if (!fit) return {};
    const Instant instant = fit->time - span.utc_offset;
    if (instant < span.until) return instant;
    from = span.until;
  }
}

}  // namespace

Result<Cron> parse_cron(std::string_view text) {
  const std::string_view given = text;
  for (const Named& known : named) {
    if (text == known.name) text = known.means;
  }
  std::array<std::string_view, all_fields.size()> words;
  std::size_t count = 0;
  while (!(text = trim_blanks(text)).empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(" \t"));
    text.remove_prefix(word.size());
    if (count < words.size()) words[count] = word;
    ++count;
  }
  if (count != words.size()) {
    return failure(Code::invalid, std::string("'")
                                      .append(given.substr(0, 64))
                                      .append("' has ")
                                      .append(std::to_string(count))
                                      .append(" fields: write five (minute, hour, day of the "
                                              "month, month, weekday), or one of @hourly, @daily, "
                                              "@weekly, @monthly, @yearly"));
  }
  Cron cron;
  cron.minutes = PAWL_TRY(read_field(all_fields[0], words[0]));
  cron.hours = PAWL_TRY(read_field(all_fields[1], words[1]));
  cron.days = PAWL_TRY(read_field(all_fields[2], words[2]));
  cron.months = PAWL_TRY(read_field(all_fields[3], words[3]));
  cron.weekdays = PAWL_TRY(read_field(all_fields[4], words[4]));
  cron.either_day = !words[2].starts_with('*') && !words[4].starts_with('*');
  if (!ever_fires(cron)) {
    return wrong(all_fields[2], words[2],
                 "never comes in the months of '" + std::string(words[3].substr(0, 64)) + "'");
  }
  return cron;
}

std::optional<Instant> next_after(const Cron& cron, const Zone& zone, Instant after) {
  constexpr std::uint64_t every_hour = (std::uint64_t{1} << 24) - 1;
  if (after > Instant::max() - a_day) return {};
  after = std::max(after, Instant::from_ns(std::numeric_limits<std::int64_t>::min()) + a_day * 2);
  return cron.hours == every_hour ? next_passed(cron, zone, after) : next_shown(cron, zone, after);
}

}  // namespace pawl::queue
