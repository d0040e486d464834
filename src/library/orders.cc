#include "pawl/orders.h"

#include <utility>

#include "adapter/system/system_clock.h"
#include "adapter/system/system_entropy.h"
#include "assembly/audit_sinks.h"
#include "assembly/order_office.h"
#include "base/assert.h"
#include "base/bounds.h"
#include "base/decimal.h"
#include "base/local_url.h"
#include "base/store_setting.h"
#include "library/order_notes.h"
#include "port/answer_of.h"

namespace pawl {
namespace {

Result<std::optional<Decimal>> number_of(std::string_view name, const std::string& text) {
  if (text.empty()) return std::optional<Decimal>();
  const Result<Decimal> number = parse_decimal(text);
  if (!number) return failure(Code::invalid, std::string(name) + ": " + number.error().message);
  return std::optional(*number);
}

// Both have the same values in the same order; `usual` comes first and is none.
std::optional<order::Validity> validity_of(Validity validity) {
  switch (validity) {
    case Validity::usual:
      return std::nullopt;
    case Validity::day:
      return order::Validity::day;
    case Validity::gtc:
      return order::Validity::gtc;
    case Validity::ioc:
      return order::Validity::ioc;
    case Validity::fok:
      return order::Validity::fok;
  }
  __builtin_unreachable();
}

order::Type type_of(OrderType type) {
  switch (type) {
    case OrderType::market:
      return order::Type::market;
    case OrderType::limit:
      return order::Type::limit;
    case OrderType::stop:
      return order::Type::stop;
    case OrderType::stop_limit:
      return order::Type::stop_limit;
    case OrderType::post_only:
      return order::Type::post_only;
  }
  __builtin_unreachable();
}

Result<order::Order> order_of(const OrderTerms& terms) {
  const auto size = PAWL_TRY(number_of("size", terms.size));
  if (!size) return failure(Code::invalid, "size is missing");
  order::Order order{.venue = terms.venue,
                     .instrument = terms.instrument,
                     .asset_type = terms.asset_type,
                     .side = terms.side == Side::buy ? order::Side::buy : order::Side::sell,
                     .type = type_of(terms.type),
                     .size = *size,
                     .price = PAWL_TRY(number_of("price", terms.price)),
                     .stop_price = PAWL_TRY(number_of("stop_price", terms.stop_price)),
                     .validity = validity_of(terms.validity),
                     .reduce_only = terms.reduce_only,
                     .trade_mode = terms.trade_mode,
                     .position_side = terms.position_side};
  PAWL_TRY(check(order));
  return order;
}

Result<PlaceRequest> request_of(const OrderRequest& request) {
  if (!request.external_reference.empty()) {
    PAWL_TRY(order::check_reference(request.external_reference));
  }
  return PlaceRequest{.reference = request.external_reference,
                      .order = PAWL_TRY(order_of(request.order)),
                      .wait_max = request.wait_max};
}

OrderQuota quota_of(const order::Quota& quota) {
  return {.enabled = quota.enabled,
          .used = quota.used,
          .limit = quota.limit,
          .week_start = quota.week_start};
}

OrderStatus status_of(PlacedAs as) {
  switch (as) {
    case PlacedAs::confirmed:
      return OrderStatus::confirmed;
    case PlacedAs::rejected:
      return OrderStatus::rejected;
    case PlacedAs::denied:
      return OrderStatus::denied;
    case PlacedAs::unresolved:
      return OrderStatus::unresolved;
  }
  __builtin_unreachable();
}

OrderOutcome outcome_of(const order::Intent& intent) {
  const order::Progress& progress = intent.progress;
  OrderOutcome out{.external_reference = intent.reference,
                   .venue = intent.order.venue,
                   .order_id = progress.order_id,
                   .life = std::string(to_string(progress.life)),
                   .attempts = progress.attempts};
  for (const order::Evidence& each : progress.evidence) {
    out.evidence.push_back({.at = each.at, .source = each.source, .says = each.says});
  }
  return out;
}

OrderOutcome outcome_of(const Placed& placed) {
  OrderOutcome out = outcome_of(placed.intent);
  out.status = status_of(placed.as);
  if (placed.as == PlacedAs::denied) out.attempts = 0;
  out.quota = quota_of(placed.quota);
  out.replayed = placed.replayed;
  out.message = placed.message;
  return out;
}

std::vector<OrderOutcome> outcomes_of(const std::vector<Placed>& placements) {
  std::vector<OrderOutcome> out;
  for (const Placed& each : placements) out.push_back(outcome_of(each));
  return out;
}

OrderChanged changed_of(const Changed& changed) {
  return {.accepted = changed.answer.sent == order::Sent::accepted,
          .order_id = changed.intent.progress.order_id,
          .life = std::string(to_string(changed.life)),
          .message = changed.answer.message};
}

saxo::SaxoOptions options_of(const SaxoAccount& account) {
  return {.base_url = account.base_url,
          .token_url = account.token_url,
          .access_token = Secret<std::string>(account.access_token),
          .refresh_token = Secret<std::string>(account.refresh_token),
          .app_key = account.app_key,
          .app_secret = Secret<std::string>(account.app_secret),
          .client_key = account.client_key,
          .account_key = account.account_key,
          .token_file = account.token_file};
}

okx::OkxOptions options_of(const OkxAccount& account) {
  return {.base_url = account.base_url,
          .credentials = {.api_key = Secret<std::string>(account.api_key),
                          .secret_key = Secret<std::string>(account.secret_key),
                          .passphrase = Secret<std::string>(account.passphrase)},
          .simulated = account.simulated};
}

Result<OrderOfficeSettings> settings_of(const OrdersOptions& options) {
  if (options.weekly_max_orders < 1) {
    return failure(Code::invalid, "Invalid weekly_max_orders, must be positive integer");
  }
  if (options.rate_count < 1 || options.rate_period <= Duration() || options.burst < 0) {
    return failure(Code::invalid,
                   "the rate must be a number from 1 in a time above 0, burst from 0");
  }
  if (!options.saxo && !options.okx) {
    return failure(Code::invalid, "no account is given: set saxo, okx or both");
  }
  const bool trades = (options.saxo && !is_local_url(options.saxo->base_url)) ||
                      (options.okx && !is_local_url(options.okx->base_url));
  if (trades && options.settle < bounds::order_settle_safe) {
    return failure(Code::invalid, "settle is " + to_string(options.settle) +
                                      ", but a venue may take an order for a copy of one that is "
                                      "15s old: give " +
                                      to_string(bounds::order_settle_safe) +
                                      " or more, unless every venue is an emulator on this "
                                      "machine");
  }
  OrderOfficeSettings settings{.database = options.database,
                               .limit = {.enabled = options.weekly_limit,
                                         .weekly_max_orders = options.weekly_max_orders,
                                         .exclude_reduce_only = options.exclude_reduce_only},
                               .rate = {options.rate_count, options.rate_period},
                               .burst = options.burst};
  settings.placement.retry.max_attempts = options.max_retries + 1;
  settings.placement.retry.attempt_timeout = options.timeout;
  settings.placement.settle = options.settle;
  settings.placement.patience = options.patience;
  if (options.saxo) settings.saxo = options_of(*options.saxo);
  if (options.okx) settings.okx = options_of(*options.okx);
  return settings;
}

}  // namespace

std::string_view to_string(OrderStatus status) {
  switch (status) {
    case OrderStatus::confirmed:
      return "confirmed";
    case OrderStatus::rejected:
      return "rejected";
    case OrderStatus::denied:
      return "denied";
    case OrderStatus::unresolved:
      return "unresolved";
  }
  __builtin_unreachable();
}

struct Orders::State {
  explicit State(Clock* given) : clock(given != nullptr ? *given : own_clock) {}

