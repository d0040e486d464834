// The calendar limit: so many in each minute, hour, day, week, month or year of the calendar.
//
// Why:      what a contract or a plan promises is "10,000 a month", and a month is one of the
//           calendar in the customer's time zone, not 30 days from somewhere.
// Contract: pure. Never more than the limit passes in one window. Windows follow the world's clock.
//           One that steps back across a window's start by up to bounds::clock_step_max, or a
//           machine whose clock lags that much, counts as standing at the start: nothing is handed
//           out twice. One that goes back further takes the count along into the window it lands
//           in; one that leaps ahead begins the window it lands in. So nobody waits for longer than
//           a window and a step, and a leap gives no more than one window's limit.
// State:    cell.a is the start of the window, cell.b what was used in it.
#pragma once

#include "core/limit/calendar_window.h"
#include "core/limit/state.h"
#include "core/limit/verdict.h"

namespace pawl::limit {

struct Calendar {
  std::int64_t count = 1;
  CalendarRule rule;
  bool operator==(const Calendar&) const = default;
};

Verdict look(const Calendar& calendar, const State& state, std::int64_t cost, Now now);
// What is used, also beyond the limit: under another rule there may have been more room.
std::int64_t used(const Calendar& calendar, const State& state, Now now);
void take(const Calendar& calendar, State& state, std::int64_t cost, Now now);
// Only what was taken in the window of now comes back.
void give_back(const Calendar& calendar, State& state, const Ask& use, Now now);
// After the clock went back: the count is that of the window of now. Else it changes nothing.
void rewind(const Calendar& calendar, State& state, Now now);

}  // namespace pawl::limit
