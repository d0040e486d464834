#include "runtime/fallback_counter_store.h"

#include <array>
#include <atomic>
#include <mutex>
#include <utility>

#include "base/bounds.h"
#include "core/retry/breaker.h"
#include "port/reservation_ids.h"
#include "runtime/kept_counts.h"

namespace pawl {
namespace {

using Turn = retry::Breaker::Turn;

constexpr retry::BreakerRule when_slow = {.failures = bounds::store_lost_failures,
                                          .wait_min = bounds::store_lost_wait_min,
                                          .wait_max = bounds::store_lost_wait_max};
constexpr retry::BreakerRule when_gone = {.failures = 1,
                                          .wait_min = bounds::store_lost_wait_min,
                                          .wait_max = bounds::store_lost_wait_max};

limit::Answer uncounted(Counts counts, Clock& clock) {
  std::array<limit::Marks, bounds::limit_policies_max> marks;
  std::array<limit::State, bounds::limit_policies_max> states;
  std::array<limit::Member, bounds::limit_policies_max> members;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    states[i].marks = &marks[i];
    members[i] = {.policy = counts[i].policy, .state = &states[i]};
  }
  const limit::Now now{.moment = limit::Moment::from_ns(clock.steady_now().ns()),
                       .wall = clock.wall_now()};
  limit::Answer answer = limit::decide({members.data(), counts.size()}, {.cost = 0}, now);
  answer.counted_by = limit::CountedBy::nobody;
  answer.as_decided = false;
  return answer;
}

limit::Answer& answer_of(limit::Answer& answer) {
  return answer;
}
limit::Answer& answer_of(Reservation& reservation) {
  return reservation.answer;
}

}  // namespace

struct FallbackCounterStore::State : std::enable_shared_from_this<State> {
  State(Options options_, Ports ports_)
      : options(std::move(options_)), ids(options.seed), ports(ports_) {}

  const Options options;
  ReservationIds ids;
  const Ports ports;
  std::atomic<bool> lost = false;     // as the breaker has it, for those who only look
  std::atomic<bool> failing = false;  // the last that was heard of the store is a failure
  std::atomic<bool> lent_locally = false;
  std::atomic<std::uint64_t> failures = 0;
  std::atomic<std::uint64_t> decided_without = 0;

  mutable std::mutex mutex;  // of what follows
  retry::Breaker breaker;
  Instant since = ports.clock.wall_now();
  std::string why;
  std::uint64_t changes = 0;

  Status status() const {
    const std::lock_guard lock(mutex);
    return {.lost = breaker.open(),
            .since = since,
            .why = why,
            .failures = failures,
            .decided_without = decided_without,
            .changes = changes};
  }

  Turn turn() {
    if (!lost.load(std::memory_order_acquire)) return Turn::ask;
    const std::lock_guard lock(mutex);
    return breaker.turn(when_gone, ports.clock.steady_now());
  }

  // The remote store has given no answer, and `error` instead.
  void failed(Turn turn, const Error& error) {
    ++failures;
    const bool is_there = ports.remote.health().has_value();
    {
      const std::lock_guard lock(mutex);
      failing = true;
      const retry::BreakerRule& rule = is_there ? when_slow : when_gone;
      if (!breaker.failed(rule, turn, ports.clock.steady_now())) return;
      note_change(error.message);
    }
    if (options.on_change) options.on_change(status());
  }

  void answered(Turn turn) {
    if (turn != Turn::probe && !failing) return;
    {
      const std::lock_guard lock(mutex);
      failing = false;
      if (!breaker.answered(turn)) return;
      note_change({});
    }
    if (options.on_change) options.on_change(status());
  }

  void note_change(std::string why_) {
    why = std::move(why_);
    since = ports.clock.wall_now();
    ++changes;
    lost.store(breaker.open(), std::memory_order_release);
  }

  // Nothing there is still an answer.
  template <class T>
  bool hear(Turn turn, const Result<T>& result) {
    if (result || result.error().code == Code::not_found) {
      answered(turn);
      return true;
    }
    // It answered: what is wrong is this key, and no reason to count all others anew.
    if (result.error().code == Code::invalid || result.error().code == Code::refused) {
      answered(turn);
      return false;
    }
    failed(turn, result.error());
    return false;
  }

  Error lost_error() const {
    const Status now = status();
    return {Code::unavailable, Outcome::not_applied,
            "the store of the limits' counts is lost since " + to_string(now.since) + ": " +
                now.why + "; it is asked again by itself"};
  }

  // Asks the remote store, and `instead` where that does not answer. ask(counts, done) calls the
  // remote store; instead(counts, error, done).
  template <class T, class Ask, class Instead>
  void decide(Counts counts, Done<T> done, const Ask& ask, Instead instead) {
    const Turn turn_ = turn();
    if (turn_ == Turn::skip) return instead(*this, counts, lost_error(), std::move(done));
    ask([self = shared_from_this(), turn_, kept = KeptCounts(counts), instead = std::move(instead),
         done = std::move(done)](Result<T> result) mutable {
      if (self->hear(turn_, result)) return done(std::move(result));
      instead(*self, kept.view(), result.error(), std::move(done));
    });
  }

