// expect: a_length_of_time_is_in_seconds
// Two units for one thing end in a graph that is wrong by a thousand.
#include "metrics/metrics.h"

pawl::metrics::Gauge& lag(pawl::metrics::Registry& registry) {
#ifndef PAWL_FIXED
  return registry.gauge("pawl_audit_lag_ms", "Time since the last durable event.");
#endif
  return registry.gauge("pawl_audit_lag_seconds", "Time since the last durable event.");
}
