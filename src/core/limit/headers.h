// Rate-limit response headers: what a guarded answer says about the limits it was counted against.
//
//   ratelimit  RateLimit-Policy: "global";q=100;w=60, "uploads";q=3;qu="concurrent-requests"
//              RateLimit: "global";r=20;t=1, "uploads";r=2;t=30
//              every policy; t is when more comes (draft-ietf-httpapi-ratelimit-headers-10)
//   draft7     RateLimit: limit=100, remaining=20, reset=48   and   RateLimit-Policy: 100;w=60
//   draft6     RateLimit-Limit, -Remaining, -Reset (seconds from now) and RateLimit-Policy
//   legacy     X-RateLimit-Limit, -Remaining, -Reset (seconds since 1970)
//
// Why:      a client that knows what is left need not find out by being refused.
// Contract: pure. Every time told is rounded up: a client that believes it never comes too early.
//           The old dialects speak of the binding policy alone, and their reset is when nothing of
//           it is used any more; RateLimit-Policy lists them all, the binding one first where
//           policies have no names. A policy in shadow is told to nobody. What no structured field
//           can hold (RFC 9651) is cut to what it can: numbers to 15 digits, other characters of a
//           name than printable ASCII to '?', so that no name breaks out of its line. pushback.h
//           reads all of it back.
// Bounds:   appends to the one buffer, and allocates nothing else.
// See:      docs/formats.md.
#pragma once

#include <cstdint>
#include <string>

#include "core/limit/decide.h"

namespace pawl::limit {

struct HeaderDialects {
  // These three use the same field names, so at most one of them is spoken.
  enum class Standard : std::uint8_t { none, ratelimit, draft7, draft6 };

  Standard standard = Standard::ratelimit;
  bool legacy = true;
  bool operator==(const HeaderDialects&) const = default;
};

// Appends header lines ("Name: value\r\n"). `answer` is what `counts` were answered with.
void append_headers(std::string& out, HeaderDialects dialects, Counts counts, const Answer& answer);

// What Retry-After tells a refused caller: whole seconds, at least 1, and neither earlier than the
// answer says, nor than RateLimit's t of the policy that refused, nor than `hint` (hints.h). 0: no
// wait would do.
std::int64_t retry_after_seconds(const Answer& answer, Duration hint = {});
// The line for it; none for 0.
void append_retry_after(std::string& out, std::int64_t seconds);

}  // namespace pawl::limit
