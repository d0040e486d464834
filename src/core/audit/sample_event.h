// An event of usual size, for benchmarks.
#pragma once

#include "core/audit/event.h"

namespace pawl::audit {

inline Event sample_event() {
  return {.type = EventType::limit,
          .timestamp = Instant::from_ns(1'769'375'700'000'000'000),
          .operation = "POST /v1/orders",
          .correlation = {.tenant_id = "acme",
                          .request_id = "order-17_place_1769375700000_0f8fad5b",
                          .trace_id = "4bf92f3577b34da6a3ce929d0e0e4736"},
          .details = {{"bucket", "global"},
                      {"allowed", true},
                      {"limit", 100},
                      {"remaining", 57},
                      {"retry_after_ms", 0}}};
}

}  // namespace pawl::audit
