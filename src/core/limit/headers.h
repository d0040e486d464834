// Rate-limit response headers: what a guarded answer says about the limit it was counted against.
//
//   ratelimit  RateLimit-Policy: "global";q=100;w=60   and   RateLimit: "global";r=20;t=1
//              (draft-ietf-httpapi-ratelimit-headers-10)
//   legacy     X-RateLimit-Limit, -Remaining, -Reset (epoch seconds, rounded up)
//
// Contract: pure. Every time told is rounded up: a client that believes it never comes too early.
#pragma once

#include <string>

#include "core/limit/gcra.h"
#include "core/limit/policy.h"
#include "pawl/time.h"

namespace pawl::limit {

struct HeaderDialects {
  bool ratelimit = true;
  bool legacy = true;
  bool operator==(const HeaderDialects&) const = default;
};

// Appends header lines ("Name: value\r\n").
void append_headers(std::string& out, HeaderDialects dialects, const Policy& policy,
                    const Verdict& verdict, Instant now);

// Retry-After in whole seconds, at least 1.
std::int64_t retry_after_seconds(const Verdict& verdict);

}  // namespace pawl::limit
