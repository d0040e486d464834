// OrderSession: what a verb about orders needs: the log on standard error, the audit log, the
// office; and the word on orders that are unresolved, which nobody may overlook.
#pragma once

#include <memory>
#include <string>

#include "adapter/system/system_clock.h"
#include "adapter/system/system_entropy.h"
#include "assembly/order_office.h"
#include "config/config.h"
#include "log/logger.h"
#include "log/sink.h"
#include "port/event_sink.h"

namespace pawl::cli {

OrderOfficeSettings office_settings(const config::Config& config);
// Writes what the office has to say to the log.
OrderOffice::Parts office_parts(Clock& clock, Entropy& entropy, const log::Logger& logger);

class OrderSession {
 public:
  // `audited`: it may change something, so there must be an audit log.
  static Result<std::unique_ptr<OrderSession>> open(const config::Config& config, bool audited);
  ~OrderSession();
  OrderSession(const OrderSession&) = delete;
  OrderSession& operator=(const OrderSession&) = delete;

  OrderDesk& desk() { return office_->desk(); }
  OrderOffice& office() { return *office_; }
  Clock& clock() { return clock_; }
  Entropy& entropy() { return entropy_; }
  // Ends the work in good order; the audit log is on the disk then.
  Result<void> close();

 private:
  explicit OrderSession(const config::Log& log);

  SystemClock clock_;
  SystemEntropy entropy_;
  std::unique_ptr<log::Sink> sink_;
  log::Output output_;
  log::Logger logger_;
  std::unique_ptr<EventSink> audit_;
  std::unique_ptr<OrderOffice> office_;
};

}  // namespace pawl::cli
