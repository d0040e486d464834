#include "runtime/split_counter_store.h"

#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <vector>

#include "base/bounds.h"
#include "runtime/kept_counts.h"

namespace pawl {
namespace {

bool is_calendar(const Count& count) {
  return std::holds_alternative<limit::Calendar>(count.policy->rule);
}

bool has_slots(const Count& count) {
  return std::holds_alternative<limit::Concurrency>(count.policy->rule);
}

// What is not charged after all still has what a look finds.
void take_back(limit::Answer& answer, const limit::Answer& look) {
  for (std::size_t i = 0; i < answer.verdicts.size(); ++i) {
    if (answer.verdicts[i].allowed) answer.verdicts[i] = look.verdicts[i];
  }
  answer.now = look.now;
}

}  // namespace

struct SplitCounterStore::Half {
  CounterStore* store = nullptr;
  std::vector<Count> counts;
  limit::Answer answer;
  std::uint64_t id = 0;
};

// One ask of both stores: first_ is reserved, then second_ is asked. It lives in the callbacks of
// its steps, each of which starts the next.
class SplitCounterStore::Both : public std::enable_shared_from_this<Both> {
 public:
  struct Ask {
    std::int64_t cost = 0;
    Duration hold = {};
    bool keeps = false;  // stays reserved: a settlement is to come
  };

  Both(SplitCounterStore& split, Counts counts, Ask ask, Done<Reservation> done)
      : split_(split), counts_(counts), ask_(ask), done_(std::move(done)) {
    // Slots that were reserved and committed come back at once, those that were checked out do not.
    calendar_first_ = std::ranges::any_of(counts, has_slots);
    calendar().store = &split.stores_.calendar;
    others().store = &split.stores_.others;
    for (const Count& count : counts_.view()) {
      (is_calendar(count) ? calendar() : others()).counts.push_back(count);
    }
  }

  void look() {
    first_.store->check(first_.counts, 0, [self = shared_from_this()](auto answer) {
      if (!answer) return self->fail(answer.error());
      self->first_.answer = *answer;
      self->look_at(self->second_, [self](const limit::Answer& look) {
        self->second_.answer = look;
        self->finish();
      });
    });
  }

  void reserve_first() {
    reserve(first_, [self = shared_from_this()] {
      if (self->first_.answer.allowed) return self->ask_second();
      self->see_what_second_would_say();
    });
  }

 private:
  Half& calendar() { return calendar_first_ ? first_ : second_; }
  Half& others() { return calendar_first_ ? second_ : first_; }

  template <class Next>
  void reserve(Half& half, Next next) {
    half.store->reserve(half.counts, ask_.cost, ask_.hold,
                        [self = shared_from_this(), &half, next](Result<Reservation> reserved) {
                          if (!reserved) return self->give_up(half, reserved.error());
                          half.answer = reserved->answer;
                          half.id = reserved->id;
                          next();
                        });
  }

  template <class Next>
  void look_at(Half& half, Next next) {
    half.store->check(half.counts, 0, [self = shared_from_this(), next](auto look) {
      if (!look) return self->fail(look.error());
      next(*look);
    });
  }

  // A settlement that fails leaves it charged.
  template <class Next>
  void settle(Half& half, Settlement::Kind kind, Next next) {
    half.store->settle(half.counts, half.id, {.kind = kind, .actual = ask_.cost},
                       [next](const Result<void>&) { next(); });
  }

  void ask_second() {
    if (ask_.keeps)
      return reserve(second_, [self = shared_from_this()] { self->second_answered(); });
    second_.store->check(second_.counts, ask_.cost, [self = shared_from_this()](auto answer) {
      if (!answer) return self->give_up(self->second_, answer.error());
      self->second_.answer = *answer;
      self->second_answered();
    });
  }

  void second_answered() {
    const auto self = shared_from_this();
    if (!second_.answer.allowed) {
      settle(first_, Settlement::Kind::cancel, [self] {
        self->look_at(self->first_, [self](const limit::Answer& look) {
          take_back(self->first_.answer, look);
          self->finish();
        });
      });
    } else if (ask_.keeps) {
      split_.remember(others().id, {.calendar_id = calendar().id,
                                    .until = split_.clock_.steady_now() + ask_.hold});
      finish();
    } else {
      settle(first_, Settlement::Kind::commit, [self] { self->finish(); });
    }
  }

