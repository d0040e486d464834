#include "runtime/retry_watch.h"

#include <utility>

namespace pawl {

Result<void> RetryWatch::append(audit::Event event) {
  const bool is_retry = event.type == audit::EventType::retry_attempt;
  const Instant at = event.timestamp;
  PAWL_TRY(sink_.append(std::move(event)));
  if (is_retry) {
    const std::lock_guard lock(mutex_);
    rate_.note(at);
  }
  return {};
}

void RetryWatch::set_alert_above(std::int64_t retries) {
  const std::lock_guard lock(mutex_);
  alert_above_ = static_cast<std::uint64_t>(retries);
}

RetryWatch::Seen RetryWatch::look(Instant now) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t retries = rate_.in_minute_before(now);
  const bool before = std::exchange(alert_, retries > alert_above_);
  return {.retries = retries, .alert = alert_, .changed = before != alert_};
}

}  // namespace pawl