  // For what only the remote store can do.
  template <class Ask>
  void change(Done<void> done, const Ask& ask) {
    const Turn turn_ = turn();
    if (turn_ == Turn::skip) return done(std::unexpected(lost_error()));
    ask([self = shared_from_this(), turn_, done = std::move(done)](Result<void> result) mutable {
      self->hear(turn_, result);
      done(std::move(result));
    });
  }

  template <class T>
  static Done<T> marked_local(Done<T> done) {
    return [done = std::move(done)](Result<T> result) mutable {
      if (result) answer_of(*result).counted_by = limit::CountedBy::process;
      done(std::move(result));
    };
  }
};

FallbackCounterStore::FallbackCounterStore(Options options, Ports ports)
    : state_(std::make_shared<State>(std::move(options), ports)) {}

void FallbackCounterStore::check(Counts counts, std::int64_t cost, Done<limit::Answer> done) {
  const auto ask = [&](auto told) { state_->ports.remote.check(counts, cost, std::move(told)); };
  const auto instead = [cost](State& state, Counts kept, const Error& error,
                              Done<limit::Answer> told) {
    const WhenLost how = state.options.when_lost;
    if (how == WhenLost::deny) return told(std::unexpected(error));
    ++state.decided_without;
    if (how == WhenLost::allow) return told(uncounted(kept, state.ports.clock));
    state.ports.local.check(kept, cost, State::marked_local(std::move(told)));
  };
  state_->decide(counts, std::move(done), ask, instead);
}

void FallbackCounterStore::reserve(Counts counts, std::int64_t cost, Duration hold,
                                   Done<Reservation> done) {
  const auto ask = [&](auto told) {
    state_->ports.remote.reserve(counts, cost, hold, std::move(told));
  };
  const auto instead = [cost, hold](State& state, Counts kept, const Error& error,
                                    Done<Reservation> told) {
    const WhenLost how = state.options.when_lost;
    if (how == WhenLost::deny) return told(std::unexpected(error));
    ++state.decided_without;
    if (how == WhenLost::allow) {
      return told(Reservation{.id = state.ids.next() << 1,  // even, and not 0
                              .answer = uncounted(kept, state.ports.clock)});
    }
    state.lent_locally = true;
    state.ports.local.reserve(kept, cost, hold, State::marked_local(std::move(told)));
  };
  state_->decide(counts, std::move(done), ask, instead);
}

// Which store an id is of is found by asking the local one, that is in this process.
void FallbackCounterStore::settle(Counts counts, std::uint64_t id, Settlement how,
                                  Done<void> done) {
  // Even: it was allowed uncounted, and there is nothing to settle.
  if (state_->options.when_lost == WhenLost::allow && id != 0 && id % 2 == 0) return done({});
  const auto settle_remote = [id, how](State& state, Counts kept, Done<void> told) {
    state.change(std::move(told),
                 [&](auto heard) { state.ports.remote.settle(kept, id, how, std::move(heard)); });
  };
  if (!state_->lent_locally) return settle_remote(*state_, counts, std::move(done));
  state_->ports.local.settle(counts, id, how,
                             [state = state_, kept = KeptCounts(counts), settle_remote,
                              done = std::move(done)](Result<void> result) mutable {
                               if (result || result.error().code != Code::not_found)
                                 return done(std::move(result));
                               settle_remote(*state, kept.view(), std::move(done));
                             });
}

// Never a probe: what comes back now was charged while the store was lost.
void FallbackCounterStore::refund(const Count& count, std::int64_t cost, Done<void> done) {
  const WhenLost how = state_->options.when_lost;
  if (state_->lost && how == WhenLost::allow) return done({});
  if (state_->lost && how == WhenLost::local) {
    return state_->ports.local.refund(count, cost, std::move(done));
  }
  state_->change(std::move(done),
                 [&](auto told) { state_->ports.remote.refund(count, cost, std::move(told)); });
}

void FallbackCounterStore::reset(const Count& count, Done<void> done) {
  if (state_->options.when_lost == WhenLost::local) {
    state_->ports.local.reset(count, [](const Result<void>&) {});
  }
  state_->change(std::move(done),
                 [&](auto told) { state_->ports.remote.reset(count, std::move(told)); });
}

void FallbackCounterStore::close(const Count& count, Instant until, Done<void> done) {
  if (state_->options.when_lost == WhenLost::local) {
    state_->ports.local.close(count, until, [](const Result<void>&) {});
  }
  state_->change(std::move(done),
                 [&](auto told) { state_->ports.remote.close(count, until, std::move(told)); });
}

Result<void> FallbackCounterStore::health() {
  switch (state_->options.when_lost) {
    case WhenLost::local:
      return state_->ports.local.health();
    case WhenLost::allow:
      return {};
    case WhenLost::deny:
      break;
  }
  if (state_->lost) return std::unexpected(state_->lost_error());
  return state_->ports.remote.health();
}

FallbackCounterStore::Status FallbackCounterStore::status() const {
  return state_->status();
}

}  // namespace pawl
