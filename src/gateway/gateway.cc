#include "gateway/gateway.h"

#include <csignal>
#include <thread>
#include <utility>

#include "config/reload.h"
#include "gateway/admin.h"
#include "gateway/proxy.h"
#include "gateway/settings.h"
#include "gateway/upstream_pool.h"
#include "server/http_server.h"
#include "server/responder.h"

namespace pawl::gateway {

// What lives on one thread.
struct Gateway::Worker {
  Worker(Gateway& gateway, SettingsPtr settings, std::size_t connections_max)
      : loop(net::Loop::make()),
        pool(*loop),
        context{.loop = *loop,
                .engine = gateway.parts_.engine,
                .clock = gateway.parts_.clock,
                .entropy = gateway.parts_.entropy,
                .telemetry = gateway.telemetry_,
                .pool = pool,
                .settings = std::move(settings)},
        guarded(*loop, gateway.parts_.clock,
                {.make_handler =
                     [this](server::Connection& client) {
                       return std::make_shared<Proxy>(context, client);
                     },
                 .rejected = [&gateway](
                                 const http::Rejection& rejection,
                                 const IpAddress& peer) { gateway.on_rejected(rejection, peer); },
                 .connections_max = connections_max}) {}

  std::unique_ptr<net::Loop> loop;
  UpstreamPool pool;
  LoopContext context;
  server::HttpServer guarded;
  std::atomic<std::size_t> connections = 0;  // as of the last tick, for the others to read
};

Gateway::Gateway(config::Config config, Parts parts)
    : config_(std::move(config)),
      parts_(std::move(parts)),
      telemetry_(parts_.metrics, log::Logger(parts_.log_output)),
      admin_context_{.metrics = parts_.metrics,
                     .token = config_.server.admin.token,
                     .ready = [this] { return readiness(); },
                     .degraded = [this] { return parts_.degraded(); },
                     .refresh = [this] { tick(); }},
      admin_server_(*control_, parts_.clock, {.make_handler = [this](server::Connection& client) {
        return server::make_responder(
            client, [this](const server::Request& r) { return answer_admin(admin_context_, r); },
            bounds::admin_body_bytes_max);
      }}) {
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  const int threads = config_.server.threads > 0 ? config_.server.threads : std::max(1, cores);
  const SettingsPtr settings = make_settings(config_);
  for (int i = 0; i < threads; ++i) {
    workers_.push_back(std::make_unique<Worker>(
        *this, settings, bounds::connections_max / static_cast<std::size_t>(threads)));
  }
}

Gateway::~Gateway() = default;

Result<void> Gateway::listen() {
  guarded_ = config_.server.listen;
  for (const auto& worker : workers_) PAWL_TRY(listen_guarded(*worker));
  return listen_admin();
}

Result<void> Gateway::listen_guarded(Worker& worker) {
  // The first one chooses the port when any will do; the others share it.
  guarded_ = PAWL_TRY(worker.guarded.listen(guarded_));
  worker.loop->every(Duration::milliseconds(100), [&worker] {
    worker.connections.store(worker.guarded.connections(), std::memory_order_relaxed);
  });
  return {};
}

Result<void> Gateway::listen_admin() {
  admin_ = PAWL_TRY(admin_server_.listen(config_.server.admin.listen));
  control_->on_signals({SIGTERM, SIGINT, SIGHUP}, [this](int signal) { on_signal(signal); });
  control_->every(Duration::seconds(1), [this] {
    tick();
    parts_.every_second();
  });
  return {};
}

void Gateway::run() {
  std::vector<std::jthread> threads;
  for (const auto& worker : workers_) {
    threads.emplace_back([loop = worker->loop.get()] { loop->run(); });
  }
  control_->run();
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

void Gateway::on_signal(int signal) {
  if (signal == SIGHUP) {
    reload();
  } else {
    drain();
  }
}

void Gateway::drain() {
  if (draining_.exchange(true)) return;
  telemetry_.log.info("draining", {{"deadline_seconds", bounds::drain_deadline.seconds()}});
  drain_due_ = parts_.clock.steady_now() + bounds::drain_deadline;
  for (const auto& worker : workers_) {
    worker->loop->dispatch([&target = *worker] {
      target.loop->stop_listening();
      target.guarded.drain();
      target.connections = target.guarded.connections();
    });
  }
  control_->every(Duration::milliseconds(50), [this] { check_drained(); });
}

void Gateway::check_drained() {
  std::size_t left = 0;
  for (const auto& worker : workers_) left += worker->connections;
  const bool overdue = parts_.clock.steady_now() >= drain_due_;
  if (left > 0 && !overdue) return;
  if (left > 0) telemetry_.log.warn("drain_cut", {{"connections", std::int64_t(left)}});
  stop();
}

// Requests cut off here end as abandoned, so that the audit log has their end.
void Gateway::stop() {
  for (const auto& worker : workers_) {
    worker->loop->dispatch([&target = *worker] {
      target.guarded.abort();
      target.loop->stop();
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
  config_ = std::move(*next);
  const SettingsPtr settings = make_settings(config_);
  for (const auto& worker : workers_) {
    worker->loop->dispatch([&target = *worker, settings] { target.context.settings = settings; });
  }
  admin_context_.token = config_.server.admin.token;  // of the thread we are on
  parts_.reloaded(config_);
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

void Gateway::refuse_reload(const std::vector<std::string>& reasons) {
  telemetry_.reloads_refused.add();
  for (const std::string& reason : reasons) {
    telemetry_.log.error("config_reload_refused", {{"problem", reason}});
  }
}

void Gateway::tick() {
  std::size_t connections = 0;
  for (const auto& worker : workers_) connections += worker->connections;
  telemetry_.connections.set(static_cast<double>(connections));
  telemetry_.audit_lag.set(static_cast<double>(parts_.audit.lag()));
  parts_.log_output.tick();
}

}  // namespace pawl::gateway
