#include "venue/common/wire.h"

#include <algorithm>
#include <charconv>

#include "base/bounds.h"
#include "base/calendar.h"
#include "base/percent.h"
#include "base/scrub.h"
#include "base/text.h"
#include "base/utf8.h"

namespace pawl::venue {
namespace {

// "1.5e-7" as "0.00000015". Nothing: it is no number, or one far out of any range.
std::optional<std::string> without_exponent(std::string_view text) {
  const auto at = text.find_first_of("eE");
  if (at == std::string_view::npos) return std::string(text);
  std::string_view power_text = text.substr(at + 1);
  if (power_text.starts_with('+')) power_text.remove_prefix(1);
  int power = 0;
  const char* const end = power_text.data() + power_text.size();
  const auto read = std::from_chars(power_text.data(), end, power);
  if (read.ec != std::errc() || read.ptr != end || power < -40 || power > 40) return std::nullopt;

  std::string_view mantissa = text.substr(0, at);
  const bool negative = mantissa.starts_with('-');
  if (negative) mantissa.remove_prefix(1);
  const auto point = mantissa.find('.');
  std::string digits(mantissa.substr(0, point));
  int scale = -power;
  if (point != std::string_view::npos) {
    digits += mantissa.substr(point + 1);
    scale += static_cast<int>(mantissa.size() - point - 1);
  }
  for (; scale < 0; ++scale) digits += '0';
  const auto places = static_cast<std::size_t>(scale);
  if (digits.size() <= places) digits.insert(0, places + 1 - digits.size(), '0');
  if (places > 0) digits.insert(digits.size() - places, 1, '.');
  while (digits.size() > 1 && digits[0] == '0' && digits[1] != '.') digits.erase(0, 1);
  return (negative ? "-" : "") + digits;
}

}  // namespace

std::string_view field_of(const HttpAnswer& answer, std::string_view name) {
  const auto found = std::ranges::find(answer.fields, name, &HttpField::name);
  return found == answer.fields.end() ? std::string_view() : found->value;
}

std::vector<limit::Field> limit_fields(const HttpAnswer& answer) {
  std::vector<limit::Field> fields;
  fields.reserve(answer.fields.size());
  for (const HttpField& field : answer.fields) {
    fields.push_back({.name = field.name, .value = field.value});
  }
  return fields;
}

Correlation ids_of(std::span<const PlaceAsk> asks) {
  Correlation ids;
  for (const PlaceAsk& ask : asks) {
    const char* const between = &ask == asks.data() ? "" : ",";
    ids.request_id.append(between).append(ask.request_id);
    ids.external_reference.append(between).append(ask.reference);
  }
  return ids;
}

std::optional<Instant> time_of(const HttpAnswer& answer) {
  const auto date = parse_http_date(field_of(answer, "date"));
  return date ? std::optional(*date) : std::nullopt;
}

Result<json::Value> body_of(const HttpAnswer& answer, std::string_view what) {
  const auto bad = [&](const std::string& found) {
    return failure(Code::unavailable, std::string(what) + " gave " + found);
  };
  if (answer.status != 200) {
    const std::string said = for_people(answer.body);
    return bad("status " + std::to_string(answer.status) + (said.empty() ? "" : ": " + said));
  }
  if (!answer.complete) return bad("an answer that was cut off");
  auto body = json::parse(answer.body);
  if (!body) return bad("no JSON: " + body.error().message);
  if (body->if_object() == nullptr && body->if_array() == nullptr) return bad("no object");
  return body;
}

void note_limits(order::Answer& answer, const HttpAnswer& from, Instant now) {
  const std::vector<limit::Field> fields = limit_fields(from);
  const limit::Pushback pushback = limit::parse_pushback(fields, now);
  answer.limits = limit::to_string(std::span<const limit::Reading>(pushback.readings));
  if (from.status != 429 && from.status != 503) return;
  const auto until = limit::refused_until(pushback);
  if (until && *until > now) answer.retry_after = *until - now;
}

order::Answer answer_of(const Error& error) {
  const bool hopeless = error.code == Code::invalid || error.code == Code::refused;
  const bool left = !may_send_again(error.outcome);
  return {.sent = left       ? order::Sent::unknown
                  : hopeless ? order::Sent::refused
                             : order::Sent::not_sent,
          .code = std::string(to_string(error.code)),
          .message = for_people(error.message),
          .retry_after = error.retry_after};
}

std::string for_people(std::string_view text) {
  // What is far beyond the bound is not even looked at: a body may be megabytes.
  const std::string clean = scrubbed(text.substr(0, 4 * bounds::venue_message_bytes_max));
  std::string line;
  for (std::string_view rest = clean; !rest.empty();) {
    const Utf8Character character = first_utf8_character(rest);
    const std::size_t bytes = std::max<std::size_t>(character.bytes, 1);
    if (line.size() + bytes > bounds::venue_message_bytes_max) break;
    const bool shown = character.bytes > 0 && is_printable(rest.substr(0, bytes));
    if (shown && rest.front() != ' ') {
      line += rest.substr(0, bytes);
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
    rest.remove_prefix(bytes);
  }
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

std::string text_of(const json::Value& object, std::string_view member) {
  const json::Value* value = object.find(member);
  if (value == nullptr) return {};
  if (const std::string* text = value->if_string()) return *text;
  if (const json::Number* number = value->if_number()) return number->text;
  return {};
}

std::optional<Decimal> decimal_of(const json::Value& object, std::string_view member) {
  const auto plain = without_exponent(text_of(object, member));
  if (!plain) return std::nullopt;
  const auto number = parse_decimal(*plain);
  return number ? std::optional(*number) : std::nullopt;
}

std::optional<Instant> instant_of(const json::Value& object, std::string_view member) {
  const auto instant = parse_instant(text_of(object, member));
  return instant ? std::optional(*instant) : std::nullopt;
}

const json::Array* list_of(const json::Value& object, std::string_view member) {
  const json::Value* value = object.find(member);
  return value == nullptr ? nullptr : value->if_array();
}

std::string query_of(const std::vector<std::pair<std::string_view, std::string>>& parameters) {
  std::string out;
  for (const auto& [name, value] : parameters) {
    if (value.empty()) continue;
    if (!out.empty()) out += '&';
    out += name;
    out += '=';
    out += percent_encoded(value);
  }
  return out;
}

std::string url_of(std::string_view base, std::string_view path, std::string_view query) {
  while (base.ends_with('/')) base.remove_suffix(1);
  while (path.starts_with('/')) path.remove_prefix(1);
  std::string url = std::string(base) + '/' + std::string(path);
  if (!query.empty()) url += '?' + std::string(query);
  return url;
}

}  // namespace pawl::venue
