#include "cli/order_service.h"

#include <utility>
#include <vector>

#include "cli/open_orders.h"
#include "cli/order_session.h"
#include "log/order_log.h"

namespace pawl::cli {
namespace {

metrics::Counter& ended(metrics::Registry& metrics, metrics::Label status) {
  return metrics.counter("pawl_orders_total", "Placements that ended.", {status});
}

}  // namespace

struct OrderService::Seen {
  std::atomic<std::size_t> unresolved = 0;
  std::atomic<std::size_t> left = 0;
  std::atomic<int> looking = 0;  // answers that are due
  std::atomic<bool> polling = false;
};

OrderService::OrderService(const config::Config& config, const Parts& parts)
    : clock_(parts.clock),
      logger_(parts.logger),
      poll_every_(config.orders.poll),
      next_poll_(parts.clock.steady_now() + poll_every_),
      seen_(std::make_shared<Seen>()),
      confirmed_(ended(parts.metrics, {"status", "confirmed"})),
      rejected_(ended(parts.metrics, {"status", "rejected"})),
      denied_(ended(parts.metrics, {"status", "denied"})),
      left_unresolved_(ended(parts.metrics, {"status", "unresolved"})),
      replayed_(parts.metrics.counter("pawl_order_replays_total",
                                      "Placements answered with what was stored.")),
      unresolved_(parts.metrics.gauge("pawl_orders_unresolved",
                                      "Orders of which nobody knows whether the venue has them.")),
      left_(parts.metrics.gauge("pawl_orders_left_open",
                                "Orders that a process left open when it ended.")),
      under_way_(parts.metrics.gauge("pawl_orders_under_way", "Placements at work.")) {}

OrderService::~OrderService() {
  stop();
}

Result<std::unique_ptr<OrderService>> OrderService::open(const config::Config& config,
                                                         const Parts& parts) {
  if (!config.orders.venues.any()) return std::unique_ptr<OrderService>();
  log::write_limit(parts.logger, config.order_control.frequency_limit, config.order_control.given);
  std::unique_ptr<OrderService> service(new OrderService(config, parts));
  OrderOfficeSettings settings = office_settings(config);
  settings.with_channel = true;
  OrderOffice::Parts office = office_parts(parts.clock, parts.entropy, parts.logger);
  office.audit = &parts.audit;
  service->office_ = PAWL_TRY(OrderOffice::open(std::move(settings), office));
  if (service->office_->made_database()) log::write_history_initialized(parts.logger);
  return service;
}

void OrderService::begin() {
  desk().resume([logger = logger_, seen = seen_](const Result<desk::Resumed>& resumed) {
    if (!resumed) {
      logger.error("orders_not_resumed", {{"error", resumed.error().message}});
    } else {
      seen->unresolved = resumed->unresolved;
    }
  });
}

void OrderService::look_for_open() {
  if (seen_->looking > 0) return;
  seen_->looking = 2;
  const auto count_into = [&](std::atomic<std::size_t> Seen::* number) {
    return [seen = seen_, number](const Result<std::vector<order::Intent>>& orders) {
      if (orders) (*seen).*number = orders->size();
      --seen->looking;
    };
  };
  office_->store().list(unresolved_filter(), count_into(&Seen::unresolved));
  office_->store().list(left_filter(), count_into(&Seen::left));
}

void OrderService::poll() {
  const SteadyInstant now = clock_.steady_now();
  if (now < next_poll_ || seen_->polling.exchange(true)) return;
  next_poll_ = now + poll_every_;
  desk().poll_statuses([seen = seen_, logger = logger_](const Result<std::size_t>& looked) {
    if (!looked) logger.warn("order_poll_failed", {{"error", looked.error().message}});
    seen->polling = false;
  });
}

void OrderService::tick() {
  const OrderCounts now = desk().counts();
  confirmed_.add(now.confirmed - told_.confirmed);
  rejected_.add(now.rejected - told_.rejected);
  denied_.add(now.denied - told_.denied);
  left_unresolved_.add(now.left_unresolved - told_.left_unresolved);
  replayed_.add(now.replayed - told_.replayed);
  under_way_.set(static_cast<double>(now.under_way));
  unresolved_.set(static_cast<double>(seen_->unresolved.load()));
  left_.set(static_cast<double>(seen_->left.load()));
  told_ = now;
  look_for_open();
  poll();
}

void OrderService::drain() {
  desk().drain([](const Result<void>&) {});
}

void OrderService::stop() {
  if (office_) office_->close();
}

std::string OrderService::degraded() const {
  std::string out = open_orders_summary(seen_->unresolved, seen_->left);
  if (!out.empty()) {
    out = "orders: " + out + "; see `pawl order list --unresolved`, then `pawl order reconcile`";
  }
  if (const Result<void> health = office_->store().health(); !health) {
    out.append(out.empty() ? "orders: " : "; ").append(health.error().message);
  }
  return out;
}

}  // namespace pawl::cli
