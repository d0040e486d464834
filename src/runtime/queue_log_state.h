// What QueueLog is made of. A part of it, in files of their own for their length: queue_log.cc has
// the callers, queue_log_steps.cc the way of a batch into the log, queue_log_keep.cc snapshots.
//
// Threads:  everything but the inbox, the machine and the numbers belongs to the strand.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "core/queue/append.h"
#include "core/queue/gather.h"
#include "core/queue/segment.h"
#include "runtime/queue_log.h"
#include "runtime/store_time.h"
#include "runtime/strand.h"

namespace pawl {

struct QueueLog::State : std::enable_shared_from_this<State> {
  struct Caller {
    std::vector<queue::Command> commands;
    std::string bytes;  // of the commands, in a segment
    Done<Replies> done;
    SteadyInstant since;
    bool patient = false;
    bool grows = false;  // has a submit
  };
  // Those who wait for a commit, in their order.
  class Waiting {
   public:
    bool empty() const { return callers_.empty(); }
    std::size_t size() const { return callers_.size(); }
    const Caller& front() const { return callers_.front(); }
    void add(Caller caller) {
      count(caller, 1);
      last_ = caller.since;
      callers_.push_back(std::move(caller));
    }
    void put_back(Caller caller) {
      count(caller, 1);
      callers_.push_front(std::move(caller));
    }
    Caller take() {
      Caller caller = std::move(callers_.front());
      callers_.pop_front();
      count(caller, -1);
      return caller;
    }
    // Precondition: !empty().
    queue::Gathered gathered() const {
      return {.callers = callers_.size(),
              .patient = patient_,
              .commands = commands_,
              .first = callers_.front().since,
              .last = last_};
    }

   private:
    void count(const Caller& caller, int sign) {
      const auto times = static_cast<std::size_t>(sign);  // of unsigned numbers, minus one as well
      commands_ += times * caller.commands.size();
      if (caller.patient) patient_ += times;
    }

    std::deque<Caller> callers_;
    std::size_t patient_ = 0;
    std::size_t commands_ = 0;
    SteadyInstant last_;
  };
  // A batch on its way.
  struct Flight {
    std::vector<Caller> callers = {};
    std::string bytes = {};  // the segment's
    Instant at = {};
    queue::Nonce nonce = {};
    std::size_t command_bytes = 0;
    std::size_t commands = 0;
  };
  // A segment that was asked for.
  struct Fetched {
    bool ahead = false;  // before its turn: that it was not there then says nothing
    std::optional<std::string> body = {};
  };
  struct Reading {
    std::uint64_t number = 0;
    std::uint64_t step = 0;
    SteadyInstant asked = {};
  };
  // Snapshots, the oldest first, while one is looked for.
  struct Opening {
    std::uint64_t step = 0;
    std::vector<queue::SnapshotSeen> seen = {};
    std::uint64_t newest = 0;
    int tries = 0;
    std::string body = {};  // of the newest, as far as it was read
  };

  // Somebody who wants to see the state as it is now.
  struct Looker {
    Done<void> done;
    SteadyInstant since;
    SteadyInstant fresh_from;  // the end of the log must have been seen then, or later
  };

  State(Options options, Ports ports, Hooks hooks);

  // Callers.
  void submit(Caller caller);
  void take_inbox();
  std::optional<Error> refusal_of(const Caller& caller) const;
  void relieve();
  std::uint64_t state_bytes() const {  // at the most, about
    return since_snapshot.snapshot_bytes + since_snapshot.bytes;
  }
  bool is_full() const { return state_bytes() > options.state_bytes_max; }
  void consider();
  void watch_deadline();
  void deadline_passed();
  void refresh(Looker looker);
  void answer_lookers();
  void look_for_them();
  void tell_lookers(const Error& error);
  void end_flight(const Error& error);
  static void tell(Caller caller, Error error);
  void tell_all(const Error& error);
  void stop(Error error);
  void settle();
  bool anybody_waits() const { return !waiting.empty() || !flight.callers.empty(); }
  Error away(bool may_have_landed) const;

  // Steps.
  void follow(const queue::AppendSteps& steps);
  void run(const queue::Apply& apply, std::uint64_t step);
  void run(const queue::Put& put, std::uint64_t step);
  void run(const queue::Get& get, std::uint64_t step);
  void run(const queue::Wait& wait, std::uint64_t step);
  void run(const queue::Reopen& reopen, std::uint64_t step);
  void run(const queue::LookBeyond& look, std::uint64_t step);
  void run(const queue::Missing& missing, std::uint64_t step);
  void run(const queue::Forked& forked, std::uint64_t step);
  void run(const queue::Lost& lost, std::uint64_t step);
  void answer(std::uint64_t step, const queue::AppendAnswer& answer);
  void put_answered(const Reading& put, const Result<PutAnswer>& result);
  void form_batch();
  std::string segment_of(const queue::Put& put) const;
  std::optional<Replies> replies_in_vain();
  void let_go_unwritten(Replies replies);
  std::vector<queue::Command> take_commands();
  void committed(Replies replies);
  static void tell_replies(std::vector<Caller> callers, Replies replies);
  void fetch(std::uint64_t number, bool ahead);
  void fetched(std::uint64_t number, Result<Object> result);
  void read(const Reading& reading, std::string body);
  void end_was_seen(SteadyInstant asked);
  void troubled(const Error& error);
  void tell_of_trouble();
  void trouble_is_over();
  StoreClock::Time read_clock();  // with `shared` held
  void keep_time();
  void news();
  void poll_later();
  void poll();

