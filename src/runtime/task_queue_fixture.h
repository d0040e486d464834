// MachineQueue: a TaskQueue that is nothing but its machine, with time moved by hand. Its answers
// come at once, or are held; and calls may fail, before or after they were committed.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/queue/command_check.h"
#include "core/queue/machine.h"
#include "port/task_queue.h"
#include "runtime/manual_clock.h"
#include "runtime/timers_fixture.h"

namespace pawl {

class MachineQueue final : public TaskQueue {
 public:
  using Tasks = std::vector<queue::Task>;
  using Replies = std::vector<queue::Reply>;
  enum class Fault : std::uint8_t { none, before, after };  // the commit

  MachineQueue(ManualClock& clock, ManualTimers& timers) : clock_(clock), timers_(timers) {}

  void give(std::vector<queue::Command> commands, Done<Replies> done) override {
    gives.push_back(commands.size());
    const Fault fault = take_fault(give_faults);
    const std::optional<Error> refused = refuses ? refuses(commands) : std::nullopt;
    if (refused) return answer(std::move(done), Result<Replies>(std::unexpected(*refused)));
    if (fault == Fault::before) return answer(std::move(done), away<Replies>(Outcome::not_applied));
    Replies replies = committed(std::move(commands));
    if (fault == Fault::after) return answer(std::move(done), away<Replies>(Outcome::unknown));
    answer(std::move(done), Result<Replies>(std::move(replies)));
    serve();
  }
  void claim(ClaimAsk ask, Done<ClaimedTasks> done) override {
    ++claims;
    if (claim_error) {
      return answer(std::move(done), Result<ClaimedTasks>(std::unexpected(*claim_error)));
    }
    const SteadyInstant now = clock_.steady_now();
    waiting_.push_back({.claim = std::move(ask.claim),
                        .asked = now,
                        .until = now + ask.wait,
                        .done = std::move(done)});
    serve();
  }
  void stop_claims() override {
    for (Waiting& waiting : waiting_) waiting.until = clock_.steady_now();
    serve();
  }

  void find(queue::TaskId id, Done<queue::Task> done) override {
    tell(machine.find(id), std::move(done));
  }
  void history(queue::TaskId id, Done<queue::History> done) override {
    tell(machine.history(id), std::move(done));
  }
  void why(queue::TaskId id, Done<queue::Why> done) override {
    tell(machine.why(id, clock_.wall_now()), std::move(done));
  }
  void list(queue::TaskFilter filter, Done<Tasks> done) override { done(machine.list(filter)); }
  void stats(Done<queue::Stats> done) override { done(machine.stats(clock_.wall_now())); }
  void schedules(Done<std::vector<queue::Schedule>> done) override { done(machine.schedules()); }
  void closings(Done<std::vector<queue::Closing>> done) override {
    done(machine.closings(clock_.wall_now()));
  }
  void limits(Done<std::vector<queue::SetLimit>> done) override { done(machine.limits()); }
  QueueView view() override { return {}; }

  // Answers that were held since `holds` was set.
  void let_go() {
    holds = false;
    while (!held_.empty()) {
      auto call = std::move(held_.front());
      held_.pop_front();
      call();
    }
  }
  std::size_t held() const { return held_.size(); }
  // Time alone makes something due.
  void tick() { serve(); }

  queue::Machine machine = queue::Machine(0, {});
  bool holds = false;
  std::deque<Fault> give_faults = {};
  // A call that fails, by what is in it.
  std::function<std::optional<Error>(const std::vector<queue::Command>&)> refuses = {};
  std::optional<Error> claim_error = {};
  std::vector<std::size_t> gives = {};  // how many commands each had
  std::size_t claims = 0;
  std::size_t commits = 0;

 private:
  struct Waiting {
    queue::Claim claim;
    SteadyInstant asked;
    SteadyInstant until;
    Done<ClaimedTasks> done;
  };

  static Fault take_fault(std::deque<Fault>& faults) {
    if (faults.empty()) return Fault::none;
    const Fault fault = faults.front();
    faults.pop_front();
    return fault;
  }
  template <class T>
  static Result<T> away(Outcome outcome) {
    return std::unexpected(Error(Code::unavailable, outcome, "the store does not answer"));
  }
  template <class T>
  static void tell(std::optional<T> found, Done<T> done) {
    if (found) return done(*std::move(found));
    done(failure(Code::not_found, "there is none"));
  }
  template <class T>
  void answer(Done<T> done, Result<T> result) {
    if (!holds) return done(std::move(result));
    held_.push_back([done = std::move(done), result = std::move(result)]() mutable {
      done(std::move(result));
    });
  }
  // As LocalQueue does: what is not allowed is refused, the rest goes on.
  Replies committed(std::vector<queue::Command> commands) {
    Replies replies;
    std::vector<queue::Command> good;
    for (queue::Command& command : commands) {
      const auto checked = queue::check(command);
      replies.push_back(checked ? queue::Reply(queue::Changed())
                                : queue::Reply(queue::Refusal{.code = checked.error().code,
                                                              .message = checked.error().message}));
      if (checked) good.push_back(std::move(command));
    }
    ++commits;
    auto applied = machine.apply(clock_.wall_now(), good);
    auto next = applied.begin();
    for (queue::Reply& reply : replies) {
      if (!std::holds_alternative<queue::Refusal>(reply)) reply = std::move(*next++);
    }
    return replies;
  }
  void serve() {
    for (auto each = waiting_.begin(); each != waiting_.end();) {
      const queue::Claim& claim = each->claim;
      const bool some = machine.claimable(claim.types, clock_.wall_now(), 1) > 0;
      if (!some && each->until > clock_.steady_now()) {
        ++each;
        continue;
      }
      ClaimedTasks got{.waited = clock_.steady_now() - each->asked};
      if (some) {
        auto replies = committed({claim});
        if (auto* claimed = std::get_if<queue::Claimed>(&replies[0])) got.tasks = claimed->tasks;
      }
      Done<ClaimedTasks> done = std::move(each->done);
      each = waiting_.erase(each);
      answer(std::move(done), Result<ClaimedTasks>(std::move(got)));
      each = waiting_.begin();  // whoever was answered may have asked again
    }
    arm();
  }
  void arm() {
    if (waiting_.empty()) return;
    Duration wait = waiting_.front().until - clock_.steady_now();
    for (const Waiting& waiting : waiting_) {
      wait = std::min(wait, waiting.until - clock_.steady_now());
      const auto next = machine.next_change(waiting.claim.types, clock_.wall_now());
      if (next) wait = std::min(wait, *next - clock_.wall_now());
    }
    timers_.cancel(timer_);
    timer_ = timers_.after(std::max(wait, Duration::milliseconds(1)), [this](bool over) {
      if (!over) serve();
    });
  }

  ManualClock& clock_;
  ManualTimers& timers_;
  Timers::Id timer_ = {};
  std::list<Waiting> waiting_;
  std::deque<std::move_only_function<void()>> held_;
};

}  // namespace pawl
