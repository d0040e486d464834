// MetricsDoor: the numbers of a worker, and of the queue it works on, for whoever asks on
// `pawl work --metrics`.
//
// Contract: GET /metrics. The queue is looked at every ten seconds, as the worker follows it: a
//           bucket is asked no more often than without; and not at all where it is a broker's,
//           which serves its own.
// Threads:  the loop's. The session outlives it.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "base/address.h"
#include "cli/queue_metrics.h"
#include "cli/queue_session.h"
#include "metrics/metrics.h"
#include "net/loop.h"
#include "pawl/result.h"
#include "server/http_server.h"

namespace pawl::cli {

class MetricsDoor {
 public:
  MetricsDoor(net::Loop& loop, QueueSession& session, metrics::Registry& registry);

  Result<void> open(const Endpoint& endpoint);

 private:
  // May be answered when the door is gone.
  struct Look {
    std::mutex mutex;
    std::optional<queue::Stats> found;
  };
  void tick();

  QueueSession& session_;
  metrics::Registry& registry_;
  server::HttpServer server_;
  const net::TimerPtr timer_;
  std::optional<QueueMetrics> queue_;  // none: a broker's
  const std::shared_ptr<Look> look_ = std::make_shared<Look>();
  unsigned ticks_ = 0;
};

}  // namespace pawl::cli
