#include "cli/serve.h"

#include <csignal>
#include <memory>
#include <optional>
#include <sys/resource.h>
#include <utility>

#include "adapter/file/audit_pages.h"
#include "adapter/system/system_clock.h"
#include "adapter/system/system_entropy.h"
#include "assembly/audit_sinks.h"
#include "assembly/record_stores.h"
#include "cli/audit_settings.h"
#include "cli/counter_stores.h"
#include "cli/log_settings.h"
#include "cli/order_service.h"
#include "cli/probe.h"
#include "cli/queue_service.h"
#include "cli/retry_alert.h"
#include "cli/retry_text.h"
#include "cli/store_states.h"
#include "cli/webhook_desk.h"
#include "config/places.h"
#include "log/logger.h"
#include "log/sink.h"
#include "metrics/metrics.h"
#include "runtime/engine.h"
#include "runtime/retry_tally.h"

namespace pawl::cli {
namespace {

void say_note(EventSink& audit, const log::Logger& logger) {
  if (const std::string note = audit.take_note(); !note.empty()) {
    logger.warn("audit_note", {{"note", note}});
  }
}

// What is served besides requests, where it is configured.
struct Services {
  void tick() const {
    if (orders) orders->tick();
    if (queue) queue->tick();
  }
  void drain() const {
    if (orders) orders->drain();
    if (queue) queue->drain();
  }
  void stop() const {
    if (orders) orders->stop();  // what was on the wire is recorded
    if (queue) queue->stop();
  }

  std::optional<std::string> orders_said() const {
    return orders ? std::optional(orders->degraded()) : std::nullopt;
  }
  std::optional<std::string> queue_said() const {
    return queue ? std::optional(queue->degraded()) : std::nullopt;
  }

  std::unique_ptr<OrderService> orders;
  std::unique_ptr<QueueService> queue;
};

// Empty, or what works less well than it should.
std::string degraded(CounterStores& counters, RecordStore& records, const Services& services) {
  std::string out = counters.degraded();
  const auto add = [&out](const std::string& said) {
    if (!said.empty()) out.append(out.empty() ? "" : "; ").append(said);
  };
  if (services.orders) add(services.orders->degraded());
  if (services.queue) add(services.queue->degraded());
  const Result<void> health = records.health();
  if (!health) add("idempotency: " + health.error().message);
  return out;
}

json::Value retry_policies(const config::Config& config) {
  return policy_list(config.retry);
}

std::string upstreams_of(const config::Server& server) {
  std::string out;
  for (const config::Upstream& each : server.upstreams) {
    out.append(out.empty() ? "" : ", ").append(config::to_string(each));
  }
  return out;
}

// To read the log back: the first sink that is a file.
std::optional<AuditPages> audit_pages(const config::Audit& audit) {
  for (const StoreSetting& sink : audit.sinks) {
    if (sink.kind == StoreSetting::Kind::file) return AuditPages(sink.path);
  }
  return std::nullopt;
}

// Every connection needs a descriptor, and one more for its way upstream.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

Result<void> serve(const config::Config& config, gateway::Gateway::Reload reload) {
  std::signal(SIGPIPE, SIG_IGN);  // a client that left is an error value, not a signal
  raise_descriptor_limit();
  SystemClock clock;
  SystemEntropy entropy;
  const std::unique_ptr<log::Sink> sink = log::stderr_sink();
  log::Output output(clock, *sink, log_settings(config.log));
  const log::Logger logger(output);
  metrics::Registry metrics;
  PAWL_TRY(require_free(config.server.listen, "server.listen"));
  PAWL_TRY(require_free(config.server.admin.listen, "server.admin.listen"));
  const OpenedAudit log = PAWL_TRY(open_probed_audit(audit_settings(config.audit)));
  RetryTally tally(*log.sink);
  RetryAlert retries(tally, config.audit.retry_alert, {clock, logger, metrics});
  EventSink& audit = tally;
  say_note(audit, logger);
  const std::unique_ptr<CounterStores> counters =
      PAWL_TRY(CounterStores::open(config.limits, {clock, entropy, logger, metrics}));
  const std::unique_ptr<RecordStore> records =
      PAWL_TRY(open_records(config.idempotency.store, config.idempotency.durability, clock));
  const std::unique_ptr<WebhookDesk> hooks =
      PAWL_TRY(WebhookDesk::open(config.webhooks, {clock, *records, audit, metrics}));
  Services services;
  services.orders = PAWL_TRY(OrderService::open(config, {clock, entropy, audit, logger, metrics}));
  services.queue = PAWL_TRY(QueueService::open(config, {clock, entropy, logger, metrics}));
  DurabilityProbes probes(clock);
  add_probes(probes, config,
             {.clock = clock,
              .records = *records,
              .audit = log.durability,
              .has_orders = services.orders != nullptr,
              .has_queue = services.queue != nullptr});
  probes.begin();
  std::optional<AuditPages> trail = audit_pages(config.audit);
  Engine engine(
      {.clock = clock, .counters = counters->store(), .audit = audit, .records = records.get()});

  const auto reloaded = [&](const config::Config& next) -> Result<void> {
    PAWL_TRY(hooks->reload(next.webhooks));
    output.set(log_settings(next.log));
    retries.set_alert_above(next.audit.retry_alert);
    return {};
  };
  const auto every_second = [&] {
    say_note(audit, logger);
    counters->tick();
    retries.tick();
    hooks->tick();
    services.tick();
  };
  gateway::Gateway gateway(
      config, {.engine = engine,
               .clock = clock,
               .entropy = entropy,
               .counters = counters->store(),
               .records = *records,
               .audit = audit,
               .trail = trail ? &*trail : nullptr,
               .webhooks = &hooks->webhooks(),
               .orders = services.orders ? &services.orders->desk() : nullptr,
               .tasks = services.queue ? &services.queue->here() : nullptr,
               .log_output = output,
               .metrics = metrics,
               .reload = std::move(reload),
               .reloaded = reloaded,
               .health = [&] { return counters->store().health(); },
               .degraded = [&] { return degraded(*counters, *records, services); },
               .stores =
                   [&] {
                     return store_states({probes, *counters, *records, audit,
                                          services.orders_said(), services.queue_said()});
                   },
               .retry_policies = retry_policies,
               .retries = &tally,
               .every_second = every_second,
               .draining = [&] { services.drain(); }});
  PAWL_TRY(gateway.listen());
  logger.info("serving", {{"version", PAWL_VERSION},
                          {"guarded", to_string(gateway.guarded_address())},
                          {"admin", to_string(gateway.admin_address())},
                          {"upstream", upstreams_of(config.server)}});
  if (services.orders) services.orders->begin();
  gateway.run();
  services.stop();
  counters->drain();  // while the gateway stands, to which late answers go
  engine.drain();
  hooks->stop();
  const Result<void> flushed = audit.flush();
  logger.info("stopped");
  return flushed;
}

}  // namespace pawl::cli
