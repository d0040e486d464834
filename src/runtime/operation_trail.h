// OperationTrail: what one operation leaves in the audit log.
//
// Contract: each call says whether the log has taken the event; without a log it has. The first
//           that it did not take is remembered.
// Threads:  one at a time.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "core/audit/success.h"
#include "pawl/clock.h"
#include "port/event_sink.h"

namespace pawl {

struct Operation;

std::shared_ptr<const audit::Trail> trail_of(const Operation& operation, retry::Policy policy);

class OperationTrail {
 public:
  // `sink` may be none.
  OperationTrail(std::shared_ptr<const audit::Trail> trail, Clock& clock, EventSink* sink)
      : trail_(std::move(trail)), clock_(clock), sink_(sink) {}

  const audit::Trail& trail() const { return *trail_; }
  // The log takes nothing any more: nothing is to be begun.
  Result<void> alive();

  // How the last attempt failed, in the words of whoever made it.
  struct Failed {
    std::string_view type = {};
    std::string_view message = {};
  };
  bool decided(const retry::Facts& facts, const retry::Decision& decision, const Failed& failed);
  bool hedged(int attempt);
  bool budget_refused(int attempt);
  bool reconciled(int attempt, Outcome found);
  bool slept(std::string_view task, int attempt, Duration delay);
  bool resumed(std::string_view task, int attempt, Duration slept);
  bool key(std::string_view key, audit::IdempotencyAction action);
  bool breaker(std::string_view guard, audit::BreakerState state, Duration wait);

  const std::optional<Error>& unaudited() const { return unaudited_; }

 private:
  audit::RetrySubject subject() { return trail_->subject(clock_.wall_now()); }
  template <class What>
  bool note(What what);
  bool append(audit::Event event);
  bool taken(const Result<void>& appended);

  const std::shared_ptr<const audit::Trail> trail_;
  Clock& clock_;
  EventSink* const sink_;
  std::optional<Error> unaudited_;
};

}  // namespace pawl
