#include "runtime/session_pacer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

#include "core/audit/order_correlation.h"
#include "core/limit/pacer_record.h"

namespace pawl {

namespace pacer = limit::pacer;

namespace {

// Longer waits are made of several: no clock's arithmetic overflows on the way.
constexpr Duration wait_max = Duration::hours(1);
// A rate that no session reaches.
constexpr limit::Rate freely = {1'000'000, Duration::seconds(1)};

std::optional<SteadyInstant> wake_of(const pacer::Effects& effects) {
  for (const pacer::Effect& effect : effects) {
    if (const auto* wake = std::get_if<pacer::WakeAt>(&effect)) return wake->at;
  }
  return std::nullopt;
}

}  // namespace

struct SessionPacer::State : std::enable_shared_from_this<State> {
  struct Asking {
    Done done;
    Correlation correlation;
  };

  State(Options options, Ports ports_, Hooks hooks_)
      : ports(ports_),
        hooks(std::move(hooks_)),
        policy(options.name, limit::TokenBucket(options.rate, options.burst)),
        others(options.name + "-others", limit::TokenBucket(freely, freely.count)),
        session(std::move(options.session)),
        machine({.bucket = limit::TokenBucket(options.rate, options.burst),
                 .adaptive = options.adaptive,
                 .closing_max = options.closing_max}) {}

  void handle(pacer::Event event, Correlation ids = {});
  void work(std::unique_lock<std::mutex>& lock);
  Ticket ask(Ask ask, Done done);
  void wait_for(std::unique_lock<std::mutex>& lock, const std::optional<Result<void>>& result);
  Count count() const { return {.policy = &policy, .key = session}; }
  Count count_of_others() const { return {.policy = &others, .key = session}; }

  void run(pacer::Charge effect);
  void run(pacer::Refund);
  void run(pacer::Close effect);
  void run(pacer::HoldOthers effect);
  void run(pacer::Open);
  void run(pacer::Release effect);
  void run(pacer::Refuse effect) { end(effect.ticket, std::unexpected(std::move(effect.error))); }
  void run(pacer::WakeAt effect) {
    if (hooks.wake_at) hooks.wake_at(effect.at);
  }
  void run(const pacer::Note& note);
  Correlation ids_of(const pacer::Note& note);
  Result<void> record(const pacer::Note& note, const Correlation& ids);
  void end(Ticket ticket, Result<void> result);
  CounterStore::Done<void> told();

  const Ports ports;
  const Hooks hooks;
  const limit::Policy policy;
  const limit::Policy others;  // limits nothing, and is closed while an urgent call waits
  const std::string session;

  std::mutex mutex;
  std::condition_variable changed;  // a result, the next wake-up, or that nobody works any more
  // Guarded by the mutex:
  pacer::Machine machine;
  struct Arrival {
    pacer::Event event;
    Correlation ids = {};  // of an answer's call
  };
  std::deque<Arrival> inbox;
  bool working = false;  // some thread decides and runs effects; others leave their events to it
  bool stopped = false;
  std::map<Ticket, Asking> asks;
  std::deque<Done> reopenings;  // as their events stand in the inbox
  Ticket last_ticket = 0;
  std::optional<SteadyInstant> wake;

