// Pushback: what the other side's answer says about our pace, whatever dialect it says it in.
//
//   RateLimit, RateLimit-Policy         draft-ietf-httpapi-ratelimit-headers 08 … 10, 07 and 06
//   RateLimit-Limit, -Remaining, -Reset draft 06, Kong
//   X-RateLimit-*, X-Rate-Limit-*       the old ones, draft-polli-03, GitHub's Used and Resource
//   X-RateLimit-<dimension>-Limit …     Saxo; any dimension, any case
//   X-RateLimit-Limit-<dimension> …     Kong
//   Retry-After                         seconds, an epoch (as in resets), or a date of HTTP
//   x-amz-retry-after                   milliseconds
//
// Why:      a wait that is too short costs a refusal, one for the wrong dimension costs a day.
// Contract: pure; never fails. What makes no sense is left out and counted, never trusted; fields
//           that are not about limits are passed over. Where two fields disagree, the stricter
//           holds: the smaller limit, the smaller remainder, the later reset. A remainder above
//           its limit is no disagreement: a bucket with a burst says so truthfully.
//           No reset is sooner than a second from now: servers round down to 0. No time wraps;
//           one that is too far to hold becomes the last instant there is.
//           Readings of an answer out of a cache (Age above 0) are old, and passed over.
// Bounds:   bounds::limit_readings_max, limit_dimension_bytes_max, http_header_bytes_max a line.
// Threads:  any.
// See:      docs/formats.md has the grammar of each dialect.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/time.h"

namespace pawl::limit {

struct Field {
  std::string_view name;
  std::string_view value;
};

// One limit as the server sees it. A dimension has one reading; only policies that have no name
// (100;w=60) can make more of the empty one, with nothing but limit and window.
struct Reading {
  std::string dimension = {};  // as the server wrote it; empty: it named none
  std::optional<std::int64_t> limit = {};
  std::optional<std::int64_t> remaining = {};
  std::optional<Instant> resets_at = {};
  std::optional<Duration> window = {};
  std::string unit = {};  // of limit and remaining; empty: requests
  bool operator==(const Reading&) const = default;
};

// "SessionOrders: limit 1, remaining 0, reset 2026-01-25T21:15:01.000Z"; what was not told is left
// out, and a dimension without a name is "-".
std::string to_string(const Reading& reading);
// All readings, with "; " between them.
std::string to_string(std::span<const Reading> readings);

struct Pushback {
  std::vector<Reading> readings = {};    // in the order in which their dimensions came
  std::optional<Instant> retry_at = {};  // Retry-After and its kin; never before now
  int malformed = 0;  // lines, and members of lists, that were left out; the pacer notes them
  bool operator==(const Pushback&) const = default;
};

Pushback parse_pushback(std::span<const Field> fields, Instant now);

// After any answer: the instant at which the last dimension that has nothing left resets. What is
// left of the others does not matter, however late they reset.
std::optional<Instant> exhausted_until(const Pushback& pushback);

// After an answer that refused (429, 503): the later of Retry-After and exhausted_until. When
// neither says anything, the soonest reset of the dimensions that do not tell what is left.
std::optional<Instant> refused_until(const Pushback& pushback);

// Fewer than three left, and something has been used: a limit of one that nobody has touched is
// not near. It stays true from answer to answer; whoever warns does it once.
bool is_near_limit(const Reading& reading);

}  // namespace pawl::limit
