// RetryAlert: tells operators of more retries a minute than audit.retry_alert, in metrics and log.
#pragma once

#include <cstdint>

#include "log/logger.h"
#include "metrics/metrics.h"
#include "pawl/clock.h"
#include "runtime/retry_tally.h"

namespace pawl::cli {

class RetryAlert {
 public:
  struct Parts {
    Clock& clock;
    const log::Logger& logger;
    metrics::Registry& metrics;
  };
  // `tally` must outlive it.
  RetryAlert(const RetryTally& tally, std::int64_t alert_above, const Parts& parts);

  // Once a second.
  void tick();
  void set_alert_above(std::int64_t retries) { alert_above_ = retries; }

 private:
  const RetryTally& tally_;
  std::int64_t alert_above_;
  bool is_alert_ = false;
  Clock& clock_;
  const log::Logger& logger_;
  metrics::Gauge& alert_;
  metrics::Gauge& retries_;
};

}  // namespace pawl::cli
