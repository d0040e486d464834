#include "gateway/telemetry.h"

#include <mutex>
#include <utility>

namespace pawl::gateway {

Telemetry::Telemetry(metrics::Registry& registry, log::Logger logger)
    : log(std::move(logger)),
      allowed(registry.counter("pawl_limit_decisions_total", "Decisions of the limiter.",
                               {{"decision", "allowed"}})),
      refused(registry.counter("pawl_limit_decisions_total", "Decisions of the limiter.",
                               {{"decision", "refused"}})),
      shadow_refused(registry.counter("pawl_limit_shadow_refusals_total",
                                      "Refusals that buckets in shadow would have given.")),
      near_limits(registry.counter("pawl_limit_near_total",
                                   "Tenants that have used 80 % of a bucket, once a window.")),
      rejected(registry.counter("pawl_requests_rejected_total",
                                "Requests the framing gate refused as ambiguous or too large.")),
      outcome_applied(registry.counter("pawl_requests_total", "Requests ended, by outcome.",
                                       {{"outcome", "applied"}})),
      outcome_not_applied(registry.counter("pawl_requests_total", "Requests ended, by outcome.",
                                           {{"outcome", "not_applied"}})),
      outcome_unknown(registry.counter("pawl_requests_total", "Requests ended, by outcome.",
                                       {{"outcome", "unknown"}})),
      upstream_failures(registry.counter("pawl_upstream_failures_total",
                                         "Sends to the upstream that got no whole answer.")),
      audit_failures(
          registry.counter("pawl_audit_failures_total", "Events the audit log did not take.")),
      reloads(registry.counter("pawl_config_reloads_total", "Configuration reloads.",
                               {{"result", "applied"}})),
      reloads_refused(registry.counter("pawl_config_reloads_total", "Configuration reloads.",
                                       {{"result", "refused"}})),
      connections(
          registry.gauge("pawl_connections", "Client connections on the guarded listener.")),
      connections_refused(
          registry.counter("pawl_connections_refused_total",
                           "Client connections that were closed because there were too many.")),
      audit_lag(registry.gauge("pawl_audit_lag_events", "Audit events not yet durable.")),
      log_lines_lost(registry.counter("pawl_log_lines_lost_total",
                                      "Lines of the log that could not be written.")),
      request_time(registry.histogram("pawl_request_seconds",
                                      "From the head of a request to the end of its answer.",
                                      metrics::request_seconds)),
      registry_(registry) {
  const metrics::LabelSet results({"executed", "replayed", "tombstone", "in_flight", "mismatch",
                                   "unknown", "not_stored", "store_failure", "taken_over",
                                   "invalid_key", "missing_key"});
  for (std::size_t i = 0; i < writes.size(); ++i) {
    const std::string_view what = to_string(static_cast<request::WriteEvent>(i));
    writes[i] = &registry.counter("pawl_idempotency_total", "Writes with a key, by what was done.",
                                  {{"result", results.value(what)}});
  }
}

void Telemetry::count_end(const request::RecordEnd& end, Duration took) {
  switch (end.outcome) {
    case Outcome::applied:
      outcome_applied.add();
      break;
    case Outcome::not_applied:
      outcome_not_applied.add();
      break;
    case Outcome::unknown:
      outcome_unknown.add();
      break;
  }
  request_time.observe(took.seconds());
}

void Telemetry::count_limit(limit::Counts counts, const limit::Answer& answer) {
  (answer.allowed ? allowed : refused).add();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (answer.verdicts[i].allowed) continue;
    const limit::Policy& policy = *counts[i].policy;
    if (policy.options.shadow) shadow_refused.add();
    const std::shared_lock lock(buckets_mutex_);
    const auto bucket = buckets_.find(policy.name);
    if (bucket == buckets_.end()) continue;
    (policy.options.shadow ? bucket->second.shadow : bucket->second.enforced)->add();
  }
}

void Telemetry::use_buckets(std::span<const std::string> names) {
  const metrics::LabelSet labels = metrics::LabelSet::from_configuration(names);
  const auto counter = [&](const std::string& name, metrics::LabelValue mode) {
    return &registry_.counter("pawl_limit_refusals_total",
                              "What buckets refused, or would have refused in shadow.",
                              {{"bucket", labels.value(name)}, {"mode", mode}});
  };
  const std::unique_lock lock(buckets_mutex_);
  for (const std::string& name : names) {
    const OfBucket made{.enforced = counter(name, "enforced"), .shadow = counter(name, "shadow")};
    buckets_.insert_or_assign(name, made);
  }
}

Telemetry::Refusals Telemetry::refusals_of(const limit::Policy& policy) const {
  const std::shared_lock lock(buckets_mutex_);
  const auto bucket = buckets_.find(policy.name);
  if (bucket == buckets_.end()) return {};
  return {.enforced = bucket->second.enforced->value(), .shadow = bucket->second.shadow->value()};
}

}  // namespace pawl::gateway
