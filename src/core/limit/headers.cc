#include "core/limit/headers.h"

#include <algorithm>

#include "base/assert.h"
#include "base/text.h"

namespace pawl::limit {
namespace {

using Standard = HeaderDialects::Standard;

constexpr std::int64_t structured_integer_max = 999'999'999'999'999;  // RFC 9651: 15 digits
// Of a reset in seconds from now: readers take ten digits for a date.
constexpr std::int64_t delta_max = 999'999'999;

void append_integer(std::string& out, std::int64_t n) {
  append_number(out, std::clamp<std::int64_t>(n, 0, structured_integer_max));
}

void append_line(std::string& out, std::string_view name, std::int64_t n) {
  out.append(name);
  append_integer(out, n);
  out.append("\r\n");
}

void append_structured_string(std::string& out, std::string_view text) {
  out.push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(c >= ' ' && c <= '~' ? c : '?');
  }
  out.push_back('"');
}

std::int64_t reset_delta(const Verdict& verdict) {
  return std::min(verdict.full_after.seconds_up(), delta_max);
}

// One header line that lists something of each policy. It does not exist while nothing was listed.
class ListLine {
 public:
  ListLine(std::string& out, std::string_view name) : out_(out), name_(name) {}
  std::string& next() {
    out_.append(begun_ ? std::string_view(", ") : name_);
    begun_ = true;
    return out_;
  }
  ~ListLine() {
    if (begun_) out_.append("\r\n");
  }
  ListLine(const ListLine&) = delete;
  ListLine& operator=(const ListLine&) = delete;

 private:
  std::string& out_;
  std::string_view name_;
  bool begun_ = false;
};

bool is_enforced(const Count& count) {
  return !count.policy->options.shadow;
}

void append_ratelimit(std::string& out, Counts counts, const Answer& answer) {
  {
    ListLine line(out, "RateLimit-Policy: ");
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const Policy& policy = *counts[i].policy;
      if (!is_enforced(counts[i])) continue;
      append_structured_string(line.next(), policy.name);
      out.append(";q=");
      append_integer(out, answer.verdicts[i].limit);
      if (std::holds_alternative<Concurrency>(policy.rule)) {
        out.append(";qu=\"concurrent-requests\"");
      } else {
        out.append(";w=");
        append_integer(out, period_of(policy.rule, answer.now.wall).seconds_up());
      }
    }
  }
  ListLine line(out, "RateLimit: ");
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (!is_enforced(counts[i])) continue;
    append_structured_string(line.next(), counts[i].policy->name);
    out.append(";r=");
    append_integer(out, answer.verdicts[i].remaining);
    out.append(";t=");
    append_integer(out, answer.verdicts[i].more_after.seconds_up());
  }
}

// 100;w=60 of every policy that has a window, as drafts 06 and 07 know no other.
void append_nameless_policies(std::string& out, Counts counts, const Answer& answer) {
  ListLine line(out, "RateLimit-Policy: ");
  const auto append = [&](std::size_t i) {
    const Rule& rule = counts[i].policy->rule;
    if (!is_enforced(counts[i]) || std::holds_alternative<Concurrency>(rule)) return;
    append_integer(line.next(), answer.verdicts[i].limit);
    out.append(";w=");
    append_integer(out, period_of(rule, answer.now.wall).seconds_up());
  };
  append(answer.binding);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (i != answer.binding) append(i);
  }
}

void append_draft7(std::string& out, const Verdict& bound) {
  out.append("RateLimit: limit=");
  append_integer(out, bound.limit);
  out.append(", remaining=");
  append_integer(out, bound.remaining);
  append_line(out, ", reset=", reset_delta(bound));
}

void append_draft6(std::string& out, const Verdict& bound) {
  append_line(out, "RateLimit-Limit: ", bound.limit);
  append_line(out, "RateLimit-Remaining: ", bound.remaining);
  append_line(out, "RateLimit-Reset: ", reset_delta(bound));
}

void append_legacy(std::string& out, const Verdict& bound, Instant now) {
  append_line(out, "X-RateLimit-Limit: ", bound.limit);
  append_line(out, "X-RateLimit-Remaining: ", bound.remaining);
  append_line(out, "X-RateLimit-Reset: ", (now + bound.full_after - Instant()).seconds_up());
}

}  // namespace

void append_headers(std::string& out, HeaderDialects dialects, Counts counts,
                    const Answer& answer) {
  PAWL_ASSERT(counts.size() == answer.verdicts.size() && answer.binding < counts.size());
  // The binding policy is in shadow only when all are.
  if (!is_enforced(counts[answer.binding])) return;
  // Nobody counted: the numbers would be those of a key that was never used.
  if (answer.counted_by == CountedBy::nobody) return;
  switch (dialects.standard) {
    case Standard::none:
      break;
    case Standard::ratelimit:
      append_ratelimit(out, counts, answer);
      break;
    case Standard::draft7:
      append_draft7(out, answer.bound());
      append_nameless_policies(out, counts, answer);
      break;
    case Standard::draft6:
      append_draft6(out, answer.bound());
      append_nameless_policies(out, counts, answer);
      break;
  }
  if (dialects.legacy) append_legacy(out, answer.bound(), answer.now.wall);
}

std::int64_t retry_after_seconds(const Answer& answer, Duration hint) {
  const Duration wait = std::max({answer.retry_after, answer.bound().more_after, hint});
  if (wait == Duration::max()) return 0;
  return std::max<std::int64_t>(1, wait.seconds_up());
}

void append_retry_after(std::string& out, std::int64_t seconds) {
  if (seconds > 0) append_line(out, "Retry-After: ", seconds);
}

}  // namespace pawl::limit
