// Gateway: `pawl serve`. One loop a thread, each with a listener of its own on the guarded address.
// The admin listener and the signals have a loop to themselves, so they answer when traffic is
// stuck.
//
// SIGTERM, SIGINT  drain: no new connections, what is in flight is finished, then the end; at most
//                  bounds::drain_deadline, or timeouts.answer where that is longer.
// SIGHUP           reload: all or nothing; usage is kept.
#pragma once

#include <atomic>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "admin/admin.h"
#include "config/config.h"
#include "gateway/authorize.h"
#include "gateway/proxy.h"
#include "gateway/telemetry.h"
#include "gateway/tenants.h"
#include "gateway/upstream_health.h"
#include "net/loop.h"
#include "pawl/clock.h"
#include "port/audit_trail.h"
#include "port/entropy.h"
#include "port/event_sink.h"
#include "port/record_store.h"
#include "runtime/engine.h"
#include "runtime/order_desk.h"
#include "runtime/webhooks.h"
#include "server/http_server.h"

namespace pawl::gateway {

class Gateway {
 public:
  // The next configuration, or what is wrong with it, one line a problem.
  using Reload = std::function<std::expected<config::Config, std::vector<std::string>>()>;

  struct Parts {
    Engine& engine;
    Clock& clock;
    Entropy& entropy;
    CounterStore& counters;
    RecordStore& records;
    EventSink& audit;
    AuditTrail* trail;                  // nullptr: no audit sink is a file
    Webhooks* webhooks;                 // nullptr: no endpoint is set
    OrderDesk* orders;                  // nullptr: no venue is configured
    admin::QueueHere* tasks = nullptr;  // nullptr: this pawl has no queue of its own
    log::Output& log_output;
    metrics::Registry& metrics;
    Reload reload;
    // For what is not the gateway's own. An error: nothing has changed, and nothing will.
    std::function<Result<void>(const config::Config&)> reloaded;
    std::function<Result<void>()> health;   // of the stores: an error says it is not ready
    std::function<std::string()> degraded;  // empty, or what works less well than it should
    std::function<std::vector<admin::StoreState>()> stores;
    std::function<json::Value(const config::Config&)> retry_policies;  // those in force
    const RetryTally* retries = nullptr;  // nullptr: they are not counted by category
    std::function<void()> every_second;
    std::function<void()> draining;  // once, when the end begins; must not block
  };

  Gateway(config::Config config, Parts parts);
  ~Gateway();

  // Opens what the configuration names, and takes the listeners. The addresses, with chosen ports,
  // are then known.
  Result<void> listen();
  Endpoint guarded_address() const { return guarded_; }
  Endpoint admin_address() const { return admin_; }

  // Serves until a signal ends it.
  void run();

 private:
  struct Worker;

  Result<void> open();
  void open_admin();
  json::Value policies() const;
  void count_by_bucket(const Settings& settings);
  Result<void> listen_guarded(Worker& worker);
  Result<void> listen_admin();
  void on_rejected(const http::Rejection& rejection, const IpAddress& peer);
  void on_near_limit(const NearLimit& near);
  void emit(const webhook::Event& event);
  void record(audit::Event event);
  void on_signal(int signal);
  void drain();
  void check_drained();
  Result<void> readiness();
  std::string degraded();
  void stop();
  void reload();
  Result<void> apply(const config::Config& next);
  void use(const SettingsPtr& settings);
  void refuse_reload(const std::vector<std::string>& reasons);
  void tick();
  void tell_of_turned_away();

  config::Config config_;
  Parts parts_;
  Telemetry telemetry_;
  Load load_;
  SettingsPtr settings_;
  UpstreamsPtr upstreams_;
  std::shared_ptr<server::Admission> admission_;
  std::unique_ptr<Tenants> tenants_;
  Endpoint guarded_;
  Endpoint admin_;
  std::atomic<bool> draining_ = false;
  SteadyInstant drain_due_;
  std::uint64_t turned_away_ = 0;  // that have been told of
  std::unique_ptr<net::Loop> control_ = net::Loop::make();
  UpstreamHealth health_{*control_};
  std::unique_ptr<Authorizer> authorizer_;
  std::unique_ptr<admin::Context> admin_context_;
  std::unique_ptr<admin::Admin> admin_api_;
  server::HttpServer admin_server_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace pawl::gateway
