// Orders: places orders on trading venues, each once, at the pace the venue allows and within the
// week's limit.
//
//   auto orders = pawl::Orders::make({.database = "data/orders.db", .okx = account});
//   if (!orders) return tell(orders.error().message);
//   const auto placed = orders->place({.external_reference = "rebalance-7",
//                                      .order = {.venue = "okx",
//                                                .instrument = "BTC-USDT-SWAP",
//                                                .side = pawl::Side::buy,
//                                                .type = pawl::OrderType::limit,
//                                                .size = "0.1",
//                                                .price = "50000"}});
//   if (placed && placed->status == pawl::OrderStatus::confirmed) …
//
// Contract: intent and quota are on the disk before the first byte leaves, the outcome before the
//           caller hears it. When an answer gets lost, it is found out what became of the order
//           before anything is sent again. The same reference placed again sends nothing and gives
//           the first answer; another order under it is refused. Sizes and prices are decimal text
//           and reach the venue as they were written.
// Errors:   values; nothing here throws. Code::refused: the reference names another order, or this
//           end has begun. Code::unresolved: the outcome could not be recorded. Code::unavailable:
//           nothing was sent, for the database, the venue or the audit log could not be reached, or
//           its time was up before; the same order may be placed again under its reference.
//           Code::invalid or usage: an order or a reference that no venue takes. What the venue
//           rejects and what the weekly limit denies is a result.
// Processes: any number may share a database: the pace, the week and the work are theirs together.
//           What a process left open when it died is found out about by the next one, before it
//           sends anything new.
// Waiting:  the blocking forms wait for the outcome, which may take the settle time and more after
//           a lost answer; wait_max bounds it, and work then goes on here.
// Threads:  any may call all of it. Moving and destroying are for one thread alone. Destroying
//           waits until what is on the wire is recorded. Callbacks must not block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/clock.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl {

struct SaxoAccount {
  std::string base_url = "https://gateway.saxobank.com/sim/openapi";
  std::string token_url = {};  // where tokens are renewed; empty: they are not
  std::string access_token = {};
  std::string refresh_token = {};
  std::string app_key = {};
  std::string app_secret = {};
  std::string client_key = {};
  std::string account_key = {};
  std::string token_file = {};  // empty: beside the database
};

struct OkxAccount {
  std::string base_url = "https://www.okx.com";
  std::string api_key = {};
  std::string secret_key = {};
  std::string passphrase = {};
  bool simulated = true;
};

// What happened, for a log; `event` is the name that `pawl` logs it under.
struct OrderNote {
  enum class Level : std::uint8_t { info, warn, error };
  Level level = Level::info;
  std::string event = {};
  std::string external_reference = {};  // where it is about one order, as the next
  std::string request_id = {};
  std::string message = {};
};

struct OrdersOptions {
  std::string database = "data/orders.db";
  std::string audit = {};  // file:PATH or nats://HOST:PORT/STREAM; empty: no audit log
  bool weekly_limit = true;
  std::int64_t weekly_max_orders = 5;
  bool exclude_reduce_only = true;
  std::int64_t rate_count = 1;  // so many placements, changes and cancels …
  Duration rate_period = Duration::seconds(1);
  std::int64_t burst = 0;
  int max_retries = 2;
  Duration settle = Duration::seconds(20);  // how long absence must last to be believed
  Duration patience = Duration::seconds(60);
  Duration timeout = Duration::seconds(10);  // of one wire attempt
  std::optional<SaxoAccount> saxo = {};
  std::optional<OkxAccount> okx = {};
  std::function<void(const OrderNote&)> note = {};  // any thread
};

enum class Side : std::uint8_t { buy, sell };
enum class OrderType : std::uint8_t { market, limit, stop, stop_limit, post_only };
enum class Validity : std::uint8_t { usual, day, gtc, ioc, fok };

