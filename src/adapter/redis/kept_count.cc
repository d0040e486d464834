#include "adapter/redis/kept_count.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "base/bounds.h"

namespace pawl::redis {
namespace {

using limit::Calendar;
using limit::CalendarRule;
using limit::Concurrency;
using limit::Mark;
using limit::Moment;
using limit::SlidingLog;
using limit::SlidingWindow;
using limit::TokenBucket;

constexpr std::int64_t ns_a_microsecond = 1'000;
constexpr std::int64_t count_bits = 0x7fff'ffff;

Duration up(Duration duration) {
  return Duration::microseconds(microseconds_up(duration.ns()));
}

Moment moment_of(std::int64_t microseconds) {
  return Moment() + Duration::microseconds(microseconds);
}

// All but a few characters as they are; no brace but those around the tag.
void append_escaped(std::string& out, std::string_view name) {
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && byte < 0x7f && c != '%' && c != '{' && c != '}') {
      out.push_back(c);
    } else {
      out.push_back('%');
      out.push_back("0123456789abcdef"[byte >> 4]);
      out.push_back("0123456789abcdef"[byte & 0xf]);
    }
  }
}

std::string words(std::initializer_list<std::int64_t> numbers) {
  std::string text;
  for (const std::int64_t number : numbers) {
    if (!text.empty()) text.push_back(' ');
    text += std::to_string(number);
  }
  return text;
}

// Takes words off the front of a text; what is not as it must be spoils the whole.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  std::string_view word() {
    const std::size_t end = rest_.find(' ');
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 1);
    return found;
  }
  std::int64_t number(std::int64_t least, std::int64_t most) {
    const std::int64_t n = parse<std::int64_t>(word(), 10);
    if (good_ && n >= least && n <= most) return n;
    good_ = false;
    return least;
  }
  // Below what a Lua number holds exactly.
  std::int64_t number() { return number(0, bounds::limit_used_max); }
  std::uint64_t hex() { return parse<std::uint64_t>(word(), 16); }
  Duration length(Duration most) {
    return Duration::microseconds(number(1, microseconds_up(most.ns())));
  }
  std::string_view rest() const { return rest_; }
  void spoil() { good_ = false; }
  bool good() const { return good_; }

 private:
  template <class T>
  T parse(std::string_view text, int base) {
    T n = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, n, base);
    if (error != std::errc() || stop != end || text.empty()) good_ = false;
    return n;
  }

  std::string_view rest_;
  bool good_ = true;
};

struct ToText {
  std::string operator()(const TokenBucket& bucket) {
    return "t " + words({bucket.capacity(), microseconds_up(bucket.interval.ns())});
  }
  std::string operator()(const SlidingWindow& window) { return "w " + of(window.rate); }
  std::string operator()(const SlidingLog& log) { return "l " + of(log.rate); }
  std::string operator()(const Concurrency& rule) {
    return "s " + words({rule.slots, microseconds_up(rule.lease.ns())});
  }
  std::string operator()(const Calendar& calendar) {
    const auto& [date, hour, minute, second, nanosecond] = calendar.rule.anchor;
    return "c " + std::to_string(calendar.count) + " " +
           std::string(to_string(calendar.rule.unit)) + " " +
           words({date.year, date.month, date.day, hour, minute, second, nanosecond}) + " " +
           calendar.rule.zone.name();
  }
  static std::string of(const limit::Rate& rate) {
    return words({rate.count, microseconds_up(rate.period.ns())});
  }
};

CivilTime read_anchor(Reader& reader) {
  const auto part = [&](std::int64_t least, std::int64_t most) {
    return static_cast<std::int32_t>(reader.number(least, most));
  };
  CivilTime anchor = CalendarRule().anchor;
  const std::int32_t year = part(1, 9999);
  const std::int32_t month = part(1, 12);
  const CivilDate date = {year, month, part(1, 31)};
  anchor.hour = part(0, 23);
  anchor.minute = part(0, 59);
  anchor.second = part(0, 59);
  anchor.nanosecond = part(0, 999'999'999);
  if (reader.good() && exists(date)) {
    anchor.date = date;
  } else {
    reader.spoil();
  }
  return anchor;
}

Result<limit::Rule> read_calendar(Reader& reader, std::int64_t count, const Zones& zones) {
  Calendar calendar{.count = count, .rule = {}};
  const auto unit = limit::calendar_unit(reader.word());
  if (unit) calendar.rule.unit = *unit;
  calendar.rule.anchor = read_anchor(reader);
  const std::string_view zone = reader.rest();
  if (!unit || zone.empty()) reader.spoil();
  if (!reader.good() || zone == Zone::utc().name()) return calendar;
  if (!zones) {
    return failure(Code::invalid, "a count was kept by the calendar of '" + std::string(zone) +
                                      "', a zone this pawl does not know");
  }
  calendar.rule.zone = PAWL_TRY(zones(zone));
  return calendar;
}

Result<limit::Rule> read_rule(Reader& reader, const Zones& zones) {
  const std::string_view kind = reader.word();
  const std::int64_t count = reader.number(1, bounds::limit_count_max + 1);
  if (kind == "c") return read_calendar(reader, count, zones);
  if (kind == "t") return TokenBucket({1, reader.length(bounds::limit_period_max)}, count - 1);
  if (kind == "w") return SlidingWindow{{count, reader.length(bounds::limit_period_max)}};
  if (kind == "l") return SlidingLog{{count, reader.length(bounds::limit_period_max)}};
  if (kind != "s") reader.spoil();
  return Concurrency{.slots = count, .lease = reader.length(bounds::limit_refill_max)};
}

}  // namespace