  // The first has refused: the second is not charged, and yet says whether it would refuse too, and
  // for how long. Who has room says so by a look; the others are asked, none of them as a shadow,
  // so that they refuse and nobody is charged.
  void see_what_second_would_say() {
    look_at(second_, [self = shared_from_this()](const limit::Answer& look) {
      self->second_.answer = look;
      Half& full = self->full_;
      full.store = self->second_.store;
      for (std::size_t i = 0; i < self->second_.counts.size(); ++i) {
        if (look.verdicts[i].remaining >= self->ask_.cost) continue;
        const Count& count = self->second_.counts[i];
        limit::Policy& enforced = self->enforced_.emplace_back(*count.policy);
        enforced.options.shadow = false;
        full.counts.push_back({&enforced, count.key});
        self->full_at_.push_back(i);
      }
      if (full.counts.empty()) return self->finish();
      self->reserve(full, [self] {
        if (!self->full_.answer.allowed) return self->finish_with_the_full();
        // Room came since the look.
        self->settle(self->full_, Settlement::Kind::cancel, [self] { self->finish(); });
      });
    });
  }

  void finish_with_the_full() {
    for (std::size_t i = 0; i < full_at_.size(); ++i) {
      second_.answer.verdicts[full_at_[i]] = full_.answer.verdicts[i];
    }
    finish();
  }

  void give_up(Half& failed, const Error& error) {
    if (&failed == &first_ || !first_.answer.allowed) return fail(error);
    settle(first_, Settlement::Kind::cancel,
           [self = shared_from_this(), error] { self->fail(error); });
  }

  void fail(const Error& error) { done_(std::unexpected(error)); }

  void finish() {
    Reservation whole;
    std::size_t of_calendar = 0, of_others = 0;
    for (const Count& count : counts_.view()) {
      whole.answer.verdicts.add(is_calendar(count) ? calendar().answer.verdicts[of_calendar++]
                                                   : others().answer.verdicts[of_others++]);
    }
    limit::conclude(counts_.view(), whole.answer);
    // Each store has a timeline of its own: the answer is on that of the policy it names.
    const Half& bound = is_calendar(counts_.view()[whole.answer.binding]) ? calendar() : others();
    whole.answer.now = {.moment = bound.answer.now.moment,
                        .wall = std::max(first_.answer.now.wall, second_.answer.now.wall)};
    whole.answer.counted_by = std::max(first_.answer.counted_by, second_.answer.counted_by);
    if (whole.answer.allowed && ask_.keeps) whole.id = others().id;
    done_(std::move(whole));
  }

