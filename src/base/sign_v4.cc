#include "base/sign_v4.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

#include "base/calendar.h"
#include "base/hmac.h"
#include "base/percent.h"
#include "base/text.h"

namespace pawl::aws {
namespace {

std::string_view text_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

void append_padded(std::string& out, std::int32_t number, std::size_t width) {
  std::string digits;
  append_number(digits, number);
  out.append(width - std::min(width, digits.size()), '0').append(digits);
}

// By their names; those of one name stay in order.
std::vector<Pair> sorted(const std::vector<Pair>& pairs) {
  std::vector<Pair> out;
  for (const Pair& pair : pairs) {
    out.insert(std::ranges::upper_bound(out, pair.name, {}, &Pair::name), pair);
  }
  return out;
}

// Without blanks around it, and one where there were several.
std::string squeezed(std::string_view value) {
  std::string out;
  for (const char c : trim_blanks(value)) {
    if (c == ' ' && out.ends_with(' ')) continue;
    out.push_back(c);
  }
  return out;
}

}  // namespace

std::string amz_date(Instant instant) {
  const CivilTime time = to_civil(instant);
  std::string out;
  append_padded(out, time.date.year, 4);
  append_padded(out, time.date.month, 2);
  append_padded(out, time.date.day, 2);
  out.push_back('T');
  append_padded(out, time.hour, 2);
  append_padded(out, time.minute, 2);
  append_padded(out, time.second, 2);
  out.push_back('Z');
  return out;
}

Result<Instant> parse_amz_date(std::string_view text) {
  const auto wrong = [] { return failure(Code::invalid, "not a time as 20130524T000000Z is one"); };
  constexpr std::size_t length = 16;
  if (text.size() != length || text[8] != 'T' || text[15] != 'Z') return wrong();
  std::array<std::int32_t, 6> parts = {};
  constexpr std::array<std::pair<std::size_t, std::size_t>, 6> places = {
      {{0, 4}, {4, 2}, {6, 2}, {9, 2}, {11, 2}, {13, 2}}};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string_view digits = text.substr(places[i].first, places[i].second);
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), parts[i]);
    if (read.ec != std::errc() || read.ptr != digits.data() + digits.size() || parts[i] < 0) {
      return wrong();
    }
  }
  const CivilDate date{.year = parts[0], .month = parts[1], .day = parts[2]};
  if (!exists(date) || parts[3] > 23 || parts[4] > 59 || parts[5] > 59) return wrong();
  return from_civil(
      {.date = date, .hour = parts[3], .minute = parts[4], .second = parts[5], .nanosecond = 0});
}

std::string to_string(const Scope& scope) {
  return amz_date(scope.time).substr(0, 8) + "/" + scope.region + "/" + scope.service +
         "/aws4_request";
}

std::string encoded_path(std::string_view path) {
  return percent_encoded(path, "/");
}

std::string canonical_query(const std::vector<Pair>& query) {
  std::vector<Pair> encoded;
  for (const Pair& pair : query) {
    encoded.push_back({.name = percent_encoded(pair.name), .value = percent_encoded(pair.value)});
  }
  std::ranges::sort(encoded);
  std::string out;
  for (const Pair& pair : encoded) {
    if (!out.empty()) out.push_back('&');
    out.append(pair.name).append("=").append(pair.value);
  }
  return out;
}

std::string signed_fields(const Call& call) {
  std::string out;
  std::string_view before;
  const std::vector<Pair> fields = sorted(call.fields);
  for (const Pair& field : fields) {
    if (field.name == before) continue;
    if (!out.empty()) out.push_back(';');
    out.append(field.name);
    before = field.name;
  }
  return out;
}

std::string canonical_request(const Call& call) {
  std::string out =
      call.method + "\n" + encoded_path(call.path) + "\n" + canonical_query(call.query) + "\n";
  const std::vector<Pair> fields = sorted(call.fields);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    // Those of one name are one.
    const bool goes_on = i > 0 && fields[i].name == fields[i - 1].name;
    if (goes_on) {
      out.back() = ',';
    } else {
      out.append(fields[i].name).append(":");
    }
    out.append(squeezed(fields[i].value)).append("\n");
  }
  return out.append("\n").append(signed_fields(call)).append("\n").append(call.payload_hash);
}

std::string string_to_sign(const Scope& scope, std::string_view canonical) {
  return std::string(algorithm) + "\n" + amz_date(scope.time) + "\n" + to_string(scope) + "\n" +
         to_hex(sha256(canonical));
}

std::string signature(const Secret<std::string>& secret_key, const Scope& scope,
                      std::string_view to_sign) {
  Digest key = hmac_sha256("AWS4" + secret_key.reveal(), amz_date(scope.time).substr(0, 8));
  key = hmac_sha256(text_of(key), scope.region);
  key = hmac_sha256(text_of(key), scope.service);
  key = hmac_sha256(text_of(key), "aws4_request");
  return to_hex(hmac_sha256(text_of(key), to_sign));
}

std::string authorization(const Credentials& credentials, const Scope& scope, const Call& call) {
  const std::string to_sign = string_to_sign(scope, canonical_request(call));
  return std::string(algorithm) + " Credential=" + credentials.access_key + "/" + to_string(scope) +
         ", SignedHeaders=" + signed_fields(call) +
         ", Signature=" + signature(credentials.secret_key, scope, to_sign);
}

}  // namespace pawl::aws
