// The texts of an Instant: RFC 3339 (declared in pawl/time.h) and HTTP's dates (base/calendar.h).
#include <algorithm>
#include <array>
#include <span>

#include "base/calendar.h"
#include "pawl/time.h"

namespace pawl {
namespace {

constexpr std::array<std::string_view, 7> weekdays = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                                      "Friday", "Saturday", "Sunday"};
constexpr std::array<std::string_view, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

void append_padded(std::string& out, std::int32_t number, std::size_t width) {
  std::array<char, 12> digits;
  std::size_t at = digits.size();
  for (; number > 0 || digits.size() - at < width; number /= 10) {
    digits[--at] = static_cast<char>('0' + number % 10);
  }
  out.append(digits.data() + at, digits.size() - at);
}

void append_time_of_day(std::string& out, const CivilTime& time) {
  append_padded(out, time.hour, 2);
  out.push_back(':');
  append_padded(out, time.minute, 2);
  out.push_back(':');
  append_padded(out, time.second, 2);
}

// Reads a text of fixed shape from left to right. After the first misfit it stays failed, so that a
// whole shape can be written down and checked once, at the end.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void literal(std::string_view text) {
    fits_ = fits_ && rest_.starts_with(text);
    if (fits_) rest_.remove_prefix(text.size());
  }

  std::int32_t digits(std::size_t count) {
    std::int32_t number = 0;
    fits_ = fits_ && digits_ahead() >= count;
    if (!fits_) return 0;
    for (const char c : rest_.substr(0, count)) number = number * 10 + (c - '0');
    rest_.remove_prefix(count);
    return number;
  }

  std::size_t digits_ahead() const {
    return std::min(rest_.find_first_not_of("0123456789"), rest_.size());
  }

  // The place of the name that comes next, counted from 1; of each only the first `length` bytes,
  // when given.
  std::int32_t name(std::span<const std::string_view> names,
                    std::size_t length = std::string_view::npos) {
    for (std::size_t i = 0; fits_ && i < names.size(); ++i) {
      const std::string_view candidate = names[i].substr(0, length);
      if (!rest_.starts_with(candidate)) continue;
      rest_.remove_prefix(candidate.size());
      return static_cast<std::int32_t>(i + 1);
    }
    fits_ = false;
    return 0;
  }

  void fail() { fits_ = false; }
  bool read_it_all() const { return fits_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool fits_ = true;
};

void read_time_of_day(Reader& reader, CivilTime& time) {
  time.hour = reader.digits(2);
  reader.literal(":");
  time.minute = reader.digits(2);
  reader.literal(":");
  time.second = reader.digits(2);
}

// Up to nine digits after the point, as nanoseconds.
std::int32_t read_fraction(Reader& reader) {
  const std::size_t count = reader.digits_ahead();
  if (count < 1 || count > 9) reader.fail();
  std::int32_t fraction = reader.digits(count);
  for (std::size_t place = count; place < 9; ++place) fraction *= 10;
  return fraction;
}

// "Z" or "+01:00": how far local time is ahead of UTC.
Duration read_offset(Reader& reader) {
  if (reader.take('Z') || reader.take('z')) return Duration();
  const bool behind = reader.take('-');
  if (!behind) reader.literal("+");
  const std::int32_t hours = reader.digits(2);
  reader.literal(":");
  const std::int32_t minutes = reader.digits(2);
  if (hours > 23 || minutes > 59) reader.fail();
  const Duration ahead = Duration::hours(hours) + Duration::minutes(minutes);
  return behind ? -ahead : ahead;
}

// The three shapes RFC 9110 (5.6.7) asks a recipient to read. The name of the weekday must be one,
// but is not held against the date: the date alone says everything.
CivilTime read_fixdate(Reader& reader) {  // Sun, 06 Nov 1994 08:49:37 GMT
  CivilTime time{};
  reader.name(weekdays, 3);
  reader.literal(", ");
  time.date.day = reader.digits(2);
  reader.literal(" ");
  time.date.month = reader.name(months);
  reader.literal(" ");
  time.date.year = reader.digits(4);
  reader.literal(" ");
  read_time_of_day(reader, time);
  reader.literal(" GMT");
  return time;
}

