// Counts that one script can reach, the states it found them in, and what those mean.
//
// Contract: pure. Verdicts are those of core/limit, whatever kept the state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "adapter/redis/kept_count.h"
#include "adapter/redis/resp.h"
#include "core/limit/decide.h"
#include "pawl/result.h"

namespace pawl::redis {

struct CountItem {
  const limit::Policy* policy;
  std::optional<limit::Policy> rounded;  // where it is not whole in microseconds
  std::string key;
  std::string rule;
  std::size_t place = 0;  // among all counts of the ask

  const limit::Policy& exact() const { return rounded ? *rounded : *policy; }
};

struct CountGroup {
  std::uint16_t slot = 0;
  std::vector<CountItem> items;
};
// One group, or one for each slot of a cluster, in the order of slots.
std::vector<CountGroup> groups_of(limit::Counts counts, bool cluster);

// Second numbers of replies in which nothing was done.
inline constexpr std::int64_t under_another_rule = -1;
inline constexpr std::int64_t outside_the_windows = -2;
// The number at a place of an array; 0 where there is none.
std::int64_t integer_at(const Reply& reply, std::size_t i);
limit::Now now_of(const Reply& reply);

// The states that were decided on.
struct FoundCounts {
  limit::Now now;
  std::optional<bool> allowed;  // what the script decided; nothing when it left that to us
  std::vector<limit::State> states;
  std::vector<limit::Marks> marks;  // what the states point at
  bool lasts = false;               // limit::carry_over() said so of one of them
};
// Of a reply to `ask`.
Result<FoundCounts> read_asked(const CountGroup& group, const Reply& reply, const Zones& zones);
// Of a reply that some count is under another rule: all brought under those of their policies.
Result<FoundCounts> read_kept(const CountGroup& group, const Reply& reply, const Zones& zones);
limit::Answer decide(const CountGroup& group, const FoundCounts& found, std::int64_t cost);

}  // namespace pawl::redis
