#include "cli/order_session.h"

#include <unistd.h>
#include <utility>
#include <vector>

#include "base/bounds.h"
#include "cli/audit_settings.h"
#include "cli/doctor.h"
#include "cli/environment.h"
#include "cli/log_settings.h"
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
          .pace_note = [logger](const limit::pacer::Note& note) { log::write(logger, note); },
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
                                                         bool audited) {
  std::unique_ptr<OrderSession> session(new OrderSession(config.log));
  log::write_limit(session->logger_, config.order_control.frequency_limit,
                   config.order_control.given);
  if (audited) session->audit_ = PAWL_TRY(open_audit(audit_settings(config.audit)));
  OrderOffice::Parts parts = office_parts(session->clock_, session->entropy_, session->logger_);
  parts.audit = session->audit_.get();
  session->office_ = PAWL_TRY(OrderOffice::open(office_settings(config), parts));
  if (session->office_->made_database()) log::write_history_initialized(session->logger_);
  const IntentFilter unresolved{.statuses = {order::Status::unresolved},
                                .limit = bounds::admin_list_max};
  const auto orders = answer_of<std::vector<order::Intent>>(
      [&](auto done) { session->office_->store().list(unresolved, std::move(done)); });
  if (orders && !orders->empty()) {
    log::write_unresolved(session->logger_, orders->size());
    const bool colour = wants_colour(::isatty(STDERR_FILENO) == 1, environment());
    const std::string text = unresolved_text(*orders, colour);
    complain(std::string_view(text).substr(0, text.size() - 1));
  }
  return session;
}

Result<void> OrderSession::close() {
  office_->close();
  return audit_ ? audit_->flush() : Result<void>();
}

}  // namespace pawl::cli
