#include "core/limit/decide.h"

#include <algorithm>
#include <limits>

#include "base/assert.h"

namespace pawl::limit {
namespace {

Mark mark_of(Ask ask) {
  return {.at = {}, .cost = ask.cost, .holder = ask.holder};
}

void take(const Policy& policy, State& state, Ask ask, Now now) {
  if (const auto* bucket = std::get_if<TokenBucket>(&policy.rule)) {
    limit::take(*bucket, state, ask.cost, now);  // without a jump through a table
    return;
  }
  std::visit(
      [&](const auto& rule) {
        if constexpr (requires { limit::take(rule, state, Mark(), now); }) {
          limit::take(rule, state, mark_of(ask), now);
        } else {
          limit::take(rule, state, ask.cost, now);
        }
      },
      policy.rule);
}

Duration closed_for(const State& state, Now now) {
  return std::clamp(state.closed_until - now.moment, Duration(), bounds::limit_period_max);
}

void rewind(const Policy& policy, State& state, Now now) {
  std::visit([&](const auto& rule) { limit::rewind(rule, state, now); }, policy.rule);
  state.closed_until = std::min(state.closed_until, now.moment + bounds::limit_period_max);
}

Verdict look(const Rule& rule, const State& state, std::int64_t cost, Now now) {
  if (const auto* bucket = std::get_if<TokenBucket>(&rule)) {
    return limit::look(*bucket, state, cost, now);  // without a jump through a table
  }
  return std::visit([&](const auto& each) { return limit::look(each, state, cost, now); }, rule);
}

// What is closed has nothing left, whatever the rule says; what the rule has comes when it opens.
Verdict look_at_closed(const Rule& rule, const State& state, std::int64_t cost, Now now) {
  const Duration closed = closed_for(state, now);
  Verdict verdict = look(rule, state, cost, now);
  if (cost > 0) {
    if (verdict.allowed) verdict = look(rule, state, 0, now);
    verdict.allowed = false;
    verdict.retry_after = std::max(verdict.retry_after, closed);
  }
  verdict.more_after = verdict.remaining > 0 ? closed : std::max(verdict.more_after, closed);
  verdict.full_after = std::max(verdict.full_after, closed);
  verdict.remaining = 0;
  verdict.closed = true;
  return verdict;
}

Verdict look(const Policy& policy, const State& state, std::int64_t cost, Now now) {
  const bool open = state.closed_until <= now.moment;
  Verdict verdict =
      open ? look(policy.rule, state, cost, now) : look_at_closed(policy.rule, state, cost, now);
  // What is carried over once more after a refusal counts as used only then.
  if (!verdict.allowed) verdict.retry_after = std::max(verdict.retry_after, state.carried_for);
  return verdict;
}

// Refused: who keeps out for longest. Allowed: who has least left. The first of equals.
bool binds_more(const Verdict& a, const Verdict& b) {
  if (a.allowed != b.allowed) return !a.allowed;
  return a.allowed ? a.remaining < b.remaining : a.retry_after > b.retry_after;
}

template <class Each>
std::uint8_t binding(std::span<const Each> policies, const Answer& answer) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < policies.size(); ++i) {
    const bool best_counts = !policies[best].policy->options.shadow;
    const bool counts = !policies[i].policy->options.shadow;
    if (counts != best_counts) {
      if (counts) best = i;
    } else if (binds_more(answer.verdicts[i], answer.verdicts[best])) {
      best = i;
    }
  }
  return static_cast<std::uint8_t>(best);
}

}  // namespace

Answer decide(std::span<const Member> members, Ask ask, Now now) {
  PAWL_ASSERT(!members.empty() && members.size() <= bounds::limit_policies_max);
  PAWL_ASSERT(ask.cost >= 0 && ask.cost <= bounds::limit_count_max);
  Answer answer;
  answer.now = now;
  answer.allowed = true;
  answer.as_decided = true;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Policy& policy = *members[i].policy;
    const Verdict& verdict = answer.verdicts.add(look(policy, *members[i].state, ask.cost, now));
    // Neither a closing nor what was carried over is part of `before`.
    if (verdict.closed || (!verdict.allowed && members[i].state->carried_for > Duration())) {
      answer.as_decided = false;
    }
    if (!verdict.allowed && !policy.options.shadow) {
      answer.allowed = false;
      answer.retry_after = std::max(answer.retry_after, verdict.retry_after);
    }
  }
  for (std::size_t i = 0; i < members.size() && ask.cost > 0; ++i) {
    const auto [policy, state] = members[i];
    Verdict& verdict = answer.verdicts[i];
    if (verdict.allowed && answer.allowed) {
      take(*policy, *state, ask, now);
      continue;
    }
    // Not charged after all: it still has what it had.
    if (verdict.allowed) verdict = look(*policy, *state, 0, now);
    rewind(*policy, *state, now);
  }
  answer.binding = binding(members, answer);
  return answer;
}

void conclude(Counts counts, Answer& answer) {
  answer.allowed = true;
  answer.retry_after = {};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const Verdict& verdict = answer.verdicts[i];
    if (verdict.allowed || counts[i].policy->options.shadow) continue;
    answer.allowed = false;
    answer.retry_after = std::max(answer.retry_after, verdict.retry_after);
  }
  answer.binding = binding(counts, answer);
}

