// Engine: drives the pure machines through the ports. It runs the effects a machine asks for, turns
// what came of them into the machine's next event, and goes on until there is nothing to run.
//
// Why:      every way into pawl (an HTTP request, an order, a task, a library call) is a Door to
//           the same engine, so they all obey the same decisions and leave the same audit trail.
// Threads:  any number of doors at once; one door's events come one after the other.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/correlation.h"
#include "core/request/machine.h"
#include "pawl/clock.h"
#include "port/counter_store.h"
#include "port/event_sink.h"
#include "runtime/retry_hints.h"

namespace pawl {

// One request's way in. Lives (by shared_ptr) for as long as the engine may come back to it.
class Door : public std::enable_shared_from_this<Door> {
 public:
  virtual ~Door() = default;

  // Effects that only the door can run.
  virtual void send_upstream() = 0;
  virtual void refuse(const request::Refuse& refusal) = 0;
  // The request is over. `recorded` says whether the audit log has it.
  virtual void ended(const request::RecordEnd& end, const Result<void>& recorded) = 0;
  // Runs `continuation` on the door's own thread: at once when called there.
  virtual void resume(std::move_only_function<void()> continuation) = 0;

  request::Machine machine;
  Correlation correlation;
  std::string operation;  // what the audit log calls it: "POST /orders"
  // Owns the policies the machine's counts point at. A store may still look at them when the door
  // is at its next request.
  std::shared_ptr<const void> policies;
};

class Engine {
 public:
  struct Ports {
    Clock& clock;
    CounterStore& counters;
    EventSink& audit;
  };
  explicit Engine(Ports ports) : ports_(ports) {}

  // Call on the door's thread.
  void handle(Door& door, const request::Event& event);

 private:
  void run(Door& door, const request::ChargeLimit& effect);
  void run(Door& door, const request::RecordLimit& effect);
  void run(Door& door, const request::SendUpstream& effect);
  void run(Door& door, const request::RenewLimit& effect);
  void run(Door& door, const request::SettleLimit& effect);
  void run(Door& door, const request::RefundLimit& effect);
  void run(Door& door, const request::Refuse& effect);
  void run(Door& door, const request::RecordEnd& effect);
  void charged(std::shared_ptr<Door> door, Result<Reservation> reserved);

  Ports ports_;
  RetryHints hints_;
};

}  // namespace pawl
