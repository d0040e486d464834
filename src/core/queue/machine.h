// Machine: the queue itself, of one shard: tasks, leases, closings, limits, schedules.
//
// Contract: a pure function of the segments it was given: the same ones in the same order make the
//           same state and the same replies on every machine. Time is the segments', and never goes
//           back: one that is earlier than the last counts as that. Before the commands of a
//           segment, everything that ended by its time ends: leases (retried or failed), times to
//           live, what is kept of tasks that are over. But before that, whoever still holds a
//           lease that this segment would end may end it by a command of this very segment
//           (complete, fail, reschedule): nobody else can have claimed the task.
// Order:    by priority, then (available_at, arrival): a delay of zero goes behind all that is due.
//           Limits and closings are looked at for each claim; one limited key holds up no other.
// Leases:   none goes beyond the task's timeout, however often it is renewed. A claim is believed
//           from the segment after its own. A command that ended a claim gets the same answer when
//           it is given again, until the task is claimed anew.
// Refused:  nothing was changed, but that a schedule goes on when its task is refused.
// Shards:   limits of types and of the queue are shared out, those of keys are whole: a key is in
//           one shard. A closing holds for the shard that it was told to.
// Bounds:   bounds::queue_*, bounds::task_*.
// Threads:  one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/wire.h"
#include "core/queue/command.h"
#include "core/queue/task.h"

namespace pawl::queue {

struct Settings {  // of the queue, for good (queue.json)
  std::uint32_t shards = 1;
  Duration kept = Duration::hours(24 * 7);  // how long a task that is over is kept
  bool operator==(const Settings&) const = default;
};

enum class TaskOrder : std::uint8_t {
  id,
  changed,  // the last that changed comes first
  due,      // the first that is, or was, due comes first
};
// What tasks are ordered by.
struct OrderedBy {
  TaskId id = {};
  Instant updated = {};
  Instant available = {};
};
bool comes_before(TaskOrder order, const OrderedBy& a, const OrderedBy& b);

struct TaskFilter {
  std::optional<Status> status = {};
  std::string type = {};             // empty: all
  std::string key = {};              // empty: all
  std::optional<TaskId> after = {};  // of the last page
  std::optional<Instant> updated_after = {};
  std::size_t limit = 100;
  // Another than by id goes without `after`, and of a queue that is here: no broker is told of it.
  TaskOrder order = TaskOrder::id;
};

struct Depth {  // of a type
  std::string type = {};
  std::uint64_t pending = 0;  // due or not
  std::uint64_t due = 0;
  std::uint64_t running = 0;
  std::uint64_t completed = 0, failed = 0, cancelled = 0, expired = 0;  // those that are kept
  std::optional<Instant> oldest_due = {};
};
void add(Depth& sum, const Depth& more);  // all but its type
std::uint64_t total(const Depth& depth);  // of tasks that are there

struct Totals {  // since the queue was made; for rates and metrics
  std::uint64_t submitted = 0, claimed = 0, completed = 0, failed = 0, retried = 0, rescheduled = 0,
                timed_out = 0, cancelled = 0, expired = 0, refused = 0;
};
struct Stats {
  std::vector<Depth> types = {};  // by name
  Totals totals = {};
};

// Why a task does not run.
enum class Hold : std::uint8_t {
  is_over = 1,
  running,      // by whom, until when
  not_due,      // until
  closed,       // scope, name, until
  rate,         // scope, name, until
  concurrency,  // scope, name: as many run as may
  waits,        // it may be claimed: `ahead` tasks of its type are before it
};
struct Why {
  Hold hold = Hold::waits;  // of several the one that lasts longest
  Scope scope = Scope::queue;
  std::string name = {};
  std::optional<Instant> until = {};
  std::uint64_t ahead = 0;
  std::string worker = {};  // running; the last one that claimed the type otherwise, if any
};

struct Closing {
  Scope scope = Scope::key;
  std::string name = {};
  Instant until = {};
};
struct Schedule {
  SetSchedule set = {};
  Instant next = {};
  std::optional<Instant> last = {};
};

class Machine {
 public:
  Machine(std::uint8_t shard, const Settings& settings);
  Machine(Machine&& other) noexcept;
  Machine& operator=(Machine&& other) noexcept;
  ~Machine();

  // The next segment: sequence() + 1. A reply for each command.
  std::vector<Reply> apply(Instant at, std::span<const Command> commands);

  std::uint64_t sequence() const;  // of the last segment; 0: none yet
  Instant now() const;             // its time

  // What a claim at `now` could bring, by the state as it is; at most `limit` is counted. A lease
  // that has ended by then counts too: the claim's segment is what ends it. Zero: a claim at `now`
  // would bring nothing.
  std::size_t claimable(std::span<const std::string> types, Instant now, std::size_t limit) const;
  // The reply to a claim or firing that would change nothing at `now`, so that nobody need write it
  // (a refusal is counted where it is written).
  std::optional<Reply> reply_in_vain(const Command& command, Instant now) const;
  // When, after `now`, a claim may bring more by time alone: a task becomes due, a lease ends, a
  // scope opens. Whoever found nothing claimable at `now` need not look before.
  std::optional<Instant> next_change(std::span<const std::string> types, Instant now) const;
  // Schedules that are due, the first one first, and when the next one is.
  std::vector<Schedule> due_schedules(Instant now) const;
  std::optional<Instant> next_firing() const;
  bool has_schedule(std::string_view name) const;

  // As of `now`, though no segment may have said so yet: what has outlived its time is expired.
  // Not given: as of the last segment.
  std::optional<Task> find(const TaskId& id, Instant now = {}) const;
  std::optional<History> history(const TaskId& id, Instant now = {}) const;
  std::optional<Why> why(const TaskId& id, Instant now) const;
  // By id. A page that begins after another costs about as much as it has to look at, whatever
  // there is besides: the first such one makes an order for those behind it.
  std::vector<Task> list(const TaskFilter& filter, Instant now = {}) const;
  Stats stats(Instant now) const;
  std::vector<Closing> closings(Instant now) const;
  std::vector<SetLimit> limits() const;
  std::vector<Schedule> schedules() const;
  std::size_t tasks() const;

  // The whole state; what save() wrote, load() makes again, bit for bit (snapshot.h puts a header
  // and checksums around it). The error of load() is as that of Frame::open() (frame.h).
  void save(ByteWriter& out) const;
  static Result<Machine> load(ByteReader& in, std::uint8_t shard, const Settings& settings);

  struct State;  // machine_state.h

 private:
  std::unique_ptr<State> state_;
};

}  // namespace pawl::queue
