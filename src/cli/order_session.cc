#include "cli/order_session.h"

#include <algorithm>
#include <unistd.h>
#include <utility>

#include "cli/audit_settings.h"
#include "cli/doctor.h"
#include "cli/environment.h"
#include "cli/log_settings.h"
#include "cli/open_orders.h"
#include "cli/order_text.h"
#include "cli/output.h"
#include "log/order_log.h"
#include "log/pacer_log.h"
#include "port/answer_of.h"

namespace pawl::cli {
namespace {

order::Settings placement_of(const config::Orders& orders) {
  order::Settings settings;
  settings.retry.max_attempts = orders.retry.max_retries + 1;
  settings.retry.base_delay = orders.retry.base_delay;
  settings.retry.max_delay = orders.retry.max_delay;
  settings.retry.min_delay = orders.retry.min_delay;
  settings.retry.multiplier_milli = orders.retry.multiplier_milli;
  settings.retry.jitter_milli = orders.retry.jitter_milli;
  settings.retry.attempt_timeout = orders.timeout;
  settings.settle = orders.settle;
  settings.patience = orders.patience;
  return settings;
}

saxo::SaxoOptions options_of(const config::SaxoVenue& saxo) {
  return {.base_url = saxo.base_url,
          .token_url = saxo.token_url,
          .access_token = saxo.access_token,
          .refresh_token = saxo.refresh_token,
          .app_key = saxo.app_key.reveal(),
          .app_secret = saxo.app_secret,
          .client_key = saxo.client_key,
          .account_key = saxo.account_key,
          .token_file = saxo.token_file,
          .manual_order = saxo.manual_order};
}

okx::OkxOptions options_of(const config::OkxVenue& okx) {
  return {.base_url = okx.base_url,
          .ws_url = okx.ws_url,
          .credentials = {.api_key = okx.api_key,
                          .secret_key = okx.secret_key,
                          .passphrase = okx.passphrase},
          .simulated = okx.simulated};
}

}  // namespace

OrderOfficeSettings office_settings(const config::Config& config) {
  const config::Orders& orders = config.orders;
  OrderOfficeSettings settings{.database = orders.database,
                               .limit = config.order_control.frequency_limit,
                               .placement = placement_of(orders),
                               .rate = orders.rate,
                               .burst = orders.burst,
                               .adaptive = orders.adaptive};
  if (orders.venues.saxo) {
    settings.saxo = options_of(*orders.venues.saxo);
    settings.saxo_proxy = orders.venues.saxo->proxy;
  }
  if (orders.venues.okx) {
    settings.okx = options_of(*orders.venues.okx);
    settings.okx_proxy = orders.venues.okx->proxy;
  }
  return settings;
}

OrderOffice::Parts office_parts(Clock& clock, Entropy& entropy, const log::Logger& logger) {
  return {.clock = clock,
          .entropy = entropy,
          .note = [logger](const desk::Note& note) { log::write(logger, note); },
          .pace_note = [logger](const limit::pacer::Note& note,
                                const Correlation& ids) { log::write(logger.with(ids), note); },
          .venue_note =
              [logger](const std::string& venue, const std::string& text) {
                logger.warn("venue_note", {{"venue", venue}, {"note", text}});
              }};
}

OrderSession::OrderSession(const config::Log& log)
    : sink_(log::stderr_sink()), output_(clock_, *sink_, log_settings(log)), logger_(output_) {}

OrderSession::~OrderSession() {
  if (office_) office_->close();
}

Result<std::unique_ptr<OrderSession>> OrderSession::open(const config::Config& config,
                                                         Purpose purpose) {
  std::unique_ptr<OrderSession> session(new OrderSession(config.log));
  log::write_limit(session->logger_, config.order_control.frequency_limit,
                   config.order_control.given);
  if (purpose != Purpose::look)
    session->audit_ = PAWL_TRY(open_audit(audit_settings(config.audit)));
  OrderOffice::Parts parts = office_parts(session->clock_, session->entropy_, session->logger_);
  parts.audit = session->audit_.get();
  if (purpose == Purpose::place) parts.wants = desk::StoreFailed::What::check;
  auto office = OrderOffice::open(office_settings(config), parts);
  if (!office && purpose == Purpose::place && office.error().code == Code::unavailable) {
    Error error = std::move(office.error());
    error.message = order::unverified_text(error.message);
    return std::unexpected(std::move(error));
  }
  session->office_ = PAWL_TRY(std::move(office));
  if (session->office_->made_database()) log::write_history_initialized(session->logger_);
  session->tell_of_open_orders();
  return session;
}

// What cannot be read is told by the verb, which reads it too.
void OrderSession::tell_of_open_orders() {
  const Result<OpenOrders> orders = open_orders(office_->store());
  if (!orders) return;
  log::write_unresolved(logger_, orders->unresolved.size());
  log::write_left_open(logger_, orders->left.size());
  const bool colour = wants_colour(::isatty(STDERR_FILENO) == 1, environment());
  const std::string text = open_orders_text(*orders, colour);
  if (!text.empty()) complain(std::string_view(text).substr(0, text.size() - 1));
}

void OrderSession::interrupt() {
  desk().drain([](const Result<void>&) {});
}

Placed OrderSession::at_rest(Placed placed) {
  if (placed.as != PlacedAs::unresolved) return placed;
  office_->close();
  const std::string reference = placed.intent.reference;
  const Result<order::Intent> stored = answer_of<order::Intent>(
      [&](auto done) { office_->store().get(reference, std::move(done)); });
  const Result<OpenOrders> open = open_orders(office_->store());
  if (!stored || !open) return placed;
  placed.intent = *stored;
  const order::Progress& now = stored->progress;
  if (!order::is_open(now.status)) {
    const bool confirmed = now.status == order::Status::confirmed;
    placed.as = confirmed ? PlacedAs::confirmed : PlacedAs::rejected;
    placed.message = now.unsent ? order::unsent_text(now) : now.reason;
  } else if (std::ranges::find(open->left, reference, &order::Intent::reference) !=
             open->left.end()) {
    placed.message =
        "its outcome is not known yet; it is kept as " + std::string(to_string(now.status)) +
        ", and nobody works on it any more: `pawl order reconcile " + reference +
        "` finds out (external_reference=" + reference + ", request_id=" + now.request_id + ")";
  }
  return placed;
}

Result<void> OrderSession::close() {
  office_->close();
  return audit_ ? audit_->flush() : Result<void>();
}

}  // namespace pawl::cli
