#include "cli/retry_alert.h"

namespace pawl::cli {

RetryAlert::RetryAlert(EventSink& sink, std::int64_t alert_above, const Parts& parts)
    : watch_(sink, alert_above),
      alert_above_(alert_above),
      clock_(parts.clock),
      logger_(parts.logger),
      alert_(
          parts.metrics.gauge("pawl_retry_rate_alert",
                              "1 while there are more retries a minute than audit.retry_alert.")),
      retries_(parts.metrics.gauge("pawl_retries_in_last_minute",
                                   "Retries decided on in the last 60 seconds.")) {}

void RetryAlert::tick() {
  const RetryWatch::Seen seen = watch_.look(clock_.wall_now());
  alert_.set(seen.alert ? 1 : 0);
  retries_.set(static_cast<double>(seen.retries));
  if (!seen.changed) return;
  const auto retries = static_cast<std::int64_t>(seen.retries);
  if (seen.alert) {
    logger_.warn("retry_rate_alert", {{"retries_in_last_minute", retries},
                                      {"alert_above", alert_above_},
                                      {"advice", "'pawl audit stats' shows which category"}});
  } else {
    logger_.info("retry_rate_normal", {{"retries_in_last_minute", retries}});
  }
}

void RetryAlert::set_alert_above(std::int64_t retries) {
  alert_above_ = retries;
  watch_.set_alert_above(retries);
}

}  // namespace pawl::cli
