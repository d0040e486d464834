// Keys and fingerprints: what makes two asks the same intent.
//
// Contract: pure, and the same on every machine. A key is the SHA-256 of one canonical JSON text
//           (RFC 8785) of the four parts, so members of maps may stand in any order, every string
//           has its end, and what is absent is null and not "". No two different intents give the
//           same text: what canonical JSON would make alike, bytes that are no UTF-8 and numbers
//           with more digits than a double holds, is refused. 1, 1.0 and 1e0 are one number.
// Bounds:   params nest bounds::json_depth_max deep.
// Pinned:   docs/formats.md has the form and vectors; a test reads them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "pawl/result.h"

namespace pawl::idempotency {

struct Intent {
  std::string_view operation;
  std::optional<std::string_view> tenant_id = {};
  std::optional<std::string_view> correlation_id = {};
  json::Value params = {};  // anything; null when there are none
};

// 64 lower-case hexadecimal digits.
Result<std::string> compute_key(const Intent& intent);

// Of a request's bytes: 64 lower-case hexadecimal digits.
std::string fingerprint(std::string_view bytes);

}  // namespace pawl::idempotency