  SplitCounterStore& split_;
  KeptCounts counts_;
  Ask ask_;
  Done<Reservation> done_;
  Half first_;
  Half second_;
  Half full_;  // those of the second that have no room for the ask
  std::deque<limit::Policy> enforced_;
  std::vector<std::size_t> full_at_;
  bool calendar_first_ = false;
};

CounterStore& SplitCounterStore::store_of(const Count& count) {
  return is_calendar(count) ? stores_.calendar : stores_.others;
}

CounterStore* SplitCounterStore::only_store_of(Counts counts) {
  CounterStore& store = store_of(counts[0]);
  const bool one =
      std::ranges::all_of(counts, [&](const Count& count) { return &store_of(count) == &store; });
  return one ? &store : nullptr;
}

void SplitCounterStore::check(Counts counts, std::int64_t cost, Done<limit::Answer> done) {
  if (CounterStore* store = only_store_of(counts))
    return store->check(counts, cost, std::move(done));
  auto both = std::make_shared<Both>(
      *this, counts, Both::Ask{.cost = cost, .hold = bounds::limit_split_hold},
      [done = std::move(done)](Result<Reservation> reserved) mutable {
        if (!reserved) return done(std::unexpected(std::move(reserved).error()));
        done(reserved->answer);
      });
  if (cost == 0) return both->look();
  both->reserve_first();
}

void SplitCounterStore::reserve(Counts counts, std::int64_t cost, Duration hold,
                                Done<Reservation> done) {
  if (CounterStore* store = only_store_of(counts)) {
    return store->reserve(counts, cost, hold, std::move(done));
  }
  if (!has_room_for_a_hold()) {
    return done(failure(Code::unavailable, "too many open reservations (" +
                                               std::to_string(bounds::limit_reservations_max) +
                                               "): settle some, or let them run out"));
  }
  std::make_shared<Both>(*this, counts, Both::Ask{.cost = cost, .hold = hold, .keeps = true},
                         std::move(done))
      ->reserve_first();
}

void SplitCounterStore::settle(Counts counts, std::uint64_t id, Settlement how, Done<void> done) {
  if (CounterStore* store = only_store_of(counts)) {
    return store->settle(counts, id, how, std::move(done));
  }
  const bool renews = how.kind == Settlement::Kind::renew;
  const std::optional<Hold> hold = renews ? find_hold(id) : take_hold(id);
  if (!hold) return done(reservation_not_found());
  std::vector<Count> others;
  std::vector<Count> calendar;
  KeptCounts kept(counts);
  for (const Count& count : kept.view()) (is_calendar(count) ? calendar : others).push_back(count);
  auto settled_others = [this, id, renews, how, kept = std::move(kept),
                         calendar = std::move(calendar), calendar_id = hold->calendar_id,
                         done = std::move(done)](Result<void> first) mutable {
    if (renews && !first) return done(std::move(first));
    auto settled_both = [this, id, renews, how, first = std::move(first),
                         done = std::move(done)](Result<void> second) mutable {
      if (renews && second) prolong(id, clock_.steady_now() + how.hold);
      done(first ? std::move(second) : std::move(first));
    };
    stores_.calendar.settle(calendar, calendar_id, how, std::move(settled_both));
  };
  stores_.others.settle(others, id, how, std::move(settled_others));
}

void SplitCounterStore::refund(const Count& count, std::int64_t cost, Done<void> done) {
  store_of(count).refund(count, cost, std::move(done));
}

void SplitCounterStore::reset(const Count& count, Done<void> done) {
  store_of(count).reset(count, std::move(done));
}

void SplitCounterStore::close(const Count& count, Instant until, Done<void> done) {
  store_of(count).close(count, until, std::move(done));
}

Result<void> SplitCounterStore::health() {
  PAWL_TRY(stores_.others.health());
  return stores_.calendar.health();
}

bool SplitCounterStore::has_room_for_a_hold() {
  const SteadyInstant now = clock_.steady_now();
  const std::lock_guard lock(holds_mutex_);
  while (!ends_.empty() && ends_.begin()->first <= now) {
    holds_.erase(ends_.begin()->second);
    ends_.erase(ends_.begin());
  }
  return holds_.size() < bounds::limit_reservations_max;
}

void SplitCounterStore::remember(std::uint64_t id, Hold hold) {
  const std::lock_guard lock(holds_mutex_);
  holds_[id] = hold;
  ends_.emplace(hold.until, id);
}

std::optional<SplitCounterStore::Hold> SplitCounterStore::find_hold(std::uint64_t id) {
  const std::lock_guard lock(holds_mutex_);
  const auto found = holds_.find(id);
  if (found == holds_.end() || found->second.until <= clock_.steady_now()) return std::nullopt;
  return found->second;
}

std::optional<SplitCounterStore::Hold> SplitCounterStore::take_hold(std::uint64_t id) {
  const std::lock_guard lock(holds_mutex_);
  const auto found = holds_.find(id);
  if (found == holds_.end()) return std::nullopt;
  const Hold hold = found->second;
  holds_.erase(found);
  ends_.erase({hold.until, id});
  if (hold.until <= clock_.steady_now()) return std::nullopt;
  return hold;
}

void SplitCounterStore::prolong(std::uint64_t id, SteadyInstant until) {
  const std::lock_guard lock(holds_mutex_);
  const auto found = holds_.find(id);
  if (found == holds_.end()) return;  // it was settled meanwhile
  ends_.erase({found->second.until, id});
  found->second.until = until;
  ends_.emplace(until, id);
}

}  // namespace pawl
