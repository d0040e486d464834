// OrderPace: the pace of one venue's session, at work: a SessionPacer that timers wake and that
// hears every answer of the venue.
//
// Contract: that of session_pacer.h; nobody needs to poll.
// Threads:  any. Lifetime: the ports outlive it; the venue may call late, and is not heard then.
#pragma once

#include <functional>
#include <memory>

#include "pawl/clock.h"
#include "port/counter_store.h"
#include "port/event_sink.h"
#include "port/timers.h"
#include "port/venue.h"
#include "runtime/session_pacer.h"

namespace pawl {

class OrderPace : public std::enable_shared_from_this<OrderPace> {
 public:
  struct Ports {
    Clock& clock;
    Timers& timers;
    CounterStore& counters;
    EventSink* audit = nullptr;
    SessionPacer::Tell note = {};
  };
  static std::shared_ptr<OrderPace> open(SessionPacer::Options options, Ports ports, Venue& venue);

  SessionPacer& pacer() { return *pacer_; }

 private:
  explicit OrderPace(Ports ports) : ports_(std::move(ports)) {}
  void wake_at(SteadyInstant at);

  Ports ports_;
  std::unique_ptr<SessionPacer> pacer_;
};

}  // namespace pawl
