// The inside of the machine (machine.h). Its functions stand in files by what they are about:
//
//   machine_tasks.cc     a task comes, changes its state, goes; counts and names with it
//   machine_lanes.cc     which due task of a type is the next that may be claimed
//   machine_scopes.cc    gates: closings, limits
//   machine_time.cc      what ends or begins by time alone
//   machine_claims.cc    commands: submit, claim
//   machine_commands.cc  commands of whoever holds a task, or speaks about one; schedules
//   machine_query.cc     questions
//   machine_save.cc      the whole as bytes, and back
//
// Canonical: nothing that a reader can see, or save() writes, depends on how the state came about:
//           numbers of slots, lanes and places that have gone are not seen.
// Lanes:    a due task stands in `ready` of its type until it is met in front with its key's gate
//           shut. Then it goes to the lane of its key, and further ones of that key follow when
//           they are met. A lane with a wait is not looked at before its time, or before a task of
//           the key ends. So each task moves once, and a token that comes costs one step, however
//           many wait for it.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/queue/gate.h"
#include "core/queue/machine.h"
#include "core/queue/named.h"
#include "core/queue/place_heap.h"
#include "core/queue/slab.h"
#include "core/queue/slot.h"
#include "core/queue/slot_index.h"
#include "core/queue/slot_order.h"

namespace pawl::queue {

struct Machine::State {
  State(std::uint8_t shard_, const Settings& settings_) : shard(shard_), settings(settings_) {}

  std::uint8_t shard;
  Settings settings;
  std::uint64_t sequence = 0;
  Instant now;
  std::uint64_t next_arrival = 1;
  Totals totals;

  Slab<Slot> slots;
  SlotIndex ids;
  SlotOrder by_id;  // when somebody lists page by page
  SlotIndex uniques;
  Named<KeyState> keys;
  Named<TypeState> types;
  Named<WorkerName> workers;
  Named<KeptRule> rules;
  Slab<Lane> lanes;

  Gate gate;  // of the queue
  std::uint32_t running = 0;
  std::uint32_t due = 0;
  std::uint32_t over = 0;
  std::uint32_t mortal = 0;  // pending, with a time to live

  struct Over {
    Instant at;
    std::uint32_t slot = 0;
    std::uint64_t arrival = 0;
  };
  PlaceHeap<Sooner> leases;
  PlaceHeap<Sooner> expiries;
  std::deque<Over> ends;                               // of tasks that are over, in their order
  std::set<std::pair<Instant, std::uint32_t>> alarms;  // types, by the first that becomes due
  std::set<std::uint32_t> busy;                        // types with due tasks
  struct ScopeAt {
    Instant at;
    Scope scope = Scope::queue;
    std::uint32_t number = 0;  // of the key or type
    auto operator<=>(const ScopeAt&) const = default;
  };
  std::set<ScopeAt> closed;   // until then
  std::set<ScopeAt> resting;  // without tasks; to be forgotten then
  std::map<std::pair<Limited, std::string>, SetLimit> limits;
  std::map<std::string, Schedule, std::less<>> kept_schedules;
  // Of those that are enabled: when they fire next, and their names (in the map above).
  std::set<std::pair<Instant, std::string_view>> firings;

  // machine_tasks.cc
  std::uint32_t find(const TaskId& id) const;
  std::uint32_t find_unique(std::uint32_t key, std::string_view unique) const;
  std::uint32_t add(const TaskId& id, const TaskTerms& terms, Instant expires);
  void index(std::uint32_t number);  // a filled slot becomes known
  void remove(std::uint32_t number);
  void enter_pending(std::uint32_t number, Instant available);
  void line_up(std::uint32_t number);  // a pending one gets its place
  void leave_pending(std::uint32_t number);
  void start(std::uint32_t number, std::uint32_t worker, Duration lease);
  void stop(std::uint32_t number, Ended by);
  void finish(std::uint32_t number, Status status, Instant at);
  void set_due(Slot& slot, bool is_due);
  void record(Slot& slot, Version version);
  void set_error(Slot& slot, std::string_view error);
  void set_input(Slot& slot, std::string_view input);
  void cancel(std::uint32_t number);
  void expire(std::uint32_t number, Instant at);
  void retry(std::uint32_t number, const Version& version, Duration not_before);
  std::uint32_t use_key(std::string_view name);
  std::uint32_t use_type(std::string_view name);
  std::uint32_t use_worker(std::string_view name);
  std::uint32_t use_rule(const RetryRule& rule);
  void drop_worker(std::uint32_t number);
  Task task_of(const Slot& slot) const;
  bool is_live(const Place& place, Status status) const {
    const Slot& slot = slots[place.slot];
    return slot.arrival == place.arrival && slot.status == status;
  }

