#include "runtime/local_queue.h"

#include <algorithm>
#include <cstdint>
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

enum class Needs : std::uint8_t {
  all,
  well,  // those that have not stopped for good (damage), as long as there is one
};

// Waits for the answers of all logs; the first error is told.
class All {
 public:
  All(std::size_t count, TaskQueue::Done<void> done, Needs needs = Needs::all)
      : left_(count), needs_(needs), done_(std::move(done)) {}

  void answered(Result<void> result) {
    {
      const std::lock_guard lock(mutex_);
      if (result) {
        any_well_ = true;
      } else {
        const bool stopped = result.error().code != Code::unavailable;
        std::optional<Error>& kept = needs_ == Needs::well && stopped ? stopped_ : error_;
        if (!kept) kept = std::move(result).error();
      }
      if (--left_ > 0) return;
    }
    if (!error_ && !any_well_) error_ = std::move(stopped_);
    if (error_) return done_(std::unexpected(*std::move(error_)));
    done_({});
  }

 private:
  std::mutex mutex_;
  std::size_t left_;
  const Needs needs_;
  bool any_well_ = false;
  std::optional<Error> error_;
  std::optional<Error> stopped_;
  TaskQueue::Done<void> done_;
};

std::unexpected<Error> unknown(const queue::TaskId& id) {
  return failure(Code::not_found,
                 "there is no task " + to_string(id) +
                     ": it was never submitted, or was over and is no longer kept");
}

void keep_first(std::vector<queue::Task>& tasks, queue::TaskOrder order, std::size_t limit) {
  const auto by = [](const queue::Task& task) -> queue::OrderedBy {
    return {.id = task.id, .updated = task.updated_at, .available = task.available_at};
  };
  std::ranges::sort(tasks, [&](const queue::Task& a, const queue::Task& b) {
    return comes_before(order, by(a), by(b));
  });
  if (tasks.size() > limit) tasks.resize(limit);
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

void add_stats(const Machine& machine, Instant now, queue::Stats& sum) {
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
  void fresh(Done<void> done, Needs needs = Needs::all, Duration at_most = bounds::queue_look_age) {
    auto all = std::make_shared<All>(logs.size(), std::move(done), needs);
    for (const auto& log : logs) {
      log->refresh(at_most, [all](Result<void> result) { all->answered(std::move(result)); });
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
  void ask_all(Done<T> done, Kept kept, Gather gather, Duration at_most = bounds::queue_look_age) {
    auto told = [this, kept = std::move(kept), gather = std::move(gather),
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
    };
    fresh(std::move(told), Needs::all, at_most);
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
      },
      Needs::well);
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
  auto claim = [state = state_.get(), ask = std::move(ask),
                done = std::move(done)](Result<void> is) mutable {
    if (!is) return done(std::unexpected(std::move(is).error()));
    state->claims->claim(std::move(ask), std::move(done));
  };
  state_->fresh(std::move(claim), Needs::well);
}

void LocalQueue::find(queue::TaskId id, Done<queue::Task> done) {
  state_->ask(id, std::move(done),
              [id](const Machine& machine, Instant now) { return machine.find(id, now); });
}

void LocalQueue::history(queue::TaskId id, Done<queue::History> done) {
  state_->ask(id, std::move(done),
              [id](const Machine& machine, Instant now) { return machine.history(id, now); });
}

void LocalQueue::why(queue::TaskId id, Done<queue::Why> done) {
  state_->ask(id, std::move(done),
              [id](const Machine& machine, Instant now) { return machine.why(id, now); });
}

// By id, and so shard after shard; or the first of all shards.
void LocalQueue::list(queue::TaskFilter filter, Done<std::vector<queue::Task>> done) {
  filter.limit = std::min(filter.limit, bounds::tasks_listed_max);
  state_->ask_all(std::move(done), std::vector<queue::Task>(),
                  [filter = std::move(filter)](const Machine& machine, Instant now,
                                               std::vector<queue::Task>& tasks) mutable {
                    if (filter.limit == 0) return;
                    auto more = machine.list(filter, now);
                    const bool by_id = filter.order == queue::TaskOrder::id;
                    if (by_id) filter.limit -= more.size();
                    std::ranges::move(more, std::back_inserter(tasks));
                    if (!by_id) keep_first(tasks, filter.order, filter.limit);
                  });
}

void LocalQueue::stats(Done<queue::Stats> done) {
  state_->ask_all(std::move(done), queue::Stats(), add_stats);
}

// What is followed was seen a poll ago; only what nobody follows, or a store in trouble, is older.
void LocalQueue::followed_stats(Done<queue::Stats> done) {
  state_->ask_all(std::move(done), queue::Stats(), add_stats,
                  state_->options.log.poll_max * 2 + bounds::queue_look_age);
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
  QueueView all{.settings = state_->options.settings,
                .store = state_->ports.store.name(),
                .requests = state_->ports.store.counts(),
                .now = state_->logs.front()->time()};
  for (const auto& log : state_->logs) {
    const QueueLogNumbers numbers = log->numbers();
    all.commits += numbers.commits;
    all.commands += numbers.commands;
    all.commit_time = all.commit_time + numbers.commit_time;
    log->look([&](const Machine& machine) { all.segments += machine.sequence(); });
  }
  return all;
}

void LocalQueue::stop_claims() {
  state_->claims->stop();
}

}  // namespace pawl