std::uint8_t charged_mask(const Answer& answer) {
  static_assert(bounds::limit_policies_max <= 8);
  std::size_t mask = 0;
  for (std::size_t i = 0; answer.allowed && i < answer.verdicts.size(); ++i) {
    if (answer.verdicts[i].allowed) mask |= std::size_t{1} << i;
  }
  return static_cast<std::uint8_t>(mask);
}

void give_back(const Policy& policy, State& state, Ask ask, Now now) {
  std::visit(
      [&](const auto& rule) {
        if constexpr (requires { limit::release(rule, state, ask.holder, now); }) {
          // Slots that are nobody's come back by their lease alone.
          if (ask.holder != 0) limit::release(rule, state, ask.holder, now);
        } else {
          limit::give_back(rule, state, ask, now);
        }
      },
      policy.rule);
}

bool settle(const Policy& policy, State& state, Ask reserved, Settlement how, Now now) {
  const auto* slots = std::get_if<Concurrency>(&policy.rule);
  if (how.kind == Settlement::Kind::renew) {
    return slots == nullptr || renew(*slots, state, reserved.holder, now);
  }
  const std::int64_t actual = std::clamp<std::int64_t>(how.actual, 0, bounds::limit_count_max);
  const std::int64_t used = how.kind == Settlement::Kind::commit ? actual : 0;
  if (slots != nullptr || used < reserved.cost) {
    reserved.cost -= used;
    give_back(policy, state, reserved, now);
  } else if (used > reserved.cost) {
    take(policy, state, {.cost = used - reserved.cost}, now);
  }
  return true;
}

Duration until_unused(const Rule& rule, const State& state, Now now) {
  const Duration unused_after =
      std::visit([&](const auto& each) { return look(each, state, 0, now).full_after; }, rule);
  return std::max(unused_after, closed_for(state, now));
}

namespace {

// The state is the same number of uses under both rules, and needs no other form.
bool means_the_same(const Rule& from, const Rule& to) {
  if (from.index() != to.index()) return false;
  if (const auto* window = std::get_if<SlidingWindow>(&to)) {
    return window->rate.period == std::get<SlidingWindow>(from).rate.period;
  }
  if (const auto* calendar = std::get_if<Calendar>(&to)) {
    return calendar->rule == std::get<Calendar>(from).rule;
  }
  if (const auto* log = std::get_if<SlidingLog>(&to)) {
    // A shorter look back would not see all that was used.
    return log->rate.period >= std::get<SlidingLog>(from).rate.period;
  }
  return std::holds_alternative<Concurrency>(to);  // slots stand for themselves
}

// In the range of what it goes into: the largest number of uses there is.
std::int64_t scaled_up(std::int64_t n, std::int64_t to, std::int64_t from) {
  __extension__ using Wide = __int128;
  const Wide scaled = (static_cast<Wide>(n) * to + from - 1) / from;
  return static_cast<std::int64_t>(
      std::min<Wide>(scaled, std::numeric_limits<std::int64_t>::max()));
}

// What was used in all, as so many uses of `to` at this moment.
std::int64_t used_under(const Rule& from, const Policy& to, const State& state, Now now) {
  if (to.options.on_change == OnChange::reset) return 0;
  const std::int64_t used =
      std::visit([&](const auto& rule) { return limit::used(rule, state, now); }, from);
  if (to.options.on_change == OnChange::as_is) return used;
  return scaled_up(used, capacity_of(to.rule), capacity_of(from));
}

}  // namespace

bool carry_over(const Rule& from, const Policy& to, State& state, Now now) {
  const OnChange how = to.options.on_change;
  if (from == to.rule) return false;
  if (how == OnChange::as_is && means_the_same(from, to.rule)) return true;  // it costs nothing
  // Slots that are lent are lent, whatever share of all slots they are.
  const bool slots =
      std::holds_alternative<Concurrency>(from) && std::holds_alternative<Concurrency>(to.rule);
  if (slots && how == OnChange::proportional) return false;
  const auto in_use_for = [&](const Rule& rule) {
    return std::visit([&](const auto& each) { return look(each, state, 0, now).full_after; }, rule);
  };
  const Duration before = in_use_for(from);
  const std::int64_t used = used_under(from, to, state, now);
  const auto* bucket = std::get_if<TokenBucket>(&to.rule);
  const auto* old_bucket = std::get_if<TokenBucket>(&from);
  Duration missing = bucket == nullptr ? Duration() : bucket->interval * used;
  if (bucket != nullptr && old_bucket != nullptr && how == OnChange::as_is) {
    // The same share of a token too, so that a bucket that changes there and back is as it was.
    missing = Duration::nanoseconds(
        scaled_up(before.ns(), bucket->interval.ns(), old_bucket->interval.ns()));
  }
  state.cell = {};
  if (state.marks != nullptr) state.marks->clear();
  if (bucket != nullptr) {
    const Duration most = std::max(before, bucket->refill);
    if (used > 0) fill_in(*bucket, state.cell, std::min(missing, most), now.moment);
  } else if (used > 0) {
    take(to, state, {.cost = std::min(used, bounds::limit_count_max)}, now);
  }
  const bool lasts = before >= in_use_for(to.rule);
  if (!lasts) state.carried_for = before;
  return lasts;
}

}  // namespace pawl::limit
