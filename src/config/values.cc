#include "config/values.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/assert.h"
#include "base/bounds.h"
#include "base/text.h"
#include "core/http/chars.h"
#include "core/request/tenant.h"

namespace pawl::config {
namespace {

template <class T>
std::optional<T> value_of(Result<T> parsed) {
  return parsed ? std::optional<T>(*std::move(parsed)) : std::nullopt;
}

struct ByteUnit {
  std::string_view name;
  std::int64_t bytes;
};
// The largest first.
constexpr std::array<ByteUnit, 4> byte_units = {{{"TiB", std::int64_t{1} << 40},
                                                 {"GiB", std::int64_t{1} << 30},
                                                 {"MiB", std::int64_t{1} << 20},
                                                 {"KiB", std::int64_t{1} << 10}}};

std::optional<std::int64_t> parse_bytes(std::string_view text, std::int64_t least,
                                        std::int64_t most) {
  for (const ByteUnit& unit : byte_units) {
    if (!text.ends_with(unit.name)) continue;
    text.remove_suffix(unit.name.size());
    const auto count = parse_whole(text, 0, most / unit.bytes);
    if (!count || *count * unit.bytes < least) return std::nullopt;
    return *count * unit.bytes;
  }
  return parse_whole(text, least, most);
}

// The largest unit that keeps it exact.
std::string print_bytes(std::int64_t bytes) {
  for (const ByteUnit& unit : byte_units) {
    if (bytes >= unit.bytes && bytes % unit.bytes == 0) {
      return std::to_string(bytes / unit.bytes).append(unit.name);
    }
  }
  return std::to_string(bytes);
}

// "2026-01-31T00:00"
std::optional<CivilTime> parse_local_time(const std::string& text) {
  if (text.size() != 16) return std::nullopt;
  const auto instant = parse_instant(text + ":00Z");
  return instant ? std::optional(to_civil(*instant)) : std::nullopt;
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= bounds::config_name_bytes_max &&
         std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || http::is_digit(c) || c == '_' || c == '-';
         });
}

// Of a category, a kind of failure or the type of an exception.
bool is_code(std::string_view text) {
  return !text.empty() && text.size() <= bounds::retry_code_bytes_max && is_visible(text);
}

std::string category_form() {
  return "1 to " + std::to_string(bounds::retry_code_bytes_max) +
         " visible ASCII characters without blanks";
}

// "2", "2.0" or "0.125" as thousandths.
std::optional<std::int64_t> parse_thousandths(std::string_view text, std::int64_t least,
                                              std::int64_t most) {
  const auto point = text.find('.');
  std::string fraction(point == std::string_view::npos ? "0" : text.substr(point + 1));
  const std::string_view whole_text = text.substr(0, point);
  const auto whole = parse_whole(whole_text, 0, most / 1000);
  const bool digits = !fraction.empty() && std::ranges::all_of(fraction, http::is_digit);
  if (whole_text.empty() || !whole || !digits || fraction.size() > 3) return std::nullopt;
  fraction.append(3 - fraction.size(), '0');
  std::int64_t milli = 0;
  (void)std::from_chars(fraction.data(), fraction.data() + fraction.size(), milli);
  milli += *whole * 1000;
  return milli >= least && milli <= most ? std::optional(milli) : std::nullopt;
}

// With one decimal at the least.
std::string print_thousandths(std::int64_t milli) {
  std::string fraction = std::to_string(1000 + milli % 1000).substr(1);
  while (fraction.size() > 1 && fraction.back() == '0') fraction.pop_back();
  return std::to_string(milli / 1000) + "." + fraction;
}

// Which of the two is the lesser is left to whoever knows what they are for.
std::optional<StatusRange> parse_status_range(std::string_view text) {
  const auto dash = text.find('-');
  const auto least = parse_whole(text.substr(0, dash), 100, 999);
  const auto most =
      dash == std::string_view::npos ? least : parse_whole(text.substr(dash + 1), 100, 999);
  if (!least || !most) return std::nullopt;
  return StatusRange{.least = static_cast<int>(*least), .most = static_cast<int>(*most)};
}

std::string print_status_range(const StatusRange& range) {
  const std::string least = std::to_string(range.least);
  return range.least == range.most ? least : least + "-" + std::to_string(range.most);
}

