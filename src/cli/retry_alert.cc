#include "cli/retry_alert.h"

#include <utility>

namespace pawl::cli {

RetryAlert::RetryAlert(const RetryTally& tally, std::int64_t alert_above, const Parts& parts)
    : tally_(tally),
      alert_above_(alert_above),
      clock_(parts.clock),
      logger_(parts.logger),
      alert_(
          parts.metrics.gauge("pawl_retry_rate_alert",
                              "1 while there are more retries a minute than audit.retry_alert.")),
      retries_(parts.metrics.gauge("pawl_retries_in_last_minute",
                                   "Retries decided on in the last 60 seconds.")) {}

void RetryAlert::tick() {
  const auto retries = static_cast<std::int64_t>(tally_.all_of_last_minute(clock_.wall_now()));
  const bool was_alert = std::exchange(is_alert_, retries > alert_above_);
  alert_.set(is_alert_ ? 1 : 0);
  retries_.set(static_cast<double>(retries));
  if (is_alert_ == was_alert) return;
  if (is_alert_) {
    logger_.warn("retry_rate_alert", {{"retries_in_last_minute", retries},
                                      {"alert_above", alert_above_},
                                      {"advice", "'pawl audit stats' shows which category"}});
  } else {
    logger_.info("retry_rate_normal", {{"retries_in_last_minute", retries}});
  }
}

}  // namespace pawl::cli
