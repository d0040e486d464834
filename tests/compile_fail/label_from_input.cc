// expect: is not a constant expression
// A label with a value for every tenant that ever asks would fill the memory of whoever keeps it.
#include "metrics/metrics.h"

pawl::metrics::Counter& requests_of(pawl::metrics::Registry& registry,
                                    const pawl::metrics::LabelSet& known, const char* tenant) {
#ifndef PAWL_FIXED
  return registry.counter("pawl_requests_total", "Requests.", {{"tenant", tenant}});
#endif
  return registry.counter("pawl_requests_total", "Requests.", {{"tenant", known.value(tenant)}});
}
