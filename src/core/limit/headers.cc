#include "core/limit/headers.h"

#include <algorithm>

#include "base/text.h"

namespace pawl::limit {
namespace {

constexpr std::int64_t structured_integer_max = 999'999'999'999'999;  // RFC 9651: 15 digits

void append_integer(std::string& out, std::int64_t n) {
  append_number(out, std::clamp<std::int64_t>(n, 0, structured_integer_max));
}

}  // namespace

void append_headers(std::string& out, HeaderDialects dialects, const Policy& policy,
                    const Verdict& verdict, Instant now) {
  if (dialects.ratelimit) {
    out.append("RateLimit-Policy: \"").append(policy.name).append("\";q=");
    append_integer(out, policy.bucket.rate.count);
    out.append(";w=");
    append_integer(out, policy.bucket.rate.period.seconds_up());
    out.append("\r\nRateLimit: \"").append(policy.name).append("\";r=");
    append_integer(out, verdict.remaining);
    out.append(";t=");
    append_integer(out, verdict.more_after.seconds_up());
    out.append("\r\n");
  }
  if (dialects.legacy) {
    out.append("X-RateLimit-Limit: ");
    append_integer(out, verdict.limit);
    out.append("\r\nX-RateLimit-Remaining: ");
    append_integer(out, verdict.remaining);
    out.append("\r\nX-RateLimit-Reset: ");
    const Instant epoch;
    append_integer(out, (now + verdict.full_after - epoch).seconds_up());
    out.append("\r\n");
  }
}

std::int64_t retry_after_seconds(const Verdict& verdict) {
  return std::max<std::int64_t>(1, verdict.retry_after.seconds_up());
}

}  // namespace pawl::limit