struct OrderTerms {
  std::string venue = {};       // saxo, okx
  std::string instrument = {};  // OKX: instId; Saxo: Uic
  std::string asset_type = {};  // Saxo alone
  Side side = Side::buy;
  OrderType type = OrderType::limit;
  std::string size = {};  // decimal text, as are the prices
  std::string price = {};
  std::string stop_price = {};
  Validity validity = Validity::usual;
  bool reduce_only = false;
  std::string trade_mode = {};     // OKX: cash, cross, isolated; empty: by the instrument
  std::string position_side = {};  // OKX: long, short, net; empty: not sent
};

struct OrderRequest {
  std::string external_reference = {};  // empty: one is made, and cannot be repeated
  OrderTerms order = {};
  Duration wait_max = Duration::max();
};

enum class OrderStatus : std::uint8_t { confirmed, rejected, denied, unresolved };
std::string_view to_string(OrderStatus status);

struct OrderEvidence {
  Instant at = {};
  std::string source = {};
  std::string says = {};
};

struct OrderQuota {
  bool enabled = true;
  std::int64_t used = 0;
  std::int64_t limit = 0;
  Instant week_start = {};
};

struct OrderOutcome {
  std::string external_reference = {};
  std::string venue = {};
  OrderStatus status = OrderStatus::unresolved;
  std::string order_id = {};
  std::string life = {};  // working, filled, canceled, rejected, unknown
  int attempts = 0;
  std::vector<OrderEvidence> evidence = {};
  OrderQuota quota = {};
  bool replayed = false;     // the stored answer; nothing was sent
  std::string message = {};  // for people: why it is not confirmed, and what to do
};

struct OrderPreview {
  bool would_send = false;
  bool counts = true;
  std::string message = {};
  OrderQuota quota = {};
};

struct OrderCheck {
  bool ok = false;
  std::string code = {};
  std::string message = {};
};

// What is to be different; empty: as it is.
struct OrderAmendment {
  std::string size = {};
  std::string price = {};
  std::string stop_price = {};
};

struct OrderChanged {
  bool accepted = false;
  std::string order_id = {};
  std::string life = {};
  std::string message = {};
};

// A person's word on an order that nothing else can settle.
struct OrderVerdict {
  bool placed = false;
  std::string order_id = {};  // of a placed one
  std::string reason = {};
  std::string who = {};
};

struct OrderBackfill {
  std::size_t orders = 0;    // that the venues showed
  std::size_t inserted = 0;  // that were missing
  std::vector<std::string> notes = {};
};

class Orders {
 public:
  using Done = std::move_only_function<void(Result<OrderOutcome>)>;

  // Without a clock it is the machine's own. A clock given must outlive it.
  static Result<Orders> make(const OrdersOptions& options, Clock* clock = nullptr) noexcept;

  Orders(Orders&& other) noexcept;
  Orders& operator=(Orders&& other) noexcept;
  ~Orders();

  Result<OrderOutcome> place(const OrderRequest& request) noexcept;
  // Calls back once, on any thread.
  void place(const OrderRequest& request, Done done) noexcept;
  // In the order of the requests, each with an intent of its own.
  Result<std::vector<Result<OrderOutcome>>> place_batch(
      const std::vector<OrderRequest>& requests) noexcept;
  // What place() would do; nothing is kept or sent.
  Result<OrderPreview> dry_run(const OrderRequest& request) noexcept;
  // Asks the venue.
  Result<OrderCheck> precheck(const OrderTerms& order) noexcept;

  Result<OrderChanged> modify(std::string_view reference, const OrderAmendment& change) noexcept;
  Result<OrderChanged> cancel(std::string_view reference) noexcept;
  // `look`: asks the venue as well.
  Result<OrderOutcome> status(std::string_view reference, bool look = false) noexcept;
  // Those whose outcome is not known.
  Result<std::vector<OrderOutcome>> unresolved() noexcept;
  // Finds out what became of an open one; of all, when there is no reference.
  Result<std::vector<OrderOutcome>> reconcile(std::string_view reference = {}) noexcept;
  Result<OrderOutcome> resolve(std::string_view reference, const OrderVerdict& verdict) noexcept;
  Result<OrderQuota> quota() noexcept;
  // Inserts what is missing in order_history, from what the venues remember.
  Result<OrderBackfill> backfill(Duration back, std::string_view venue = {}) noexcept;

 private:
  struct State;
  explicit Orders(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pawl
