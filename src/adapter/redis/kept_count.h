// What Redis keeps of a limit: the names of keys, rules and counts as texts. The grammar stands in
// docs/formats.md.
//
// Why:      the scripts read and write these texts, and so does pawl when a rule has changed: the
//           text of a count holds its rule, so that nobody else has to remember it.
// Contract: pure. Two counts never have the same key, whatever bytes their names hold. The counts
//           of one limit::Key share a hash tag, so a Cluster keeps them on one node. Time is whole
//           microseconds: a rule's lengths are rounded up to them, so that no pace is ever passed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/zone.h"
#include "core/limit/decide.h"
#include "pawl/result.h"

namespace pawl::redis {

// The zone of a name, or why there is none. "UTC" is never asked for.
using Zones = std::function<Result<Zone>(std::string_view)>;

std::string count_key(const limit::Count& count);
// Of a reservation whose first count has the key.
std::string reservation_key(std::string_view count_key, std::uint64_t id);
std::string hex(std::uint64_t number);

// Microseconds, a part of one counted as a whole one.
std::int64_t microseconds_up(std::int64_t ns);
// Whether all its lengths are whole microseconds, and the rule with those that are.
bool is_whole(const limit::Rule& rule);
limit::Rule rounded_up(limit::Rule rule);

// Equal for rules under which a count means the same.
std::string rule_text(const limit::Rule& rule);
// The starts of the window before that of `now`, of its own and of the two after.
std::string window_starts(const limit::CalendarRule& rule, Instant now);

// The numbers of a kept text, in its order.
struct KeptNumbers {
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t p = 0;
  std::int64_t closed = 0;
};
limit::State state_of(const limit::Rule& rule, const KeptNumbers& numbers);

struct KeptCount {
  limit::Rule rule;
  limit::State state;  // its marks are not set
  limit::Marks marks;
};
std::string count_text(const limit::Rule& rule, const limit::State& state);
Result<KeptCount> parse_count(std::string_view text, const Zones& zones);

}  // namespace pawl::redis