std::string tenant_form() {
  return "the name of a tenant, 1 to " + std::to_string(bounds::tenant_bytes_max) +
         " visible ASCII characters without blanks, of which the first are not anonymous@, and "
         "neither . nor ..";
}

// In capitals: methods are told apart by case, and no client sends another spelling.
bool is_method(std::string_view text) {
  return !text.empty() && text.size() <= bounds::config_name_bytes_max &&
         std::ranges::all_of(text, [](char c) { return (c >= 'A' && c <= 'Z') || c == '-'; });
}

std::string name_form() {
  return "1 to " + std::to_string(bounds::config_name_bytes_max) + " of a-z, 0-9, _ and -";
}

}  // namespace

Type<Endpoint> address() {
  return scalar<Endpoint>(
      {"address", "ADDRESS:PORT, as in 127.0.0.1:8080 or \"[::1]:8080\""},
      [](const std::string& text) { return value_of(parse_endpoint(text)); },
      [](const Endpoint& value) { return to_string(value); });
}

Type<Prefix> prefix() {
  return scalar<Prefix>(
      {"prefix",
       "an address or a prefix with no bit set after its length, as in 192.0.2.1, 10.0.0.0/8 or "
       "2001:db8::/32"},
      [](const std::string& text) { return value_of(parse_prefix(text)); },
      [](const Prefix& value) { return to_string(value); });
}

Type<Secret<std::string>> secret() {
  return scalar<Secret<std::string>>(
      {.name = "secret",
       .allowed =
           "\"\" or up to " + std::to_string(bounds::config_secret_bytes_max) +
           " visible ASCII characters without blanks, and not ***, which is how a secret is shown",
       .form = Form::secret},
      [](const std::string& text) -> std::optional<Secret<std::string>> {
        if (!is_visible(text) || text.size() > bounds::config_secret_bytes_max ||
            text == hidden_secret) {
          return std::nullopt;
        }
        return Secret<std::string>(text);
      },
      [](const Secret<std::string>& value) { return value.reveal(); });
}

Type<std::string> header_name() {
  return scalar<std::string>(
      {"header name",
       "1 to " + std::to_string(bounds::config_name_bytes_max) +
           " characters of an HTTP field name, as in X-Tenant-Id, and no underscore: "
           "pawl refuses requests with one in a header name"},
      [](const std::string& text) -> std::optional<std::string> {
        return is_header_name(text) ? std::optional(text) : std::nullopt;
      },
      [](const std::string& value) { return value; });
}

bool is_header_name(std::string_view text) {
  return text.size() <= bounds::config_name_bytes_max && http::is_token(text) &&
         text.find('_') == std::string_view::npos;
}

Type<std::string> bucket_name() {
  return scalar<std::string>(
      {"name", name_form()},
      [](const std::string& text) { return is_name(text) ? std::optional(text) : std::nullopt; },
      [](const std::string& value) { return value; });
}

Type<std::string> tenant_name() {
  return scalar<std::string>(
      {"name", tenant_form()},
      [](const std::string& text) {
        return request::is_tenant_name(text) ? std::optional(text) : std::nullopt;
      },
      [](const std::string& value) { return value; });
}

Type<std::string> method() {
  return scalar<std::string>(
      {"method", "the name of a method in capitals, as in POST"},
      [](const std::string& text) { return is_method(text) ? std::optional(text) : std::nullopt; },
      [](const std::string& value) { return value; });
}

Type<request::PathPattern> path_pattern() {
  return scalar<request::PathPattern>(
      {"path pattern",
       "a path whose segments are words, * (any one) or, last of all, ** (any number), as in "
       "/v1/orders/** or /v1/*/items"},
      [](const std::string& text) { return value_of(request::PathPattern::parse(text)); },
      [](const request::PathPattern& value) { return value.text(); });
}

Type<limit::Rate> rate() {
  return scalar<limit::Rate>(
      {"rate", "COUNT/DURATION, as in 100/1m (1 to " + std::to_string(bounds::limit_count_max) +
                   ", in up to " + to_string(bounds::limit_period_max) + ")"},
      [](const std::string& text) { return value_of(limit::parse_rate(text)); },
      [](const limit::Rate& value) { return limit::to_string(value); });
}

