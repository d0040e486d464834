// Policy: one named limit, as configured: a rule, and how it is applied.
//
// Contract: a value, never changed once made. Two policies of one name are the same limit at
//           different times or for different plans: they share the state of a key, and carry_over()
//           takes it from one rule to the other.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "core/limit/calendar.h"
#include "core/limit/concurrency.h"
#include "core/limit/sliding_log.h"
#include "core/limit/sliding_window.h"
#include "core/limit/token_bucket.h"

namespace pawl::limit {

using Rule = std::variant<TokenBucket, SlidingWindow, SlidingLog, Concurrency, Calendar>;

// What becomes of what was used when a key comes under another rule.
enum class OnChange : std::uint8_t {
  as_is,         // 40 used of 100 are 40 used of 1000
  proportional,  // 40 used of 100 are 400 used of 1000
  reset,         // nothing is used
};

struct PolicyOptions {
  bool shadow = false;  // counts and tells, never refuses
  OnChange on_change = OnChange::as_is;
  bool operator==(const PolicyOptions&) const = default;
};

struct Policy {
  Policy(std::string name_, Rule rule_, PolicyOptions options_ = {});

  std::string name;
  Rule rule;
  PolicyOptions options;
  std::string text;     // to_string(rule), which every audit record of it has
  std::uint32_t shape;  // tells rules apart: equal for equal rules
  std::uint64_t id;     // of the name: policies of one name share their counts

  bool operator==(const Policy&) const = default;
};

// How many may be used at once, or within a period: what `remaining` counts down from.
std::int64_t capacity_of(const Rule& rule);
// The length a limit is stated over, as RateLimit-Policy's w; zero when it has none.
Duration period_of(const Rule& rule, Instant now);
// Its state is marks, not a cell.
inline bool keeps_marks(const Rule& rule) {
  return std::holds_alternative<SlidingLog>(rule) || std::holds_alternative<Concurrency>(rule);
}
// "100/1m", "100/1m burst 20", "3 at once", "1000 a month".
std::string to_string(const Rule& rule);
// The word a configuration uses: "token_bucket".
std::string_view algorithm_of(const Rule& rule);

}  // namespace pawl::limit
