// OrderService: the order desk within `pawl serve`.
//
// Contract: there is one where a venue is configured. Begun: what processes that are gone left open
//           is found out about before anything new is sent, venues' channels are heard, and working
//           orders are looked at every orders.poll. Orders that are unresolved are an error in the
//           log at the start, a metric, and make health degraded; so do those that another process
//           leaves open later, but for the log.
// Threads:  one for all but degraded(), which any may ask.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>

#include "assembly/order_office.h"
#include "config/config.h"
#include "log/logger.h"
#include "metrics/metrics.h"
#include "pawl/clock.h"
#include "port/entropy.h"
#include "port/event_sink.h"

namespace pawl::cli {

class OrderService {
 public:
  struct Parts {
    Clock& clock;
    Entropy& entropy;
    EventSink& audit;
    const log::Logger& logger;
    metrics::Registry& metrics;
  };
  // Null: no venue is configured.
  static Result<std::unique_ptr<OrderService>> open(const config::Config& config,
                                                    const Parts& parts);
  ~OrderService();
  OrderService(const OrderService&) = delete;
  OrderService& operator=(const OrderService&) = delete;

  OrderDesk& desk() { return office_->desk(); }
  void begin();
  // Once a second.
  void tick();
  // Begins nothing more; callers that wait hear so.
  void drain();
  // The end, when nobody asks any more.
  void stop();
  // Empty, or what needs somebody to look at it.
  std::string degraded() const;

 private:
  struct Seen;
  OrderService(const config::Config& config, const Parts& parts);

  void look_for_open();
  void poll();

  Clock& clock_;
  const log::Logger logger_;
  const Duration poll_every_;
  SteadyInstant next_poll_;
  std::shared_ptr<Seen> seen_;  // late answers may outlive this
  std::unique_ptr<OrderOffice> office_;
  OrderCounts told_;
  metrics::Counter& confirmed_;
  metrics::Counter& rejected_;
  metrics::Counter& denied_;
  metrics::Counter& left_unresolved_;
  metrics::Counter& replayed_;
  metrics::Gauge& unresolved_;
  metrics::Gauge& left_;
  metrics::Gauge& under_way_;
};

}  // namespace pawl::cli
