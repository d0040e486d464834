#include "core/limit/headers.h"

#include <algorithm>

#include "base/assert.h"
#include "base/pen.h"
#include "base/scan.h"
#include "base/text.h"

namespace pawl::limit {
namespace {

using Standard = HeaderDialects::Standard;

constexpr std::int64_t structured_integer_max = 999'999'999'999'999;  // RFC 9651: 15 digits
// Of a reset in seconds from now: readers take ten digits for a date.
constexpr std::int64_t delta_max = 999'999'999;

void put_integer(Pen& out, std::int64_t n) {
  out.number(std::clamp<std::int64_t>(n, 0, structured_integer_max));
}

void put_line(Pen& out, std::string_view name, std::int64_t n) {
  out.put(name);
  put_integer(out, n);
  out.put("\r\n");
}

void put_structured_string(Pen& out, std::string_view text) {
  out.put("\"");
  if (find_byte(text, 0, Escaped()) == text.size()) {
    out.put(text);
  } else {
    for (const char& c : text) {
      if (c == '"' || c == '\\') out.put("\\");
      out.put(c >= ' ' && c <= '~' ? std::string_view(&c, 1) : "?");
    }
  }
  out.put("\"");
}

std::int64_t reset_delta(const Verdict& verdict) {
  return std::min(verdict.full_after.seconds_up(), delta_max);
}

// One header line that lists something of each policy. It does not exist while nothing was listed.
class ListLine {
 public:
  ListLine(Pen& out, std::string_view name) : out_(out), name_(name) {}
  Pen& next() {
    out_.put(begun_ ? std::string_view(", ") : name_);
    begun_ = true;
    return out_;
  }
  ~ListLine() {
    if (begun_) out_.put("\r\n");
  }
  ListLine(const ListLine&) = delete;
  ListLine& operator=(const ListLine&) = delete;

 private:
  Pen& out_;
  std::string_view name_;
  bool begun_ = false;
};

bool is_enforced(const Count& count) {
  return !count.policy->options.shadow;
}

void put_ratelimit(Pen& out, Counts counts, const Answer& answer) {
  {
    ListLine line(out, "RateLimit-Policy: ");
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const Policy& policy = *counts[i].policy;
      if (!is_enforced(counts[i])) continue;
      put_structured_string(line.next(), policy.name);
      out.put(";q=");
      put_integer(out, answer.verdicts[i].limit);
      if (std::holds_alternative<Concurrency>(policy.rule)) {
        out.put(";qu=\"concurrent-requests\"");
      } else {
        out.put(";w=");
        put_integer(out, period_of(policy.rule, answer.now.wall).seconds_up());
      }
    }
  }
  ListLine line(out, "RateLimit: ");
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (!is_enforced(counts[i])) continue;
    put_structured_string(line.next(), counts[i].policy->name);
    out.put(";r=");
    put_integer(out, answer.verdicts[i].remaining);
    out.put(";t=");
    put_integer(out, answer.verdicts[i].more_after.seconds_up());
  }
}

// 100;w=60 of every policy that has a window, as drafts 06 and 07 know no other.
void put_nameless_policies(Pen& out, Counts counts, const Answer& answer) {
  ListLine line(out, "RateLimit-Policy: ");
  const auto append = [&](std::size_t i) {
    const Rule& rule = counts[i].policy->rule;
    if (!is_enforced(counts[i]) || std::holds_alternative<Concurrency>(rule)) return;
    put_integer(line.next(), answer.verdicts[i].limit);
    out.put(";w=");
    put_integer(out, period_of(rule, answer.now.wall).seconds_up());
  };
  append(answer.binding);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (i != answer.binding) append(i);
  }
}

void put_draft7(Pen& out, const Verdict& bound) {
  out.put("RateLimit: limit=");
  put_integer(out, bound.limit);
  out.put(", remaining=");
  put_integer(out, bound.remaining);
  put_line(out, ", reset=", reset_delta(bound));
}

void put_draft6(Pen& out, const Verdict& bound) {
  put_line(out, "RateLimit-Limit: ", bound.limit);
  put_line(out, "RateLimit-Remaining: ", bound.remaining);
  put_line(out, "RateLimit-Reset: ", reset_delta(bound));
}

void put_legacy(Pen& out, const Verdict& bound, Instant now) {
  put_line(out, "X-RateLimit-Limit: ", bound.limit);
  put_line(out, "X-RateLimit-Remaining: ", bound.remaining);
  put_line(out, "X-RateLimit-Reset: ", (now + bound.full_after - Instant()).seconds_up());
}

// Of all lines, in whatever dialect: the names of policies stand there twice, and each of their
// bytes may need an escape.
std::size_t bytes_max(Counts counts) {
  constexpr std::size_t of_the_lines = 512;
  constexpr std::size_t of_a_policy = 256;
  std::size_t bytes = of_the_lines;
  for (const Count& count : counts) bytes += of_a_policy + 4 * count.policy->name.size();
  return bytes;
}

}  // namespace

void append_headers(std::string& out, HeaderDialects dialects, Counts counts,
                    const Answer& answer) {
  PAWL_ASSERT(counts.size() == answer.verdicts.size() && answer.binding < counts.size());
  // The binding policy is in shadow only when all are.
  if (!is_enforced(counts[answer.binding])) return;
  // Nobody counted: the numbers would be those of a key that was never used.
  if (answer.counted_by == CountedBy::nobody) return;
  append_with_pen(out, bytes_max(counts), [&](Pen& pen) {
    switch (dialects.standard) {
      case Standard::none:
        break;
      case Standard::ratelimit:
        put_ratelimit(pen, counts, answer);
        break;
      case Standard::draft7:
        put_draft7(pen, answer.bound());
        put_nameless_policies(pen, counts, answer);
        break;
      case Standard::draft6:
        put_draft6(pen, answer.bound());
        put_nameless_policies(pen, counts, answer);
        break;
    }
    if (dialects.legacy) put_legacy(pen, answer.bound(), answer.now.wall);
  });
}

std::int64_t retry_after_seconds(const Answer& answer, Duration hint) {
  const Duration wait = std::max({answer.retry_after, answer.bound().more_after, hint});
  if (wait == Duration::max()) return 0;
  return std::max<std::int64_t>(1, wait.seconds_up());
}

void append_retry_after(std::string& out, std::int64_t seconds) {
  if (seconds <= 0) return;
  out.append("Retry-After: ");
  append_number(out, seconds);
  out.append("\r\n");
}

}  // namespace pawl::limit