  // Whoever works:
  Correlation heard_ids;            // of the answer that is being heard
  std::optional<Error> unrecorded;  // the note of a release comes just before it
};

void SessionPacer::State::handle(pacer::Event event, Correlation ids) {
  std::unique_lock lock(mutex);
  if (stopped) return;
  inbox.push_back({std::move(event), std::move(ids)});
  if (!working) work(lock);
}

// Effects are run in the order in which they were decided, and without the lock: a store that
// answers at once comes back through handle() on the same thread.
void SessionPacer::State::work(std::unique_lock<std::mutex>& lock) {
  working = true;
  while (!inbox.empty()) {
    Arrival arrival = std::move(inbox.front());
    inbox.pop_front();
    heard_ids = std::move(arrival.ids);
    pacer::Effects effects = machine.decide(
        arrival.event, {.steady = ports.clock.steady_now(), .wall = ports.clock.wall_now()});
    wake = wake_of(effects);
    lock.unlock();
    for (pacer::Effect& effect : effects) {
      std::visit([this](auto& e) { run(std::move(e)); }, effect);
    }
    lock.lock();
  }
  working = false;
  changed.notify_all();
}

SessionPacer::Ticket SessionPacer::State::ask(Ask ask, Done done) {
  Ticket ticket = 0;
  {
    const std::lock_guard lock(mutex);
    ticket = ++last_ticket;
    asks.emplace(ticket, Asking{std::move(done), std::move(ask.correlation)});
  }
  handle(pacer::Asked{.ticket = ticket,
                      .operation = std::move(ask.operation),
                      .urgent = ask.urgent,
                      .deadline = ask.deadline});
  return ticket;
}

void SessionPacer::State::end(Ticket ticket, Result<void> result) {
  Done done;
  {
    const std::lock_guard lock(mutex);
    const auto found = asks.find(ticket);
    if (found == asks.end()) return;  // withdrawn while this was decided: the unit is spent
    done = std::move(found->second.done);
    asks.erase(found);
  }
  done(std::move(result));
}

// Recorded before sent: what is not on record does not leave, and its unit is spent.
void SessionPacer::State::run(pacer::Release effect) {
  if (!unrecorded) return end(effect.ticket, {});
  end(effect.ticket,
      failure(Code::unavailable, "Not sent: the audit log did not take the decision (" +
                                     std::exchange(unrecorded, std::nullopt)->message +
                                     "). Ask again when it does."));
}

void SessionPacer::State::run(const pacer::Note& note) {
  const Correlation ids = ids_of(note);
  const auto tell = [&](const pacer::Note& what) {
    if (hooks.note) hooks.note(what, ids);
  };
  if (const Result<void> recorded = record(note, ids); !recorded) {
    if (std::holds_alternative<pacer::RateLimitTokenAcquired>(note)) unrecorded = recorded.error();
    tell(pacer::RateLimitUnrecorded{recorded.error()});
  }
  tell(note);
}

// Of the one who asked where the note is about an ask, else of the answer that it comes from.
Correlation SessionPacer::State::ids_of(const pacer::Note& note) {
  const Ticket ticket = std::visit(
      [](const auto& kind) {
        if constexpr (requires { kind.ticket; }) return kind.ticket;
        return Ticket{0};
      },
      note);
  if (ticket == 0) return heard_ids;
  const std::lock_guard lock(mutex);
  const auto found = asks.find(ticket);
  return found == asks.end() ? Correlation{} : found->second.correlation;
}

Result<void> SessionPacer::State::record(const pacer::Note& note, const Correlation& ids) {
  if (ports.events == nullptr) return {};
  auto made = pacer::record(note, policy, session);
  if (!made) return {};
  return ports.events->append({.type = audit::EventType::pace,
                               .timestamp = ports.clock.wall_now(),
                               .operation = std::move(made->operation),
                               .correlation = audit::found_by_reference(ids),
                               .details = std::move(made->details)});
}

void SessionPacer::State::run(pacer::Charge effect) {
  const std::array<Count, 2> both = {count(), count_of_others()};
  const std::size_t used = effect.urgent ? 1 : 2;
  ports.counters.check(
      {both.data(), used}, 1, [self = shared_from_this()](const Result<limit::Answer>& answer) {
        if (answer) {
          self->handle(pacer::Charged{*answer, !answer->allowed && answer->binding == 1});
        } else {
          self->handle(pacer::ChargeFailed{answer.error()});
        }
      });
}

void SessionPacer::State::run(pacer::Refund) {
  ports.counters.refund(count(), 1, told());
}

void SessionPacer::State::run(pacer::Close effect) {
  ports.counters.close(count(), effect.until, told());
}

void SessionPacer::State::run(pacer::HoldOthers effect) {
  // A courtesy: what the store has against it, the next charge tells.
  ports.counters.close(count_of_others(), effect.until, [](const Result<void>&) {});
}

// The store's reset forgets what was used as well as the closing. So that nobody leaves too soon,
// all of the bucket is taken, and calls go on at the pace.
void SessionPacer::State::run(pacer::Open) {
  Done done;
  {
    const std::lock_guard lock(mutex);
    done = std::move(reopenings.front());
    reopenings.pop_front();
  }
  ports.counters.reset(
      count(), [self = shared_from_this(), done = std::move(done)](Result<void> opened) mutable {
        if (!opened) {
          self->handle(pacer::TellingFailed{opened.error()});
          return done(std::move(opened));
        }
        const Count mine = self->count();
        self->ports.counters.check(
            {&mine, 1}, limit::capacity_of(self->policy.rule),
            [self, done = std::move(done)](const Result<limit::Answer>& emptied) mutable {
              if (!emptied) self->handle(pacer::TellingFailed{emptied.error()});
              done({});
            });
      });
}

CounterStore::Done<void> SessionPacer::State::told() {
  return [self = shared_from_this()](Result<void> result) {
    if (!result) self->handle(pacer::TellingFailed{std::move(result).error()});
  };
}

// Until there is a result. Whoever wakes when something is due does the work for all.
void SessionPacer::State::wait_for(std::unique_lock<std::mutex>& lock,
                                   const std::optional<Result<void>>& result) {
  while (!result) {
    if (working || !wake) {
      changed.wait(lock);
      continue;
    }
    const Duration wait = *wake - ports.clock.steady_now();
    if (wait <= Duration()) {
      inbox.push_back({.event = pacer::Ticked{}});
      work(lock);
    } else {
      changed.wait_for(lock, std::chrono::nanoseconds(std::min(wait, wait_max).ns()));
    }
  }
}

SessionPacer::SessionPacer(Options options, Ports ports, Hooks hooks)
    : state_(std::make_shared<State>(std::move(options), ports, std::move(hooks))) {}

SessionPacer::~SessionPacer() {
  std::map<Ticket, State::Asking> withdrawn;  // destroyed without the lock
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [this] { return !state_->working; });
  state_->stopped = true;
  withdrawn = std::exchange(state_->asks, {});
  lock.unlock();
}

