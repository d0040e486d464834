// How a Redis Cluster spreads keys: slots, who has them, and where a redirection points.
//
// Contract: pure. What a server says is checked, never trusted: a slot or port out of range makes
//           the whole of it an error.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "adapter/redis/resp.h"
#include "net/loop.h"
#include "pawl/result.h"

namespace pawl::redis {

inline constexpr std::uint16_t slots_count = 16'384;

// CRC16 of the key, or of the part between the first { and the next } when that is not empty.
std::uint16_t key_slot(std::string_view key);

struct Redirect {
  bool ask = false;  // this once; otherwise the slot has moved for good
  std::uint16_t slot = 0;
  net::Target target;
  bool operator==(const Redirect&) const = default;
};
// Of an error such as "MOVED 3999 127.0.0.1:6381"; nothing when it is another one. A redirection
// without a host means the one that was asked.
std::optional<Redirect> parse_redirect(std::string_view error, const net::Target& asked);

struct SlotRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
  net::Target master;
  bool operator==(const SlotRange&) const = default;
};
// Of the answer to CLUSTER SLOTS.
Result<std::vector<SlotRange>> parse_slots(const Reply& reply, const net::Target& asked);

}  // namespace pawl::redis
