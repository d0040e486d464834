// LocalQueue: the queue over its own log in an object store: a TaskQueue, of one QueueLog a shard.
//
//   LocalQueue queue({.settings = settings}, {clock, timers, store, entropy, load_zone});
//   queue.open([](Result<void> opened) { … });
//   queue.give({queue::Submit{.id = queue::make_task_id(entropy.next()), …}}, …);
//
// Contract: TaskQueue. Every command from outside is checked (core/queue/command_check.h); one that
//           is not allowed is answered with a Refusal (invalid), and the others go on. A submit
//           needs an id; its shard is put in here (core/queue/shards.h), and the reply has it.
//           More than one commit can hold is put into several, in order.
// Shards:   an error is given when any shard had one. Its outcome is unknown when another one may
//           have committed: give the same commands again, which changes nothing twice.
//           A reschedule that closes a type or the queue closes it in every shard, its own first;
//           what a death in between leaves, runtime/queue_giving.h says.
// Stopped:  a shard that has (runtime/queue_log.h) is left out of claims; when all have, claims are
//           answered with the error. Whatever else needs that shard is, too.
// Claims:   a claim is committed only on a shard that shows something claimable; else it waits, for
//           segments and for what time brings, and costs nothing. The shards take turns.
// Schedule: whoever has a claim here also fires what is due; and with `fires` everybody, whom the
//           workers keep waiting or not. What was missed while nobody was there fires once.
// Looking:  at the replica, brought up to date when it is older than bounds::queue_look_age.
// Threads:  any. Callbacks as QueueLog has them.
// Lifetime: the ports outlive it. Destroying it answers whoever waits still.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/zone.h"
#include "pawl/clock.h"
#include "port/entropy.h"
#include "port/object_store.h"
#include "port/task_queue.h"
#include "port/timers.h"
#include "runtime/queue_log.h"

namespace pawl {

class LocalQueue final : public TaskQueue {
 public:
  struct Options {
    queue::Settings settings = {};
    QueueLog::Options log = {};  // shard and settings are filled in
    bool fires = false;          // schedules, also while nobody has a claim here
  };
  struct Ports {
    Clock& clock;
    Timers& timers;
    ObjectStore& store;
    Entropy& entropy;
    std::function<Result<Zone>(std::string_view)> zones;     // for schedules
    std::function<void(const std::string& text)> note = {};  // what somebody should look at
  };

  LocalQueue(Options options, Ports ports);
  ~LocalQueue() override;
  LocalQueue(const LocalQueue&) = delete;
  LocalQueue& operator=(const LocalQueue&) = delete;

  // Done when the end of every shard's log was reached. Once, before anything else.
  void open(Done<void> done);
  // Breaks off the claims that wait, takes nothing more, and is done when all was answered.
  void close(std::move_only_function<void()> done);

  void give(std::vector<queue::Command> commands, Done<std::vector<queue::Reply>> done) override;
  void claim(ClaimAsk ask, Done<ClaimedTasks> done) override;
  void find(queue::TaskId id, Done<queue::Task> done) override;
  void history(queue::TaskId id, Done<queue::History> done) override;
  void why(queue::TaskId id, Done<queue::Why> done) override;
  void list(queue::TaskFilter filter, Done<std::vector<queue::Task>> done) override;
  void stats(Done<queue::Stats> done) override;
  void followed_stats(Done<queue::Stats> done) override;
  void schedules(Done<std::vector<queue::Schedule>> done) override;
  void closings(Done<std::vector<queue::Closing>> done) override;
  void limits(Done<std::vector<queue::SetLimit>> done) override;
  QueueView view() override;
  void stop_claims() override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pawl
