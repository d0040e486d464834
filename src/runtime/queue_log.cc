#include "runtime/queue_log.h"

#include <algorithm>
#include <iterator>

#include "base/bounds_queue.h"
#include "base/id.h"
#include "runtime/queue_log_state.h"

namespace pawl {

using queue::Command;
using queue::Machine;

namespace {

constexpr std::size_t command_bytes_max =
    bounds::segment_bytes_max - queue::segment_frame_bytes_max;

queue::AppendTerms terms_of(const QueueLog::Options& options, Entropy& entropy) {
  const auto high = seed_of(entropy.next());
  return {.first_nonce = {.high = high, .low = seed_of(entropy.next())}, .grace = options.grace};
}

Result<void> check_size(const std::vector<Command>& commands, std::size_t bytes) {
  if (commands.size() > bounds::segment_commands_max) {
    return failure(Code::invalid, std::to_string(commands.size()) +
                                      " commands are too many for one commit: give at most " +
                                      std::to_string(bounds::segment_commands_max) + " at once");
  }
  if (bytes > command_bytes_max) {
    return failure(Code::invalid, "these commands have " + std::to_string(bytes) +
                                      " bytes, too many for one commit: give at most " +
                                      std::to_string(command_bytes_max) + " at once");
  }
  return {};
}

}  // namespace

QueueLog::State::State(Options options_, Ports ports_, Hooks hooks_)
    : options(std::move(options_)),
      ports(ports_),
      hooks(std::move(hooks_)),
      machine(options.shard, options.settings),
      append(terms_of(options, ports.entropy)),
      gather(options.gather),
      poll_wait(options.poll_min) {}

void QueueLog::State::submit(Caller caller) {
  {
    const std::lock_guard lock(shared);
    inbox.push_back(std::move(caller));
    if (inbox.size() > 1) return;  // whoever was first has the rest taken too
  }
  strand.post([this] {
    take_inbox();
    settle();
  });
}

void QueueLog::State::take_inbox() {
  std::vector<Caller> taken;
  {
    const std::lock_guard lock(shared);
    taken.swap(inbox);
  }
  for (Caller& caller : taken) {
    if (auto refusal = refusal_of(caller)) {
      if (refusal->code == Code::refused && caller.grows && is_full()) relieve();
      tell(std::move(caller), *std::move(refusal));
    } else {
      waiting.add(std::move(caller));
    }
  }
}

std::optional<Error> QueueLog::State::refusal_of(const Caller& caller) const {
  if (stopped) return stopped;
  if (closing) {
    return Error(Code::unavailable, Outcome::not_applied,
                 "the queue is being closed; nothing was written");
  }
  if (waiting.size() >= bounds::queue_waiting_max) {
    return Error(Code::refused, Outcome::not_applied,
                 std::to_string(waiting.size()) +
                     " callers wait for the queue's store already; nothing was written: try again "
                     "later");
  }
  if (caller.grows && is_full()) {
    return Error(Code::refused, Outcome::not_applied,
                 "shard " + std::to_string(options.shard) + " of " + ports.store.name() +
                     " is full: it holds about " + std::to_string(state_bytes()) + " bytes, and " +
                     std::to_string(options.state_bytes_max) +
                     " are the most; nothing was written: have its tasks worked off, or use "
                     "another queue, with more shards, or one that keeps what is over for a "
                     "shorter time");
  }
  return {};
}

// What was kept for long enough goes with the next segment, whatever is in it.
void QueueLog::State::relieve() {
  constexpr Duration again = Duration::minutes(5);
  if (now() < relieves_from) return;
  relieves_from = now() + again;
  Caller nobody = {.commands = {}, .bytes = {}, .done = {}, .since = now()};
  nobody.done = [this](const Result<Replies>& result) {
    if (!result) return;
    keeps_now = true;
    keep();
  };
  waiting.add(std::move(nobody));
}

// After everything that happened: what follows from it.
void QueueLog::State::settle() {
  take_inbox();
  if (opened && (append.at_end() || stopped)) {
    if (!stopped) keep_time();
    auto done = std::exchange(opened, {});
    done(stopped ? Result<void>(std::unexpected(*stopped)) : Result<void>());
  }
  consider();
  answer_lookers();
  if (closed && !anybody_waits() && (!keeping || now() >= keep_until)) std::exchange(closed, {})();
  if (anybody_waits() || opened || !lookers.empty()) watch_deadline();
  poll_later();
}

void QueueLog::State::consider() {
  if (waiting.empty() || append.wanted()) return;
  const SteadyInstant at = now();
  const SteadyInstant due = closing ? at : gather.due(waiting.gathered(), at);
  if (due <= at) return follow(append.want(append_now()));
  if (goes && *goes <= due) return;
  goes = due;
  after(due - at, [due](State& self) {
    if (self.goes == due) self.goes.reset();
    self.settle();
  });
}

void QueueLog::State::watch_deadline() {
  if (std::exchange(deadline_watched, true)) return;
  SteadyInstant first = opened ? opened_since : SteadyInstant::max();
  if (!flight.callers.empty()) first = std::min(first, flight.callers.front().since);
  if (!waiting.empty()) first = std::min(first, waiting.front().since);
  if (!lookers.empty()) first = std::min(first, lookers.front().since);
  after(std::max(Duration(), first + options.deadline - now()), [](State& self) {
    self.deadline_watched = false;
    self.deadline_passed();
    self.settle();
  });
}

void QueueLog::State::deadline_passed() {
  const SteadyInstant since = now() - options.deadline;
  if (opened && opened_since <= since) std::exchange(opened, {})(std::unexpected(away(false)));
  while (!waiting.empty() && waiting.front().since <= since) {
    tell(waiting.take(), away(false));
  }
  while (!lookers.empty() && lookers.front().since <= since) {
    Looker looker = std::move(lookers.front());
    lookers.erase(lookers.begin());
    looker.done(std::unexpected(away(false)));
  }
  const bool late = !flight.callers.empty() && flight.callers.front().since <= since;
  if (late) end_flight(away(append.may_have_landed()));
  if (append.wanted() && !anybody_waits()) follow(append.drop(append_now()));
}

void QueueLog::State::refresh(Looker looker) {
  if (closing) {
    return looker.done(
        failure(Code::unavailable, "the queue is being closed: nothing is read any more"));
  }
  lookers.push_back(std::move(looker));
  settle();
}

void QueueLog::State::answer_lookers() {
  if (stopped) return tell_lookers(*stopped);
  std::vector<Looker> waits;
  for (Looker& looker : std::exchange(lookers, {})) {
    if (end_seen && *end_seen >= looker.fresh_from) {
      looker.done({});
    } else {
      waits.push_back(std::move(looker));
    }
  }
  lookers.insert(lookers.begin(), std::make_move_iterator(waits.begin()),
                 std::make_move_iterator(waits.end()));
  if (!lookers.empty()) look_for_them();
}

// At once, but not again and again while the store is in trouble.
void QueueLog::State::look_for_them() {
  if (look_waits || !append.resting()) return;
  if (look_wait <= Duration()) return follow(append.look(append_now()));
  look_waits = true;
  after(look_wait, [](State& self) {
    self.look_waits = false;
    self.look_wait = {};
    self.settle();
  });
}

void QueueLog::State::tell_lookers(const Error& error) {
  for (Looker& looker : std::exchange(lookers, {})) looker.done(std::unexpected(error));
}

// The batch is let go. If it may have landed, nobody in it may be sent again; else those whose time
// has not come wait on.
void QueueLog::State::end_flight(const Error& error) {
  const bool all = error.outcome == Outcome::unknown || error.code != Code::unavailable;
  const SteadyInstant since = now() - options.deadline;
  std::vector<Caller> callers = std::move(flight.callers);
  flight = {};
  while (!callers.empty() && !all && callers.back().since > since) {
    waiting.put_back(std::move(callers.back()));
    callers.pop_back();
  }
  follow(append.drop(append_now()));
  for (Caller& caller : callers) tell(std::move(caller), error);
}

void QueueLog::State::tell(Caller caller, Error error) {
  caller.done(std::unexpected(std::move(error)));
}

// Each with the outcome that it has.
void QueueLog::State::tell_all(const Error& error) {
  Error unsure = error;
  if (append.may_have_landed()) unsure.outcome = Outcome::unknown;
  std::vector<Caller> callers = std::move(flight.callers);
  flight = {};
  for (Caller& caller : callers) tell(std::move(caller), unsure);
  while (!waiting.empty()) tell(waiting.take(), error);
}

Error QueueLog::State::away(bool may_have_landed) const {
  const std::string why = last_trouble.empty() ? "" : " (" + last_trouble + ")";
  return Error(
      Code::unavailable, may_have_landed ? Outcome::unknown : Outcome::not_applied,
      "the queue's store, " + ports.store.name() + ", gave no good answer within " +
          to_string(options.deadline) + why + "; " +
          (may_have_landed ? "it is not known whether this was written" : "nothing was written") +
          ": try again when it is back");
}

void QueueLog::State::stop(Error error) {
  if (stopped) return;
  stopped = error;
  if (hooks.stopped) hooks.stopped(error);  // before anybody hears it as an answer
  tell_all(error);
  append.stop();
  watch.reset();
}

QueueLog::QueueLog(Options options, Ports ports, Hooks hooks)
    : state_(std::make_shared<State>(std::move(options), ports, std::move(hooks))) {}

QueueLog::~QueueLog() {
  state_->strand.close();
  state_->watch.reset();
  // Nobody else is in there any more.
  state_->closing = true;
  const Error error(Code::unavailable, Outcome::not_applied, "the queue was closed");
  state_->take_inbox();
  state_->tell_all(error);
  state_->tell_lookers(error);
  if (state_->opened) std::exchange(state_->opened, {})(std::unexpected(error));
  if (state_->closed) std::exchange(state_->closed, {})();
}

void QueueLog::open(Done<void> done) {
  state_->strand.post([state = state_.get(), done = std::move(done)]() mutable {
    state->opened = std::move(done);
    state->opened_since = state->now();
    const std::string name = queue::segment_name(state->options.shard, 1);
    state->watch =
        state->ports.store.watch(name.substr(0, name.rfind('/')), [weak = state->weak_from_this()] {
          if (const auto self = weak.lock()) self->strand.post([s = self.get()] { s->poll(); });
        });
    state->follow(state->append.open(state->append_now()));
  });
}

void QueueLog::submit(std::vector<Command> commands, Done<Replies> done) {
  std::string bytes = queue::write_commands(commands);
  if (auto fits = check_size(commands, bytes.size()); !fits) {
    return done(std::unexpected(std::move(fits).error()));
  }
  const bool patient = queue::is_patient(commands);
  const bool grows = std::ranges::any_of(
      commands, [](const Command& c) { return std::holds_alternative<queue::Submit>(c); });
  state_->submit({.commands = std::move(commands),
                  .bytes = std::move(bytes),
                  .done = std::move(done),
                  .since = state_->now(),
                  .patient = patient,
                  .grows = grows});
}

void QueueLog::poll() {
  state_->strand.post([state = state_.get()] { state->poll(); });
}

void QueueLog::refresh(Duration at_most, Done<void> done) {
  state_->strand.post([state = state_.get(), at_most, done = std::move(done)]() mutable {
    const SteadyInstant now = state->now();
    state->refresh({.done = std::move(done), .since = now, .fresh_from = now - at_most});
  });
}

void QueueLog::look(const std::function<void(const Machine&)>& with) const {
  const std::lock_guard lock(state_->shared);
  with(state_->machine);
}

void QueueLog::close(std::move_only_function<void()> done) {
  state_->strand.post([state = state_.get(), done = std::move(done)]() mutable {
    state->take_inbox();  // they came before
    state->closing = true;
    state->closed = std::move(done);
    // A snapshot that has begun: short-lived processes would never write one else.
    state->keep_until = state->now() + state->options.deadline;
    if (state->keeping) state->after(state->options.deadline, [](State& self) { self.settle(); });
    state->settle();
  });
}

Instant QueueLog::time() const {
  const std::lock_guard lock(state_->shared);
  return state_->read_clock().now;
}

QueueLogNumbers QueueLog::numbers() const {
  const std::lock_guard lock(state_->shared);
  return state_->numbers;
}

}  // namespace pawl
