// Gateway: `pawl serve`. One loop a thread, each with a listener of its own on the guarded address.
// The admin listener and the signals have a loop to themselves, so they answer when traffic is
// stuck.
//
// SIGTERM, SIGINT  drain: no new connections, what is in flight is finished, then the end
//                  (bounds::drain_deadline at most).
// SIGHUP           reload: all or nothing; usage is kept.
#pragma once

#include <atomic>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "gateway/admin.h"
#include "gateway/telemetry.h"
#include "net/loop.h"
#include "pawl/clock.h"
#include "port/entropy.h"
#include "port/event_sink.h"
#include "runtime/engine.h"
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
    EventSink& audit;
    log::Output& log_output;
    metrics::Registry& metrics;
    Reload reload;
    std::function<void(const config::Config&)> reloaded;  // for what is not the gateway's own
    std::function<Result<void>()> health;   // of the stores: an error says it is not ready
    std::function<std::string()> degraded;  // empty, or what works less well than it should
    std::function<void()> every_second;
  };

  Gateway(config::Config config, Parts parts);
  ~Gateway();

  // Takes the listeners. The addresses, with chosen ports, are then known.
  Result<void> listen();
  Endpoint guarded_address() const { return guarded_; }
  Endpoint admin_address() const { return admin_; }

  // Serves until a signal ends it.
  void run();

 private:
  struct Worker;

  Result<void> listen_guarded(Worker& worker);
  Result<void> listen_admin();
  void on_rejected(const http::Rejection& rejection, const IpAddress& peer);
  void record(audit::Event event);
  void on_signal(int signal);
  void drain();
  void check_drained();
  Result<void> readiness();
  void stop();
  void reload();
  void refuse_reload(const std::vector<std::string>& reasons);
  void tick();

  config::Config config_;
  Parts parts_;
  Telemetry telemetry_;
  AdminContext admin_context_;
  Endpoint guarded_;
  Endpoint admin_;
  std::atomic<bool> draining_ = false;
  SteadyInstant drain_due_;
  std::unique_ptr<net::Loop> control_ = net::Loop::make();
  server::HttpServer admin_server_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace pawl::gateway
