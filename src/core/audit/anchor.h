// Anchor: which record was the last to be durable, noted outside the log, so that a log whose end
// was cut off between two records can be told from one that never was longer.
//
// Contract: pure; the text form stands in docs/formats.md. An anchor may lag behind its log and
//           never leads: it is written once the disk has the record.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/audit/chain.h"
#include "pawl/result.h"

namespace pawl::audit {

struct Anchor {
  std::uint64_t seq = 0;
  std::string hash = {};
  bool operator==(const Anchor&) const = default;
};

inline constexpr std::size_t anchor_bytes_max = 128;

// One line, with its line feed. That of a later record is never shorter, so it can be written over
// an earlier one.
std::string anchor_text(const Link& link);
Result<Anchor> read_anchor(std::string_view text);

}  // namespace pawl::audit
