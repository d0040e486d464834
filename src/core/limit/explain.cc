#include "core/limit/explain.h"

#include <vector>

#include "base/assert.h"
#include "base/text.h"

namespace pawl::limit {
namespace {

// n units, each of `parts` smaller ones: "12.4s" is 124 tenths, "5m 30s" is 330 seconds.
void append_units(std::string& out, std::int64_t n, std::int64_t parts, std::string_view units) {
  append_number(out, n / parts);
  out.push_back(units[0]);
  if (n % parts == 0) return;
  out.push_back(' ');
  append_number(out, n % parts);
  out.push_back(units[1]);
}

void append_name(std::string& out, const Policy& policy) {
  out.append("'").append(policy.name).append("' (").append(policy.text).append(")");
}

// "3 of 5 used, 2 left"
void append_usage(std::string& out, const Policy& policy, const Verdict& verdict) {
  const std::int64_t capacity = capacity_of(policy.rule);
  append_number(out, capacity - verdict.remaining);
  out.append(" of ");
  append_number(out, capacity);
  out.append(" used, ");
  if (verdict.remaining == 0) {
    out.append("nothing");
  } else {
    append_number(out, verdict.remaining);
  }
  out.append(" left");
}

void append_refusal(std::string& out, const Policy& policy, const Verdict& verdict,
                    std::int64_t cost) {
  out.append("Refused by ");
  append_name(out, policy);
  out.append(": ");
  if (const std::int64_t most = capacity_of(policy.rule); cost > most) {
    append_number(out, cost);
    out.append(" are asked for, and there are never more than ");
    append_number(out, most);
    out.append(". No wait would do.");
    return;
  }
  if (verdict.closed) {
    out.append("closed by a server's or an operator's word");
  } else {
    append_usage(out, policy, verdict);
    if (cost > 1) {
      out.append("; ");
      append_number(out, cost);
      out.append(" are asked for");
    }
  }
  out.append(". The earliest that would do is in ");
  append_wait(out, verdict.retry_after);
  out.append(".");
}

void append_tightest(std::string& out, const Policy& policy, const Verdict& verdict) {
  out.append("Tightest is ");
  append_name(out, policy);
  out.append(": ");
  if (verdict.closed) {
    out.append("closed by a server's or an operator's word");
  } else {
    append_usage(out, policy, verdict);
  }
  if (verdict.remaining == 0) {
    out.append(verdict.closed ? "; it opens in " : "; more comes in ");
    append_wait(out, verdict.more_after);
  }
  out.append(".");
}

bool is_shadow(const Count& count) {
  return count.policy->options.shadow;
}

// "'a' (5/1m) and 'b' (9/1h)" of those that refuse beside the binding one; nothing when none does.
std::string other_refusals(Counts counts, const Answer& answer, bool in_shadow) {
  std::vector<const Policy*> refusing;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (answer.verdicts[i].allowed || is_shadow(counts[i]) != in_shadow) continue;
    if (in_shadow || i != answer.binding) refusing.push_back(counts[i].policy);
  }
  std::string names;
  for (std::size_t i = 0; i < refusing.size(); ++i) {
    if (i > 0) names.append(i + 1 == refusing.size() ? " and " : ", ");
    append_name(names, *refusing[i]);
  }
  return names;
}

}  // namespace

// Rounded up before its unit is chosen: 59.96s is "1m", and not "60s".
void append_wait(std::string& out, Duration wait) {
  const std::int64_t milliseconds = wait.milliseconds_up();
  if (milliseconds < 1000) {
    append_number(out, milliseconds);
    out.append("ms");
    return;
  }
  if (const std::int64_t tenths = wait.up_in(Duration::milliseconds(100)); tenths < 600) {
    append_number(out, tenths / 10);
    if (tenths % 10 != 0) {
      out.push_back('.');
      append_number(out, tenths % 10);
    }
    out.push_back('s');
    return;
  }
  const std::int64_t minutes = wait.up_in(Duration::minutes(1));
  if (const std::int64_t seconds = wait.seconds_up(); seconds < 3600) {
    append_units(out, seconds, 60, "ms");
  } else if (minutes < 24 * 60) {
    append_units(out, minutes, 60, "hm");
  } else {
    append_units(out, wait.up_in(Duration::hours(1)), 24, "dh");
  }
}

void append_explanation(std::string& out, Counts counts, const Answer& answer, Telling telling) {
  PAWL_ASSERT(counts.size() == answer.verdicts.size() && answer.binding < counts.size());
  if (answer.counted_by == CountedBy::nobody) {
    out.append("Allowed. The store did not answer: nobody has counted.");
    return;
  }
  const Policy& policy = *counts[answer.binding].policy;
  if (!answer.allowed) {
    append_refusal(out, policy, answer.bound(), telling.cost);
  } else {
    out.append(telling.cost == 0 ? "Looked at, nothing was charged. " : "Allowed. ");
    if (is_shadow(counts[answer.binding])) {
      out.append("No policy is enforced.");
    } else {
      append_tightest(out, policy, answer.bound());
    }
  }
  if (const std::string others = other_refusals(counts, answer, false); !others.empty()) {
    out.append(" Refused by ").append(others).append(" too.");
  }
  const std::string shadows = other_refusals(counts, answer, true);
  if (!shadows.empty() && telling.audience == Audience::operators) {
    out.append(" Shadow ").append(shadows).append(" would have refused");
    out.append(answer.allowed ? "." : " too.");
  }
  if (answer.counted_by == CountedBy::process) {
    out.append(" The store did not answer: this process alone has counted.");
  }
}

std::string explain(Counts counts, const Answer& answer, std::int64_t cost, Audience audience) {
  std::string text;
  append_explanation(text, counts, answer, {.cost = cost, .audience = audience});
  return text;
}

}  // namespace pawl::limit
