// QueueClaims: those who wait for tasks, and what they get. A part of LocalQueue.
//
// Contract: as LocalQueue says of claims and schedules. Two who want the same tasks do not both ask
//           for them: what is being claimed is taken off what there is.
// Shards:   one that has stopped is left out; when all have, everybody is told why, at once. One
//           that does not answer is asked by one claim at a time, and what others have given is not
//           kept back for it: what comes later is given back, not counted.
// Time:     looks are free, commits are not. So it looks whenever a segment was applied, or the
//           machine names an instant; and commits when there is something to be had. Who got
//           nothing though (others were faster) waits a moment, longer and longer.
// Fires:    with `fires`, schedules fire also while nobody waits (all workers are busy, or it is a
//           broker): a moment later, so that whoever waits is first.
// Threads:  any; its work is on its strand.
// Lifetime: close() before the logs go, end() when they have gone.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/zone.h"
#include "pawl/clock.h"
#include "port/entropy.h"
#include "port/task_queue.h"
#include "port/timers.h"
#include "runtime/queue_log.h"
#include "runtime/strand.h"

namespace pawl {

class QueueClaims : public std::enable_shared_from_this<QueueClaims> {
 public:
  using Done = TaskQueue::Done<ClaimedTasks>;
  using Logs = std::vector<std::unique_ptr<QueueLog>>;
  struct World {
    Clock& clock;
    Timers& timers;
    Entropy& entropy;
    std::function<Result<Zone>(std::string_view)> zones;
    std::function<void(const std::string& text)> note;
    bool fires = false;
  };

  // `logs` are there when the first call is made.
  QueueClaims(const Logs& logs, std::size_t shards, World world)
      : logs_(logs), world_(std::move(world)), shards_(shards) {}

  void claim(ClaimAsk ask, Done done);
  // The logs' ends were reached: schedules are as they are, and may be fired.
  void opened();
  // Something was applied.
  void wake();
  // The log of a shard, for good.
  void stopped(std::size_t shard, const Error& error);
  // Who waits is told that there is nothing.
  void stop();
  void end_firing();
  void close();
  void end();

 private:
  using Types = std::vector<std::string>;
  struct Waiter {
    queue::Claim claim;
    SteadyInstant asked;
    SteadyInstant until;
    Done done;
    std::size_t under_way = 0;                    // claims, on so many shards
    SteadyInstant sent = {};                      // these
    SteadyInstant enough = SteadyInstant::max();  // then what has come is told without the rest
    bool left = false;
    std::vector<queue::Task> tasks = {};
    std::optional<Error> error = {};
    int empty_handed = 0;           // so often in a row
    SteadyInstant not_before = {};  // after that
  };
  using Waiters = std::list<std::shared_ptr<Waiter>>;
  // A part of a claim, on one shard.
  struct Share {
    std::size_t shard = 0;
    std::uint32_t held = 0;    // nobody else need ask for them
    std::uint32_t wanted = 0;  // at the most
  };
  struct Shard {
    std::map<Types, std::uint32_t> being_claimed = {};
    std::size_t claims = 0;    // under way
    SteadyInstant heard = {};  // from it, or when the first of them was sent
    std::optional<Error> stopped = {};
  };

  void serve();
  std::vector<Share> shares_of(const queue::Claim& claim, SteadyInstant now);
  std::size_t claimable(std::size_t shard, const queue::Claim& claim, std::size_t limit) const;
  bool is_asked_in_vain(std::size_t shard, SteadyInstant now) const;
  std::optional<Error> all_stopped() const;
  void send(const std::shared_ptr<Waiter>& waiter, const std::vector<Share>& shares);
  void answered(const std::shared_ptr<Waiter>& waiter, const Share& share,
                Result<QueueLog::Replies> result);
  void decide(const std::shared_ptr<Waiter>& waiter, SteadyInstant steady);
  void leave_with_tasks(const std::shared_ptr<Waiter>& waiter);
  void give_back(std::size_t shard, const std::vector<queue::Task>& tasks);
  void leave(const std::shared_ptr<Waiter>& waiter, Result<ClaimedTasks> result);
  void fire();
  void fire(std::size_t shard, const queue::Schedule& schedule, Instant now);
  Instant looked_for(Instant firing, Instant now) const;
  void arm(SteadyInstant now);

  const Logs& logs_;
  const World world_;
  Strand strand_;
  std::atomic<bool> closed_ = false;
  std::atomic<bool> woken_ = false;
  std::atomic<std::size_t> waiting_ = 0;
  std::atomic<bool> opened_ = false;

  // The strand's.
  Waiters waiters_;
  std::size_t turn_ = 0;  // of the shards
  std::vector<Shard> shards_;
  std::map<std::string, SteadyInstant> fired_;  // schedules, and when to try again
  std::size_t firing_ = 0;                      // so many are under way
  std::optional<SteadyInstant> armed_ = {};
  Timers::Id timer_ = {};
};

}  // namespace pawl
