// All of pawl's public interface.
#pragma once

#include "pawl/clock.h"
#include "pawl/durability.h"
#include "pawl/durable_operation.h"
#include "pawl/duration.h"
#include "pawl/executor.h"
#include "pawl/idempotency.h"
#include "pawl/limiter.h"
#include "pawl/orders.h"
#include "pawl/queue.h"
#include "pawl/result.h"
#include "pawl/retry.h"
#include "pawl/time.h"
#include "pawl/version.h"
#include "pawl/worker.h"
