// Asleep: an operation as the task that it is while it sleeps keeps it: what it was asked, how far
// it had come, and since when.
//
// Why:      whoever goes on may be another process on another machine, years after this text was
//           written by an older version.
// Contract: pure. What to_text() writes read_asleep() reads back as it was, but for the policy's
//           lists (decision_record.h). What is read is hostile: every member is checked.
// Form:     the task's input, JSON: `input` is the caller's own; `operation` who and what;
//           `sleep` the last decision with its facts, the claim's fence, and when.
//           docs/formats.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/correlation.h"
#include "core/retry/decision_record.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::execution {

struct Asleep {
  std::string input = "null";  // JSON text
  std::string key = {};        // idempotency
  std::string fingerprint = {};
  Correlation correlation = {};  // tenant, correlation and trace
  std::map<std::string, std::string> context = {};
  retry::RecordedDecision decided = {};  // `sleep`, and why
  std::uint64_t fence = 0;               // of the claim; 0: there was none
  Instant since = {};                    // by the sleeper's clock
};

std::string to_text(const Asleep& asleep);
// The error names the member that is missing or makes no sense.
Result<Asleep> read_asleep(std::string_view text);

// What the tasks of one intent have in common: 32 hexadecimal digits.
std::string intent_name(std::string_view operation, std::string_view tenant, std::string_view key);

}  // namespace pawl::execution
