// WorkMetrics: the numbers of a worker, by task type.
//
// Threads:  claimed() and ended() as WorkerHooks has them; the rest of the registry any.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "metrics/metrics.h"
#include "runtime/task_worker.h"

namespace pawl::cli {

class WorkMetrics {
 public:
  WorkMetrics(metrics::Registry& registry, std::span<const std::string> types);

  void claimed(const queue::Task& task);
  void ended(const TaskAttemptEnd& end);

 private:
  static constexpr std::size_t hows = static_cast<std::size_t>(TaskAttemptEnd::How::refused) + 1;
  struct OfType {
    metrics::Counter* claimed;
    std::array<metrics::Counter*, hows> ended;
    metrics::Counter* rescheduled;
    metrics::Histogram* delay;
    metrics::Histogram* took;
  };
  OfType& of(const queue::Task& task);

  metrics::LabelSet names_;
  std::map<std::string, OfType, std::less<>> types_;
  metrics::Gauge& running_;
};

}  // namespace pawl::cli
