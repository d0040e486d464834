// Questions. They change nothing that anybody can see, though lanes may be tidied on the way.
#include <algorithm>
#include <map>

#include "base/bounds_queue.h"
#include "core/queue/machine_state.h"

namespace pawl::queue {
namespace {

void keep_earlier(std::optional<Instant>& kept, Instant other) {
  if (!kept || other < *kept) kept = other;
}

Hold hold_of(Gate::Barrier barrier) {
  switch (barrier) {
    case Gate::Barrier::closed:
      return Hold::closed;
    case Gate::Barrier::rate:
      return Hold::rate;
    case Gate::Barrier::running:
      return Hold::concurrency;
    case Gate::Barrier::none:
      break;
  }
  return Hold::waits;
}

}  // namespace

void add(Depth& sum, const Depth& more) {
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

std::uint64_t total(const Depth& depth) {
  return depth.pending + depth.running + depth.completed + depth.failed + depth.cancelled +
         depth.expired;
}

// In no order. Visit says whether to go on.
template <class Visit>
void Machine::State::each_due(const TypeState& type, const Visit& visit) const {
  const auto go_through = [&](const PlaceHeap<Higher>& places) {
    for (const Place& place : places.places()) {
      if (is_live(place, Status::pending) && !visit(slots[place.slot])) return false;
    }
    return true;
  };
  if (!go_through(type.ready)) return;
  for (const std::uint32_t lane : type.lanes) {
    if (!go_through(lanes[lane].places)) return;
  }
}

std::size_t Machine::State::claimable(std::span<const std::string> names, Instant at,
                                      std::size_t limit) {
  std::size_t ended = 0;
  leases.walk([&](const Place& place) {
    if (place.when > at || ended >= limit) return false;
    if (is_live(place, Status::running) && slots[place.slot].until <= at) ++ended;
    return true;
  });
  std::map<std::uint32_t, std::uint64_t> key_rooms;
  const auto takes_key = [&](const Slot& slot) {
    if (slot.key == 0 || !keys[slot.key].gate) return true;
    const KeyState& key = keys[slot.key];
    const auto found =
        key_rooms.try_emplace(slot.key, key.gate->room(at, key.running, key.due)).first;
    return found->second > 0 && found->second-- > 0;
  };
  const std::size_t most_now = std::min<std::uint64_t>(gate.room(at, running, due), limit - ended);
  std::size_t room = most_now;
  const auto count_type = [&](std::uint32_t number) {
    TypeState& type = types[number];
    const std::uint64_t most =
        type.gate ? type.gate->room(at, type.count(Status::running), type.due) : room;
    std::size_t left = std::min<std::uint64_t>(room, most);
    const std::size_t before = left;
    // Its own gate is open, so whatever is first may be claimed; beyond that, a count of those
    // that stand near is good enough.
    std::size_t looks = 4 * limit + 64;
    if (left > 0 && best(number, at)) {
      each_due(type, [&](const Slot& slot) {
        if (takes_key(slot)) --left;
        return left > 0 && --looks > 0;
      });
      left = std::min(left, before - 1);
    }
    type.waiting.walk([&](const Place& place) {
      if (place.when > at || left == 0) return false;
      if (is_live(place, Status::pending) && takes_key(slots[place.slot])) --left;
      return true;
    });
    room -= before - left;
  };
  if (!names.empty()) {
    for (const std::uint32_t type : wanted(names)) count_type(type);
    return ended + most_now - room;
  }
  std::set<std::uint32_t> all = busy;
  for (const auto& [when, type] : alarms) {
    if (when > at) break;
    all.insert(type);
  }
  for (const std::uint32_t type : all) count_type(type);
  return ended + most_now - room;
}

std::optional<Instant> Machine::State::next_lease_end(Instant at) const {
  std::optional<Instant> first;
  leases.walk([&](const Place& place) {
    if (first && place.when >= *first) return false;
    const Instant until = slots[place.slot].until;
    if (is_live(place, Status::running) && until > at) keep_earlier(first, until);
    return true;
  });
  return first;
}

// When, after `at`, something of the type may be claimed that may not now; leases left aside.
std::optional<Instant> Machine::State::next_of_type(std::uint32_t number, Instant at) {
  TypeState& type = types[number];
  const Gate::Look look = look_at_type(number, at);
  if (look.barrier == Gate::Barrier::running) return {};
  std::optional<Instant> first;
  if (best(number, at)) first = at;
  if (!type.blocked.empty()) keep_earlier(first, type.blocked.begin()->first);
  type.waiting.walk([&](const Place& place) {
    if (first && place.when >= *first) return false;
    if (!is_live(place, Status::pending)) return true;
    if (place.when > at) {
      keep_earlier(first, place.when);
      return false;
    }
    const Gate::Look key = look_at_key(slots[place.slot].key, at);
    if (key.barrier != Gate::Barrier::running) keep_earlier(first, key.open() ? at : key.until);
    return true;
  });
  if (!first) return {};
  return look.open() ? first : std::max(*first, look.until);
}

std::optional<Instant> Machine::State::next_change(std::span<const std::string> names, Instant at) {
  std::optional<Instant> first = next_lease_end(at);
  const Gate::Look look = look_at_queue(at);
  if (look.barrier == Gate::Barrier::running) return first;
  const auto add_type = [&](std::uint32_t type) {
    const auto next = next_of_type(type, at);
    if (!next) return;
    const Instant when = look.open() ? *next : std::max(*next, look.until);
    if (when > at) keep_earlier(first, when);
  };
  if (!names.empty()) {
    for (const std::uint32_t type : wanted(names)) add_type(type);
    return first;
  }
  for (const std::uint32_t type : busy) add_type(type);
  for (const auto& [when, type] : alarms) {
    if (first && when >= *first) break;  // no other one is earlier
    add_type(type);
  }
  return first;
}

std::uint64_t Machine::State::ahead_of(const Slot& slot, Instant at) const {
  const Place place = {.when = slot.available, .arrival = slot.arrival, .priority = slot.priority};
  std::uint64_t ahead = 0;
  const TypeState& type = types[slot.type];
  const auto count = [&](const Slot& other) {
    const Place others = {
        .when = other.available, .arrival = other.arrival, .priority = other.priority};
    if (Higher()(others, place) && look_at_key(other.key, at).open()) ++ahead;
    return true;
  };
  each_due(type, count);
  type.waiting.walk([&](const Place& other) {
    if (other.when > at) return false;
    if (is_live(other, Status::pending)) count(slots[other.slot]);
    return true;
  });
  return ahead;
}

// Of several holds the one that lasts longest; what has no end of its own comes last.
Why Machine::State::why_pending(const Slot& slot, Instant at) const {
  const std::uint32_t worker = types[slot.type].worker;
  Why why = {.worker = worker != 0 ? workers[worker].name : std::string()};
  if (slot.available > at) {
    why.hold = Hold::not_due;
    why.until = slot.available;
  }
  const std::array<std::pair<Scope, Gate::Look>, 3> looks = {{
      {Scope::queue, look_at_queue(at)},
      {Scope::type, look_at_type(slot.type, at)},
      {Scope::key, look_at_key(slot.key, at)},
  }};
  for (const auto& [scope, look] : looks) {
    if (look.open()) continue;
    const bool has_end = look.barrier != Gate::Barrier::running;
    const bool is_longer =
        has_end ? !why.until || *why.until < look.until : why.hold == Hold::waits;
    if (!is_longer) continue;
    why.hold = hold_of(look.barrier);
    why.scope = scope;
    why.name = name_of(scope, scope == Scope::type ? slot.type : slot.key);
    if (has_end) why.until = look.until;
  }
  if (why.hold == Hold::waits) why.ahead = ahead_of(slot, at);
  return why;
}

// Behind a task of the lowest priority stand only later ones, so a type whose tasks are all of one
// priority costs a look, however many wait.
std::optional<Instant> Machine::State::oldest_due(const TypeState& type, Instant at) const {
  std::optional<Instant> oldest;
  const auto look = [&](const Place& place) {
    const bool is_last = place.priority == type.lowest;
    if (is_last && oldest && *oldest <= place.when) return false;
    if (!is_live(place, Status::pending) || slots[place.slot].expires <= at) return true;
    keep_earlier(oldest, place.when);
    return !is_last;
  };
  type.ready.walk(look);
  for (const std::uint32_t lane : type.lanes) lanes[lane].places.walk(look);
  return oldest;
}

// What no segment has let expire yet, by type.
std::map<std::uint32_t, Machine::State::Expired> Machine::State::expired_by(Instant at) const {
  std::map<std::uint32_t, Expired> all;
  expiries.walk([&](const Place& place) {
    if (place.when > at) return false;
    if (!is_live(place, Status::pending)) return true;
    const Slot& slot = slots[place.slot];
    Expired& expired = all[slot.type];
    ++expired.pending;
    expired.due += slot.available <= at ? 1 : 0;
    return true;
  });
  return all;
}

Depth Machine::State::depth_of(const TypeState& type, Instant at) const {
  Depth depth = {.type = type.name,
                 .pending = type.count(Status::pending),
                 .due = type.due,
                 .running = type.count(Status::running),
                 .completed = type.count(Status::completed),
                 .failed = type.count(Status::failed),
                 .cancelled = type.count(Status::cancelled),
                 .expired = type.count(Status::expired)};
  depth.oldest_due = oldest_due(type, at);
  type.waiting.walk([&](const Place& place) {
    if (place.when > at) return false;
    if (!is_live(place, Status::pending)) return true;
    ++depth.due;
    if (slots[place.slot].expires > at) keep_earlier(depth.oldest_due, place.when);
    return true;
  });
  return depth;
}

std::size_t Machine::claimable(std::span<const std::string> types, Instant now,
                               std::size_t limit) const {
  return state_->claimable(types, std::max(now, state_->now), limit);
}

std::optional<Reply> Machine::reply_in_vain(const Command& command, Instant now) const {
  return std::visit(
      [&](const auto& given) { return state_->reply_in_vain(given, std::max(now, state_->now)); },
      command);
}

std::optional<Instant> Machine::next_change(std::span<const std::string> types, Instant now) const {
  return state_->next_change(types, std::max(now, state_->now));
}

std::optional<Why> Machine::why(const TaskId& id, Instant now) const {
  const std::uint32_t number = state_->find(id);
  if (number == 0) return {};
  const Slot& slot = state_->slots[number];
  const Status status = state_->status_at(slot, now);
  if (is_over(status)) return Why{.hold = Hold::is_over};
  if (status == Status::pending) return state_->why_pending(slot, std::max(now, state_->now));
  return Why{
      .hold = Hold::running, .until = slot.until, .worker = state_->workers[slot.worker].name};
}

// What it is by then, though it is the next segment that makes it so.
Status Machine::State::status_at(const Slot& slot, Instant at) const {
  return slot.status == Status::pending && slot.expires <= at ? Status::expired : slot.status;
}

Task Machine::State::task_at(const Slot& slot, Instant at) const {
  Task task = task_of(slot);
  task.status = status_at(slot, at);
  if (task.status != slot.status) task.updated_at = *(task.completed_at = slot.expires);
  return task;
}

// By one look at each.
std::vector<std::uint32_t> Machine::State::first_by(const auto& before, std::size_t limit,
                                                    const auto& fits) const {
  const auto sooner = [&](std::uint32_t a, std::uint32_t b) { return before(slots[a], slots[b]); };
  std::vector<std::uint32_t> found;  // a heap of the first ones, the last of them in front
  for (std::uint32_t number = 1; limit > 0 && number < slots.end(); ++number) {
    if (slots[number].status == Status{} || !fits(slots[number])) continue;
    if (found.size() == limit) {
      if (!sooner(number, found.front())) continue;
      std::ranges::pop_heap(found, sooner);
      found.pop_back();
    }
    found.push_back(number);
    std::ranges::push_heap(found, sooner);
  }
  std::ranges::sort_heap(found, sooner);
  return found;
}

// By the order, which is made if there is none.
std::vector<std::uint32_t> Machine::State::next_by_id(const TaskFilter& filter, const auto& fits) {
  if (!by_id.is_made()) {
    std::vector<SlotOrder::Entry> all;
    all.reserve(ids.size());
    for (std::uint32_t number = 1; number < slots.end(); ++number) {
      if (slots[number].status != Status{}) all.push_back({.id = slots[number].id, .slot = number});
    }
    by_id.make(std::move(all));
  }
  const std::size_t limit = std::min(filter.limit, bounds::tasks_listed_max);
  std::vector<std::uint32_t> found;
  by_id.walk(filter.after, [&](const SlotOrder::Entry& entry) {
    if (found.size() >= limit) return SlotOrder::Seen::enough;
    const Slot& slot = slots[entry.slot];
    if (slot.status == Status{} || slot.id != entry.id) return SlotOrder::Seen::gone;
    if (fits(slot)) found.push_back(entry.slot);
    return SlotOrder::Seen::shown;
  });
  return found;
}

bool comes_before(TaskOrder order, const OrderedBy& a, const OrderedBy& b) {
  if (order == TaskOrder::changed && a.updated != b.updated) return a.updated > b.updated;
  if (order == TaskOrder::due && a.available != b.available) return a.available < b.available;
  return a.id < b.id;
}

std::vector<Task> Machine::list(const TaskFilter& filter, Instant now) const {
  const std::uint32_t type = filter.type.empty() ? 0 : state_->types.find(filter.type);
  const std::uint32_t key = filter.key.empty() ? 0 : state_->keys.find(filter.key);
  // A name that nobody has is not that of the tasks without one.
  if ((!filter.type.empty() && type == 0) || (!filter.key.empty() && key == 0)) return {};
  const auto fits = [&](const Slot& slot) {
    return (!filter.status || state_->status_at(slot, now) == *filter.status) &&
           (type == 0 || slot.type == type) && (key == 0 || slot.key == key) &&
           (!filter.updated_after || slot.updated > *filter.updated_after);
  };
  const auto by = [](const Slot& slot) -> OrderedBy {
    return {.id = slot.id, .updated = slot.updated, .available = slot.available};
  };
  const auto before = [&](const Slot& a, const Slot& b) {
    return comes_before(filter.order, by(a), by(b));
  };
  const bool pages = filter.after.has_value();
  const auto found =
      pages ? state_->next_by_id(filter, fits)
            : state_->first_by(before, std::min(filter.limit, bounds::tasks_listed_max), fits);
  std::vector<Task> tasks;
  tasks.reserve(found.size());
  for (const std::uint32_t number : found) {
    tasks.push_back(state_->task_at(state_->slots[number], now));
  }
  return tasks;
}

Stats Machine::stats(Instant now) const {
  Stats stats = {.totals = state_->totals};
  const Instant at = std::max(now, state_->now);
  const auto expired = state_->expired_by(at);
  state_->types.each([&](std::uint32_t number, const TypeState& type) {
    if (type.uses == 0) return;
    stats.types.push_back(state_->depth_of(type, at));
    const auto found = expired.find(number);
    if (found == expired.end()) return;
    Depth& depth = stats.types.back();
    depth.pending -= found->second.pending;
    depth.due -= found->second.due;
    depth.expired += found->second.pending;
  });
  std::ranges::sort(stats.types, {}, &Depth::type);
  return stats;
}

}  // namespace pawl::queue
