// expect: a_counter_name_ends_in_total_and_no_other_does
// Whoever reads a metric must see from its name that it only grows.
#include "metrics/metrics.h"

pawl::metrics::Counter& requests(pawl::metrics::Registry& registry) {
#ifndef PAWL_FIXED
  return registry.counter("pawl_requests", "Requests.");
#endif
  return registry.counter("pawl_requests_total", "Requests.");
}
