#include "adapter/redis/count_group.h"

#include <algorithm>
#include <utility>

#include "adapter/redis/script_runner.h"
#include "adapter/redis/slots.h"
#include "base/assert.h"
#include "base/bounds.h"

namespace pawl::redis {
namespace {

constexpr std::size_t excerpt_bytes = 80;  // of what a key holds, in a message

CountItem item_of(const limit::Count& count, std::size_t place) {
  const limit::Policy& policy = *count.policy;
  CountItem item{.policy = &policy,
                 .rounded = {},
                 .key = count_key(count),
                 .rule = rule_text(policy.rule),
                 .place = place};
  if (!is_whole(policy.rule)) {
    item.rounded = policy;
    item.rounded->rule = rounded_up(policy.rule);
  }
  return item;
}

}  // namespace

std::vector<CountGroup> groups_of(limit::Counts counts, bool cluster) {
  PAWL_ASSERT(!counts.empty() && counts.size() <= bounds::limit_policies_max);
  std::vector<CountGroup> groups;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    CountItem item = item_of(counts[i], i);
    const std::uint16_t slot = cluster ? key_slot(item.key) : std::uint16_t{0};
    auto group = std::ranges::lower_bound(groups, slot, {}, &CountGroup::slot);
    if (group == groups.end() || group->slot != slot) {
      group = groups.insert(group, CountGroup{.slot = slot, .items = {}});
    }
    group->items.push_back(std::move(item));
  }
  return groups;
}

std::int64_t integer_at(const Reply& reply, std::size_t i) {
  const auto items = reply.items();
  const std::int64_t* number = i < items.size() ? items[i].integer() : nullptr;
  return number == nullptr ? 0 : *number;
}

limit::Now now_of(const Reply& reply) {
  const std::int64_t ns = Duration::microseconds(integer_at(reply, 0)).ns();
  return {.moment = limit::Moment::from_ns(ns), .wall = Instant::from_ns(ns)};
}

Result<FoundCounts> read_asked(const CountGroup& group, const Reply& reply, const Zones& zones) {
  if (integer_at(reply, 1) == under_another_rule) return read_kept(group, reply, zones);
  FoundCounts found{.now = now_of(reply),
                    .allowed = integer_at(reply, 1) == 1,
                    .states = {},
                    .marks = std::vector<limit::Marks>(group.items.size())};
  std::size_t at = 2;
  const auto next = [&] { return integer_at(reply, at++); };
  for (std::size_t i = 0; i < group.items.size(); ++i) {
    const limit::Rule& rule = group.items[i].policy->rule;
    KeptNumbers numbers;
    for (std::int64_t* number : {&numbers.a, &numbers.b, &numbers.p, &numbers.closed}) {
      *number = next();
    }
    found.states.push_back(state_of(rule, numbers));
    for (int sums = limit::keeps_marks(rule) ? 3 : 0; sums > 0; --sums) {
      const Duration when = Duration::microseconds(next());
      const std::int64_t cost = next();
      if (cost > 0) found.marks[i].push_back({.at = limit::Moment() + when, .cost = cost});
    }
  }
  if (at != reply.items().size()) return strange_reply(reply);
  return found;
}

Result<FoundCounts> read_kept(const CountGroup& group, const Reply& reply, const Zones& zones) {
  if (reply.items().size() != group.items.size() + 2) return strange_reply(reply);
  FoundCounts found{.now = now_of(reply),
                    .allowed = {},
                    .states = std::vector<limit::State>(group.items.size()),
                    .marks = std::vector<limit::Marks>(group.items.size())};
  for (std::size_t i = 0; i < group.items.size(); ++i) {
    const CountItem& item = group.items[i];
    const std::string* text = reply.items()[i + 2].text();
    if (text == nullptr) return strange_reply(reply);
    limit::State& state = found.states[i];
    state.marks = &found.marks[i];
    if (text->empty()) continue;
    auto kept = parse_count(*text, zones);
    if (!kept) {
      return failure(Code::invalid, "redis: the key '" + item.key + "' holds '" +
                                        text->substr(0, excerpt_bytes) +
                                        "': " + kept.error().message +
                                        "; delete it, or keep the counts in another database");
    }
    found.marks[i] = std::move(kept->marks);
    state.cell = kept->state.cell;
    state.closed_until = kept->state.closed_until;
    if (rule_text(kept->rule) != item.rule) {
      found.lasts = limit::carry_over(kept->rule, item.exact(), state, found.now) || found.lasts;
    }
  }
  return found;
}

limit::Answer decide(const CountGroup& group, const FoundCounts& found, std::int64_t cost) {
  std::vector<limit::State> states = found.states;
  std::vector<limit::Marks> marks = found.marks;
  std::vector<limit::Member> members;
  for (std::size_t i = 0; i < group.items.size(); ++i) {
    states[i].marks = &marks[i];
    members.push_back({.policy = &group.items[i].exact(), .state = &states[i]});
  }
  limit::Answer answer = limit::decide(members, {.cost = cost}, found.now);
  // By a rule that is not quite the one that the policy tells.
  if (std::ranges::any_of(group.items,
                          [](const CountItem& item) { return item.rounded.has_value(); })) {
    answer.as_decided = false;
  }
  return answer;
}

}  // namespace pawl::redis
