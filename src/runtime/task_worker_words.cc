// What a worker tells the queue: how tasks ended, and that others go on.
#include <algorithm>
#include <iterator>
#include <utility>

#include "base/bounds_queue.h"
#include "base/utf8.h"
#include "core/queue/cut.h"
#include "core/queue/max_reschedules.h"
#include "runtime/task_worker_state.h"

namespace pawl {

using How = TaskAttemptEnd::How;
using Kind = TaskEnding::Kind;
using queue::Command;
using queue::Refusal;
using queue::Reply;
using queue::Scope;
using queue::Task;

namespace {

std::string error_of(std::string_view text) {
  return queue::cut(text.empty() ? "the handler named no error" : well_formed(text),
                    bounds::task_error_bytes_max);
}

Command command_of(const Task& task, const TaskEnding& ending, bool given_back) {
  switch (ending.kind) {
    case Kind::completed:
      return queue::Complete{.id = task.id,
                             .fence = task.fence,
                             .output = ending.output.empty() ? "null" : ending.output};
    case Kind::reschedule:
      return queue::Reschedule{.id = task.id,
                               .fence = task.fence,
                               .delay = std::max(ending.delay, Duration()),
                               .scope = ending.scope,
                               .counted = !given_back,
                               .input = ending.input};
    case Kind::retry:
    case Kind::failed:
      break;
  }
  return queue::Fail{.id = task.id,
                     .fence = task.fence,
                     .error = error_of(ending.error),
                     .permanent = ending.kind == Kind::failed,
                     .not_before = std::max(ending.delay, Duration())};
}

// What became of the task, by what the queue says it is now.
How how_of(const TaskEnding& ending, queue::Status status, bool timed_out) {
  switch (status) {
    case queue::Status::completed:
      return How::completed;
    case queue::Status::failed:
      return How::failed;
    case queue::Status::cancelled:
      return How::cancelled;
    default:
      break;
  }
  if (ending.kind == Kind::reschedule) return How::rescheduled;
  return timed_out ? How::timed_out : How::retried;
}

}  // namespace

// Whoever ends a whole group (a terminal, a service manager) reaches the handlers too, and some of
// them before us.
void TaskWorker::Impl::heard_end(const std::shared_ptr<Handling>& handling, TaskEnding ending) {
  if (!ending.interrupted || !handled_.contains(handling)) {
    return has_ended(handling, std::move(ending));
  }
  interrupted_.push_back({.of = handling,
                          .ending = std::move(ending),
                          .until = world_.clock.steady_now() + bounds::worker_hearing});
  wake();
}

void TaskWorker::Impl::settle_interrupted(SteadyInstant now) {
  const auto waits = [&](const Interrupted& each) {
    return now < each.until && !draining_ && !each.of->stop_asked();
  };
  for (Interrupted& each : std::exchange(interrupted_, {})) {
    if (waits(each)) {
      interrupted_.push_back(std::move(each));
    } else {
      has_ended(each.of, std::move(each.ending));
    }
  }
}

void TaskWorker::Impl::has_ended(const std::shared_ptr<Handling>& handling, TaskEnding ending) {
  if (handled_.erase(handling) == 0) return;
  const SteadyInstant now = world_.clock.steady_now();
  handling->took = now - handling->began;
  if (settings_.waits) last_ended_ = now;
  {
    const std::lock_guard lock(mutex_);
    counts_.running = handled_.size();
  }
  wake();
  Word word{.of = handling};
  const Handling::Stop stop = handling->stopped();
  if (stop == Handling::Stop::timed_out && ending.kind != Kind::completed) {
    std::string error = handling->stop_reason();
    if (!ending.error.empty() && ending.error != error) error += ": " + ending.error;
    ending = {.kind = Kind::retry, .error = std::move(error)};
  }
  const bool by_drain = stop == Handling::Stop::draining ||
                        (stop == Handling::Stop::none && draining_ && ending.interrupted);
  if (by_drain && ending.kind == Kind::retry) {
    ending = {.kind = Kind::reschedule, .error = std::move(ending.error)};
    word.given_back = true;
  }
  if (ending.kind == Kind::reschedule && !ending.tried) word.given_back = true;
  word.ending = std::move(ending);
  if (handling->refused) return tell(word, How::refused, handling->stop_reason());
  if (words_ == 0) gathered_ = now + settings_.gather;
  add_word(std::move(word));
}

void TaskWorker::Impl::extend(const std::shared_ptr<Handling>& handling, Duration lease,
                              Handling::Extended done) {
  strand_.post(
      [this, self = shared_from_this(), handling, lease, done = std::move(done)]() mutable {
        if (!handled_.contains(handling)) {
          return done(failure(Code::refused, "the task is no longer handled here"));
        }
        renew(handling, lease, std::move(done));
        wake();
      });
}

void TaskWorker::Impl::renew(const std::shared_ptr<Handling>& handling, Duration lease,
                             Handling::Extended done) {
  if (!done) handling->renewing = true;
  add_word({.of = handling, .lease = lease, .extended = std::move(done)});
}

TaskWorker::Impl::LaneName TaskWorker::Impl::lane_of(const Word& word) {
  const bool wide = word.ending && word.ending->kind == Kind::reschedule &&
                    (word.ending->scope == Scope::type || word.ending->scope == Scope::queue);
  return {word.of->task().id.shard(), wide};
}

void TaskWorker::Impl::add_word(Word word) {
  lanes_[lane_of(word)].words.push_back(std::move(word));
  ++words_;
}

// What is handled now may end just as soon as what has ended.
bool TaskWorker::Impl::gathers(SteadyInstant now) const {
  return words_ > 0 && !handled_.empty() && now < gathered_ && !draining_;
}

// A word that closes more than its own shard is on its way: nothing of what it closes is to be
// claimed meanwhile. Where it does not get through, the rest goes on.
bool TaskWorker::Impl::closes_others() const {
  return std::ranges::any_of(lanes_, [](const auto& lane) {
    const auto& [name, at] = lane;
    return name.second && at.failures == 0 && (at.giving > 0 || !at.words.empty());
  });
}

// One give a shard, as one that hangs or has stopped would hold up, or spoil, what the others took.
void TaskWorker::Impl::give_words() {
  for (auto& [name, lane] : lanes_) give_words(name, lane);
}

void TaskWorker::Impl::give_words(const LaneName& name, Lane& lane) {
  const SteadyInstant now = world_.clock.steady_now();
  if (lane.words.empty() || lane.giving > 0 || now < lane.not_before) return;
  Words words;
  std::vector<Command> commands;
  while (!lane.words.empty() && words.size() < bounds::worker_commands_max) {
    Word word = std::move(lane.words.front());
    lane.words.pop_front();
    const Task& task = word.of->task();
    word.said_at = now;
    if (word.ending) {
      commands.push_back(command_of(task, *word.ending, word.given_back));
    } else {
      commands.push_back(queue::Renew{.id = task.id, .fence = task.fence, .lease = word.lease});
    }
    words.push_back(std::move(word));
  }
  lane.giving = words.size();
  words_ -= words.size();
  giving_ += words.size();
  queue_.give(std::move(commands),
              [self = shared_from_this(), name, words = std::move(words)](auto result) mutable {
                self->strand_.post(
                    [self, name, words = std::move(words), result = std::move(result)]() mutable {
                      self->answered(name, std::move(words), std::move(result));
                    });
              });
}

void TaskWorker::Impl::answered(const LaneName& name, Words words,
                                Result<std::vector<Reply>> result) {
  Lane& lane = lanes_[name];
  lane.giving = 0;
  giving_ -= words.size();
  wake();
  if (!result) return not_given(lane, std::move(words), result.error());
  lane.failures = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].ending) nothing_due_ = false;  // it may be due again, or another instead
    taken(std::move(words[i]), (*result)[i]);
  }
  if (const auto found = lanes_.find(name); found->second.words.empty()) lanes_.erase(found);
}

