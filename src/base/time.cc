#include "pawl/time.h"

#include <array>
#include <charconv>

namespace pawl {
namespace {

struct Unit {
  std::string_view name;
  Duration length;
};

// From the largest to the smallest: printing takes the first that divides evenly.
constexpr std::array<Unit, 7> units = {{
    Unit{"d", Duration::days(1)},
    Unit{"h", Duration::hours(1)},
    Unit{"m", Duration::minutes(1)},
    Unit{"s", Duration::seconds(1)},
    Unit{"ms", Duration::milliseconds(1)},
    Unit{"us", Duration::microseconds(1)},
    Unit{"ns", Duration::nanoseconds(1)},
}};

std::unexpected<Error> not_a_duration(std::string_view text) {
  return failure(Code::invalid, "'" + std::string(text) +
                                    "' is not a duration; write a whole number and a unit, as in "
                                    "500ms, 60s, 15m, 24h or 7d");
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  std::int64_t count = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc() || text.front() == '-') return not_a_duration(text);
  const std::string_view name(rest, end);
  for (const Unit& unit : units) {
    if (unit.name != name) continue;
    if (count > Duration::max().ns() / unit.length.ns()) {
      return failure(Code::invalid, "'" + std::string(text) + "' is longer than 292 years");
    }
    return unit.length * count;
  }
  return not_a_duration(text);
}

std::string to_string(Duration duration) {
  if (duration == Duration()) return "0s";
  for (const Unit& unit : units) {
    if (duration.ns() % unit.length.ns() == 0) {
      return std::to_string(duration.ns() / unit.length.ns()).append(unit.name);
    }
  }
  __builtin_unreachable();
}

}  // namespace pawl
