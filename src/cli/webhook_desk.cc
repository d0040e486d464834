#include "cli/webhook_desk.h"

#include <utility>
#include <vector>

#include "adapter/curl/curl_http_client.h"
#include "adapter/sqlite/sqlite_outbox.h"

namespace pawl::cli {
namespace {

constexpr Duration stop_patience = Duration::seconds(5);

std::vector<webhook::Endpoint> endpoints_of(const config::Webhooks& settings) {
  std::vector<webhook::Endpoint> endpoints;
  for (const config::Webhook& hook : settings.endpoints) {
    endpoints.push_back(
        {.name = hook.name, .url = hook.url, .secret = hook.secret, .events = hook.events});
  }
  return endpoints;
}

}  // namespace

// Nothing is asked of it before it is open but what it holds, which is nothing: deliveries are
// added and sent for endpoints alone, and those are set after it was opened.
class WebhookDesk::LateOutbox final : public Outbox {
 public:
  Result<void> open(const std::string& path, Clock& clock) {
    if (!outbox_) outbox_ = PAWL_TRY(SqliteOutbox::open({.path = path}, clock));
    return {};
  }

  void add(std::vector<NewDelivery> deliveries, Done<std::size_t> done) override {
    outbox_->add(std::move(deliveries), std::move(done));
  }
  void due(const std::string& endpoint, std::size_t limit, Done<DueDeliveries> done) override {
    outbox_->due(endpoint, limit, std::move(done));
  }
  void save(const std::string& endpoint, const std::string& event_id, DeliveryStep step,
            Done<void> done) override {
    outbox_->save(endpoint, event_id, std::move(step), std::move(done));
  }
  void list(std::size_t limit, std::optional<webhook::State> state,
            Done<std::vector<webhook::Delivery>> done) override {
    if (!outbox_) return done(std::vector<webhook::Delivery>());
    outbox_->list(limit, state, std::move(done));
  }
  Result<void> health() override { return outbox_ ? outbox_->health() : Result<void>(); }

 private:
  std::unique_ptr<Outbox> outbox_;
};

class WebhookDesk::LateHttpClient final : public HttpClient {
 public:
  Result<void> open() {
    if (!http_) http_ = PAWL_TRY(CurlHttpClient::open());
    return {};
  }
  void send(HttpRequest request, Done done) override {
    http_->send(std::move(request), std::move(done));
  }

 private:
  std::unique_ptr<HttpClient> http_;
};

WebhookDesk::WebhookDesk(const Parts& parts)
    : clock_(parts.clock),
      outbox_(std::make_unique<LateOutbox>()),
      http_(std::make_unique<LateHttpClient>()),
      webhooks_(
          std::make_unique<Webhooks>(Webhooks::Options{}, Webhooks::Ports{.clock = parts.clock,
                                                                          .timers = timers_,
                                                                          .outbox = *outbox_,
                                                                          .http = *http_,
                                                                          .records = &parts.records,
                                                                          .audit = &parts.audit})),
      acknowledged_(parts.metrics.counter("pawl_webhook_deliveries_total", "Deliveries ended.",
                                          {{"state", "acknowledged"}})),
      given_up_(parts.metrics.counter("pawl_webhook_deliveries_total", "Deliveries ended.",
                                      {{"state", "given_up"}})),
      attempts_(
          parts.metrics.counter("pawl_webhook_attempts_total", "Messages sent to endpoints.")),
      pending_(parts.metrics.gauge("pawl_webhook_pending", "Deliveries not yet acknowledged.")) {}

WebhookDesk::~WebhookDesk() = default;

Result<std::unique_ptr<WebhookDesk>> WebhookDesk::open(const config::Webhooks& settings,
                                                       const Parts& parts) {
  std::unique_ptr<WebhookDesk> desk(new WebhookDesk(parts));
  PAWL_TRY(desk->reload(settings));
  desk->webhooks_->start();
  return desk;
}

Result<void> WebhookDesk::reload(const config::Webhooks& settings) {
  if (!settings.endpoints.empty()) {
    PAWL_TRY(outbox_->open(settings.database, clock_));
    PAWL_TRY(http_->open());
  }
  return webhooks_->set_endpoints(endpoints_of(settings));
}

void WebhookDesk::tick() {
  const WebhookCounts now = webhooks_->counts();
  acknowledged_.add(now.acknowledged - told_.acknowledged);
  given_up_.add(now.given_up - told_.given_up);
  attempts_.add(now.attempts - told_.attempts);
  pending_.set(static_cast<double>(now.pending));
  told_ = now;
}

void WebhookDesk::stop() {
  webhooks_->stop(stop_patience);
  timers_.close();
}

}  // namespace pawl::cli
