// What stands behind Idempotency, for Executor, which acts on the same keys.
#pragma once

#include <memory>

#include "adapter/system/system_clock.h"
#include "pawl/idempotency.h"
#include "port/record_store.h"

namespace pawl {

struct Idempotency::State {
  explicit State(Clock* given) : clock(given == nullptr ? system_clock : *given) {}

  SystemClock system_clock;
  Clock& clock;
  Duration ttl = {};
  std::unique_ptr<RecordStore> records;
};

}  // namespace pawl
