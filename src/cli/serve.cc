#include "cli/serve.h"

#include <csignal>
#include <memory>
#include <sys/resource.h>
#include <utility>

#include "adapter/file/audit_file.h"
#include "adapter/system/system_clock.h"
#include "adapter/system/system_entropy.h"
#include "cli/counter_stores.h"
#include "cli/probe.h"
#include "log/logger.h"
#include "log/sink.h"
#include "metrics/metrics.h"
#include "runtime/engine.h"

namespace pawl::cli {
namespace {

log::Level log_level(config::LogLevel level) {
  switch (level) {
    case config::LogLevel::trace:
      return log::Level::trace;
    case config::LogLevel::debug:
      return log::Level::debug;
    case config::LogLevel::info:
      return log::Level::info;
    case config::LogLevel::warn:
      return log::Level::warn;
    case config::LogLevel::error:
      return log::Level::error;
  }
  __builtin_unreachable();
}

log::Output::Settings log_settings(const config::Log& log) {
  return {.level = log_level(log.level),
          .format = log.format == config::LogFormat::json ? log::Format::json : log::Format::text};
}

Result<std::unique_ptr<AuditFile>> open_audit(const config::Audit& audit) {
  const AuditFileOptions options{
      .path = audit.sinks.front().path,
      .on_full = audit.on_full == config::OnFull::block ? OnFull::block : OnFull::fail};
  Result<std::unique_ptr<AuditFile>> opened = AuditFile::open(options);
  // Whatever is wrong with the file, the configuration that names it is valid.
  if (!opened) return failure(Code::unavailable, opened.error().message);
  return opened;
}

void say_note(AuditFile& audit, const log::Logger& logger) {
  if (const std::string note = audit.take_note(); !note.empty()) {
    logger.warn("audit_note", {{"note", note}});
  }
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
  const std::unique_ptr<AuditFile> audit = PAWL_TRY(open_audit(config.audit));
  say_note(*audit, logger);
  const std::unique_ptr<CounterStores> counters =
      PAWL_TRY(CounterStores::open(config.limits, {clock, entropy, logger, metrics}));
  Engine engine({.clock = clock, .counters = counters->store(), .audit = *audit});

  gateway::Gateway gateway(
      config, {.engine = engine,
               .clock = clock,
               .entropy = entropy,
               .audit = *audit,
               .log_output = output,
               .metrics = metrics,
               .reload = std::move(reload),
               .reloaded = [&](const config::Config& next) { output.set(log_settings(next.log)); },
               .health = [&] { return counters->store().health(); },
               .degraded = [&] { return counters->degraded(); },
               .every_second =
                   [&] {
                     say_note(*audit, logger);
                     counters->tick();
                   }});
  PAWL_TRY(gateway.listen());
  logger.info("serving", {{"version", PAWL_VERSION},
                          {"guarded", to_string(gateway.guarded_address())},
                          {"admin", to_string(gateway.admin_address())},
                          {"upstream", config.server.upstream.host + ":" +
                                           std::to_string(config.server.upstream.port)}});
  gateway.run();
  counters->drain();  // while the gateway stands, to which late answers go
  const Result<void> flushed = audit->flush();
  logger.info("stopped");
  return flushed;
}

}  // namespace pawl::cli