// What a store that was away took no notice of is told when it is back: it may be ours still, and
// if not, the fence says so. A queue that says no by itself is told until the lease is over; and
// whoever is about to end has only so much patience with one that stays away.
bool TaskWorker::Impl::gives_up(const Lane& lane, const Word& word, const Error& error) const {
  const SteadyInstant now = world_.clock.steady_now();
  if (now < word.of->lease_ends) return false;
  if (error.code != Code::unavailable) return true;
  return (settings_.once || error_) && now - lane.fails_since >= bounds::worker_patience;
}

// Given again, as it is: the fence sees to it that nothing is done twice.
void TaskWorker::Impl::not_given(Lane& lane, Words words, const Error& error) {
  const SteadyInstant now = world_.clock.steady_now();
  if (lane.failures++ == 0) {
    lane.fails_since = now;
    note("the queue does not take what is told to it, and is told again: " + error.message);
  }
  lane.not_before = now + pause_after(lane.failures);
  std::deque<Word> again;
  for (Word& word : words) {
    Handling& of = *word.of;
    if (!word.ending) {
      of.trouble = error.message;
      if (word.extended) {
        word.extended(std::unexpected(error));
      } else {
        of.renewing = false;
        of.renew_at = lane.not_before;
      }
    } else if (!gives_up(lane, word, error)) {
      again.push_back(std::move(word));
    } else {
      tell(word, How::refused,
           "its lease was over before the queue could be told: " + error.message);
    }
  }
  words_ += again.size();
  std::ranges::move(lane.words, std::back_inserter(again));
  lane.words = std::move(again);
}

