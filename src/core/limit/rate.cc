#include "core/limit/rate.h"

#include <charconv>

#include "base/bounds.h"

namespace pawl::limit {
namespace {

std::unexpected<Error> not_a_rate(std::string_view text) {
  return failure(Code::invalid, "'" + std::string(text) +
                                    "' is not a rate; write a count, a slash and a duration, as in "
                                    "100/1m");
}

std::unexpected<Error> out_of_range(std::string_view text, std::string allowed) {
  return failure(Code::invalid, "the rate '" + std::string(text) +
                                    "' is out of range; allowed: " + std::move(allowed));
}

}  // namespace

Result<Rate> parse_rate(std::string_view text) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return not_a_rate(text);
  Rate rate;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, rate.count);
  if (rest == end || *rest != '/') return not_a_rate(text);
  if (text.front() == '0' && rest - text.data() > 1) return not_a_rate(text);
  if (error != std::errc() || rate.count < 1 || rate.count > bounds::limit_count_max) {
    return out_of_range(text, "a count from 1 to " + std::to_string(bounds::limit_count_max));
  }
  const auto period = parse_duration(std::string_view(rest + 1, end));
  if (!period) return not_a_rate(text);
  rate.period = *period;
  if (rate.period <= Duration() || rate.period > bounds::limit_period_max) {
    return out_of_range(
        text, "a duration above 0s and up to " + pawl::to_string(bounds::limit_period_max));
  }
  if (rate.count > rate.period.ns()) return out_of_range(text, "at most one a nanosecond");
  return rate;
}

std::string to_string(const Rate& rate) {
  return std::to_string(rate.count) + "/" + pawl::to_string(rate.period);
}

}  // namespace pawl::limit
