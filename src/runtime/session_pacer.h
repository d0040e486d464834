// SessionPacer: lets the calls of one session out at the pace the other side allows. It drives the
// pure machine of core/limit/pacer.h with a counter store and a clock.
//
//   SessionPacer pacer({.session = "saxo-live", .rate = {1, Duration::seconds(1)}},
//                      {clock, store}, {.note = note});
//   PAWL_TRY(pacer.acquire({.operation = "place_order", .deadline = now + Duration::seconds(5)}));
//   … send …
//   pacer.heard("place_order", answer.status, answer.fields);
//
// Contract: an ask ends once: allowed, or refused with nothing sent (Code::refused: too late, or
//           too many wait; Code::unavailable: no store, and without it nobody knows the pace).
//           Processes that give the same name and session to the same store share one pace. All
//           answers to paced calls are to be heard(), refusals above all.
// Audit:    with Ports::events every decision is an event of its own (core/limit/pacer_record.h):
//           a call left, waits or is refused; the session was closed by a server, or reopened. What
//           the audit log does not take does not leave. Events about an order are found by its
//           external_reference as their correlation_id.
// Time:     there is no thread in here. Whoever blocks in acquire() watches the clock; whoever only
//           uses ask() calls poll() at the instant that Hooks::wake_at was given last. A poll() too
//           early does nothing.
// Threads:  any, for all but the destructor. Callbacks come on any thread that is in here or on one
//           of the store's, one at a time, with no lock held. They may call back into the pacer; to
//           block or to destroy it they may not.
// Lifetime: clock and store outlive it. Destroying it withdraws what waits; nobody may be blocked
//           in acquire() then.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/bounds.h"
#include "base/correlation.h"
#include "core/limit/pacer.h"
#include "core/limit/pushback.h"
#include "core/limit/rate.h"
#include "pawl/clock.h"
#include "pawl/result.h"
#include "port/counter_store.h"
#include "port/event_sink.h"

namespace pawl {

class SessionPacer {
 public:
  using Ticket = limit::pacer::Ticket;
  using Done = std::move_only_function<void(Result<void>)>;

  struct Options {
    std::string name = "orders";  // of the policy, as the store knows it
    std::string session = {};     // whom it counts: a name, never the session's token
    limit::Rate rate = {};
    std::int64_t burst = 0;
    bool adaptive = true;  // a 429 that names no instant closes the session for one interval
    Duration closing_max = bounds::pacer_closing_max;  // a longer word is believed for so long
  };
  struct Ports {
    Clock& clock;
    CounterStore& counters;
    EventSink* events = nullptr;  // null: no audit log is kept
  };
  // `ids` are those of the call that asked or was answered; empty where it is the session's alone.
  using Tell = std::function<void(const limit::pacer::Note& note, const Correlation& ids)>;
  struct Hooks {
    Tell note = {};
    std::function<void(SteadyInstant)> wake_at = {};
  };
  struct Ask {
    std::string operation = {};
    bool urgent = false;  // a cancel, or the venue's own reduce-only
    SteadyInstant deadline = SteadyInstant::max();
    Correlation correlation = {};  // of its audit events and notes
  };

  SessionPacer(Options options, Ports ports, Hooks hooks);
  ~SessionPacer();
  SessionPacer(const SessionPacer&) = delete;
  SessionPacer& operator=(const SessionPacer&) = delete;

  // Blocks until the call may leave, or is refused.
  Result<void> acquire(Ask ask);
  // `done` may be called before this returns.
  Ticket ask(Ask ask, Done done);
  // True: it waited, and its `done` will not be called. False: it has been, or is about to be.
  bool withdraw(Ticket ticket);

  // `ids` are those of the call.
  void heard(std::string operation, int status, std::span<const limit::Field> fields,
             Correlation ids = {});
  // Lifts what servers said, for everybody who shares the store: an operator knows that it no
  // longer holds. Calls go on at the pace, the first of them one interval from now; other processes
  // learn of it at their next ask after bounds::pacer_look_wait at the most. An error: the store
  // could not be told, and keeps the session closed.
  void reopen(Done done);
  void poll();

 private:
  struct State;
  std::shared_ptr<State> state_;  // a store's late answer may outlive this
};

}  // namespace pawl
