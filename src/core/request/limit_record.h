// What the audit log keeps of a limit's decision: enough to explain it to people, and to decide it
// again.
//
// Contract: pure. The names are those of docs/audit-events.md. Numbers that may pass 2^53 (moments
//           and cells) are written as text: the log's form of a number is a double's. What is read
//           is hostile: every member is checked, and can be decided on whatever it is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bounds.h"
#include "base/json.h"
#include "core/limit/decide.h"
#include "core/limit/rule_text.h"
#include "pawl/result.h"

namespace pawl::request {

std::vector<std::pair<std::string_view, json::Value>> limit_record(limit::Counts counts,
                                                                   const limit::Answer& answer,
                                                                   std::int64_t cost);

// What one policy said, as a record tells it.
struct Said {
  bool allowed = false;
  std::int64_t limit = 0;
  std::int64_t remaining = 0;
  std::int64_t wait_ms = 0;  // never_ms when no wait would do
  bool operator==(const Said&) const = default;
};
inline constexpr std::int64_t never_ms = std::numeric_limits<std::int64_t>::max();
Said said(const limit::Verdict& verdict);
std::int64_t wait_ms(Duration wait);

// What all of them said together. Room for all, so that deciding again allocates nothing.
struct LimitDecision {
  bool allowed = false;
  std::int64_t wait_ms = 0;
  std::size_t binding = 0;
  std::size_t size = 0;
  std::array<Said, bounds::limit_policies_max> said = {};
  bool operator==(const LimitDecision&) const = default;
};

struct RecordedPolicy {
  std::string name;
  bool shadow = false;
  std::optional<limit::Policy> cell = {};  // none: it keeps marks, which are not in the record
  limit::Cell before = {};
};

struct RecordedLimit {
  std::int64_t cost = 1;
  limit::Now now = {};
  std::vector<RecordedPolicy> policies = {};
  LimitDecision decision = {};
  bool derived = false;  // not one decision on what stands here
};
// Errors: invalid, with the name of the member that is missing or makes no sense; not_found for a
// zone that is not known here.
Result<RecordedLimit> read_limit(const json::Value& record, const limit::Zones& zones);

}  // namespace pawl::request
