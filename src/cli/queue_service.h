// QueueService: the queue within `pawl serve`: for its admin API, and as a broker for others.
//
// Contract: there is one unless queue.url names a broker: that is where the queue's calls are
//           answered then. A queue that is not there is made. A store that is away does not keep
//           pawl from serving: it is tried again, and health says so meanwhile; settings that do
//           not fit the queue do.
// Threads:  one for all but here(), which the admin listener asks, and degraded(), which any may.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "admin/context.h"
#include "assembly/queue_office.h"
#include "cli/queue_metrics.h"
#include "cli/watched_queue.h"
#include "config/config.h"
#include "log/logger.h"
#include "metrics/metrics.h"
#include "pawl/clock.h"
#include "port/entropy.h"

namespace pawl::cli {

class QueueService {
 public:
  struct Parts {
    Clock& clock;
    Entropy& entropy;
    const log::Logger& logger;
    metrics::Registry& metrics;
  };
  // Null: the queue is a broker's. It waits a moment for the store.
  static Result<std::unique_ptr<QueueService>> open(const config::Config& config,
                                                    const Parts& parts);
  ~QueueService();
  QueueService(const QueueService&) = delete;
  QueueService& operator=(const QueueService&) = delete;

  admin::QueueHere& here() { return here_; }
  // Once a second.
  void tick();
  // Claims that wait hear that the end has begun; nothing more is taken.
  void drain();
  // The end, when nobody asks any more.
  void stop();
  // Empty, or what needs somebody to look at it.
  std::string degraded();

 private:
  QueueService(const config::Config& config, const Parts& parts);

  void open_until_it_is();
  bool try_to_open();
  Result<TaskQueue*> queue();

  Clock& clock_;
  const log::Logger logger_;
  const QueueOfficeSettings settings_;
  const QueueOffice::Parts office_parts_;
  admin::QueueHere here_;
  QueueMetrics metrics_;

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  bool ending_ = false;
  bool looking_ = false;
  std::optional<Error> error_;  // of the last try to open it
  std::string mark_;
  std::optional<Result<queue::Stats>> stats_;                  // that metrics have yet to show
  std::vector<std::pair<std::string, Duration>> rescheduled_;  // the same
  std::string trouble_;                                        // of the last look
  // Behind what its last answers, which may come when it ends, are put into.
  std::unique_ptr<QueueOffice> office_;
  std::unique_ptr<WatchedQueue> queue_;

  std::thread opener_;
};

}  // namespace pawl::cli
