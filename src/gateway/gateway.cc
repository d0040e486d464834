#include "gateway/gateway.h"

#include <algorithm>
#include <csignal>
#include <thread>
#include <utility>

#include "base/id.h"
#include "config/reload.h"
#include "core/webhook/event.h"
#include "gateway/policies.h"
#include "server/responder.h"

namespace pawl::gateway {
namespace {

server::Admission::Rule admission_rule(const Settings& settings) {
  return {.connections = settings.connections_max,
          .per_address = settings.connections_per_address_max,
          .excepted = settings.tenants.trusted_proxies,
          .ipv6_prefix = settings.tenants.ipv6_prefix};
}

server::Timeouts client_timeouts(const Settings& settings) {
  return {.head = settings.timeouts.head, .idle = settings.timeouts.idle};
}

Result<std::shared_ptr<const net::Tls>> open_tls(const config::Tls& tls) {
  if (tls.certificate.empty()) return std::shared_ptr<const net::Tls>();
  return PAWL_TRY(net::Tls::server(tls.certificate, tls.key, net::Tls::Protocol::http));
}

admin::GateSettings gate_settings(const config::Admin& admin) {
  return {.token = admin.token, .hosts = admin.hosts, .trading = admin.panel.trading};
}

admin::PanelSettings panel_settings(const config::Config& config) {
  const config::Panel& panel = config.server.admin.panel;
  admin::PanelSettings settings{.upgrade_text = panel.upgrade_text,
                                .upgrade_link = panel.upgrade_link};
  if (config.orders.venues.saxo) settings.venues.emplace_back("saxo");
  if (config.orders.venues.okx) settings.venues.emplace_back("okx");
  return settings;
}

}  // namespace

// What lives on one thread.
struct Gateway::Worker {
  Worker(Gateway& gateway, const std::shared_ptr<const net::Tls>& tls)
      : loop(net::Loop::make()),
        router(*loop),
        context{.loop = *loop,
                .engine = gateway.parts_.engine,
                .clock = gateway.parts_.clock,
                .entropy = gateway.parts_.entropy,
                .telemetry = gateway.telemetry_,
                .router = router,
                .tenants = *gateway.tenants_,
                .load = gateway.load_,
                .settings = gateway.settings_,
                .unknown_write =
                    [&gateway](const webhook::UnknownWrite& write) {
                      gateway.emit(to_event(write, gateway.parts_.clock.wall_now()));
                    },
                .scheme = tls ? "https" : "http"},
        guarded(*loop, gateway.parts_.clock,
                {.make_handler =
                     [this](server::Connection& client) {
                       return std::make_shared<Proxy>(context, client);
                     },
                 .rejected = [&gateway](
                                 const http::Rejection& rejection,
                                 const IpAddress& peer) { gateway.on_rejected(rejection, peer); },
                 .admission = gateway.admission_,
                 .tls = tls,
                 .timeouts = client_timeouts(*gateway.settings_)}) {
    router.use(gateway.upstreams_);
  }

  std::size_t in_use() const { return guarded.connections() + context.detached.size(); }
  void end_if_done() {
    if (ending && context.detached.empty()) loop->stop();
  }

