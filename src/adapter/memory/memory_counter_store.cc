#include "adapter/memory/memory_counter_store.h"

#include <algorithm>
#include <string>

#include "adapter/memory/memory_step.h"
#include "base/assert.h"

namespace pawl {
namespace {

constexpr std::size_t overflow_keys_a_policy = 16;
// More policies than any process has; memory that nobody touches costs nothing.
constexpr std::size_t overflow_places = 1'048'576;
constexpr std::size_t holds_swept_at_once = 4;

bool any_marks(Counts counts) {
  return std::ranges::any_of(counts,
                             [](const Count& c) { return limit::keeps_marks(c.policy->rule); });
}

}  // namespace

MemoryCounterStore::MemoryCounterStore(Clock& clock, Options options)
    : clock_(clock),
      seed_(options.seed),
      cells_(options.keys_max * 2),
      overflow_(overflow_places),
      marks_(options.keys_max / 16, options.marks_max),
      ids_(options.seed) {}

limit::Now MemoryCounterStore::read_clock(Counts counts) {
  limit::Now now{.moment = limit::Moment::from_ns(clock_.steady_now().ns()), .wall = {}};
  // The second clock is read for those who need it.
  for (const Count& count : counts) {
    if (!std::holds_alternative<limit::Calendar>(count.policy->rule)) continue;
    now.wall = clock_.wall_now();
    break;
  }
  return now;
}

Hash128 MemoryCounterStore::overflow_hash(const limit::Policy& policy, Hash128 key) const {
  return hash_of(Hash128{.high = policy.id, .low = key.low % overflow_keys_a_policy}, seed_);
}

// What limit::decide does, for a few token buckets whose keys are known: the commonest ask there
// is, and the one that must be quick. False: it is not such an ask, and nothing was done.
template <std::size_t few>
bool MemoryCounterStore::check_known(Counts counts, std::int64_t cost, limit::Answer& answer) {
  std::array<const limit::TokenBucket*, few> buckets;
  std::array<Hash128, few> hashes;
  for (std::size_t i = 0; i < few; ++i) {
    const limit::Policy& policy = *counts[i].policy;
    buckets[i] = std::get_if<limit::TokenBucket>(&policy.rule);
    if (buckets[i] == nullptr) return false;
    hashes[i] = hash(policy, counts[i].key);
  }
  answer.now = {.moment = limit::Moment::from_ns(clock_.steady_now().ns()), .wall = {}};
  answer.as_decided = true;
  if (answer.now.moment.ns() < open_from_.load(std::memory_order_acquire)) return false;
  std::array<CellTable::Reading, few> readings;
  for (int pauses = 0;; CellTable::stand_back(pauses)) {
    answer.verdicts.clear();
    for (std::size_t i = 0; i < few; ++i) {
      readings[i] = cells_.read(hashes[i]);
      const CellTable::Reading& reading = readings[i];
      if (reading.place == nullptr || reading.shape() != counts[i].policy->shape) return false;
      answer.verdicts.add_made(
          [&] { return limit::look(*buckets[i], reading.cell, cost, answer.now); });
    }
    limit::conclude(counts.first<few>(), answer);
    if (cost == 0) return true;
    if (!answer.allowed) {
      for (std::size_t i = 0; i < few; ++i) {
        if (!answer.verdicts[i].allowed) continue;
        answer.verdicts[i] = limit::look(*buckets[i], readings[i].cell, 0, answer.now);
      }
      return true;
    }
    for (std::size_t i = 0; i < few; ++i) {
      const limit::Verdict& verdict = answer.verdicts[i];
      // What take() would make of it.
      if (verdict.allowed) {
        readings[i].cell = {.a = (answer.now.moment + verdict.full_after).ns(), .b = 0};
      }
    }
    if (write_together(std::span<const CellTable::Reading, few>(readings))) return true;
  }
}

template <std::size_t few>
bool MemoryCounterStore::write_together(std::span<const CellTable::Reading, few> readings) {
  std::size_t held = 0;
  while (held < few && CellTable::hold(readings[held])) ++held;
  if (held < few) {
    while (held-- > 0) CellTable::let_go(readings[held]);
    return false;
  }
  for (const CellTable::Reading& each : readings) CellTable::write(each, each.cell, each.shape());
  return true;
}

limit::Answer MemoryCounterStore::check_now(Counts counts, std::int64_t cost) {
  limit::Answer answer;
  const bool is_done = (counts.size() == 1 && check_known<1>(counts, cost, answer)) ||
                       (counts.size() == 2 && check_known<2>(counts, cost, answer)) ||
                       (counts.size() == 3 && check_known<3>(counts, cost, answer));
  if (!is_done) check_any(counts, cost, answer);
  return answer;
}

void MemoryCounterStore::check_any(Counts counts, std::int64_t cost, limit::Answer& answer) {
  const limit::Ask ask{.cost = cost, .holder = any_marks(counts) ? ids_.next() : 0};
  answer = decide(counts, ask);
}

limit::Answer MemoryCounterStore::decide(Counts counts, limit::Ask ask) {
  const auto with = [&]<std::size_t counts_max, bool with_marks>() {
    Step<counts_max, with_marks> step(*this, counts);
    limit::Answer answer = limit::decide(step.members(), ask, step.now());
    while (ask.cost > 0 && step.is_to_be_written(answer) && !step.write()) {
      step.read();
      answer = limit::decide(step.members(), ask, step.now());
    }
    return answer;
  };
  PAWL_ASSERT(!counts.empty() && counts.size() <= bounds::limit_policies_max);
  // Small sets of cells, which most are, are spared the room for the largest.
  if (any_marks(counts)) return with.template operator()<bounds::limit_policies_max, true>();
  if (counts.size() == 1) return with.template operator()<1, false>();
  if (counts.size() <= 4) return with.template operator()<4, false>();
  return with.template operator()<bounds::limit_policies_max, false>();
}

template <class Change>
bool MemoryCounterStore::apply(Counts counts, const Change& change) {
  Step<bounds::limit_policies_max, true> step(*this, counts);
  for (;; step.read()) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (!change(i, step.state(i), step.now())) return false;
    }
    if (step.write()) return true;
  }
}

