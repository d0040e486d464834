#include "admin/probes.h"

namespace pawl::admin {
namespace {

using json::Object;

void tell_health(Context& context, Call call) {
  const std::string degraded = context.degraded();
  if (degraded.empty()) return std::move(call).answer(Object{{"status", "ok"}});
  std::move(call).answer(Object{{"status", "degraded"}, {"detail", degraded}});
}

void tell_readiness(Context& context, Call call) {
  const Result<void> ready = context.ready();
  if (ready) return std::move(call).answer(Object{{"status", "ready"}});
  std::move(call).answer(
      json_response(503, Object{{"status", "not ready"}, {"detail", ready.error().message}}));
}

void tell_metrics(Context& context, Call call) {
  context.refresh();
  std::move(call).answer(
      server::Response{.status = 200,
                       .content_type = "text/plain; version=0.0.4; charset=utf-8",
                       .body = context.metrics.text(),
                       .extra_fields = {}});
}

Schema state(std::initializer_list<std::string_view> words) {
  return schema::object({{"status", schema::word(words)}, {"detail", schema::text(), false}});
}

}  // namespace

Routes probe_routes(Context& context) {
  return {
      {.path = "/healthz",
       .id = "health",
       .summary = "Is it alive? Says what works less well than it should.",
       .access = Access::open,
       .answers = {{200, "It is.", state({"ok", "degraded"})}},
       .handle = [&context](Call call) { tell_health(context, std::move(call)); }},
      {.path = "/readyz",
       .id = "readiness",
       .summary = "May requests be sent to it?",
       .access = Access::open,
       .answers = {{200, "They may.", state({"ready"})}, {503, "Not now.", state({"not ready"})}},
       .handle = [&context](Call call) { tell_readiness(context, std::move(call)); }},
      {.path = "/metrics",
       .id = "metrics",
       .summary = "Numbers for Prometheus.",
       .answers = {{200, "Text format 0.0.4.", {}, "text/plain"}},
       .handle = [&context](Call call) { tell_metrics(context, std::move(call)); }},
  };
}

}  // namespace pawl::admin
