// OrderSession: what a verb about orders needs: the log on standard error, the audit log, the
// office; and the word on orders that are unresolved or were left open, which nobody may overlook.
//
// Contract: work on orders ends with the verb. What is open then, nobody works on; at_rest() says
//           so of one order, and the next session of all.
// Threads:  interrupt() may come from any; the rest is for one.
#pragma once

#include <cstdint>
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

// What a verb may do.
enum class Purpose : std::uint8_t {
  look,
  change,  // so there must be an audit log
  place,   // the same, and a database that cannot be opened is a limit that cannot be checked
};

class OrderSession {
 public:
  static Result<std::unique_ptr<OrderSession>> open(const config::Config& config, Purpose purpose);
  ~OrderSession();
  OrderSession(const OrderSession&) = delete;
  OrderSession& operator=(const OrderSession&) = delete;

  OrderDesk& desk() { return office_->desk(); }
  OrderOffice& office() { return *office_; }
  Clock& clock() { return clock_; }
  Entropy& entropy() { return entropy_; }
  // Withdraws what has not left; callers that wait hear what is known once nothing is on the wire.
  void interrupt();
  // Ends the work, and gives the placement as it is kept then. One that is not unresolved stays as
  // it is, and nothing ends.
  Placed at_rest(Placed placed);
  // Ends the work in good order; the audit log is on the disk then.
  Result<void> close();

 private:
  explicit OrderSession(const config::Log& log);

  void tell_of_open_orders();

  SystemClock clock_;
  SystemEntropy entropy_;
  std::unique_ptr<log::Sink> sink_;
  log::Output output_;
  log::Logger logger_;
  std::unique_ptr<EventSink> audit_;
  std::unique_ptr<OrderOffice> office_;
};

}  // namespace pawl::cli