void MemoryCounterStore::check(Counts counts, std::int64_t cost, Done<limit::Answer> done) {
  done(check_now(counts, cost));
}

void MemoryCounterStore::reserve(Counts counts, std::int64_t cost, Duration hold,
                                 Done<Reservation> done) {
  const limit::Now now = read_clock(counts);
  Reservation reservation{.id = ids_.next(), .answer = {}};
  const limit::Ask ask{.cost = cost, .holder = reservation.id, .charged = now};
  {
    // First its record, then the charge: a charge that nobody can settle would be lost.
    const std::lock_guard lock(holds_mutex_);
    forget_holds(now.moment);
    if (holds_.size() >= bounds::limit_reservations_max) {
      return done(failure(Code::refused, "too many open reservations (" +
                                             std::to_string(holds_.size()) +
                                             "): settle some, or let them run out"));
    }
    holds_[reservation.id] = {
        .key = hash(*counts[0].policy, counts[0].key), .reserved = ask, .until = now.moment + hold};
  }
  reservation.answer = decide(counts, ask);
  {
    const std::lock_guard lock(holds_mutex_);
    if (reservation.answer.allowed) {
      holds_[reservation.id].charged = limit::charged_mask(reservation.answer);
    } else {
      holds_.erase(reservation.id);
      reservation.id = 0;
    }
  }
  done(reservation);
}

void MemoryCounterStore::settle(Counts counts, std::uint64_t id, Settlement how, Done<void> done) {
  const limit::Now now = read_clock(counts);
  const Hash128 key = hash(*counts[0].policy, counts[0].key);
  std::optional<Hold> hold;
  {
    const std::lock_guard lock(holds_mutex_);
    hold = take_hold(id, key, now.moment);
    if (!hold) return done(reservation_not_found());
    if (how.kind == Settlement::Kind::renew) holds_[id] = *hold;
  }
  const auto settle = [&](std::size_t i, limit::State& state, limit::Now then) {
    return !limit::is_charged(hold->charged, i) ||
           limit::settle(*counts[i].policy, state, hold->reserved, how, then);
  };
  if (!apply(counts, settle)) return done(reservation_not_found());
  if (how.kind == Settlement::Kind::renew) {
    const std::lock_guard lock(holds_mutex_);
    const auto renewed = holds_.find(id);
    if (renewed != holds_.end()) renewed->second.until = now.moment + how.hold;
  }
  done({});
}

