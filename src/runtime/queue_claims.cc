#include "runtime/queue_claims.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/queue/cron.h"
#include "core/queue/machine.h"
#include "core/queue/shards.h"

namespace pawl {

using queue::Claim;
using queue::Machine;
using queue::Task;

namespace {

// Clocks may be set, and timers go by another one: nobody waits longer for a look.
constexpr Duration look_max = Duration::minutes(1);
constexpr Duration look_min = Duration::milliseconds(1);
// Whoever comes too late so often may have met others; more often, somebody is faster.
constexpr int empty_at_once = 2;
constexpr Duration empty_wait = Duration::milliseconds(5);
constexpr int empty_doublings = 8;
// For a schedule whose firing was not answered, or that cannot be reckoned here.
constexpr Duration fire_again = Duration::minutes(1);
// Whoever only follows lets those who wait for tasks fire first.
constexpr Duration fire_later = Duration::seconds(1);
// A shard that has not answered a claim for so long is in trouble.
constexpr Duration in_trouble = Duration::seconds(2);
// What one shard has given waits so long for the others: a part of the lease, at the most this.
constexpr Duration rest_wait = Duration::seconds(1);
constexpr std::int64_t rest_part = 10;

bool overlap(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  if (a.empty() || b.empty()) return true;  // all types
  return std::ranges::any_of(
      a, [&](const std::string& one) { return std::ranges::find(b, one) != b.end(); });
}

Result<ClaimedTasks> nothing() {
  return ClaimedTasks();
}

}  // namespace

void QueueClaims::claim(ClaimAsk ask, Done done) {
  if (closed_) return done(failure(Code::unavailable, "the queue was closed"));
  const SteadyInstant asked = world_.clock.steady_now();
  auto waiter = std::make_shared<Waiter>(Waiter{.claim = std::move(ask.claim),
                                                .asked = asked,
                                                .until = asked + std::max(ask.wait, Duration()),
                                                .done = std::move(done)});
  ++waiting_;
  strand_.post([this, waiter = std::move(waiter)]() mutable {
    waiters_.push_back(std::move(waiter));
    serve();
  });
}

void QueueClaims::opened() {
  if (!world_.fires) return;
  opened_ = true;
  wake();
}

void QueueClaims::stopped(std::size_t shard, const Error& error) {
  strand_.post([this, shard, error] {
    shards_[shard].stopped = error;
    serve();
  });
}

std::optional<Error> QueueClaims::all_stopped() const {
  const bool all =
      std::ranges::all_of(shards_, [](const Shard& shard) { return shard.stopped.has_value(); });
  return all ? shards_.front().stopped : std::nullopt;
}

void QueueClaims::wake() {
  if ((waiting_ == 0 && !opened_) || woken_.exchange(true)) return;
  strand_.post([this] {
    woken_ = false;
    serve();
  });
}

void QueueClaims::end_firing() {
  opened_ = false;
}

void QueueClaims::stop() {
  strand_.post([this] {
    const SteadyInstant now = world_.clock.steady_now();
    for (const auto& waiter : Waiters(waiters_)) {
      waiter->until = now;  // one that is under way has its answer yet to come
      if (waiter->under_way == 0) leave(waiter, nothing());
    }
  });
}

void QueueClaims::close() {
  closed_ = true;
  strand_.close();
  world_.timers.cancel(timer_);
}

void QueueClaims::end() {
  for (const auto& waiter : std::exchange(waiters_, {})) {
    waiter->done(failure(Code::unavailable, "the queue was closed"));
  }
}

// Everybody who waits and for whom there is something gets it; then it is seen when to look again.
void QueueClaims::serve() {
  if (waiters_.empty() && !opened_) return;
  if (const std::optional<Error> error = all_stopped()) {
    for (const auto& waiter : Waiters(waiters_)) {
      if (waiter->under_way == 0) leave(waiter, std::unexpected(*error));
    }
    return;
  }
  const SteadyInstant now = world_.clock.steady_now();
  fire();
  std::set<Types> nothing_for;
  for (const auto& waiter : Waiters(waiters_)) {
    if (waiter->under_way > 0) {
      if (waiter->enough <= now) leave_with_tasks(waiter);
      continue;
    }
    const bool looks = waiter->not_before <= now && !nothing_for.contains(waiter->claim.types);
    if (looks) {
      const std::vector<Share> shares = shares_of(waiter->claim, now);
      if (!shares.empty()) {
        send(waiter, shares);
        continue;
      }
      nothing_for.insert(waiter->claim.types);
    }
    // What a schedule brings just now is due too.
    if (waiter->until <= now && firing_ == 0) leave(waiter, nothing());
  }
  arm(now);
}

// By the time of the shard: that of another may be ahead (store_time.h).
std::size_t QueueClaims::claimable(std::size_t shard, const Claim& claim, std::size_t limit) const {
  const Instant now = logs_[shard]->time();
  std::size_t held = 0;
  for (const auto& [types, count] : shards_[shard].being_claimed) {
    if (overlap(types, claim.types)) held += count;
  }
  std::size_t found = 0;
  logs_[shard]->look(
      [&](const Machine& machine) { found = machine.claimable(claim.types, now, limit + held); });
  return found > held ? found - held : 0;
}

bool QueueClaims::is_asked_in_vain(std::size_t shard, SteadyInstant now) const {
  return shards_[shard].claims > 0 && now - shards_[shard].heard > in_trouble;
}

std::vector<QueueClaims::Share> QueueClaims::shares_of(const Claim& claim, SteadyInstant now) {
  std::vector<Share> shares;
  std::uint32_t left = claim.count;
  for (std::size_t i = 0; i < logs_.size() && left > 0; ++i) {
    const std::size_t shard = (turn_ + i) % logs_.size();
    if (shards_[shard].stopped || is_asked_in_vain(shard, now)) continue;
    const auto found = static_cast<std::uint32_t>(claimable(shard, claim, left));
    if (found == 0) continue;
    const std::uint32_t held = std::min(left, found);
    // Where there is one shard, what becomes due meanwhile may come too.
    shares.push_back({.shard = shard, .held = held, .wanted = logs_.size() == 1 ? left : held});
    left -= held;
  }
  if (!shares.empty()) turn_ = shares.front().shard + 1;
  return shares;
}

void QueueClaims::send(const std::shared_ptr<Waiter>& waiter, const std::vector<Share>& shares) {
  waiter->under_way = shares.size();
  waiter->sent = world_.clock.steady_now();
  for (const Share& share : shares) {
    Shard& shard = shards_[share.shard];
    shard.being_claimed[waiter->claim.types] += share.held;
    if (shard.claims++ == 0) shard.heard = waiter->sent;
    Claim claim = waiter->claim;
    claim.count = share.wanted;
    logs_[share.shard]->submit({std::move(claim)}, [self = shared_from_this(), waiter, share](
                                                       Result<QueueLog::Replies> result) mutable {
      self->strand_.post([self = self.get(), waiter, share, result = std::move(result)]() mutable {
        self->answered(waiter, share, std::move(result));
      });
    });
  }
}

void QueueClaims::answered(const std::shared_ptr<Waiter>& waiter, const Share& share,
                           Result<QueueLog::Replies> result) {
  const SteadyInstant steady = world_.clock.steady_now();
  Shard& shard = shards_[share.shard];
  --shard.claims;
  shard.heard = steady;
  if (const auto found = shard.being_claimed.find(waiter->claim.types);
      found != shard.being_claimed.end() && (found->second -= share.held) == 0) {
    shard.being_claimed.erase(found);
  }
  --waiter->under_way;
  if (!result) {
    // Of a shard that has stopped the others know by now, and go on.
    if (!shard.stopped || all_stopped()) waiter->error = std::move(result).error();
  } else if (auto* claimed = std::get_if<queue::Claimed>(&result->front())) {
    if (waiter->left) {
      give_back(share.shard, claimed->tasks);
    } else {
      std::ranges::move(claimed->tasks, std::back_inserter(waiter->tasks));
    }
  } else if (const auto* refusal = std::get_if<queue::Refusal>(&result->front())) {
    waiter->error = Error(refusal->code, Outcome::not_applied, refusal->message);
  }
  if (!waiter->left) decide(waiter, steady);
  serve();
}

// What was claimed is told whatever becomes of the rest, and before its lease has gone by.
void QueueClaims::decide(const std::shared_ptr<Waiter>& waiter, SteadyInstant steady) {
  const bool some = !waiter->tasks.empty();
  if (waiter->under_way > 0) {
    const auto part = waiter->claim.lease / rest_part;
    if (some) waiter->enough = std::min(waiter->enough, steady + std::min(part, rest_wait));
  } else if (some) {
    leave_with_tasks(waiter);
  } else if (waiter->error) {
    leave(waiter, std::unexpected(*std::move(waiter->error)));
  } else if (++waiter->empty_handed > empty_at_once) {
    const int doublings = std::min(waiter->empty_handed - empty_at_once, empty_doublings);
    waiter->not_before = steady + empty_wait * (std::int64_t{1} << doublings);
  }
}

void QueueClaims::give_back(std::size_t shard, const std::vector<Task>& tasks) {
  std::vector<queue::Command> commands;
  for (const Task& task : tasks) {
    commands.emplace_back(queue::Reschedule{.id = task.id, .fence = task.fence, .counted = false});
  }
  if (commands.empty()) return;
  logs_[shard]->submit(std::move(commands), [](const Result<QueueLog::Replies>&) {});
}

void QueueClaims::leave_with_tasks(const std::shared_ptr<Waiter>& waiter) {
  leave(waiter,
        ClaimedTasks{.tasks = std::move(waiter->tasks), .waited = waiter->sent - waiter->asked});
}

void QueueClaims::leave(const std::shared_ptr<Waiter>& waiter, Result<ClaimedTasks> result) {
  waiters_.remove(waiter);
  --waiting_;
  waiter->left = true;
  waiter->done(std::move(result));
}

void QueueClaims::fire() {
  for (std::size_t shard = 0; shard < logs_.size(); ++shard) {
    if (shards_[shard].stopped) continue;
    const Instant now = logs_[shard]->time() - (waiters_.empty() ? fire_later : Duration());
    std::vector<queue::Schedule> due;
    logs_[shard]->look([&](const Machine& machine) {
      const auto next = machine.next_firing();
      if (next && *next <= now) due = machine.due_schedules(now);
    });
    for (const queue::Schedule& schedule : due) fire(shard, schedule, now);
  }
}

void QueueClaims::fire(std::size_t shard, const queue::Schedule& schedule, Instant now) {
  const std::string& name = schedule.set.name;
  const SteadyInstant steady = world_.clock.steady_now();
  if (const auto found = fired_.find(name); found != fired_.end() && found->second > steady) return;
  fired_[name] = steady + fire_again;
  const auto cron = queue::parse_cron(schedule.set.cron);
  const auto zone = world_.zones(schedule.set.zone.empty() ? "UTC" : schedule.set.zone);
  if (!cron || !zone) {
    const Error& error = cron ? zone.error() : cron.error();
    if (world_.note) {
      world_.note("schedule '" + name + "' cannot be fired from here: " + error.message);
    }
    return;
  }
  const Instant after = std::max(now, schedule.next);
  queue::Fire command{.name = name,
                      .due = schedule.next,
                      .next = queue::next_after(*cron, *zone, after).value_or(Instant::max()),
                      .id = queue::placed(queue::make_task_id(world_.entropy.next()),
                                          static_cast<std::uint8_t>(shard))};
  ++firing_;
  logs_[shard]->submit({std::move(command)},
                       [self = shared_from_this(), name](const Result<QueueLog::Replies>& result) {
                         self->strand_.post([self = self.get(), name, again = !result] {
                           --self->firing_;
                           if (!again) self->fired_.erase(name);
                           self->serve();
                         });
                       });
}

// A firing that is past has been tried.
Instant QueueClaims::looked_for(Instant firing, Instant now) const {
  const Instant due = waiters_.empty() ? firing + fire_later : firing;
  return due > now ? due : now + fire_again;
}

void QueueClaims::arm(SteadyInstant now) {
  SteadyInstant first = SteadyInstant::max();
  const auto look_in = [&](Duration wait) {
    first = std::min(first, now + std::clamp(wait, look_min, look_max));
  };
  for (const auto& waiter : waiters_) {
    for (const SteadyInstant when : {waiter->until, waiter->not_before, waiter->enough}) {
      if (when > now) first = std::min(first, when);
    }
  }
  std::set<Types> seen;
  for (const auto& waiter : waiters_) {
    if (waiter->under_way == 0) seen.insert(waiter->claim.types);
  }
  for (std::size_t shard = 0; shard < logs_.size(); ++shard) {
    if (shards_[shard].stopped) continue;
    const Instant at = logs_[shard]->time();
    logs_[shard]->look([&](const Machine& machine) {
      for (const Types& types : seen) {
        if (const auto next = machine.next_change(types, at)) look_in(*next - at);
      }
      if (const auto firing = machine.next_firing()) look_in(looked_for(*firing, at) - at);
    });
  }
  if (first == SteadyInstant::max() || (armed_ && *armed_ <= first && *armed_ > now)) return;
  if (armed_) world_.timers.cancel(timer_);
  armed_ = first;
  timer_ =
      world_.timers.after(std::max(first - now, look_min), [weak = weak_from_this()](bool over) {
        const auto self = weak.lock();
        if (!self || over) return;
        self->strand_.post([self = self.get()] {
          self->armed_.reset();
          self->serve();
        });
      });
}

}  // namespace pawl
