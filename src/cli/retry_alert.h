// RetryAlert: tells operators of more retries a minute than audit.retry_alert, in metrics and log.
#pragma once

#include <cstdint>

#include "log/logger.h"
#include "metrics/metrics.h"
#include "pawl/clock.h"
#include "runtime/retry_watch.h"

namespace pawl::cli {

class RetryAlert {
 public:
  struct Parts {
    Clock& clock;
    const log::Logger& logger;
    metrics::Registry& metrics;
  };
  RetryAlert(EventSink& sink, std::int64_t alert_above, const Parts& parts);

  // What the rest of pawl appends to, so that retries are seen.
  EventSink& sink() { return watch_; }
  // Once a second.
  void tick();
  void set_alert_above(std::int64_t retries);

 private:
  RetryWatch watch_;
  std::int64_t alert_above_;
  Clock& clock_;
  const log::Logger& logger_;
  metrics::Gauge& alert_;
  metrics::Gauge& retries_;
};

}  // namespace pawl::cli