void TaskWorker::Impl::taken(Word word, const Reply& reply) {
  if (!word.ending) return renewal_taken(std::move(word), reply);
  if (const auto* refusal = std::get_if<Refusal>(&reply)) {
    return ending_refused(std::move(word), *refusal);
  }
  const auto* changed = std::get_if<queue::Changed>(&reply);
  if (changed == nullptr) return tell(word, How::refused, "the queue's answer was another's");
  if (word.given_back && changed->status == queue::Status::pending) {
    return tell(word, How::given_back, word.ending->tried ? "" : word.ending->error);
  }
  const bool timed_out = word.of->stopped() == Handling::Stop::timed_out;
  const bool too_often =
      word.ending->kind == Kind::reschedule && changed->status == queue::Status::failed;
  tell(word, how_of(*word.ending, changed->status, timed_out),
       too_often ? queue::max_reschedules_exceeded(*word.of->task().terms.max_reschedules)
                 : word.ending->error);
}

void TaskWorker::Impl::ending_refused(Word word, const Refusal& refusal) {
  // An output, or a new input, that may not be kept fails the task: to handle it again would bring
  // the same.
  if (refusal.code == Code::invalid && word.ending->kind != Kind::failed) {
    word.ending = TaskEnding{.kind = Kind::failed, .error = refusal.message};
    return add_word(std::move(word));
  }
  // The queue has ended the lease by itself, which is what we were about to say.
  const bool timed_out = word.of->stopped() == Handling::Stop::timed_out;
  tell(word, timed_out ? How::timed_out : How::refused, refusal.message);
}

// Whoever asked for a longer lease finds, once it is answered, that it is to stop, if it is.
void TaskWorker::Impl::renewal_taken(Word word, const Reply& reply) {
  Handling& of = *word.of;
  if (!word.extended) of.renewing = false;
  if (const auto* refusal = std::get_if<Refusal>(&reply)) {
    if (refusal->code != Code::invalid && handled_.contains(word.of)) {
      of.refused = true;
      of.stop(Handling::Stop::lost, "it is no longer ours: " + refusal->message,
              world_.clock.steady_now());
    }
    if (word.extended) word.extended(failure(refusal->code, refusal->message));
    return;
  }
  const auto* changed = std::get_if<queue::Changed>(&reply);
  if (changed == nullptr) return;
  of.leased(word.said_at, word.lease);
  of.renew_at = word.said_at + settings_.lease / 3;
  if (changed->cancel_requested) of.cancel(world_.clock.steady_now());
  if (word.extended) word.extended(changed->lease_expires_at);
}

void TaskWorker::Impl::tell(const Word& word, How how, std::string error) {
  {
    const std::lock_guard lock(mutex_);
    std::uint64_t* const counts[] = {&counts_.completed,  &counts_.retried,   &counts_.rescheduled,
                                     &counts_.failed,     &counts_.cancelled, &counts_.timed_out,
                                     &counts_.given_back, &counts_.refused};
    ++*counts[static_cast<std::size_t>(how)];
  }
  if (!world_.hooks.ended) return;
  world_.hooks.ended({.how = how,
                      .task = word.of->task(),
                      .error = std::move(error),
                      .delay = how == How::rescheduled ? word.ending->delay : Duration(),
                      .took = word.of->took});
}

}  // namespace pawl
