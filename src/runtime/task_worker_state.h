// The inside of TaskWorker: tasks under way (Handling), and what is to be told to the queue.
//
// Threads:  everything of Impl is done on its strand, but for what is said otherwise.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/strand.h"
#include "runtime/task_worker.h"

namespace pawl {

// A task that is being handled.
class Handling final : public HandledTask, public std::enable_shared_from_this<Handling> {
 public:
  enum class Stop : std::uint8_t { none, cancelled, lost, timed_out, draining };
  using Extended = std::move_only_function<void(Result<Instant>)>;

  Handling(queue::Task task, std::weak_ptr<TaskWorker::Impl> worker)
      : task_(std::move(task)), worker_(std::move(worker)) {}

  // Any thread.
  const queue::Task& task() const override { return task_; }
  bool stop_asked() const override { return stopped() != Stop::none; }
  std::string stop_reason() const override;
  bool cancel_asked() const override;
  Duration stop_grace() const override;
  void on_stop(std::function<void()> call) override;
  void extend(Duration lease, Extended done) override;
  Stop stopped() const;

  // The strand's. The first reason stays.
  void stop(Stop why, std::string reason, SteadyInstant now);
  void cancel(SteadyInstant now);
  // By the queue's count these are the task's from `since`.
  void lasts(SteadyInstant since, Duration timeout);
  void leased(SteadyInstant since, Duration lease);
  SteadyInstant began = {};
  SteadyInstant times_out = {};
  SteadyInstant lease_ends = {};  // with a margin, as far as we know
  SteadyInstant renew_at = {};
  bool renewing = false;
  bool refused = false;                                // the fence is no longer ours
  std::string trouble = "the queue has not answered";  // why the last renewal went wrong
  Duration took = {};

 private:
  const queue::Task task_;
  const std::weak_ptr<TaskWorker::Impl> worker_;
  Duration grace_of(Stop why, SteadyInstant now) const;
  SteadyInstant timeout_over_ = {};  // then it may be another's
  SteadyInstant lease_over_ = {};
  mutable std::mutex mutex_;
  Stop stop_ = Stop::none;
  Duration grace_ = {};
  bool cancelled_ = false;
  std::string reason_;
  std::vector<std::function<void()>> calls_;
};

class TaskWorker::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(TaskQueue& queue, WorkerSettings settings, TaskHandler handler, World world)
      : queue_(queue),
        settings_(std::move(settings)),
        handler_(std::move(handler)),
        world_(std::move(world)) {}

  // Any thread.
  void start();
  Result<void> wait();
  bool is_over() const;
  void drain(Duration at_most);
  void abandon() { finish({}); }
  void end();
  WorkerCounts counts() const;
  void ended(const std::shared_ptr<Handling>& handling, TaskEnding ending);
  void extend(const std::shared_ptr<Handling>& handling, Duration lease, Handling::Extended done);

 private:
  // Something to be told to the queue: how a task ended, or that it goes on.
  struct Word {
    std::shared_ptr<Handling> of;
    std::optional<TaskEnding> ending = {};  // none: a renewal
    bool given_back = false;
    Duration lease = {};               // of a renewal
    SteadyInstant said_at = {};        // of a renewal: when it was sent
    Handling::Extended extended = {};  // who asked for the renewal, if anybody did
  };
  using Words = std::vector<Word>;
  // Those of one shard, which go their way whatever the other shards do; a reschedule that closes
  // more than its own shard has one of its own.
  struct Lane {
    std::deque<Word> words = {};  // to be given
    std::size_t giving = 0;       // words under way
    int failures = 0;             // in a row
    SteadyInstant fails_since = {};
    SteadyInstant not_before = {};
  };
  // Ended by a signal, and not told before we know whether it was meant for us too.
  struct Interrupted {
    std::shared_ptr<Handling> of;
    TaskEnding ending;
    SteadyInstant until = {};
  };
  using LaneName = std::pair<std::uint8_t, bool>;  // shard; whether it closes others

  // task_worker.cc
  void wake();
  void pump();
  void claim_more();
  struct Asked {
    std::uint32_t room = 0;
    SteadyInstant at = {};
  };
  void claimed(const Asked& asked, Result<ClaimedTasks> result);
  void claim_failed(const Error& error);
  void begin(queue::Task task, SteadyInstant ours_since);
  void look_at_time();
  void look_at(const std::shared_ptr<Handling>& handling, SteadyInstant now);
  void look_at_drain(SteadyInstant now);
  SteadyInstant last_words_end() const;
  void arm(SteadyInstant now);
  void finish_if_done();
  void finish(Result<void> result);
  void note(const std::string& text) const;

  // task_worker_words.cc
  void heard_end(const std::shared_ptr<Handling>& handling, TaskEnding ending);
  void settle_interrupted(SteadyInstant now);
  void has_ended(const std::shared_ptr<Handling>& handling, TaskEnding ending);
  void renew(const std::shared_ptr<Handling>& handling, Duration lease, Handling::Extended done);
  static LaneName lane_of(const Word& word);
  void add_word(Word word);
  bool has_words() const { return words_ > 0 || giving_ > 0; }
  bool gathers(SteadyInstant now) const;
  bool closes_others() const;
  void give_words();
  void give_words(const LaneName& name, Lane& lane);
  void answered(const LaneName& name, Words words, Result<std::vector<queue::Reply>> result);
  void not_given(Lane& lane, Words words, const Error& error);
  bool gives_up(const Lane& lane, const Word& word, const Error& error) const;
  void taken(Word word, const queue::Reply& reply);
  void renewal_taken(Word word, const queue::Reply& reply);
  void ending_refused(Word word, const queue::Refusal& refusal);
  void tell(const Word& word, TaskAttemptEnd::How how, std::string error = {});

  TaskQueue& queue_;
  const WorkerSettings settings_;
  const TaskHandler handler_;
  const World world_;
  Strand strand_;

  // The strand's.
  std::set<std::shared_ptr<Handling>> handled_;
  std::vector<Interrupted> interrupted_;  // handled still
  std::uint32_t asked_ = 0;               // tasks, by claims that are under way
  int claims_ = 0;                        // under way
  int claim_failures_ = 0;                // in a row
  SteadyInstant claim_not_before_ = {};
  SteadyInstant claims_fail_since_ = {};
  bool nothing_due_ = false;  // with `once`
  std::map<LaneName, Lane> lanes_;
  std::size_t words_ = 0;            // to be given, of all lanes
  std::size_t giving_ = 0;           // under way, of all lanes
  SteadyInstant gathered_ = {};      // when the first of them has waited for the others
  std::optional<Error> error_ = {};  // ends the worker
  bool draining_ = false;
  bool stopped_ = false;  // those who did not end in time were told to
  bool told_of_wait_ = false;
  SteadyInstant drain_ends_ = SteadyInstant::max();
  SteadyInstant last_ended_ = {};  // with `waits`: the last handler so far
  bool pump_waits_ = false;
  std::optional<SteadyInstant> armed_ = {};
  Timers::Id timer_ = {};

  mutable std::mutex mutex_;  // of the rest
  std::condition_variable finished_changed_;
  std::optional<Result<void>> finished_;
  WorkerCounts counts_;
};

// A moment before a time is over: a tenth of it, at most a second.
// 100 ms, doubled with every failure, at most 5 s.
Duration pause_after(int failures);

}  // namespace pawl