void MemoryCounterStore::refund(const Count& count, std::int64_t cost, Done<void> done) {
  apply({&count, 1}, [&](std::size_t, limit::State& state, limit::Now now) {
    limit::give_back(*count.policy, state, {.cost = cost, .charged = now}, now);
    return true;
  });
  done({});
}

// A key that shares a place with others has nothing of its own to be reset.
void MemoryCounterStore::reset(const Count& count, Done<void> done) {
  const Hash128 key = hash(*count.policy, count.key);
  {
    const std::unique_lock lock(closed_mutex_);
    closed_.erase(key);
  }
  forget(key);
  done({});
}

void MemoryCounterStore::forget(Hash128 key) {
  const std::size_t shard = MarkTable::shard_of(key);
  marks_.lock(shard);
  if (MarkTable::Kept* kept = marks_.find(key)) {
    marks_.count_marks(key, kept->marks.size(), 0);
    kept->marks.clear();
  }
  marks_.unlock(shard);
  auto place = cells_.read(key);
  while (place.place != nullptr && !CellTable::hold(place)) place = cells_.read(key);
  if (place.place != nullptr) CellTable::write(place, {}, place.shape());
}

void MemoryCounterStore::close(const Count& count, Instant until, Done<void> done) {
  const limit::Moment now = limit::Moment::from_ns(clock_.steady_now().ns());
  const limit::Moment end = now + (until - clock_.wall_now());
  const Hash128 key = hash(*count.policy, count.key);
  if (end <= now) return done({});
  {
    const std::unique_lock lock(closed_mutex_);
    if (closed_.size() >= bounds::limit_closed_max) {
      std::erase_if(closed_, [&](const auto& each) { return each.second <= now; });
    }
    if (closed_.size() >= bounds::limit_closed_max && !closed_.contains(key)) {
      return done(failure(Code::refused, "too many closed keys (" + std::to_string(closed_.size()) +
                                             "): reset some"));
    }
    limit::Moment& kept = closed_[key];
    kept = std::max(kept, end);
    open_from_ = std::max(open_from_.load(), end.ns());
  }
  done({});
}

limit::Moment MemoryCounterStore::closed_until(Hash128 key) {
  const std::shared_lock lock(closed_mutex_);
  const auto found = closed_.find(key);
  return found == closed_.end() ? limit::Moment() : found->second;
}

bool MemoryCounterStore::is_rested(MarkTable::Kept& kept, limit::Now now) {
  return limit::until_unused(kept.rule, {.marks = &kept.marks}, now) == Duration();
}

const limit::Rule* MemoryCounterStore::rule_of(std::uint32_t shape) {
  const std::shared_lock lock(rules_mutex_);
  const auto found = rules_.find(shape);
  return found == rules_.end() ? nullptr : &found->second;
}

void MemoryCounterStore::remember(const limit::Policy& policy) {
  if (rule_of(policy.shape) != nullptr) return;
  const std::unique_lock lock(rules_mutex_);
  rules_.emplace(policy.shape, policy.rule);
}

// Those that ran out, a few at a time. What they charged stays charged.
void MemoryCounterStore::forget_holds(limit::Moment now) {
  auto it = holds_.lower_bound(holds_swept_to_);
  for (std::size_t i = 0; i < holds_swept_at_once && !holds_.empty(); ++i) {
    if (it == holds_.end()) it = holds_.begin();
    it = it->second.until <= now ? holds_.erase(it) : std::next(it);
  }
  holds_swept_to_ = it == holds_.end() ? 0 : it->first;
}

std::optional<MemoryCounterStore::Hold> MemoryCounterStore::take_hold(std::uint64_t id, Hash128 key,
                                                                      limit::Moment now) {
  const auto found = holds_.find(id);
  if (found == holds_.end() || found->second.key != key) return std::nullopt;
  const Hold hold = found->second;
  holds_.erase(found);
  if (hold.until <= now) return std::nullopt;
  return hold;
}

std::size_t MemoryCounterStore::keys() {
  return cells_.keys() + marks_.keys();
}

std::size_t MemoryCounterStore::marks() {
  return marks_.marks();
}

}  // namespace pawl
