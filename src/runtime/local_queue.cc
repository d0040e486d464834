#include "runtime/local_queue.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/bounds_queue.h"
#include "core/queue/command_check.h"
#include "core/queue/shards.h"
#include "runtime/queue_claims.h"
#include "runtime/queue_giving.h"

namespace pawl {

using queue::Machine;

namespace {

// Waits for the answers of all logs; the first error is told.
class All {
 public:
  All(std::size_t count, TaskQueue::Done<void> done) : left_(count), done_(std::move(done)) {}

  void answered(Result<void> result) {
    {
      const std::lock_guard lock(mutex_);
      if (!result && !error_) error_ = std::move(result).error();
      if (--left_ > 0) return;
    }
    if (error_) return done_(std::unexpected(*std::move(error_)));
    done_({});
  }

 private:
  std::mutex mutex_;
  std::size_t left_;
  std::optional<Error> error_;
  TaskQueue::Done<void> done_;
};

std::unexpected<Error> unknown(const queue::TaskId& id) {
  return failure(Code::not_found,
                 "there is no task " + to_string(id) +
                     ": it was never submitted, or was over and is no longer kept");
}

void keep_newest(std::vector<queue::Task>& tasks, std::size_t limit) {
  std::ranges::sort(tasks, [](const queue::Task& a, const queue::Task& b) {
    return a.updated_at != b.updated_at ? a.updated_at > b.updated_at : a.id < b.id;
  });
  if (tasks.size() > limit) tasks.resize(limit);
}

void add(queue::Depth& sum, const queue::Depth& more) {
  sum.pending += more.pending;
  sum.due += more.due;
  sum.running += more.running;
  sum.completed += more.completed;
  sum.failed += more.failed;
  sum.cancelled += more.cancelled;
  sum.expired += more.expired;
  if (more.oldest_due && (!sum.oldest_due || *more.oldest_due < *sum.oldest_due)) {
    sum.oldest_due = more.oldest_due;
  }
}

void add(queue::Totals& sum, const queue::Totals& more) {
  sum.submitted += more.submitted;
  sum.claimed += more.claimed;
  sum.completed += more.completed;
  sum.failed += more.failed;
  sum.retried += more.retried;
  sum.rescheduled += more.rescheduled;
  sum.timed_out += more.timed_out;
  sum.cancelled += more.cancelled;
  sum.expired += more.expired;
  sum.refused += more.refused;
}

void add(QueueLogNumbers& sum, const QueueLogNumbers& more) {
  sum.commits += more.commits;
  sum.commands += more.commands;
  sum.callers += more.callers;
  sum.bytes += more.bytes;
  sum.commit_time = sum.commit_time + more.commit_time;
  sum.commit_time_max = std::max(sum.commit_time_max, more.commit_time_max);
  sum.conflicts += more.conflicts;
  sum.followed += more.followed;
  sum.polls += more.polls;
  sum.reopened += more.reopened;
  sum.snapshots += more.snapshots;
  sum.collected += more.collected;
  sum.troubles += more.troubles;
  sum.unanswered += more.unanswered;
}

}  // namespace

struct LocalQueue::State {
  State(Options options_, Ports ports_)
      : options(std::move(options_)),
        ports(std::move(ports_)),
        claims(std::make_shared<QueueClaims>(
            logs, options.settings.shards,
            QueueClaims::World{ports.clock, ports.timers, ports.entropy, ports.zones, ports.note,
                               options.fires})) {
    for (std::uint32_t shard = 0; shard < options.settings.shards; ++shard) {
      QueueLog::Options log = options.log;
      log.shard = static_cast<std::uint8_t>(shard);
      log.settings = options.settings;
      logs.push_back(std::make_unique<QueueLog>(
          std::move(log), QueueLog::Ports{ports.clock, ports.timers, ports.store, ports.entropy},
          QueueLog::Hooks{.applied = [claims = claims.get()] { claims->wake(); },
                          .stopped = [this, shard](const Error& error) { stopped(shard, error); },
                          .note = ports.note}));
    }
  }
  ~State() {
    claims->close();
    logs.clear();
    claims->end();
  }