  // machine_lanes.cc
  struct Found {
    Place place;
    std::uint32_t lane = 0;  // 0: in `ready`
  };
  std::optional<Found> best(std::uint32_t type, Instant at);
  void take(std::uint32_t type, const Found& found);
  void tidy_front(TypeState& type);
  bool tidy(Lane& lane);
  void set_alarm(std::uint32_t type);
  void note_gone(std::uint32_t type);
  void drop_lanes(std::uint32_t type);
  std::uint32_t lane_of(std::uint32_t type, std::uint32_t key) const;
  std::uint32_t make_lane(std::uint32_t type, std::uint32_t key);
  void add_to_lane(std::uint32_t lane, const Place& place);
  void detach(std::uint32_t lane);
  void open_lane(std::uint32_t lane);
  void block_lane(std::uint32_t lane, const Gate::Look& look);
  void drop_lane(std::uint32_t lane);
  void wake_key(std::uint32_t key);

  // machine_scopes.cc
  std::uint32_t find_or_make(Scope scope, std::string_view name);
  Gate* find_gate(Scope scope, std::uint32_t number);
  Gate& make_gate(Scope scope, std::uint32_t number);
  std::uint32_t due_in(Scope scope, std::uint32_t number) const;
  Gate::Look look_at_queue(Instant at) const { return gate.look(at, running); }
  Gate::Look look_at_type(std::uint32_t type, Instant at) const;
  Gate::Look look_at_key(std::uint32_t key, Instant at) const;
  void close_scope(const ScopeAt& closing, Duration spread);
  GateLimit limit_of(Limited limited, const std::string& name) const;
  std::optional<std::string> share_problem(const SetLimit& limit) const;
  void apply_limit(Limited limited, const std::string& name);
  void rest(Scope scope, std::uint32_t number);
  std::string name_of(Scope scope, std::uint32_t number) const;

  // machine_time.cc
  void settle();
  void end_leases();
  void end_lives();
  void forget_over();
  void promote();
  void open_scopes();
  void forget_resting();

  // machine_claims.cc, machine_commands.cc
  Reply run(const Submit& submit);
  Reply run(const Claim& claim);
  Reply run(const Renew& renew);
  Reply run(const Complete& complete);
  Reply run(const Fail& fail);
  Reply run(const Reschedule& reschedule);
  Reply run(const Cancel& cancel);
  Reply run(const Replay& replay);
  Reply run(const Close& close);
  Reply run(const SetLimit& limit);
  Reply run(const SetSchedule& schedule);
  Reply run(const Fire& fire);
  std::optional<Reply> reply_in_vain(const Claim& claim, Instant at);
  std::optional<Reply> reply_in_vain(const Fire& fire, Instant at);
  static std::optional<Refusal> refusal_of(const Claim& claim);
  std::optional<Refusal> refusal_of(const Fire& fire) const;
  std::optional<Reply> reply_in_vain(const auto&, Instant) { return {}; }
  std::vector<std::uint32_t> wanted(std::span<const std::string> names) const;
  struct Held {
    std::uint32_t slot = 0;  // 0: see the answer
    Reply answer = Refusal();
  };
  Held held(const TaskId& id, std::uint64_t fence, Ended by) const;
  Changed changed(const Slot& slot) const;
  using KeptSchedule = std::map<std::string, Schedule, std::less<>>::iterator;
  void set_next(KeptSchedule kept, Instant next);
  std::vector<std::optional<Reply>> end_in_time(std::span<const Command> commands);
  bool has_same_input(const Slot& slot, std::string_view input) const;

  // machine_query.cc
  std::size_t claimable(std::span<const std::string> names, Instant at, std::size_t limit);
  std::optional<Instant> next_change(std::span<const std::string> names, Instant at);
  std::optional<Instant> next_of_type(std::uint32_t type, Instant at);
  std::optional<Instant> next_lease_end(Instant at) const;
  Why why_pending(const Slot& slot, Instant at) const;
  std::uint64_t ahead_of(const Slot& slot, Instant at) const;
  Depth depth_of(const TypeState& type, Instant at) const;
  std::optional<Instant> oldest_due(const TypeState& type, Instant at) const;
  struct Expired {
    std::uint64_t pending = 0;
    std::uint64_t due = 0;  // of these
  };
  std::map<std::uint32_t, Expired> expired_by(Instant at) const;
  Status status_at(const Slot& slot, Instant at) const;
  Task task_at(const Slot& slot, Instant at) const;
  std::vector<std::uint32_t> first_by(const auto& before, std::size_t limit,
                                      const auto& fits) const;
  std::vector<std::uint32_t> next_by_id(const TaskFilter& filter, const auto& fits);
  template <class Visit>
  void each_due(const TypeState& type, const Visit& visit) const;

  // machine_save.cc
  void save(ByteWriter& out) const;
  Result<void> load(ByteReader& in);
};

inline Refusal refuse(Code code, std::string message) {
  return {.code = code, .message = std::move(message)};
}
// What is wrong with what a submit or a schedule says, if anything is.
Result<void> check_terms(const TaskTerms& terms);
retry::Policy policy_of(const RetryRule& rule);

}  // namespace pawl::queue
