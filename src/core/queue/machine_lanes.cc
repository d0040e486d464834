// Which due task of a type is the next that may be claimed (machine_state.h says how lanes work).
#include <algorithm>

#include "base/assert.h"
#include "core/queue/machine_state.h"

namespace pawl::queue {

void Machine::State::set_alarm(std::uint32_t number) {
  TypeState& type = types[number];
  const bool wanted_now = !type.waiting.empty();
  if (type.alarmed && wanted_now && type.alarm == type.waiting.head().when) return;
  if (type.alarmed) alarms.erase({type.alarm, number});
  type.alarmed = wanted_now;
  if (!wanted_now) return;
  type.alarm = type.waiting.head().when;
  alarms.insert({type.alarm, number});
}

// A pending task went without its place. When most places are such ones they are all cleared away.
void Machine::State::note_gone(std::uint32_t number) {
  TypeState& type = types[number];
  if (++type.gone < 64 || type.gone < type.count(Status::pending)) return;
  type.gone = 0;
  const auto live = [&](const Place& place) { return is_live(place, Status::pending); };
  type.waiting.keep_if(live);
  type.ready.keep_if(live);
  set_alarm(number);
  for (std::size_t i = type.lanes.size(); i-- > 0;) {  // one that goes leaves its place to the last
    const std::uint32_t lane = type.lanes[i];
    lanes[lane].places.keep_if(live);
    if (lanes[lane].places.empty()) drop_lane(lane);
  }
}

std::uint32_t Machine::State::lane_of(std::uint32_t type, std::uint32_t key) const {
  for (const std::uint32_t lane : keys[key].lanes) {
    if (lanes[lane].type == type) return lane;
  }
  return 0;
}

std::uint32_t Machine::State::make_lane(std::uint32_t type, std::uint32_t key) {
  const std::uint32_t number = lanes.make();
  lanes[number].type = type;
  lanes[number].key = key;
  lanes[number].wait = Lane::Wait::end_of_another;  // in none of its type's sets
  keys[key].lanes.push_back(number);
  lanes[number].place = static_cast<std::uint32_t>(types[type].lanes.size());
  types[type].lanes.push_back(number);
  return number;
}

void Machine::State::add_to_lane(std::uint32_t number, const Place& place) {
  Lane& lane = lanes[number];
  lane.places.push(place);
  if (lane.wait == Lane::Wait::none && Higher()(place, lane.placed)) open_lane(number);
}

// Out of the set of its type that it stands in.
void Machine::State::detach(std::uint32_t number) {
  Lane& lane = lanes[number];
  TypeState& type = types[lane.type];
  if (lane.wait == Lane::Wait::none) type.open.erase({.place = lane.placed, .lane = number});
  if (lane.wait == Lane::Wait::time) type.blocked.erase({lane.until, number});
  lane.wait = Lane::Wait::end_of_another;
}

void Machine::State::drop_lane(std::uint32_t number) {
  detach(number);
  std::erase(keys[lanes[number].key].lanes, number);
  std::vector<std::uint32_t>& others = types[lanes[number].type].lanes;
  lanes[others.back()].place = lanes[number].place;
  others[lanes[number].place] = others.back();
  others.pop_back();
  lanes.drop(number);
}

// Of a type that has no task any more.
void Machine::State::drop_lanes(std::uint32_t type) {
  while (!types[type].lanes.empty()) drop_lane(types[type].lanes.back());
}

// False when nothing is left in it.
bool Machine::State::tidy(Lane& lane) {
  while (!lane.places.empty() && !is_live(lane.places.head(), Status::pending)) lane.places.pop();
  return !lane.places.empty();
}

// To be looked at, where its first task stands.
void Machine::State::open_lane(std::uint32_t number) {
  detach(number);
  Lane& lane = lanes[number];
  if (!tidy(lane)) return drop_lane(number);
  lane.wait = Lane::Wait::none;
  lane.placed = lane.places.head();
  types[lane.type].open.insert({.place = lane.placed, .lane = number});
}

void Machine::State::block_lane(std::uint32_t number, const Gate::Look& look) {
  detach(number);
  if (look.barrier == Gate::Barrier::running) return;
  Lane& lane = lanes[number];
  lane.wait = Lane::Wait::time;
  lane.until = look.until;
  types[lane.type].blocked.insert({lane.until, number});
}

// Something about the key has changed: whatever its lanes waited for, it is worth a look.
void Machine::State::wake_key(std::uint32_t key) {
  const std::vector<std::uint32_t> all = keys[key].lanes;
  for (const std::uint32_t lane : all) open_lane(lane);
}

// Afterwards the first of `ready` and the first open lane are what they seem.
void Machine::State::tidy_front(TypeState& type) {
  while (!type.ready.empty() && !is_live(type.ready.head(), Status::pending)) type.ready.pop();
  while (!type.open.empty()) {
    const auto [place, lane] = *type.open.begin();
    if (is_live(place, Status::pending)) return;
    open_lane(lane);
  }
}

std::optional<Machine::State::Found> Machine::State::best(std::uint32_t number, Instant at) {
  TypeState& type = types[number];
  while (!type.blocked.empty() && type.blocked.begin()->first <= at) {
    open_lane(type.blocked.begin()->second);
  }
  for (;;) {
    tidy_front(type);
    if (type.ready.empty() && type.open.empty()) return {};
    if (type.ready.empty() ||
        (!type.open.empty() && Higher()(type.open.begin()->place, type.ready.head()))) {
      const auto [place, lane] = *type.open.begin();
      const Gate::Look look = look_at_key(lanes[lane].key, at);
      if (look.open()) return Found{.place = place, .lane = lane};
      block_lane(lane, look);
      continue;
    }
    const Place place = type.ready.head();
    const std::uint32_t key = slots[place.slot].key;
    if (key == 0 || !keys[key].gate) return Found{.place = place};
    std::uint32_t lane = lane_of(number, key);
    if (lane == 0) {
      const Gate::Look look = look_at_key(key, at);
      if (look.open()) return Found{.place = place};
      lane = make_lane(number, key);
      block_lane(lane, look);
    }
    type.ready.pop();
    add_to_lane(lane, place);
  }
}

void Machine::State::take(std::uint32_t number, const Found& found) {
  if (found.lane == 0) return types[number].ready.pop();
  lanes[found.lane].places.pop();
  open_lane(found.lane);
}

}  // namespace pawl::queue