  void stopped(std::uint32_t shard, const Error& error) const {
    if (ports.note) {
      ports.note("the queue has stopped" +
                 (options.settings.shards == 1
                      ? ""
                      : ", in one of its " + std::to_string(options.settings.shards) + " shards") +
                 ": " + error.message);
    }
    claims->stopped(shard, error);
  }
  void fresh(Done<void> done) {
    auto all = std::make_shared<All>(logs.size(), std::move(done));
    for (const auto& log : logs) {
      log->refresh(bounds::queue_look_age,
                   [all](Result<void> result) { all->answered(std::move(result)); });
    }
  }
  // What `look` finds of a task, in its shard's machine.
  template <class T, class Look>
  void ask(const queue::TaskId& id, Done<T> done, Look look) {
    if (id.shard() >= logs.size()) return done(unknown(id));
    QueueLog& log = *logs[id.shard()];
    log.refresh(bounds::queue_look_age, [&log, id, look = std::move(look),
                                         done = std::move(done)](Result<void> is) mutable {
      if (!is) return done(std::unexpected(std::move(is).error()));
      std::optional<T> found;
      const Instant now = log.time();
      log.look([&](const Machine& machine) { found = look(machine, now); });
      if (!found) return done(unknown(id));
      done(*std::move(found));
    });
  }
  // What `gather` makes of all shards, each added to what came before.
  template <class T, class Kept, class Gather>
  void ask_all(Done<T> done, Kept kept, Gather gather) {
    fresh([this, kept = std::move(kept), gather = std::move(gather),
           done = std::move(done)](Result<void> is) mutable {
      if (!is) return done(std::unexpected(std::move(is).error()));
      for (const auto& log : logs) {
        const Instant now = log->time();
        log->look([&](const Machine& machine) { gather(machine, now, kept); });
      }
      if constexpr (std::is_same_v<T, Kept>) {
        done(std::move(kept));
      } else {
        T values;
        for (auto& [name, value] : kept) values.push_back(std::move(value));
        done(std::move(values));
      }
    });
  }