// RFC 9110 reads a two-digit year as the one within 50 years of now. There is no clock here, so 70
// … 99 are 1970 … 1999 and 00 … 69 are 2000 … 2069: the same answer for every date near the
// present.
CivilTime read_rfc850_date(Reader& reader) {  // Sunday, 06-Nov-94 08:49:37 GMT
  CivilTime time{};
  reader.name(weekdays);
  reader.literal(", ");
  time.date.day = reader.digits(2);
  reader.literal("-");
  time.date.month = reader.name(months);
  reader.literal("-");
  const std::int32_t year = reader.digits(2);
  time.date.year = year < 70 ? 2000 + year : 1900 + year;
  reader.literal(" ");
  read_time_of_day(reader, time);
  reader.literal(" GMT");
  return time;
}

CivilTime read_asctime_date(Reader& reader) {  // Sun Nov  6 08:49:37 1994
  CivilTime time{};
  reader.name(weekdays, 3);
  reader.literal(" ");
  time.date.month = reader.name(months);
  reader.literal(" ");
  time.date.day = reader.digits(reader.take(' ') ? 1 : 2);
  reader.literal(" ");
  read_time_of_day(reader, time);
  reader.literal(" ");
  time.date.year = reader.digits(4);
  return time;
}

std::unexpected<Error> invalid(std::string_view text, std::string_view why) {
  return failure(Code::invalid, std::string("'").append(text).append("' ").append(why));
}

// `text` is what `local` was read from, for the message.
Result<Instant> to_instant(std::string_view text, const CivilTime& local, Duration ahead) {
  if (!exists(local.date)) return invalid(text, "names a day that does not exist");
  if (local.hour > 23 || local.minute > 59 || local.second > 59) {
    return invalid(text,
                   "names a time of day that does not exist; leap seconds are not known here");
  }
  const Instant unshifted = from_civil(local);
  const Instant instant = unshifted - ahead;
  if (to_civil(unshifted) != local || instant + ahead != unshifted) {
    return invalid(text, "is too far away: an instant lies between the years 1677 and 2262");
  }
  return instant;
}

}  // namespace

std::string to_string(Instant instant) {
  const CivilTime time = to_civil(instant);
  std::string out;
  out.reserve(24);
  append_padded(out, time.date.year, 4);
  out.push_back('-');
  append_padded(out, time.date.month, 2);
  out.push_back('-');
  append_padded(out, time.date.day, 2);
  out.push_back('T');
  append_time_of_day(out, time);
  out.push_back('.');
  append_padded(out, time.nanosecond / 1'000'000, 3);
  out.push_back('Z');
  return out;
}

Result<Instant> parse_instant(std::string_view text) {
  Reader reader(text);
  CivilTime time{};
  time.date.year = reader.digits(4);
  reader.literal("-");
  time.date.month = reader.digits(2);
  reader.literal("-");
  time.date.day = reader.digits(2);
  if (!reader.take('t')) reader.literal("T");
  read_time_of_day(reader, time);
  if (reader.take('.')) time.nanosecond = read_fraction(reader);
  const Duration ahead = read_offset(reader);
  if (!reader.read_it_all()) {
    return invalid(text,
                   "is not an instant; write it as in 2026-01-25T21:15:00Z or "
                   "2026-01-25T22:15:00.5+01:00");
  }
  return to_instant(text, time, ahead);
}

std::string http_date(Instant instant) {
  const CivilTime time = to_civil(instant);
  std::string out(weekdays[static_cast<std::size_t>(weekday(instant) - 1)].substr(0, 3));
  out.append(", ");
  append_padded(out, time.date.day, 2);
  out.append(" ").append(months[static_cast<std::size_t>(time.date.month - 1)]).append(" ");
  append_padded(out, time.date.year, 4);
  out.append(" ");
  append_time_of_day(out, time);
  return out.append(" GMT");
}

Result<Instant> parse_http_date(std::string_view text) {
  Reader reader(text);
  const char fourth = text.size() > 3 ? text[3] : '\0';
  const CivilTime time = fourth == ','   ? read_fixdate(reader)
                         : fourth == ' ' ? read_asctime_date(reader)
                                         : read_rfc850_date(reader);
  if (!reader.read_it_all()) {
    return invalid(text, "is not a date of HTTP, as in Sun, 06 Nov 1994 08:49:37 GMT");
  }
  return to_instant(text, time, Duration());
}

}  // namespace pawl
