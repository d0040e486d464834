// The way of a batch into the log, and of others' segments into the replica.
#include <algorithm>
#include <iterator>

#include "base/assert.h"
#include "base/bounds_queue.h"
#include "runtime/queue_log_state.h"

namespace pawl {

using queue::Command;
using How = queue::PutAnswered::How;

namespace {

constexpr std::size_t command_bytes_max =
    bounds::segment_bytes_max - queue::segment_frame_bytes_max;
// So many segments in a row mean that we are behind, and that reading ahead pays.
constexpr int behind_from = 4;
// Passing trouble is nobody's business.
constexpr Duration trouble_told_after = Duration::seconds(10);

How how_of(const Result<PutAnswer>& result) {
  if (!result)
    return result.error().outcome == Outcome::not_applied ? How::not_applied : How::unknown;
  switch (result->verdict) {
    case PutAnswer::Verdict::stored:
      return How::stored;
    case PutAnswer::Verdict::exists:
      return How::exists;
    case PutAnswer::Verdict::busy:
      return How::busy;
    case PutAnswer::Verdict::gone:  // only of a match
      break;
  }
  return How::unknown;
}

// Nothing that waiting would mend.
bool is_final(const Error& error) {
  return error.code == Code::refused || error.code == Code::invalid;
}

}  // namespace

void QueueLog::State::follow(const queue::AppendSteps& steps) {
  for (const queue::AppendStep& step : steps.steps) {
    if (!stopped) std::visit([&](const auto& s) { run(s, steps.number); }, step);
  }
}

void QueueLog::State::answer(std::uint64_t step, const queue::AppendAnswer& answer) {
  follow(append.answered(step, answer, append_now()));
  settle();
}

// If it was believed.
void QueueLog::State::end_was_seen(SteadyInstant asked) {
  trouble_is_over();
  if (!append.at_end()) return;
  end_seen = std::max(end_seen.value_or(asked), asked);
}

// Before the end of the log was seen its time is not known, and ours is taken as it is.
StoreClock::Time QueueLog::State::read_clock() {
  const Instant own = ports.clock.wall_now();
  const auto sample = ports.store.time_sample();
  if (!was_at_end) return {.now = store_time(own, sample)};
  const StoreClock::Time read = time.read({.at = now(), .own = own, .sample = sample});
  if (read.leap != StoreClock::Leap::none) leapt = read;
  return read;
}

// Says what an operator should know of clocks, and has those look again who wait for a time.
void QueueLog::State::keep_time() {
  constexpr Duration ahead_max = Duration::minutes(1);
  StoreClock::Time leap;
  Duration ahead;
  {
    const std::lock_guard lock(shared);
    was_at_end = was_at_end || append.at_end();
    ahead = read_clock().ahead;
    leap = std::exchange(leapt, {});
  }
  const auto note = [&](const std::string& text) {
    if (hooks.note) hooks.note(text);
  };
  if (leap.leap == StoreClock::Leap::begins) {
    note("the clock, of this machine or of " + ports.store.name() + ", leapt ahead by " +
         to_string(Duration::seconds(leap.by.seconds_up())) +
         ": the queue follows when it has stayed so for " + to_string(StoreClock::confirmed_after) +
         "; check the clocks");
  }
  const bool is_ahead = ahead > ahead_max;
  if (is_ahead && !std::exchange(ahead_was_said, true)) {
    note("the time of shard " + std::to_string(options.shard) + " of " + ports.store.name() +
         " is ahead of the clock by " + to_string(Duration::seconds(ahead.seconds_up())) +
         ", since a clock was wrong when somebody wrote: until that is made up for, times that "
         "were named come early there, and all waiting takes twice as long; check the clocks of "
         "all who use the queue, and where it is far ahead, take its tasks to a new one ('pawl "
         "export', 'pawl import')");
  }
  if (!is_ahead) ahead_was_said = false;
  if (leap.leap == StoreClock::Leap::followed && hooks.applied) hooks.applied();
}

void QueueLog::State::troubled(const Error& error) {
  constexpr Duration look_again = Duration::milliseconds(500);
  last_trouble = error.message;
  look_wait = look_again;
  count([](QueueLogNumbers& n) { ++n.troubles; });
  tell_of_trouble();
}

// Who waits for tasks hears of no call that failed: nothing would tell it from a queue that rests.
void QueueLog::State::tell_of_trouble() {
  if (!trouble_since) trouble_since = now();
  if (trouble_was_said || now() - *trouble_since < trouble_told_after) return;
  trouble_was_said = true;
  if (!hooks.note) return;
  hooks.note("the queue's store, " + ports.store.name() + ", has given no good answer for " +
             to_string(Duration::seconds((now() - *trouble_since).seconds_up())) + " (" +
             last_trouble + "): no task begins or ends until it does; it is asked again and again");
}

void QueueLog::State::trouble_is_over() {
  trouble_since.reset();
  if (std::exchange(trouble_was_said, false) && hooks.note) {
    hooks.note("the queue's store, " + ports.store.name() + ", answers again");
  }
}

void QueueLog::State::run(const queue::Put& put, std::uint64_t step) {
  if (put.fresh) {
    form_batch();
    if (auto replies = replies_in_vain()) return let_go_unwritten(*std::move(replies));
    flight.nonce = put.nonce;
    flight.bytes = segment_of(put);
  }
  const Reading sent = {.number = put.number, .step = step, .asked = now()};
  ports.store.put({.name = queue::segment_name(options.shard, put.number),
                   .body = flight.bytes,
                   .only = PutObject::If::absent},
                  later([sent](State& self, const Result<PutAnswer>& result) {
                    self.put_answered(sent, result);
                  }));
}

// Those who lost their place, and whoever came meanwhile, as far as there is room.
void QueueLog::State::form_batch() {
  while (!waiting.empty()) {
    const Caller& caller = waiting.front();
    if (!flight.callers.empty() &&
        (flight.commands + caller.commands.size() > bounds::segment_commands_max ||
         flight.command_bytes + caller.bytes.size() > command_bytes_max)) {
      break;
    }
    flight.commands += caller.commands.size();
    flight.command_bytes += caller.bytes.size();
    flight.callers.push_back(waiting.take());
  }
  const std::lock_guard lock(shared);
  was_at_end = true;
  flight.at = read_clock().now;
}

std::string QueueLog::State::segment_of(const queue::Put& put) const {
  std::string commands;
  commands.reserve(flight.command_bytes);
  for (const Caller& caller : flight.callers) commands += caller.bytes;
  return queue::write_segment({.shard = options.shard,
                               .sequence = put.number,
                               .writer = options.writer,
                               .nonce = put.nonce,
                               .before = put.before,
                               .at = flight.at},
                              commands);
}

// When nothing in the batch would change anything. Who calls without commands wants the segment.
std::optional<QueueLog::Replies> QueueLog::State::replies_in_vain() {
  Replies replies;
  const std::lock_guard lock(shared);
  for (const Caller& caller : flight.callers) {
    if (caller.commands.empty()) return {};
    for (const Command& command : caller.commands) {
      auto reply = machine.reply_in_vain(command, flight.at);
      if (!reply) return {};
      replies.push_back(*std::move(reply));
    }
  }
  return replies;
}

// Many idle workers run for the same task: those who come second leave no trace in the log.
void QueueLog::State::let_go_unwritten(Replies replies) {
  Flight done = std::exchange(flight, {});
  follow(append.withdraw(append_now()));
  tell_replies(std::move(done.callers), std::move(replies));
  strand.post([this] { settle(); });
}

void QueueLog::State::put_answered(const Reading& put, const Result<PutAnswer>& result) {
  if (!result) {
    troubled(result.error());
    if (result.error().outcome == Outcome::not_applied) make_room();
  }
  // A batch that was dropped is not applied with its answer.
  const bool is_end = result && result->verdict == PutAnswer::Verdict::stored;
  const bool counts = is_end && !flight.callers.empty();
  const Duration retry_after = result ? Duration() : result.error().retry_after;
  follow(append.answered(put.step,
                         queue::PutAnswered{.how = how_of(result), .retry_after = retry_after},
                         append_now()));
  if (counts) end_was_seen(put.asked);
  if (!result && is_final(result.error()) && append.wanted() && !flight.callers.empty()) {
    Error error = result.error();
    if (append.may_have_landed()) error.outcome = Outcome::unknown;
    end_flight(error);
  }
  settle();
}

void QueueLog::State::run(const queue::Apply& apply, std::uint64_t) {
  Replies replies;
  std::size_t bytes = segment_bytes;
  {
    const std::lock_guard lock(shared);
    PAWL_ASSERT(apply.number == machine.sequence() + 1);
    if (apply.ours) {
      bytes = flight.bytes.size();
      last = flight.nonce;
      replies = machine.apply(flight.at, take_commands());
    } else {
      last = segment->nonce;
      (void)machine.apply(segment->at, segment->commands);
      ++numbers.followed;
    }
    time.seen(machine.now(), now());
    numbers.conflicts = append.conflicts();
  }
  fetches.erase(apply.number);
  segment.reset();
  ++since_snapshot.segments;
  if (opened) {
    ++since_snapshot.opened;
    opened_since = now();  // it takes long, and goes on
  }
  since_snapshot.bytes += bytes;
  news();
  if (hooks.applied) hooks.applied();
  if (apply.ours) committed(std::move(replies));
}

std::vector<Command> QueueLog::State::take_commands() {
  std::vector<Command> commands;
  commands.reserve(flight.commands);
  for (Caller& caller : flight.callers)
    std::ranges::move(caller.commands, std::back_inserter(commands));
  return commands;
}

void QueueLog::State::committed(Replies replies) {
  Flight done = std::exchange(flight, {});
  const auto patient = std::ranges::count_if(done.callers, &Caller::patient);
  gather.went({.callers = done.callers.size(), .patient = static_cast<std::size_t>(patient)},
              now());
  const Duration took = done.callers.empty() ? Duration() : now() - done.callers.front().since;
  count([&](QueueLogNumbers& n) {
    ++n.commits;
    n.callers += done.callers.size();
    n.commands += done.commands;
    n.bytes += done.bytes.size();
    n.commit_time = n.commit_time + took;
    n.commit_time_max = std::max(n.commit_time_max, took);
  });
  tell_replies(std::move(done.callers), std::move(replies));
  if (is_due(options.snapshots, since_snapshot)) keep();
}

void QueueLog::State::tell_replies(std::vector<Caller> callers, Replies replies) {
  auto reply = std::make_move_iterator(replies.begin());
  for (Caller& caller : callers) {
    const auto end = reply + static_cast<std::ptrdiff_t>(caller.commands.size());
    caller.done(Replies(reply, end));
    reply = end;
  }
}

void QueueLog::State::run(const queue::Lost&, std::uint64_t) {
  std::vector<Caller> callers = std::move(flight.callers);
  flight = {};
  for (Caller& caller : callers) {
    tell(std::move(caller),
         Error(Code::unavailable, Outcome::unknown,
               "this process was away for so long that it is not known whether this was written: "
               "look, or give it again"));
  }
}

void QueueLog::State::run(const queue::Wait& wait, std::uint64_t step) {
  const auto waited = [step](State& self) { self.answer(step, queue::Waited{}); };
  if (wait.wait > Duration()) {
    after(wait.wait, waited);
  } else {
    strand.post([this, waited] { waited(*this); });
  }
}

void QueueLog::State::run(const queue::Missing& missing, std::uint64_t) {
  stop(Error(Code::invalid, Outcome::not_applied,
             queue::segment_name(options.shard, missing.number) + " is missing in " +
                 ports.store.name() +
                 ", though the log goes on behind it: bring it back from a copy of the store" +
                 (snapshot_damage.empty() ? "" : " (" + snapshot_damage + ")")));
}

void QueueLog::State::run(const queue::Forked& forked, std::uint64_t) {
  const std::string name = queue::segment_name(options.shard, forked.number);
  const std::string before = queue::segment_name(options.shard, forked.number - 1);
  stop(Error(Code::invalid, Outcome::not_applied,
             name + " in " + ports.store.name() + " does not follow on " + before +
                 " as this process knows that: one of them is not what was there, or a segment was "
                 "lost and its number given away again; bring both back from a copy of the store"));
}

void QueueLog::State::run(const queue::LookBeyond& look, std::uint64_t step) {
  std::string name = queue::segment_name(options.shard, look.number);
  std::string folder = name.substr(0, name.rfind('/') + 1);
  ports.store.list({.under = std::move(folder), .after = std::move(name)},
                   later([step, asked = now()](State& self, const Result<Listing>& listing) {
                     if (!listing) return self.reopen_failed(step, listing.error());
                     queue::LookedBeyond looked;
                     for (const Listing::Entry& entry : listing->entries) {
                       const auto sequence = queue::sequence_of(entry.name);
                       if (looked.found == 0) looked.found = sequence.value_or(0);
                     }
                     self.follow(self.append.answered(step, looked, self.append_now()));
                     self.end_was_seen(asked);
                     self.settle();
                   }));
}

void QueueLog::State::run(const queue::Get& get, std::uint64_t step) {
  reading = Reading{.number = get.number, .step = step, .asked = now()};
  const auto known = fetches.find(get.number);
  if (known == fetches.end()) {
    fetch(get.number, false);
  } else if (known->second.body) {
    Object object{.body = std::move(*known->second.body)};
    strand.post([this, number = get.number, object = std::move(object)]() mutable {
      fetched(number, std::move(object));
    });
  } else {
    known->second.ahead = true;  // asked before this step
  }
  if (found_in_a_row < behind_from) return;
  const auto ahead = std::min<std::uint64_t>(options.ahead, static_cast<unsigned>(found_in_a_row));
  for (std::uint64_t n = get.number + 1; n <= get.number + ahead; ++n) {
    if (!fetches.contains(n)) fetch(n, true);
  }
}

void QueueLog::State::fetch(std::uint64_t number, bool ahead) {
  fetches[number] = {.ahead = ahead};
  ports.store.get({.name = queue::segment_name(options.shard, number)},
                  later([number, round = fetch_round](State& self, Result<Object> result) {
                    if (round == self.fetch_round) self.fetched(number, std::move(result));
                  }));
}

void QueueLog::State::fetched(std::uint64_t number, Result<Object> result) {
  const auto known = fetches.find(number);
  if (known == fetches.end()) return;
  const bool wanted = reading && reading->number == number;
  if (!wanted) {
    if (result) {
      known->second.body = std::move(result->body);
    } else {
      fetches.erase(known);
    }
    return;
  }
  const bool ahead = known->second.ahead;
  fetches.erase(known);
  // What was not there before our turn may be there now.
  if (!result && ahead) return fetch(number, false);
  const Reading done = *std::exchange(reading, std::nullopt);
  if (result) return read(done, std::move(result->body));
  found_in_a_row = 0;
  if (result.error().code == Code::not_found) {
    follow(append.answered(done.step, queue::GotNothing{}, append_now()));
    end_was_seen(done.asked);
    return settle();
  }
  troubled(result.error());
  answer(done.step, queue::GetFailed{.retry_after = result.error().retry_after});
}

void QueueLog::State::read(const Reading& done, std::string body) {
  auto parsed = queue::parse_segment(body, queue::LogPlace{options.shard, done.number});
  if (!parsed && std::exchange(doubted, done.number) != done.number) {
    // It may have been spoilt on the way.
    troubled(parsed.error());
    reading = done;
    return fetch(done.number, false);
  }
  if (!parsed) {
    const bool is_newer = parsed.error().code == Code::refused;
    stop(Error(Code::invalid, Outcome::not_applied,
               parsed.error().message + " (" + queue::segment_name(options.shard, done.number) +
                   " in " + ports.store.name() + ")" +
                   (is_newer ? "" : ": bring it back from a copy of the store")));
    return settle();
  }
  ++found_in_a_row;
  segment = std::move(*parsed);
  segment_bytes = body.size();
  answer(done.step, queue::Got{.nonce = segment->nonce, .before = segment->before});
}

// Something happens: more may follow soon.
void QueueLog::State::news() {
  poll_wait = options.poll_min;
  if (!std::exchange(poll_waits, false)) return;
  ++poll_round;
  ports.timers.cancel(poll_timer);
}

void QueueLog::State::poll_later() {
  if (!options.follows || stopped || closing || !append.resting() || poll_waits) return;
  poll_waits = true;
  poll_timer = after(poll_wait, [round = ++poll_round](State& self) {
    if (round != self.poll_round) return;
    self.poll_waits = false;
    self.poll_wait = std::min(self.poll_wait + self.poll_wait, self.options.poll_max);
    self.count([](QueueLogNumbers& n) { ++n.polls; });
    self.keep_time();
    self.follow(self.append.look(self.append_now()));
    self.settle();
  });
}

void QueueLog::State::poll() {
  if (stopped) return;
  news();
  if (append.resting()) count([](QueueLogNumbers& n) { ++n.polls; });
  keep_time();
  follow(append.look(append_now()));
  settle();
}

}  // namespace pawl
