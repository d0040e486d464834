#include "runtime/leased_counter_store.h"

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/hash.h"
#include "runtime/kept_counts.h"
#include "runtime/lease_table.h"

namespace pawl {
namespace {

using limit::Lease;
using Place = LeaseTable::Place;
using Places = LeaseTable::Places;
using Waiter = LeaseTable::Waiter;
using limit::Standing;

}  // namespace

class LeasedCounterStore::State : public std::enable_shared_from_this<State> {
 public:
  State(Options options, Clock& clock, CounterStore& store_)
      : store(store_), options_(options), clock_(clock), table_(options.leases_max, options.seed) {}

  CounterStore& store;

  void check(Counts counts, std::int64_t cost, Done<limit::Answer> done);
  bool give_back(bool all);
  // The store has just been told to close or to reset it.
  void forget(Hash128 id);
  void forget_refusals(const std::vector<Hash128>& ids);
  Hash128 hash(const Count& count) const { return table_.hash(count); }

 private:
  struct Fetch;
  // What is to be done when the lock is let go.
  struct Actions {
    std::vector<std::pair<Waiter, Result<limit::Answer>>> told = {};
    std::vector<Waiter> straight = {};
    std::vector<std::shared_ptr<Fetch>> fetches = {};
  };

  // One call to the store, and what comes of an answer that is there before the call returns.
  struct Turn {
    std::thread::id caller = std::this_thread::get_id();
    bool open = true;  // of the caller's thread alone
    std::optional<Actions> then = {};
  };

  bool may_lease(Counts counts, std::int64_t cost) const;
  static std::optional<limit::Answer> decide(Counts counts, const Places& places, std::int64_t cost,
                                             SteadyInstant now);
  void retry(Waiter waiter, SteadyInstant now, Actions& actions);
  static void wait_for(Place& place, Waiter waiter, Actions& actions);
  void enlist(Waiter waiter, const Places& places, SteadyInstant now, Actions& actions);
  std::shared_ptr<Fetch> refill_of(const Places& places, SteadyInstant now);
  void run(Actions actions);
  void go_on(Turn& turn, Actions actions);
  void step(const std::shared_ptr<Fetch>& fetch, const std::shared_ptr<Turn>& turn);
  Actions answered(const std::shared_ptr<Fetch>& fetch, const Result<limit::Answer>& answer);
  static bool make_exact(Fetch& fetch);
  void hear(Fetch& fetch, const limit::Answer& answer, SteadyInstant now);
  void finish(Fetch& fetch, const Error* error, SteadyInstant now, Actions& actions);

  const Options options_;
  Clock& clock_;
  std::mutex mutex_;
  LeaseTable table_;
};

// One turn with the store for some places: what is over goes back, then more is asked for. Key and
// name of a busy place stay as they are; its policy may change meanwhile.
struct LeasedCounterStore::State::Fetch {
  void add(Place& place) {
    place.busy = true;
    places.push_back(&place);
    policies.push_back(place.policy);
  }
  Count count(std::size_t i) const { return {policies[i].get(), places[i]->key()}; }