std::string hex(std::uint64_t number) {
  std::array<char, 16> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  return {digits.data(), end};
}

std::string count_key(const limit::Count& count) {
  std::string key = "rate:";
  append_escaped(key, count.policy->name);
  key += ":{";
  const std::string name = count.key.text();
  append_escaped(key, name);
  if (name.empty()) key.push_back('%');  // an empty tag is none
  key.push_back('}');
  return key;
}

std::string reservation_key(std::string_view count_key, std::uint64_t id) {
  return std::string(count_key) + ":" + hex(id);
}

std::int64_t microseconds_up(std::int64_t ns) {
  return ns / ns_a_microsecond + (ns % ns_a_microsecond > 0 ? 1 : 0);
}

bool is_whole(const limit::Rule& rule) {
  struct Of {
    bool operator()(const TokenBucket& bucket) { return whole(bucket.interval); }
    bool operator()(const SlidingWindow& window) { return whole(window.rate.period); }
    bool operator()(const SlidingLog& log) { return whole(log.rate.period); }
    bool operator()(const Concurrency& concurrency) { return whole(concurrency.lease); }
    bool operator()(const Calendar&) { return true; }
    static bool whole(Duration duration) { return duration.ns() % ns_a_microsecond == 0; }
  };
  return std::visit(Of(), rule);
}

limit::Rule rounded_up(limit::Rule rule) {
  struct Of {
    void operator()(TokenBucket& bucket) {
      const limit::Rate rate = bucket.rate;
      bucket = TokenBucket({1, up(bucket.interval)}, bucket.burst);
      bucket.rate = rate;  // as it is told
    }
    void operator()(SlidingWindow& window) { window.rate.period = up(window.rate.period); }
    void operator()(SlidingLog& log) { log.rate.period = up(log.rate.period); }
    void operator()(Concurrency& concurrency) { concurrency.lease = up(concurrency.lease); }
    void operator()(Calendar&) {}
  };
  std::visit(Of(), rule);
  return rule;
}

std::string rule_text(const limit::Rule& rule) {
  return std::visit(ToText(), rule);
}

std::string window_starts(const CalendarRule& rule, Instant now) {
  const limit::Window window = window_at(rule, now);
  const limit::Window before = window_at(rule, window.start - Duration::nanoseconds(1));
  const limit::Window after = window_at(rule, window.end);
  const auto number = [](Instant at) {
    return std::clamp<std::int64_t>(microseconds_up(at.ns()), 0, bounds::limit_used_max);
  };
  return words({number(before.start), number(window.start), number(window.end), number(after.end)});
}

limit::State state_of(const limit::Rule& rule, const KeptNumbers& numbers) {
  limit::State state;
  state.closed_until = moment_of(numbers.closed);
  if (limit::keeps_marks(rule)) return state;
  state.cell = {.a = moment_of(numbers.a).ns(), .b = numbers.b};
  if (std::holds_alternative<SlidingWindow>(rule)) state.cell.b |= numbers.p << 32;
  if (std::holds_alternative<TokenBucket>(rule)) state.cell.b = moment_of(numbers.b).ns();
  return state;
}

std::string count_text(const limit::Rule& rule, const limit::State& state) {
  KeptNumbers numbers{.a = microseconds_up(state.cell.a),
                      .b = state.cell.b,
                      .p = 0,
                      .closed = microseconds_up(state.closed_until.ns())};
  if (std::holds_alternative<SlidingWindow>(rule)) {
    numbers.b = state.cell.b & count_bits;
    numbers.p = state.cell.b >> 32 & count_bits;
  }
  if (std::holds_alternative<TokenBucket>(rule)) numbers.b = microseconds_up(state.cell.b);
  std::string marks;
  if (limit::keeps_marks(rule)) {
    numbers.a = numbers.b = 0;
    for (const Mark& mark : *state.marks) {
      numbers.b += mark.cost;
      marks += "\n" + words({microseconds_up(mark.at.ns()), mark.cost}) + " " + hex(mark.holder);
    }
  }
  return words({numbers.a, numbers.b, numbers.p, numbers.closed}) + " " + rule_text(rule) + marks;
}

Result<KeptCount> parse_count(std::string_view text, const Zones& zones) {
  const auto next_line = [&] {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    return line;
  };
  const auto unknown = [] { return failure(Code::invalid, "it is not a count of pawl's"); };
  Reader head(next_line());
  KeptNumbers numbers;
  for (std::int64_t* number : {&numbers.a, &numbers.b, &numbers.p, &numbers.closed}) {
    *number = head.number();
  }
  if (!head.good()) return unknown();
  limit::Rule rule = PAWL_TRY(read_rule(head, zones));
  if (!head.good() || numbers.p > count_bits) return unknown();
  KeptCount kept{.rule = std::move(rule), .state = {}, .marks = {}};
  kept.state = state_of(kept.rule, numbers);
  while (!text.empty()) {
    Reader line(next_line());
    const Moment at = moment_of(line.number());
    const std::int64_t cost = line.number(1, bounds::limit_count_max);
    kept.marks.push_back({.at = at, .cost = cost, .holder = line.hex()});
    if (!line.good() || !limit::keeps_marks(kept.rule)) return unknown();
  }
  return kept;
}

}  // namespace pawl::redis