  // Snapshots.
  void list_snapshots(std::string after, std::vector<queue::SnapshotSeen> seen,
                      Done<std::vector<queue::SnapshotSeen>> done);
  void reopen(Opening opening);
  void reopen_failed(std::uint64_t step, const Error& error);
  void open_newest(Opening opening);
  void read_snapshot(Opening opening);
  void snapshot_read(Opening opening, Result<Object> object);
  void reopened(const Opening& opening, std::uint64_t sequence);
  void keep();
  void kept(Result<std::vector<queue::SnapshotSeen>> seen);
  void keep_ended();
  void snapshot_failed(const Error& error);
  void make_room();
  void write_snapshot(std::vector<queue::SnapshotSeen> seen);
  void collect(const std::vector<queue::SnapshotSeen>& seen);
  void collect_segments(std::string after, std::uint64_t to, std::vector<std::string> also);
  void remove(std::vector<std::string> names, std::move_only_function<void()> then);

  // Runs `work` on the strand, unless this has gone.
  template <class Work>
  auto later(Work work) {
    return [weak = weak_from_this(), work = std::move(work)](auto&&... arguments) mutable {
      const auto self = weak.lock();
      if (!self) return;
      self->strand.post([self = self.get(), work = std::move(work),
                         ... arguments = std::forward<decltype(arguments)>(arguments)]() mutable {
        work(*self, std::move(arguments)...);
      });
    };
  }
  template <class Work>
  Timers::Id after(Duration wait, Work work) {
    auto call = later([work = std::move(work)](State& self, bool over) mutable {
      if (!over) work(self);
    });
    return ports.timers.after(wait, std::move(call));
  }
  SteadyInstant now() const { return ports.clock.steady_now(); }
  // For Append, which hears what the store's clock shows.
  SteadyInstant append_now() {
    if (const auto sample = ports.store.time_sample()) append.heard(sample->store);
    return now();
  }
  template <class Change>
  void count(Change change) {
    const std::lock_guard lock(shared);
    change(numbers);
  }

  const Options options;
  const Ports ports;
  const Hooks hooks;
  Strand strand;

  mutable std::mutex shared;  // guards what follows
  std::vector<Caller> inbox;
  queue::Machine machine;
  StoreClock time;
  StoreClock::Time leapt;  // the last one that nobody was told of
  bool was_at_end = false;
  QueueLogNumbers numbers;

  // The strand's.
  queue::Append append;
  Waiting waiting;
  queue::Gather gather;
  Flight flight;
  std::optional<SteadyInstant> goes;  // a timer is set, for the batch that gathers
  bool deadline_watched = false;
  std::optional<Error> stopped;
  std::string last_trouble;
  std::optional<SteadyInstant> trouble_since;  // that the end of the log could not be seen
  bool trouble_was_said = false;
  std::string snapshot_damage;  // of the newest that was found so
  std::vector<Looker> lookers;
  Duration look_wait = {};  // before the next look for them, after trouble
  bool look_waits = false;
  std::optional<SteadyInstant> end_seen;  // the end of the log was, then
  Done<void> opened;
  SteadyInstant opened_since;
  std::move_only_function<void()> closed;
  bool closing = false;

  std::optional<Reading> reading;
  std::optional<queue::Segment> segment;  // the last one read, to be applied
  std::size_t segment_bytes = 0;
  queue::Nonce last = {};     // of the segment that was applied last
  std::uint64_t doubted = 0;  // could not be read, and is read again
  bool ahead_was_said = false;
  std::map<std::uint64_t, Fetched> fetches;
  std::uint64_t fetch_round = 0;  // answers of an earlier one are nobody's
  int found_in_a_row = 0;
  Duration poll_wait;
  bool poll_waits = false;
  Timers::Id poll_timer = {};
  std::uint64_t poll_round = 0;  // a timer of an earlier one is nobody's
  std::unique_ptr<ObjectWatch> watch;

  queue::SinceSnapshot since_snapshot;
  std::uint64_t snapshot_sequence = 0;  // of the newest that is known
  std::uint64_t collected_to = 0;
  bool keeping = false;
  bool keeps_now = false;            // whether it is due or not
  SteadyInstant relieves_from = {};  // not before
  Duration keep_pause = {};          // behind the one that is under way
  SteadyInstant keeps_from = {};     // not before
  bool snapshot_trouble_was_said = false;
  SteadyInstant keep_until = {};  // whoever closes waits no longer
};

}  // namespace pawl
