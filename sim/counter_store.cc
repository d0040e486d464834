#include "sim/counter_store.h"

#include <algorithm>
#include <array>

namespace pawl::sim {
namespace {

std::pair<std::string, std::string> place_of(const Count& count) {
  return {count.policy->name, count.key.text()};
}

}  // namespace

limit::Now SimCounterStore::now() {
  return {.moment = limit::Moment::from_ns(clock_.steady_now().ns()), .wall = clock_.wall_now()};
}

template <class Act>
auto SimCounterStore::with_states(Counts counts, Act act) {
  const limit::Now at = now();
  lasts_ = false;
  std::array<limit::Marks, bounds::limit_policies_max> marks;
  std::array<limit::State, bounds::limit_policies_max> states;
  std::array<limit::Member, bounds::limit_policies_max> members;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const limit::Policy& policy = *counts[i].policy;
    members[i] = {.policy = &policy, .state = &states[i]};
    states[i].marks = &marks[i];
    const auto found = kept_.find(place_of(counts[i]));
    if (found == kept_.end()) continue;
    const Kept& kept = found->second;
    marks[i] = kept.marks;
    states[i].cell = kept.cell;
    states[i].closed_until = kept.closed_until;
    lasts_ |= limit::carry_over(kept.rule, policy, states[i], at);
  }
  act(std::span<const limit::Member>(members).first(counts.size()), at);
  return [this, counts, marks = std::move(marks), states]() mutable {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      kept_.insert_or_assign(place_of(counts[i]), Kept{.rule = counts[i].policy->rule,
                                                       .cell = states[i].cell,
                                                       .closed_until = states[i].closed_until,
                                                       .marks = std::move(marks[i])});
    }
  };
}

limit::Answer SimCounterStore::decide(Counts counts, limit::Ask ask) {
  limit::Answer decided;
  auto keep = with_states(counts, [&](std::span<const limit::Member> members, limit::Now at) {
    decided = limit::decide(members, ask, at);
  });
  if (ask.cost > 0 && (decided.allowed || lasts_) && !faults_.forgets_charges) keep();
  return decided;
}

template <class T>
void SimCounterStore::answer(Done<T> done, Result<T> value) {
  if (faults_.lose_one_in > 0 && random_.one_in(faults_.lose_one_in)) {
    clock_.after(faults_.lost_after, [done = std::move(done)]() mutable {
      done(std::unexpected(Error(Code::unavailable, Outcome::unknown, "no answer")));
    });
  } else if (faults_.latency_max > Duration()) {
    clock_.after(
        random_.up_to(faults_.latency_max),
        [done = std::move(done), value = std::move(value)]() mutable { done(std::move(value)); });
  } else {
    done(std::move(value));
  }
}

void SimCounterStore::check(Counts counts, std::int64_t cost, Done<limit::Answer> done) {
  answer<limit::Answer>(std::move(done), decide(counts, {.cost = cost}));
}

void SimCounterStore::reserve(Counts counts, std::int64_t cost, Duration hold,
                              Done<Reservation> done) {
  const std::uint64_t id = random_.next_bits() | 1;
  Reservation reserved{.id = 0, .answer = decide(counts, {.cost = cost, .holder = id})};
  if (reserved.answer.allowed) {
    reserved.id = id;
    Hold& held = holds_[id];
    held = {.cost = cost,
            .members = limit::charged_mask(reserved.answer),
            .charged = now(),
            .until = now().moment + hold};
  }
  answer<Reservation>(std::move(done), reserved);
}

void SimCounterStore::settle(Counts counts, std::uint64_t id, Settlement how, Done<void> done) {
  const auto hold = holds_.find(id);
  if (hold == holds_.end() || hold->second.until <= now().moment) {
    if (hold != holds_.end()) holds_.erase(hold);
    return answer<void>(std::move(done), reservation_not_found());
  }
  const Hold held = hold->second;
  bool alive = true;
  auto keep = with_states(counts, [&](std::span<const limit::Member> members, limit::Now at) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (!limit::is_charged(held.members, i)) continue;
      const auto& [policy, state] = members[i];
      const limit::Ask reserved{.cost = held.cost, .holder = id, .charged = held.charged};
      alive &= limit::settle(*policy, *state, reserved, how, at);
    }
  });
  if (!alive) return answer<void>(std::move(done), reservation_not_found());
  keep();
  if (how.kind == Settlement::Kind::renew) {
    hold->second.until = now().moment + how.hold;
  } else {
    holds_.erase(hold);
  }
  answer<void>(std::move(done), {});
}

void SimCounterStore::refund(const Count& count, std::int64_t cost, Done<void> done) {
  with_states({&count, 1}, [&](std::span<const limit::Member> members, limit::Now at) {
    limit::give_back(*members[0].policy, *members[0].state, {.cost = cost, .charged = at}, at);
  })();
  answer<void>(std::move(done), {});
}

void SimCounterStore::reset(const Count& count, Done<void> done) {
  kept_.erase(place_of(count));
  answer<void>(std::move(done), {});
}

void SimCounterStore::close(const Count& count, Instant until, Done<void> done) {
  with_states({&count, 1}, [&](std::span<const limit::Member> members, limit::Now at) {
    limit::State& state = *members[0].state;
    state.closed_until = std::max(state.closed_until, at.moment + (until - at.wall));
  })();
  answer<void>(std::move(done), {});
}

}  // namespace pawl::sim