  const Options options;
  const Ports ports;
  std::vector<std::unique_ptr<QueueLog>> logs;
  const std::shared_ptr<QueueClaims> claims;
};

LocalQueue::LocalQueue(Options options, Ports ports)
    : state_(std::make_unique<State>(std::move(options), std::move(ports))) {}

LocalQueue::~LocalQueue() = default;

void LocalQueue::open(Done<void> done) {
  auto all = std::make_shared<All>(
      state_->logs.size(),
      [claims = state_->claims.get(), done = std::move(done)](Result<void> result) mutable {
        if (result) claims->opened();
        done(std::move(result));
      });
  for (const auto& log : state_->logs) {
    log->open([all](Result<void> result) { all->answered(std::move(result)); });
  }
}

void LocalQueue::close(std::move_only_function<void()> done) {
  stop_claims();
  state_->claims->end_firing();
  auto all = std::make_shared<All>(
      state_->logs.size(), [done = std::move(done)](const Result<void>&) mutable { done(); });
  for (const auto& log : state_->logs) log->close([all] { all->answered({}); });
}

void LocalQueue::give(std::vector<queue::Command> commands, Done<std::vector<queue::Reply>> done) {
  std::make_shared<QueueGiving>(state_->logs, state_->logs.front()->time(), std::move(done))
      ->start(std::move(commands));
}

void LocalQueue::claim(ClaimAsk ask, Done<ClaimedTasks> done) {
  if (const auto good = check(queue::Command(ask.claim)); !good) {
    return done(std::unexpected(good.error()));
  }
  if (ask.wait > Duration()) return state_->claims->claim(std::move(ask), std::move(done));
  // Who does not wait must not miss what others have submitted a moment ago.
  state_->fresh([state = state_.get(), ask = std::move(ask),
                 done = std::move(done)](Result<void> is) mutable {
    if (!is) return done(std::unexpected(std::move(is).error()));
    state->claims->claim(std::move(ask), std::move(done));
  });
}

void LocalQueue::find(queue::TaskId id, Done<queue::Task> done) {
  state_->ask(id, std::move(done),
              [id](const Machine& machine, Instant now) { return machine.find(id, now); });
}

void LocalQueue::history(queue::TaskId id, Done<queue::History> done) {
  state_->ask(id, std::move(done),
              [id](const Machine& machine, Instant) { return machine.history(id); });
}

void LocalQueue::why(queue::TaskId id, Done<queue::Why> done) {
  state_->ask(id, std::move(done),
              [id](const Machine& machine, Instant now) { return machine.why(id, now); });
}

// By id, and so shard after shard; or the newest of all shards.
void LocalQueue::list(queue::TaskFilter filter, Done<std::vector<queue::Task>> done) {
  filter.limit = std::min(filter.limit, bounds::tasks_listed_max);
  state_->ask_all(std::move(done), std::vector<queue::Task>(),
                  [filter = std::move(filter)](const Machine& machine, Instant now,
                                               std::vector<queue::Task>& tasks) mutable {
                    if (filter.limit == 0) return;
                    auto more = machine.list(filter, now);
                    if (!filter.newest_first) filter.limit -= more.size();
                    std::ranges::move(more, std::back_inserter(tasks));
                    if (filter.newest_first) keep_newest(tasks, filter.limit);
                  });
}

void LocalQueue::stats(Done<queue::Stats> done) {
  const auto gather = [](const Machine& machine, Instant now, queue::Stats& sum) {
    const queue::Stats more = machine.stats(now);
    add(sum.totals, more.totals);
    for (const queue::Depth& depth : more.types) {
      const auto place = std::ranges::lower_bound(sum.types, depth.type, {}, &queue::Depth::type);
      if (place != sum.types.end() && place->type == depth.type) {
        add(*place, depth);
      } else {
        sum.types.insert(place, depth);
      }
    }
  };
  state_->ask_all(std::move(done), queue::Stats(), gather);
}

void LocalQueue::schedules(Done<std::vector<queue::Schedule>> done) {
  state_->ask_all(std::move(done), std::map<std::string, queue::Schedule>(),
                  [](const Machine& machine, Instant, auto& kept) {
                    for (queue::Schedule& one : machine.schedules()) {
                      std::string name = one.set.name;
                      kept.emplace(std::move(name), std::move(one));
                    }
                  });
}

void LocalQueue::closings(Done<std::vector<queue::Closing>> done) {
  using Name = std::pair<queue::Scope, std::string>;
  state_->ask_all(std::move(done), std::map<Name, queue::Closing>(),
                  [](const Machine& machine, Instant now, auto& kept) {
                    for (const queue::Closing& one : machine.closings(now)) {
                      auto& known = kept.try_emplace({one.scope, one.name}, one).first->second;
                      known.until = std::max(known.until, one.until);
                    }
                  });
}

void LocalQueue::limits(Done<std::vector<queue::SetLimit>> done) {
  using Name = std::pair<queue::Limited, std::string>;
  state_->ask_all(std::move(done), std::map<Name, queue::SetLimit>(),
                  [](const Machine& machine, Instant, auto& kept) {
                    for (const queue::SetLimit& one : machine.limits()) {
                      kept.try_emplace({one.limited, one.name}, one);
                    }
                  });
}

QueueView LocalQueue::view() {
  const QueueLogNumbers all = numbers();
  std::uint64_t segments = 0;
  for (const auto& log : state_->logs) {
    log->look([&](const Machine& machine) { segments += machine.sequence(); });
  }
  return {.settings = state_->options.settings,
          .store = state_->ports.store.name(),
          .requests = state_->ports.store.counts(),
          .commits = all.commits,
          .commands = all.commands,
          .commit_time = all.commit_time,
          .segments = segments};
}

void LocalQueue::stop_claims() {
  state_->claims->stop();
}

QueueLogNumbers LocalQueue::numbers() const {
  QueueLogNumbers sum;
  for (const auto& log : state_->logs) add(sum, log->numbers());
  return sum;
}

}  // namespace pawl
