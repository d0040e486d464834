// QueueMetrics: the numbers of a queue, as `pawl serve` or a worker sees it.
//
// Bounds:   types are what programs submit; so many have a label of their own
//           (bounds::metric_label_values_max), the rest is "other".
// Threads:  one at a time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/queue/machine.h"
#include "metrics/metrics.h"
#include "port/task_queue.h"

namespace pawl::cli {

class QueueMetrics {
 public:
  explicit QueueMetrics(metrics::Registry& registry);

  // What is there now.
  void update(const queue::Stats& stats, const QueueView& view, Instant now);
  void rescheduled(const std::string& type, Duration delay);

 private:
  struct OfType {
    metrics::Gauge* pending;
    metrics::Gauge* due;
    metrics::Gauge* running;
    metrics::Gauge* failed;
    metrics::Gauge* oldest;
  };
  static constexpr std::size_t event_kinds = 9;
  static constexpr std::size_t request_kinds = 4;

  metrics::LabelValue label_of(const std::string& type);
  OfType& of(const std::string& type);
  void update_types(const queue::Stats& stats, Instant now);

  metrics::Registry& registry_;
  std::map<std::string, std::unique_ptr<metrics::LabelSet>> names_;
  std::map<std::string, OfType, std::less<>> types_;  // by label
  std::vector<metrics::Counter*> events_ = {};
  std::array<std::uint64_t, event_kinds> events_told_ = {};
  std::array<metrics::Counter*, request_kinds> requests_;
  std::array<std::uint64_t, request_kinds> requests_told_ = {};
  metrics::Counter& commits_;
  metrics::Counter& commands_;
  metrics::Gauge& commit_seconds_;
  metrics::Gauge& commit_commands_;
  QueueView told_ = {};
};

}  // namespace pawl::cli