Type<std::int64_t> bytes(std::int64_t least, std::int64_t most) {
  return scalar<std::int64_t>(
      {"size", "a size from " + print_bytes(least) + " to " + print_bytes(most) +
                   ", in KiB, MiB, GiB, TiB or bytes"},
      [=](const std::string& text) { return parse_bytes(text, least, most); }, print_bytes);
}

Type<Duration> duration(Duration least, Duration most) {
  return scalar<Duration>(
      {"duration", "a duration from " + to_string(least) + " to " + to_string(most)},
      [=](const std::string& text) -> std::optional<Duration> {
        const auto value = parse_duration(text);
        return value && *value >= least && *value <= most ? std::optional(*value) : std::nullopt;
      },
      [](const Duration& value) { return to_string(value); });
}

Type<bool> truth() {
  return scalar<bool>(
      {.name = "true or false", .allowed = "true or false", .form = Form::truth},
      [](const std::string& text) -> std::optional<bool> {
        if (text != "true" && text != "false") return std::nullopt;
        return text == "true";
      },
      [](const bool& value) { return std::string(value ? "true" : "false"); });
}

Type<std::int64_t> factor(std::int64_t least_milli, std::int64_t most_milli) {
  return scalar<std::int64_t>(
      {.name = "number",
       .allowed = "a number from " + print_thousandths(least_milli) + " to " +
                  print_thousandths(most_milli) + ", with up to three decimals",
       .form = Form::number},
      [=](const std::string& text) { return parse_thousandths(text, least_milli, most_milli); },
      print_thousandths);
}

Type<RetryJitter> retry_jitter() {
  using retry::Jitter;
  return scalar<RetryJitter>(
      {"number or word",
       "a number from 0.0 to 1.0, with up to three decimals (so much of the delay more or less), "
       "none, full, equal or decorrelated"},
      [](const std::string& text) -> std::optional<RetryJitter> {
        if (const auto milli = parse_thousandths(text, 0, 1000)) {
          return RetryJitter{.kind = Jitter::proportional, .milli = *milli};
        }
        const auto kind = retry::jitter_of(text);
        if (!kind || *kind == Jitter::proportional) return std::nullopt;
        return RetryJitter{.kind = *kind};
      },
      [](const RetryJitter& value) {
        return value.kind == Jitter::proportional ? print_thousandths(value.milli)
                                                  : std::string(retry::to_string(value.kind));
      });
}

Type<std::string> failure_name() {
  return scalar<std::string>(
      {"name", category_form()},
      [](const std::string& text) { return is_code(text) ? std::optional(text) : std::nullopt; },
      [](const std::string& value) { return value; });
}

Type<StatusRange> status_range() {
  return scalar<StatusRange>({"status", "a status from 100 to 999, or a range, as in 500-599"},
                             parse_status_range, print_status_range);
}

Type<std::string> zone_name() {
  return scalar<std::string>(
      {"time zone", "the name of a time zone, as in Europe/Zurich or UTC"},
      [](const std::string& text) -> std::optional<std::string> {
        if (text.empty() || text.size() > bounds::config_name_bytes_max || !is_visible(text)) {
          return std::nullopt;
        }
        return text;
      },
      [](const std::string& value) { return value; });
}

Type<CivilTime> local_time() {
  return scalar<CivilTime>(
      {"local time", "a date and time of the zone, as in 2026-01-31T00:00"}, parse_local_time,
      [](const CivilTime& value) { return to_string(from_civil(value)).substr(0, 16); });
}

KeyRule name_key() {
  return {name_form(), is_name};
}

KeyRule tenant_key() {
  return {tenant_form(), request::is_tenant_name};
}

KeyRule category_key() {
  return {category_form() + ", as in RETRY_API_REQUEST", is_code};
}

std::optional<std::int64_t> parse_whole(std::string_view text, std::int64_t least,
                                        std::int64_t most) {
  if (!std::ranges::all_of(text, http::is_digit)) return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || number < least || number > most) return std::nullopt;
  return number;
}

std::string alternatives(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
    out += words[i];
  }
  return out;
}

}  // namespace pawl::config
