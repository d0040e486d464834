#include "cli/metrics_door.h"

#include <utility>

#include "base/bounds.h"
#include "base/queue_url.h"
#include "cli/output.h"
#include "cli/probe.h"
#include "server/responder.h"

namespace pawl::cli {
namespace {

constexpr Duration tick_length = Duration::seconds(1);
constexpr unsigned ticks_a_look = 10;

server::Response response_to(const server::Request& request, const metrics::Registry& registry) {
  if (request.path() != "/metrics") {
    return {.status = 404, .content_type = "text/plain", .body = "there is /metrics here\n"};
  }
  return {.status = 200,
          .content_type = "text/plain; version=0.0.4; charset=utf-8",
          .body = registry.text()};
}

}  // namespace

MetricsDoor::MetricsDoor(net::Loop& loop, QueueSession& session, metrics::Registry& registry)
    : session_(session),
      registry_(registry),
      server_(loop, session.clock(),
              {.make_handler =
                   [&registry](server::Connection& connection) {
                     return server::make_responder(
                         connection,
                         [&registry](const server::Request& r) { return response_to(r, registry); },
                         bounds::admin_body_bytes_max);
                   }}),
      timer_(loop.timer([this] { tick(); })) {}

Result<void> MetricsDoor::open(const Endpoint& endpoint) {
  PAWL_TRY(require_free(endpoint, "--metrics"));
  const QueueUrl place = PAWL_TRY(parse_queue_url(session_.config().queue.url));
  if (place.kind != QueueUrl::Kind::broker) {
    queue_.emplace(registry_);
    tick();
  }
  const Endpoint bound = PAWL_TRY(server_.listen(endpoint));
  complain("pawl: metrics on http://" + to_string(bound) + "/metrics");
  return {};
}

void MetricsDoor::tick() {
  std::optional<queue::Stats> found;
  {
    const std::lock_guard lock(look_->mutex);
    found.swap(look_->found);
  }
  if (found) queue_->update(*found, session_.queue().view(), session_.clock().wall_now());
  if (ticks_++ % ticks_a_look == 0) {
    session_.queue().followed_stats([look = look_](Result<queue::Stats> stats) {
      const std::lock_guard lock(look->mutex);
      if (stats) look->found = *std::move(stats);
    });
  }
  timer_->start(tick_length);
}

}  // namespace pawl::cli