Result<void> SessionPacer::acquire(Ask ask) {
  State& state = *state_;
  const SteadyInstant deadline = ask.deadline;
  const std::string operation = ask.operation;
  const Correlation correlation = ask.correlation;
  std::optional<Result<void>> result;  // guarded by the mutex
  state.ask(std::move(ask), [&](Result<void> end) {
    const std::lock_guard lock(state.mutex);
    result = std::move(end);
    state.changed.notify_all();
  });
  std::unique_lock lock(state.mutex);
  state.wait_for(lock, result);
  if (!*result || state.ports.clock.steady_now() <= deadline) return *std::move(result);
  lock.unlock();
  const Error late(Code::refused, Outcome::not_applied,
                   "Not sent: its turn came in time, but this thread woke after the deadline. Ask "
                   "again with a later one.");
  // It is refused whether that is on record or not.
  (void)state.record(pacer::RateLimitNotSent{.operation = operation, .error = late}, correlation);
  return std::unexpected(late);
}

SessionPacer::Ticket SessionPacer::ask(Ask ask, Done done) {
  return state_->ask(std::move(ask), std::move(done));
}

bool SessionPacer::withdraw(Ticket ticket) {
  Done withdrawn;
  {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->asks.find(ticket);
    if (found == state_->asks.end()) return false;
    withdrawn = std::move(found->second.done);
    state_->asks.erase(found);
  }
  state_->handle(pacer::Withdrawn{ticket});
  return true;
}

void SessionPacer::heard(std::string operation, int status, std::span<const limit::Field> fields,
                         Correlation ids) {
  state_->handle(
      pacer::Heard{.operation = std::move(operation),
                   .status = status,
                   .pushback = limit::parse_pushback(fields, state_->ports.clock.wall_now())},
      std::move(ids));
}

void SessionPacer::reopen(Done done) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->reopenings.push_back(std::move(done));
  }
  state_->handle(pacer::Reopened{});
}

void SessionPacer::poll() {
  state_->handle(pacer::Ticked{});
}

}  // namespace pawl
