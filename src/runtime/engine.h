// Engine: drives the pure machines through the ports. It runs the effects a machine asks for, turns
// what came of them into the machine's next event, and goes on until there is nothing to run.
//
// Why:      every way into pawl (an HTTP request, an order, a task, a library call) is a Door to
//           the same engine, so they all obey the same decisions and leave the same audit trail.
// Threads:  any number of doors at once; one door's events come one after the other.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/correlation.h"
#include "core/request/machine.h"
#include "pawl/clock.h"
#include "port/counter_store.h"
#include "port/event_sink.h"
#include "port/record_store.h"
#include "runtime/flights.h"
#include "runtime/retry_hints.h"
#include "runtime/visits.h"
#include "runtime/write_stats.h"

namespace pawl {

// A write with a key. A store may still have an ask of it when the door is at its next request.
struct Write {
  RecordKey key;
  std::string client_key;  // as the client gave it
  Flights::Ticket flight = {};
  std::uint64_t late_fence = 0;  // of a claim that was not waited for; 0: not taken, or not yet
  std::optional<idempotency::Completion> left_as = {};  // how it ended without that
};

class Engine;

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
  // Is this its own thread? Then what comes need not be handed over.
  virtual bool is_here() const { return false; }

  // Effects of writes with a key, for doors that have some.
  // The answer that was held back while it was put on record.
  virtual void deliver() {}
  // The answer of the first time.
  virtual void replay(const request::Replay& /*replay*/) {}
  // What became of a write.
  virtual void noted(const request::NoteWrite& /*note*/) {}
  // Calls back with Overdue{ask} that much later; a call that was asked for before is given up.
  virtual void wake_after(Duration /*wait*/, std::uint64_t /*ask*/) {}

  request::Machine machine;
  Correlation correlation;
  std::string operation;  // what the audit log calls it: "POST /orders"
  // Owns the policies the machine's counts point at. A store may still look at them when the door
  // is at its next request.
  std::shared_ptr<const void> policies;
  std::shared_ptr<Write> write;  // of a write with a key
  Engine* driver = nullptr;      // set by the engine that drives it
};

class Engine {
 public:
  struct Ports {
    Clock& clock;
    CounterStore& counters;
    EventSink& audit;
    RecordStore* records = nullptr;  // none: no door has writes with a key
  };
  explicit Engine(Ports ports) : ports_(ports) {}

  // Waits until the record store has answered every ask: nobody may come back to a door that goes.
  void drain() { asks_.drain(); }

  // False: so much waits for the audit log that nothing new should be begun.
  bool has_room() const { return ports_.audit.has_room(); }

  const WriteStats& write_stats() const { return write_stats_; }
  // Has a write been let down by the record store within the last seconds?
  bool lost_records_lately() const;

  // Call on the door's thread.
  void handle(Door& door, const request::Event& event);

 private:
  void run(Door& door, const request::ChargeLimit& effect);
  void run(Door& door, const request::RecordLimit& effect);
  void record_of_limit(Door& door, const Result<void>& recorded);
  void run(Door& door, const request::SendUpstream& effect);
  void run(Door& door, const request::RenewLimit& effect);
  void run(Door& door, const request::SettleLimit& effect);
  void run(Door& door, const request::RefundLimit& effect);
  void run(Door& door, const request::Refuse& effect);
  void run(Door& door, const request::RecordEnd& effect);
  void run(Door& door, const request::LookUp& effect);
  void run(Door& door, const request::Claim& effect);
  void run(Door& door, const request::RecordWrite& effect);
  void run(Door& door, const request::LeaveClaim& effect);
  void run(Door& door, const request::RenewClaim& effect);
  void run(Door& door, const request::WaitForOther& effect);
  void run(Door& door, const request::NoteWrite& effect);
  void run(Door& door, const request::Deliver& effect);
  void run(Door& door, const request::Replay& effect);
  void claimed(Door& door, const std::shared_ptr<Write>& write, request::Claimed event);
  void end_late_claim(const std::shared_ptr<Write>& write);
  void charged(std::shared_ptr<Door> door, Result<Reservation> reserved);
  void decided(Door& door, Result<Reservation> reserved);

  Ports ports_;
  RetryHints hints_;
  Flights flights_;
  Visits asks_;  // of the record store
  WriteStats write_stats_;
  std::atomic<SteadyInstant> records_lost_at_ = SteadyInstant();  // the last time; never: zero
};

}  // namespace pawl