  std::unique_ptr<net::Loop> loop;
  UpstreamRouter router;
  LoopContext context;
  server::HttpServer guarded;
  std::atomic<std::size_t> connections = 0;  // as of the last tick, for the others to read
  std::atomic<bool> draining = false;        // it takes no new ones
  bool ending = false;                       // as soon as what was cut off is on record
};

Gateway::Gateway(config::Config config, Parts parts)
    : config_(std::move(config)),
      parts_(std::move(parts)),
      telemetry_(parts_.metrics, log::Logger(parts_.log_output)),
      admin_server_(*control_, parts_.clock, {.make_handler = [this](server::Connection& client) {
        return server::make_responder(
            client, server::Respond([this](const server::Request& request, server::Reply reply) {
              admin_api_->answer(request, std::move(reply));
            }),
            bounds::admin_body_bytes_max);
      }}) {}

Gateway::~Gateway() = default;

Result<void> Gateway::open() {
  const auto seed = parts_.entropy.next();
  tenants_ = PAWL_TRY(Tenants::open(
      {.store = parts_.counters,
       .clock = parts_.clock,
       .telemetry = telemetry_,
       .seed = hash_of({reinterpret_cast<const char*>(seed.data()), seed.size()}, 0).low,
       .plans_file = config_.tenants.plans_file,
       .near = [this](const NearLimit& near) { on_near_limit(near); },
       .plans_changed = [this] { use(make_settings(config_, tenants_->live_plans())); }}));
  PAWL_TRY(check_live_plans(config_, tenants_->live_plans()));
  settings_ = make_settings(config_, tenants_->live_plans());
  tenants_->use(settings_);
  count_by_bucket(*settings_);
  admission_ = std::make_shared<server::Admission>(admission_rule(*settings_));
  upstreams_ = PAWL_TRY(make_upstreams(*settings_, nullptr, [this](const HealthChange& change) {
    telemetry_.log.warn(
        "upstream_health",
        {{"upstream", change.upstream}, {"healthy", change.healthy}, {"reason", change.reason}});
  }));
  health_.watch(upstreams_);
  const auto tls = PAWL_TRY(open_tls(config_.server.tls));
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  const int threads = config_.server.threads > 0 ? config_.server.threads : std::max(1, cores);
  for (int i = 0; i < threads; ++i) workers_.push_back(std::make_unique<Worker>(*this, tls));
  open_admin();
  return {};
}

void Gateway::open_admin() {
  authorizer_ =
      std::make_unique<Authorizer>(Authorizer::Parts{.loop = *control_,
                                                     .engine = parts_.engine,
                                                     .clock = parts_.clock,
                                                     .entropy = parts_.entropy,
                                                     .tenants = *tenants_,
                                                     .settings = [this] { return settings_; }});
  admin_context_ = std::make_unique<admin::Context>(admin::Context{
      .clock = parts_.clock,
      .entropy = parts_.entropy,
      .counters = parts_.counters,
      .records = parts_.records,
      .audit = parts_.audit,
      .tenants = *tenants_,
      .writes = parts_.engine.write_stats(),
      .metrics = parts_.metrics,
      .trail = parts_.trail,
      .webhooks = parts_.webhooks,
      .orders = parts_.orders,
      .tasks = parts_.tasks,
      .retries = parts_.retries,
      .ready = [this] { return readiness(); },
      .degraded = [this] { return degraded(); },
      .refresh = [this] { tick(); },
      .stores = parts_.stores,
      .policies = [this] { return policies(); },
      .authorize = [this](
                       const admin::Context::Question& question,
                       Authorizer::Done done) { authorizer_->decide(question, std::move(done)); },
      .resume =
          [this](std::move_only_function<void()> then) { control_->dispatch(std::move(then)); },
      .run = uuid_v7(parts_.clock.wall_now(), parts_.entropy.next()),
      .gate = gate_settings(config_.server.admin),
      .panel = panel_settings(config_),
      .record_ttl = config_.idempotency.ttl});
  admin_api_ = std::make_unique<admin::Admin>(*admin_context_);
}

json::Value Gateway::policies() const {
  return json::Object{{"limits", limits_json(*settings_, telemetry_)},
                      {"plans", plans_json(config_)},
                      {"retry", parts_.retry_policies(config_)}};
}

void Gateway::count_by_bucket(const Settings& settings) {
  std::vector<std::string> names;
  for (const limit::Policy* policy : settings.plans.default_plan().policies) {
    names.push_back(policy->name);
  }
  telemetry_.use_buckets(names);
}

Result<void> Gateway::listen() {
  PAWL_TRY(open());
  guarded_ = config_.server.listen;
  for (const auto& worker : workers_) PAWL_TRY(listen_guarded(*worker));
  return listen_admin();
}

Result<void> Gateway::listen_guarded(Worker& worker) {
  // The first one chooses the port when any will do; the others share it.
  guarded_ = PAWL_TRY(worker.guarded.listen(guarded_));
  worker.loop->every(Duration::milliseconds(100), [this, &worker] {
    const auto detached = worker.context.detached;  // one may end meanwhile
    for (const auto& proxy : detached) proxy->on_tick(parts_.clock.steady_now());
    worker.connections.store(worker.in_use(), std::memory_order_relaxed);
    worker.end_if_done();
  });
  return {};
}

Result<void> Gateway::listen_admin() {
  admin_ = PAWL_TRY(admin_server_.listen(config_.server.admin.listen));
  control_->on_signals({SIGTERM, SIGINT, SIGHUP}, [this](int signal) { on_signal(signal); });
  control_->every(Duration::milliseconds(100), [this] { admin_api_->tick(); });
  control_->every(Duration::seconds(1), [this] {
    tick();
    parts_.every_second();
    admin_api_->sample();
  });
  return {};
}

void Gateway::run() {
  std::vector<std::jthread> threads;
  for (const auto& worker : workers_) {
    threads.emplace_back([loop = worker->loop.get()] { loop->run(); });
  }
  control_->run();
  threads.clear();
  admin_api_->drain();
}

// The gate's refusals are decisions too: logged, counted and recorded.
void Gateway::on_rejected(const http::Rejection& rejection, const IpAddress& peer) {
  telemetry_.rejected.add();
  const std::string address = to_string(peer);
  telemetry_.log.warn("request_rejected", {{"reason", rejection.reason}, {"peer", address}});
  record({.type = audit::EventType::rejected,
          .timestamp = parts_.clock.wall_now(),
          .operation = "frame",
          .correlation = {},
          .details = {{"reason", rejection.reason}, {"peer", address}}});
}

// Once a window a tenant and bucket, from whichever loop has seen it.
void Gateway::on_near_limit(const NearLimit& near) {
  telemetry_.near_limits.add();
  telemetry_.log.info("limit_near", {{"tenant", near.tenant},
                                     {"bucket", near.bucket},
                                     {"plan", near.plan},
                                     {"used", near.usage.used},
                                     {"limit", near.usage.limit}});
  record(to_audit_event(near));
  webhook::Event event = to_event(
      webhook::NearLimit{.tenant = near.tenant,
                         .bucket = near.bucket,
                         .limit = near.usage.limit,
                         .used = near.usage.used,
                         .resets_at = near.at + Duration::seconds(near.usage.reset_seconds),
                         .plan = near.plan,
                         .next_plan = near.next_plan},
      near.at);
  event.id = near.id;  // the same from every gateway that notices
  emit(event);
}

void Gateway::emit(const webhook::Event& event) {
  if (parts_.webhooks == nullptr) return;
  parts_.webhooks->emit(event, [log = telemetry_.log](const Result<bool>& emitted) {
    if (!emitted) log.error("webhook_not_kept", {{"reason", emitted.error().message}});
  });
}

void Gateway::record(audit::Event event) {
  if (const auto recorded = parts_.audit.append(std::move(event)); !recorded) {
    telemetry_.audit_failures.add();
    telemetry_.log.error("audit_failed", {{"reason", recorded.error().message}});
  }
}

Result<void> Gateway::readiness() {
  if (draining_) return failure(Code::unavailable, "it is draining");
  PAWL_TRY(parts_.audit.health());
  return parts_.health();
}

std::string Gateway::degraded() {
  std::string out = parts_.degraded();
  if (out.empty() && parts_.engine.lost_records_lately()) {
    out = "the store of idempotency keys does not answer in time";
  }
  if (const std::string trouble = upstreams_->trouble(); !trouble.empty()) {
    out.append(out.empty() ? "" : "; ").append(trouble);
  }
  return out;
}

void Gateway::on_signal(int signal) {
  if (signal == SIGHUP) {
    reload();
  } else {
    drain();
  }
}

// For as long as what is in flight may take by its own deadline.
void Gateway::drain() {
  if (draining_.exchange(true)) return;
  if (parts_.draining) parts_.draining();
  const Duration deadline = std::max(bounds::drain_deadline, settings_->timeouts.answer);
  telemetry_.log.info("draining", {{"deadline_seconds", deadline.seconds()}});
  drain_due_ = parts_.clock.steady_now() + deadline;
  for (const auto& worker : workers_) {
    worker->loop->dispatch([&target = *worker] {
      target.loop->stop_listening();
      target.guarded.drain();
      target.connections = target.in_use();
      target.draining = true;
    });
  }
  control_->every(Duration::milliseconds(50), [this] { check_drained(); });
}

void Gateway::check_drained() {
  // Only a worker that takes no more knows how many are left.
  const bool all_drain =
      std::ranges::all_of(workers_, [](const auto& worker) { return worker->draining.load(); });
  std::size_t left = 0;
  for (const auto& worker : workers_) left += worker->connections;
  const bool overdue = parts_.clock.steady_now() >= drain_due_;
  if ((left > 0 || !all_drain) && !overdue) return;
  if (left > 0) telemetry_.log.warn("drain_cut", {{"connections", std::int64_t(left)}});
  stop();
}

// Requests cut off here end as abandoned, so that the audit log has their end; that of a write with
// a key is also put on record, which its store takes or has a deadline for.
void Gateway::stop() {
  for (const auto& worker : workers_) {
    worker->loop->dispatch([&target = *worker] {
      target.guarded.abort();
      const auto detached = target.context.detached;
      for (const auto& proxy : detached) proxy->cut_off();
      target.ending = true;
      target.end_if_done();
    });
  }
  control_->stop();
}

void Gateway::reload() {
  auto next = parts_.reload();
  if (!next) {
    refuse_reload(next.error());
    return;
  }
  const std::vector<config::Change> changes = config::changes(config_, *next);
  std::vector<std::string> fixed;
  for (const config::Change& change : changes) {
    if (change.needs_restart) fixed.push_back(change.path + ": a change needs a restart");
  }
  if (!fixed.empty()) {
    refuse_reload(fixed);
    return;
  }
  if (const Result<void> applied = apply(*next); !applied) {
    refuse_reload({applied.error().message});
    return;
  }
  telemetry_.reloads.add();
  std::string paths;
  for (const config::Change& change : changes) {
    paths.append(paths.empty() ? "" : " ").append(change.path);
  }
  telemetry_.log.info("config_reloaded", {{"changed", paths}});
  record({.type = audit::EventType::config,
          .timestamp = parts_.clock.wall_now(),
          .operation = "reload",
          .correlation = {},
          .details = {{"changed", paths}}});
}

// All that can fail comes first.
Result<void> Gateway::apply(const config::Config& next) {
  PAWL_TRY(check_live_plans(next, tenants_->live_plans()));
  const SettingsPtr settings = make_settings(next, tenants_->live_plans());
  UpstreamsPtr upstreams = PAWL_TRY(make_upstreams(*settings, upstreams_, upstreams_->changed));
  // Its files may be new ones under the old names.
  const auto tls = PAWL_TRY(open_tls(next.server.tls));
  PAWL_TRY(parts_.reloaded(next));
  config_ = next;
  upstreams_ = std::move(upstreams);
  health_.watch(upstreams_);
  use(settings);
  for (const auto& worker : workers_) {
    worker->loop->dispatch([&target = *worker, tls] { target.guarded.change(tls); });
  }
  admin_context_->gate = gate_settings(config_.server.admin);
  admin_context_->panel = panel_settings(config_);
  admin_context_->record_ttl = config_.idempotency.ttl;
  return {};
}

void Gateway::use(const SettingsPtr& settings) {
  settings_ = settings;
  tenants_->use(settings);
  count_by_bucket(*settings);
  admission_->change(admission_rule(*settings));
  for (const auto& worker : workers_) {
    worker->loop->dispatch([&target = *worker, settings, upstreams = upstreams_] {
      target.context.settings = settings;
      target.router.use(upstreams);
      target.guarded.change(client_timeouts(*settings));
    });
  }
}

void Gateway::refuse_reload(const std::vector<std::string>& reasons) {
  telemetry_.reloads_refused.add();
  for (const std::string& reason : reasons) {
    telemetry_.log.error("config_reload_refused", {{"problem", reason}});
  }
}

// Once a second at most, since those who come may be many.
void Gateway::tell_of_turned_away() {
  const std::uint64_t all = admission_->turned_away();
  const std::uint64_t more = all - std::exchange(turned_away_, all);
  if (more == 0) return;
  telemetry_.connections_refused.add(more);
  telemetry_.log.warn("connections_refused",
                      {{"count", static_cast<std::int64_t>(more)},
                       {"reason", "more than server.connections or connections_per_address"}});
}

void Gateway::tick() {
  std::size_t connections = 0;
  for (const auto& worker : workers_) connections += worker->connections;
  telemetry_.connections.set(static_cast<double>(connections));
  tell_of_turned_away();
  telemetry_.audit_lag.set(static_cast<double>(parts_.audit.lag()));
  parts_.log_output.tick();
  telemetry_.log_lines_lost.add(parts_.log_output.take_lines_lost());
}

}  // namespace pawl::gateway
