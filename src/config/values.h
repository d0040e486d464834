// The single values a configuration is made of. Each takes exactly what its `allowed` says.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/address.h"
#include "base/secret.h"
#include "config/config.h"
#include "config/field.h"
#include "core/limit/rate.h"
#include "pawl/time.h"

namespace pawl::config {

// What a secret looks like where a configuration is shown. It is refused where one is read: whoever
// saves what was shown must not end up with a token that everybody knows.
inline constexpr std::string_view hidden_secret = "***";

Type<Endpoint> address();
Type<Prefix> prefix();
Type<Secret<std::string>> secret();
Type<std::string> header_name();
bool is_header_name(std::string_view text);
Type<std::string> bucket_name();
Type<std::string> tenant_name();
// Of a request.
Type<std::string> method();
Type<request::PathPattern> path_pattern();
Type<limit::Rate> rate();
Type<Duration> duration(Duration least, Duration most);
// Bytes: 64MiB, or 100.
Type<std::int64_t> bytes(std::int64_t least, std::int64_t most);
Type<bool> truth();
// Thousandths of a factor, as in 2.0 or 0.125.
Type<std::int64_t> factor(std::int64_t least_milli, std::int64_t most_milli);
Type<std::string> zone_name();
// What the clocks of a zone show, to the minute: 2026-01-31T00:00.
Type<CivilTime> local_time();
// Names that users choose as keys: of plans and buckets, and of tenants.
KeyRule name_key();
KeyRule tenant_key();

// Of a retry category.
KeyRule category_key();
// The kind of a failure, or the type of an exception.
Type<std::string> failure_name();
// Of answers: 503, or 500-599.
Type<StatusRange> status_range();
// How much chance there is in a delay: a factor, or the name of another way.
Type<RetryJitter> retry_jitter();

// Decimal digits, no sign, no leading zero.
std::optional<std::int64_t> parse_whole(std::string_view text, std::int64_t least,
                                        std::int64_t most);

template <std::integral T>
Type<T> whole_number(T least, T most) {
  return scalar<T>(
      {.name = "whole number",
       .allowed = "a whole number from " + std::to_string(least) + " to " + std::to_string(most),
       .form = Form::number},
      [=](const std::string& text) -> std::optional<T> {
        const auto number = parse_whole(text, least, most);
        return number ? std::optional(static_cast<T>(*number)) : std::nullopt;
      },
      [](const T& value) { return std::to_string(value); });
}

// "a", "a or b", "a, b or c".
std::string alternatives(const std::vector<std::string>& words);

template <class E>
Type<E> one_of(std::initializer_list<std::pair<std::string, E>> choices) {
  const std::vector<std::pair<std::string, E>> all(choices);
  std::vector<std::string> words;
  for (const auto& [word, value] : all) words.push_back(word);
  return scalar<E>(
      {"word", alternatives(words)},
      [all](const std::string& text) -> std::optional<E> {
        for (const auto& [word, value] : all) {
          if (word == text) return value;
        }
        return std::nullopt;
      },
      [all](const E& wanted) {
        for (const auto& [word, value] : all) {
          if (value == wanted) return word;
        }
        PAWL_ASSERT(false && "every value of the enumeration has its word in the table");
        return std::string();
      });
}

}  // namespace pawl::config