  Result<void> open(const OrdersOptions& options) {
    OrderOfficeSettings settings = PAWL_TRY(settings_of(options));
    if (!options.audit.empty()) {
      audit = PAWL_TRY(open_audit({.sinks = {PAWL_TRY(parse_store(options.audit))}}));
    }
    OrderOffice::Parts parts{.clock = clock, .entropy = entropy, .audit = audit.get()};
    add_notes(parts, options.note);
    office = PAWL_TRY(OrderOffice::open(std::move(settings), parts));
    return {};
  }
  ~State() {
    if (office) office->close();
    if (audit) (void)audit->flush();
  }

  void place(PlaceRequest request, OrderDesk::Done<Placed> done) {
    office->desk().place(std::move(request), std::move(done));
  }

  SystemClock own_clock;
  Clock& clock;
  SystemEntropy entropy;
  std::unique_ptr<EventSink> audit;
  std::unique_ptr<OrderOffice> office;
};

Orders::Orders(std::unique_ptr<State> state) : state_(std::move(state)) {}
Orders::Orders(Orders&& other) noexcept = default;
Orders& Orders::operator=(Orders&& other) noexcept = default;
Orders::~Orders() = default;

Result<Orders> Orders::make(const OrdersOptions& options, Clock* clock) noexcept {
  auto state = std::make_unique<State>(clock);
  PAWL_TRY(state->open(options));
  return Orders(std::move(state));
}

Result<OrderOutcome> Orders::place(const OrderRequest& request) noexcept {
  PAWL_ASSERT(state_ != nullptr);  // it was moved from
  PlaceRequest asked_for = PAWL_TRY(request_of(request));
  return outcome_of(PAWL_TRY(
      answer_of<Placed>([&](auto done) { state_->place(std::move(asked_for), std::move(done)); })));
}

void Orders::place(const OrderRequest& request, Done done) noexcept {
  PAWL_ASSERT(state_ != nullptr);
  Result<PlaceRequest> asked_for = request_of(request);
  if (!asked_for) return done(std::unexpected(asked_for.error()));
  state_->place(*std::move(asked_for), [done = std::move(done)](Result<Placed> placed) mutable {
    if (!placed) return done(std::unexpected(placed.error()));
    done(outcome_of(*placed));
  });
}

Result<std::vector<Result<OrderOutcome>>> Orders::place_batch(
    const std::vector<OrderRequest>& requests) noexcept {
  PAWL_ASSERT(state_ != nullptr);
  std::vector<PlaceRequest> all;
  for (const OrderRequest& each : requests) all.push_back(PAWL_TRY(request_of(each)));
  const auto placed = PAWL_TRY(answer_of<std::vector<Result<Placed>>>(
      [&](auto done) { state_->office->desk().place_batch(std::move(all), std::move(done)); }));
  std::vector<Result<OrderOutcome>> out;
  for (const Result<Placed>& each : placed) {
    if (each) {
      out.emplace_back(outcome_of(*each));
    } else {
      out.emplace_back(std::unexpected(each.error()));
    }
  }
  return out;
}

Result<OrderPreview> Orders::dry_run(const OrderRequest& request) noexcept {
  PAWL_ASSERT(state_ != nullptr);
  PlaceRequest asked_for = PAWL_TRY(request_of(request));
  const DryRun run = PAWL_TRY(answer_of<DryRun>(
      [&](auto done) { state_->office->desk().dry_run(std::move(asked_for), std::move(done)); }));
  return OrderPreview{.would_send = run.would_send,
                      .counts = run.counts,
                      .message = run.message,
                      .quota = quota_of(run.quota)};
}

Result<OrderCheck> Orders::precheck(const OrderTerms& order) noexcept {
  PAWL_ASSERT(state_ != nullptr);
  order::Order terms = PAWL_TRY(order_of(order));
  const Precheck found = PAWL_TRY(answer_of<Precheck>(
      [&](auto done) { state_->office->desk().precheck(std::move(terms), std::move(done)); }));
  return OrderCheck{.ok = found.ok, .code = found.code, .message = found.message};
}

Result<OrderChanged> Orders::modify(std::string_view reference,
                                    const OrderAmendment& change) noexcept {
  PAWL_ASSERT(state_ != nullptr);
  OrderChange wanted{.size = PAWL_TRY(number_of("size", change.size)),
                     .price = PAWL_TRY(number_of("price", change.price)),
                     .stop_price = PAWL_TRY(number_of("stop_price", change.stop_price))};
  return changed_of(PAWL_TRY(answer_of<Changed>([&](auto done) {
    state_->office->desk().modify(std::string(reference), std::move(wanted), std::move(done));
  })));
}

Result<OrderChanged> Orders::cancel(std::string_view reference) noexcept {
  PAWL_ASSERT(state_ != nullptr);
  return changed_of(PAWL_TRY(answer_of<Changed>(
      [&](auto done) { state_->office->desk().cancel(std::string(reference), std::move(done)); })));
}

Result<OrderOutcome> Orders::status(std::string_view reference, bool look) noexcept {
  PAWL_ASSERT(state_ != nullptr);
  return outcome_of(PAWL_TRY(answer_of<Placed>([&](auto done) {
    state_->office->desk().status(std::string(reference), look, std::move(done));
  })));
}

Result<std::vector<OrderOutcome>> Orders::unresolved() noexcept {
  PAWL_ASSERT(state_ != nullptr);
  const IntentFilter filter{
      .statuses = {order::Status::sending, order::Status::reconciling, order::Status::unresolved},
      .limit = bounds::order_list_max};
  const auto open = PAWL_TRY(answer_of<std::vector<order::Intent>>(
      [&](auto done) { state_->office->desk().list(filter, std::move(done)); }));
  std::vector<OrderOutcome> out;
  for (const order::Intent& each : open) out.push_back(outcome_of(each));
  return out;
}

Result<std::vector<OrderOutcome>> Orders::reconcile(std::string_view reference) noexcept {
  PAWL_ASSERT(state_ != nullptr);
  return outcomes_of(PAWL_TRY(answer_of<std::vector<Placed>>([&](auto done) {
    state_->office->desk().reconcile(std::string(reference), std::move(done));
  })));
}

Result<OrderOutcome> Orders::resolve(std::string_view reference,
                                     const OrderVerdict& verdict) noexcept {
  PAWL_ASSERT(state_ != nullptr);
  using As = order::Resolution::As;
  order::Resolution resolution{.as = verdict.placed ? As::placed : As::absent,
                               .order_id = verdict.order_id,
                               .reason = verdict.reason,
                               .who = verdict.who};
  return outcome_of(PAWL_TRY(answer_of<Placed>([&](auto done) {
    state_->office->desk().resolve(std::string(reference), std::move(resolution), std::move(done));
  })));
}

Result<OrderQuota> Orders::quota() noexcept {
  PAWL_ASSERT(state_ != nullptr);
  return quota_of(PAWL_TRY(
      answer_of<order::Quota>([&](auto done) { state_->office->desk().quota(std::move(done)); })));
}

Result<OrderBackfill> Orders::backfill(Duration back, std::string_view venue) noexcept {
  PAWL_ASSERT(state_ != nullptr);
  const Instant now = state_->clock.wall_now();
  const BackfillAsk ask{.from = now - back, .to = now, .venue = std::string(venue)};
  BackfillSummary summary = PAWL_TRY(answer_of<BackfillSummary>(
      [&](auto done) { state_->office->desk().backfill(ask, {}, std::move(done)); }));
  return OrderBackfill{
      .orders = summary.orders, .inserted = summary.inserted, .notes = std::move(summary.notes)};
}

}  // namespace pawl