  std::vector<Place*> places = {};
  std::vector<std::shared_ptr<const limit::Policy>> policies = {};
  std::vector<std::pair<std::size_t, std::int64_t>> ended = {};  // units to give back, by place
  std::int64_t units = 0;                                        // to ask for; 0: only to give back
  SteadyInstant sent = {};
  std::optional<Waiter> waiter = {};
};

// With at most half a batch wanted and less than that left, a lease never holds more than a batch.
bool LeasedCounterStore::State::may_lease(Counts counts, std::int64_t cost) const {
  if (cost == 0 || cost > options_.terms.batch / 2) return false;
  return std::ranges::none_of(
      counts, [](const Count& count) { return limit::keeps_marks(count.policy->rule); });
}

// The answer, where it needs no store.
std::optional<limit::Answer> LeasedCounterStore::State::decide(Counts counts, const Places& places,
                                                               std::int64_t cost,
                                                               SteadyInstant now) {
  std::array<Standing, bounds::limit_policies_max> standings;
  bool refused = false, wanting = false, known = true;
  for (std::size_t i = 0; i < places.size; ++i) {
    const Standing standing = standings[i] = places.items[i]->lease.standing(cost, now);
    refused = refused || (standing == Standing::refused && !counts[i].policy->options.shadow);
    wanting = wanting || standing == Standing::wanting;
    known = known && places.items[i]->lease.known();
  }
  if (refused ? !known : wanting) return std::nullopt;
  std::optional<limit::Answer> answer(std::in_place);
  for (std::size_t i = 0; i < places.size; ++i) {
    Lease& lease = places.items[i]->lease;
    answer->verdicts.add(standings[i] == Standing::refused ? lease.refusal(now)
                         : refused                         ? lease.look(now)
                                                           : lease.spend(cost, now));
  }
  limit::conclude(counts, *answer);
  answer->now = now_of(places.items[0]->lease, now);
  return answer;
}

void LeasedCounterStore::State::check(Counts counts, std::int64_t cost, Done<limit::Answer> done) {
  if (!may_lease(counts, cost)) return store.check(counts, cost, std::move(done));
  const SteadyInstant now = clock_.steady_now();
  Actions actions;
  {
    std::unique_lock lock(mutex_);
    Places places;
    if (!table_.find(counts, now, places)) {
      lock.unlock();
      return store.check(counts, cost, std::move(done));
    }
    if (const std::optional<limit::Answer> answer = decide(counts, places, cost, now)) {
      const std::shared_ptr<Fetch> refill = refill_of(places, now);
      lock.unlock();
      done(*answer);
      if (refill == nullptr) return;
      actions.fetches.push_back(refill);
      return run(std::move(actions));
    }
    enlist({KeptCounts(counts), cost, std::move(done)}, places, now, actions);
  }
  run(std::move(actions));
}

// What this ask leaves low is filled up while nobody waits for it.
std::shared_ptr<LeasedCounterStore::State::Fetch> LeasedCounterStore::State::refill_of(
    const Places& places, SteadyInstant now) {
  const auto low = std::ranges::find_if(
      places, [&](const Place* place) { return !place->busy && place->lease.is_low(now); });
  if (low == places.end()) return nullptr;
  Lease& lease = (*low)->lease;
  auto fetch = std::make_shared<Fetch>();
  fetch->add(**low);
  fetch->units =
      std::min(options_.terms.batch - lease.left(), lease.next_take(options_.terms, now));
  return fetch;
}

// Once more, after a turn with the store that this one waited for.
void LeasedCounterStore::State::retry(Waiter waiter, SteadyInstant now, Actions& actions) {
  Places places;
  if (!table_.find(waiter.counts.view(), now, places)) {
    actions.straight.push_back(std::move(waiter));
    return;
  }
  if (auto answer = decide(waiter.counts.view(), places, waiter.cost, now)) {
    actions.told.emplace_back(std::move(waiter), std::move(*answer));
    return;
  }
  enlist(std::move(waiter), places, now, actions);
}

// It waits for the turn that is under way for a count it wants, or has one itself.
void LeasedCounterStore::State::enlist(Waiter waiter, const Places& places, SteadyInstant now,
                                       Actions& actions) {
  const limit::LeaseTerms& terms = options_.terms;
  Places wanted;
  for (Place* place : places) {
    if (place->lease.standing(waiter.cost, now) == Standing::ready) continue;
    if (place->busy) return wait_for(*place, std::move(waiter), actions);
    wanted.items[wanted.size++] = place;
  }
  auto fetch = std::make_shared<Fetch>();
  std::int64_t take = terms.batch, room = terms.batch, need = 0;
  for (Place* place : wanted) {
    fetch->add(*place);
    Lease& lease = place->lease;
    if (const std::int64_t ended = lease.take_ended(now); ended > 0) {
      fetch->ended.emplace_back(fetch->places.size() - 1, ended);
    }
    take = std::min(take, lease.next_take(terms, now));
    need = std::max(need, waiter.cost - lease.left());
    room = std::min(room, terms.batch - lease.left());
  }
  PAWL_ASSERT(need > 0 && need <= room);
  fetch->units = std::clamp(take, need, room);
  fetch->waiter.emplace(std::move(waiter));
  actions.fetches.push_back(std::move(fetch));
}

void LeasedCounterStore::State::wait_for(Place& place, Waiter waiter, Actions& actions) {
  if (place.waiters.size() < bounds::limit_lease_waiters_max) {
    place.waiters.push_back(std::move(waiter));
    return;
  }
  actions.straight.push_back(std::move(waiter));
}

// A store may answer before its call returns. What comes of that is done here, in turn: not within
// the call, that would go the deeper the more there is to do.
void LeasedCounterStore::State::run(Actions actions) {
  std::deque<Actions> todo;
  todo.push_back(std::move(actions));
  for (; !todo.empty(); todo.pop_front()) {
    for (auto& [waiter, answer] : todo.front().told) waiter.done(std::move(answer));
    for (Waiter& waiter : todo.front().straight) {
      store.check(waiter.counts.view(), waiter.cost, std::move(waiter.done));
    }
    for (const auto& fetch : todo.front().fetches) {
      const auto turn = std::make_shared<Turn>();
      step(fetch, turn);
      turn->open = false;
      if (turn->then) todo.push_back(std::move(*turn->then));
    }
  }
}

void LeasedCounterStore::State::go_on(Turn& turn, Actions actions) {
  if (turn.caller == std::this_thread::get_id() && turn.open) {
    turn.then = std::move(actions);
  } else {
    run(std::move(actions));
  }
}

// The next call to the store.
void LeasedCounterStore::State::step(const std::shared_ptr<Fetch>& fetch,
                                     const std::shared_ptr<Turn>& turn) {
  if (!fetch->ended.empty()) {
    const auto [i, units] = fetch->ended.back();
    fetch->ended.pop_back();
    // Units that the store does not take back stay charged.
    return store.refund(fetch->count(i), units,
                        [self = shared_from_this(), fetch, turn](const auto&) {
                          Actions actions;
                          actions.fetches.push_back(fetch);
                          self->go_on(*turn, std::move(actions));
                        });
  }
  fetch->sent = clock_.steady_now();
  if (fetch->units == 0) {
    Actions actions;
    {
      const std::lock_guard lock(mutex_);
      finish(*fetch, nullptr, fetch->sent, actions);
    }
    return go_on(*turn, std::move(actions));
  }
  std::vector<Count> counts;
  for (std::size_t i = 0; i < fetch->places.size(); ++i) counts.push_back(fetch->count(i));
  store.check(counts, fetch->units, [self = shared_from_this(), fetch, turn](auto answer) {
    self->go_on(*turn, self->answered(fetch, answer));
  });
}

LeasedCounterStore::State::Actions LeasedCounterStore::State::answered(
    const std::shared_ptr<Fetch>& fetch, const Result<limit::Answer>& answer) {
  const SteadyInstant now = clock_.steady_now();
  Actions actions;
  const std::lock_guard lock(mutex_);
  if (answer) hear(*fetch, *answer, now);
  if (answer && !answer->allowed && make_exact(*fetch)) {
    actions.fetches.push_back(fetch);
  } else {
    finish(*fetch, answer ? nullptr : &answer.error(), now, actions);
  }
  return actions;
}

// Refused: what the caller wants is asked for to the unit, of all its counts alike, so that neither
// the last units are stranded nor is anybody refused for the sake of a batch. False: it just was.
bool LeasedCounterStore::State::make_exact(Fetch& fetch) {
  if (!fetch.waiter) return false;
  for (std::size_t i = 0; i < fetch.places.size(); ++i) {
    const std::int64_t held = fetch.places[i]->lease.take_all();
    if (held > 0) fetch.ended.emplace_back(i, held);
  }
  const std::int64_t asked = std::exchange(fetch.units, fetch.waiter->cost);
  return asked != fetch.units || !fetch.ended.empty();
}

void LeasedCounterStore::State::hear(Fetch& fetch, const limit::Answer& answer, SteadyInstant now) {
  for (std::size_t i = 0; i < fetch.places.size(); ++i) {
    Place& place = *fetch.places[i];
    const limit::Heard heard{.verdict = answer.verdicts[i],
                             .told = answer.now,
                             .sent = fetch.sent,
                             .now = now,
                             .units = fetch.units};
    if (!heard.verdict.allowed) {
      place.lease.refused(options_.terms, heard);
    } else if (!answer.allowed) {
      place.lease.looked_at(heard);
    } else if (!place.spoiled) {
      place.lease.granted(fetch.policies[i]->rule, options_.terms, heard);
    }
  }
}

void LeasedCounterStore::State::finish(Fetch& fetch, const Error* error, SteadyInstant now,
                                       Actions& actions) {
  const auto tell = [&](Waiter waiter) {
    if (error == nullptr) return retry(std::move(waiter), now, actions);
    actions.told.emplace_back(std::move(waiter), std::unexpected(*error));
  };
  for (Place* place : fetch.places) {
    place->busy = false;
    if (std::exchange(place->spoiled, false)) place->lease = {};
  }
  if (fetch.waiter) tell(std::move(*fetch.waiter));
  for (Place* place : fetch.places) {
    std::deque<Waiter> waiters = std::exchange(place->waiters, {});
    for (; !waiters.empty() && !place->busy; waiters.pop_front()) tell(std::move(waiters.front()));
    // One of them has gone to the store again: the others wait on, before those who came since.
    std::ranges::move(place->waiters, std::back_inserter(waiters));
    place->waiters = std::move(waiters);
  }
}

// False: there was nothing.
bool LeasedCounterStore::State::give_back(bool all) {
  const SteadyInstant now = clock_.steady_now();
  Actions actions;
  {
    const std::lock_guard lock(mutex_);
    for (Place& place : table_.all()) {
      if (all && actions.fetches.size() == bounds::limit_lease_returns_max) break;
      if (place.busy) continue;
      const std::int64_t ended = place.lease.take_ended(now);
      const std::int64_t units = ended > 0 || !all ? ended : place.lease.take_all();
      if (units == 0) continue;
      auto& fetch = actions.fetches.emplace_back(std::make_shared<Fetch>());
      fetch->add(place);
      fetch->ended.emplace_back(0, units);
    }
  }
  const bool any = !actions.fetches.empty();
  run(std::move(actions));
  return any;
}

void LeasedCounterStore::State::forget(Hash128 id) {
  const std::lock_guard lock(mutex_);
  Place* place = table_.find(id);
  if (place == nullptr) return;
  place->lease = {};
  place->spoiled = place->busy;
}

void LeasedCounterStore::State::forget_refusals(const std::vector<Hash128>& ids) {
  const std::lock_guard lock(mutex_);
  for (const Hash128& id : ids) {
    if (Place* place = table_.find(id)) place->lease.forget_refusal();
  }
}

LeasedCounterStore::LeasedCounterStore(Options options, Clock& clock, CounterStore& store)
    : state_(std::make_shared<State>(options, clock, store)) {
  PAWL_ASSERT(options.terms.batch >= 1 && options.terms.batch <= bounds::limit_batch_max);
  PAWL_ASSERT(options.terms.lease_for > Duration());
  PAWL_ASSERT(options.leases_max >= bounds::limit_policies_max);
}

void LeasedCounterStore::check(Counts counts, std::int64_t cost, Done<limit::Answer> done) {
  state_->check(counts, cost, std::move(done));
}

void LeasedCounterStore::reserve(Counts counts, std::int64_t cost, Duration hold,
                                 Done<Reservation> done) {
  state_->store.reserve(counts, cost, hold, std::move(done));
}

void LeasedCounterStore::settle(Counts counts, std::uint64_t id, Settlement how, Done<void> done) {
  std::vector<Hash128> ids;
  for (const Count& count : counts) ids.push_back(state_->hash(count));
  state_->store.settle(
      counts, id, how,
      [state = state_, ids = std::move(ids), done = std::move(done)](Result<void> settled) mutable {
        state->forget_refusals(ids);
        done(std::move(settled));
      });
}

void LeasedCounterStore::refund(const Count& count, std::int64_t cost, Done<void> done) {
  state_->store.refund(count, cost,
                       [state = state_, id = state_->hash(count),
                        done = std::move(done)](Result<void> refunded) mutable {
                         state->forget_refusals({id});
                         done(std::move(refunded));
                       });
}

void LeasedCounterStore::reset(const Count& count, Done<void> done) {
  state_->store.reset(count, [state = state_, id = state_->hash(count),
                              done = std::move(done)](Result<void> result) mutable {
    state->forget(id);
    done(std::move(result));
  });
}

void LeasedCounterStore::close(const Count& count, Instant until, Done<void> done) {
  state_->store.close(count, until,
                      [state = state_, id = state_->hash(count),
                       done = std::move(done)](Result<void> closed) mutable {
                        state->forget(id);
                        done(std::move(closed));
                      });
}

Result<void> LeasedCounterStore::health() {
  return state_->store.health();
}

void LeasedCounterStore::give_back_idle() {
  state_->give_back(false);
}

bool LeasedCounterStore::give_back_all() {
  return state_->give_back(true);
}

}  // namespace pawl
