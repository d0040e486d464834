// What ends or begins by time alone, before the commands of a segment.
#include <algorithm>

#include "core/queue/machine_state.h"

namespace pawl::queue {

void Machine::State::settle() {
  end_leases();
  end_lives();
  promote();
  open_scopes();  // they must know what is due
  forget_over();
  forget_resting();
}

void Machine::State::end_leases() {
  while (!leases.empty() && leases.head().when <= now) {
    Place place = leases.head();
    leases.pop();
    if (!is_live(place, Status::running)) continue;
    const Slot& slot = slots[place.slot];
    if (slot.until != place.when) {  // renewed meanwhile: its turn comes later
      place.when = slot.until;
      leases.push(place);
      continue;
    }
    const bool timed_out = slot.until == slot.claimed + held_most(slot.timeout);
    const std::string error =
        timed_out ? "lease expired: its timeout of " + to_string(slot.timeout) + " is over"
                  : std::string("lease expired");
    ++totals.timed_out;
    stop(place.slot, Ended::lease);
    retry(place.slot, {.reason = Reason::timed_out, .detail = error}, {});
  }
}

void Machine::State::end_lives() {
  while (!expiries.empty() && expiries.head().when <= now) {
    const Place place = expiries.head();
    expiries.pop();
    // As it was told by who looked before: of a time that may be long over.
    if (is_live(place, Status::pending)) expire(place.slot, place.when);
  }
}

void Machine::State::forget_over() {
  while (!ends.empty() && ends.front().at + settings.kept <= now) {
    const Over end = ends.front();
    ends.pop_front();
    const Slot& slot = slots[end.slot];
    if (slot.arrival == end.arrival && is_over(slot.status)) remove(end.slot);
  }
}

void Machine::State::promote() {
  while (!alarms.empty() && alarms.begin()->first <= now) {
    const std::uint32_t number = alarms.begin()->second;
    TypeState& type = types[number];
    while (!type.waiting.empty() && type.waiting.head().when <= now) {
      const Place place = type.waiting.head();
      type.waiting.pop();
      if (!is_live(place, Status::pending)) continue;
      set_due(slots[place.slot], true);
      type.ready.push(place);
    }
    set_alarm(number);
  }
}

void Machine::State::open_scopes() {
  while (!closed.empty() && closed.begin()->at <= now) {
    const ScopeAt closing = *closed.begin();
    closed.erase(closed.begin());
    find_gate(closing.scope, closing.number)->let_go(due_in(closing.scope, closing.number));
    rest(closing.scope, closing.number);  // sooner than it was to: a snapshot would not have it
  }
}

void Machine::State::forget_resting() {
  while (!resting.empty() && resting.begin()->at <= now) {
    const ScopeAt entry = *resting.begin();
    resting.erase(resting.begin());
    if (name_of(entry.scope, entry.number).empty()) continue;  // forgotten already
    rest(entry.scope, entry.number);
  }
}

}  // namespace pawl::queue
