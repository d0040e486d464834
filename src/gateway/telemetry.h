// Telemetry: the gateway's metrics, looked up once, and its log.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <span>
#include <string>
#include <unordered_map>

#include "core/request/machine.h"
#include "log/logger.h"
#include "metrics/metrics.h"

namespace pawl::gateway {

struct Telemetry {
  Telemetry(metrics::Registry& registry, log::Logger logger);

  // A request is over; `status` is what its client saw.
  void count_end(const request::RecordEnd& end, Duration took);

  // Refusals are counted by these buckets from now on; those that are gone keep their numbers.
  void use_buckets(std::span<const std::string> names);
  struct Refusals {
    std::uint64_t enforced = 0;
    std::uint64_t shadow = 0;  // that would have been
  };
  Refusals refusals_of(const limit::Policy& policy) const;

  // The limits decided on a request.
  void count_limit(limit::Counts counts, const limit::Answer& answer);

  // A write with a key was decided on.
  void count_write(request::WriteEvent what) { writes[static_cast<std::size_t>(what)]->add(); }

  log::Logger log;
  metrics::Counter& allowed;
  metrics::Counter& refused;
  metrics::Counter& shadow_refused;
  metrics::Counter& near_limits;
  metrics::Counter& rejected;  // by the framing gate
  metrics::Counter& outcome_applied;
  metrics::Counter& outcome_not_applied;
  metrics::Counter& outcome_unknown;
  metrics::Counter& upstream_failures;
  metrics::Counter& audit_failures;
  metrics::Counter& reloads;
  metrics::Counter& reloads_refused;
  metrics::Gauge& connections;
  metrics::Counter& connections_refused;
  metrics::Gauge& audit_lag;
  metrics::Counter& log_lines_lost;
  metrics::Histogram& request_time;
  std::array<metrics::Counter*, request::write_events> writes = {};

 private:
  struct OfBucket {
    metrics::Counter* enforced;
    metrics::Counter* shadow;
  };

  metrics::Registry& registry_;
  mutable std::shared_mutex buckets_mutex_;            // taken by refusals alone
  std::unordered_map<std::string, OfBucket> buckets_;  // by name
};

}  // namespace pawl::gateway
