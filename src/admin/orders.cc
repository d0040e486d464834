#include "admin/orders.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admin/parameters.h"
#include "base/bounds.h"
#include "base/decimal.h"
#include "runtime/placed_json.h"

namespace pawl::admin {
namespace {

using json::Array;
using json::Object;
using json::Value;

constexpr std::int64_t wait_default_seconds = 60;

Schema quota_schema() {
  return schema::object(
      {{"used", schema::count()}, {"limit", schema::count()}, {"week_start", schema::text()}});
}

Schema evidence_schema() {
  return schema::list_of(schema::object(
      {{"at", schema::instant()}, {"source", schema::text()}, {"says", schema::text()}}));
}

Schema life_schema() {
  return schema::word({"working", "filled", "canceled", "rejected", "unknown"});
}

std::vector<schema::Member> placed_members() {
  return {{"external_reference", schema::text()},
          {"venue", schema::text()},
          {"status", schema::word({"confirmed", "rejected", "denied", "unresolved"})},
          {"order_id", schema::text()},
          {"attempts", schema::count()},
          {"life", life_schema()},
          {"message", schema::text()},
          {"evidence", evidence_schema()},
          {"quota", quota_schema()}};
}

Schema placed_schema() {
  return schema::object(placed_members());
}

std::vector<schema::Member> terms() {
  const Schema word = schema::text(1, bounds::order_name_bytes_max);
  return {{"venue", word},
          {"inst", word, false},
          {"uic", word, false},
          {"asset_type", word, false},
          {"side", schema::word({"buy", "sell"})},
          {"type", schema::word({"market", "limit", "stop", "stop_limit", "post_only"})},
          {"size", word},
          {"price", word, false},
          {"stop_price", word, false},
          {"validity", schema::word({"day", "gtc", "ioc", "fok"}), false},
          {"reduce_only", schema::truth(), false},
          {"trade_mode", word, false},
          {"position_side", word, false}};
}

Schema order_schema() {
  return schema::object(terms());
}

Schema whole_schema() {
  std::vector<schema::Member> members = placed_members();
  members.push_back({"created_at", schema::instant()});
  members.push_back({"counts", schema::truth()});
  members.push_back({"order", order_schema()});
  return schema::object(std::move(members));
}

Schema request_schema() {
  std::vector<schema::Member> members = terms();
  members.push_back(
      {"external_reference", schema::text(1, bounds::order_reference_bytes_max), false});
  return schema::object(std::move(members));
}

Schema intent_schema() {
  return schema::object(
      {{"external_reference", schema::text()},
       {"venue", schema::text()},
       {"status", schema::word({"sending", "reconciling", "unresolved", "confirmed", "rejected"})},
       {"order_id", schema::text()},
       {"attempts", schema::count()},
       {"evidence", evidence_schema()},
       {"life", life_schema()},
       {"reason", schema::text()},
       {"request_id", schema::text()},
       {"created_at", schema::instant()},
       {"counts", schema::truth()},
       {"order", order_schema()}});
}

Schema changed_schema() {
  return schema::map_of(schema::anything());
}

Schema placements_schema() {
  return schema::object({{"orders", schema::list_of(placed_schema())}});
}

Parameter reference_in_path() {
  return {"reference", "The order's external reference.",
          schema::text(1, bounds::order_reference_bytes_max), Parameter::In::path};
}

bool is_refused(Context& context, Call& call) {
  if (context.orders != nullptr) return false;
  std::move(call).refuse(http::ProblemCode::not_found,
                         "No venue is configured. Name one in orders.venues.");
  return true;
}

int status_of(PlacedAs as) {
  switch (as) {
    case PlacedAs::confirmed:
      return 200;
    case PlacedAs::unresolved:
      return 202;
    case PlacedAs::rejected:
      return 422;
    case PlacedAs::denied:
      return 429;
  }
  __builtin_unreachable();
}

void tell(Context& context, Call call, const Placed& placed) {
  server::Response response = json_response(status_of(placed.as), json_of(placed));
  if (placed.as == PlacedAs::denied) {
    const Duration wait = placed.quota.week_start + Duration::days(7) - context.clock.wall_now();
    response.extra_fields += "Retry-After: " + std::to_string(wait.seconds_up()) + "\r\n";
  }
  std::move(call).answer(std::move(response));
}

// For a desk: comes back with a placement.
auto back_with_placed(Context& context, Call call) {
  return back<Placed>(context, std::move(call), [&context](Call asked, const Placed& placed) {
    tell(context, std::move(asked), placed);
  });
}

// The records of an order go by its reference: this one says whose operation it is a part of.
Result<void> join(Context& context, const Call& call, PlaceRequest& request) {
  const std::string operation = correlation_of(call);
  if (operation.empty()) return {};
  const Instant now = context.clock.wall_now();
  if (request.reference.empty()) {
    request.reference = order::make_reference(now, context.entropy.next());
  }
  return record_change(
      context, call,
      {.type = audit::EventType::config,
       .timestamp = now,
       .operation = "order place",
       .correlation = {.external_reference = request.reference, .correlation_id = operation},
       .details = {{"venue", request.order.venue}}});
}

void place(Context& context, Call call) {
  if (is_refused(context, call)) return;
  Result<PlaceRequest> request = place_request_of_json(call.body());
  if (!request) return std::move(call).fail(request.error());
  request->wait_max = Duration::seconds(call.number("wait_seconds", wait_default_seconds));
  if (!call.truth("dry_run")) {
    if (const auto joined = join(context, call, *request); !joined) {
      return std::move(call).fail(joined.error());
    }
    return context.orders->place(*std::move(request), back_with_placed(context, std::move(call)));
  }
  context.orders->dry_run(*std::move(request),
                          back<DryRun>(context, std::move(call), [](Call asked, const DryRun& run) {
                            std::move(asked).answer(json_of(run));
                          }));
}

void list(Context& context, Call call) {
  if (is_refused(context, call)) return;
  IntentFilter filter{.venue = call.text("venue"), .limit = limit_of(call)};
  if (const auto status = order::status_of(call.text("status"))) filter.statuses = {*status};
  if (call.truth("unresolved")) {
    filter.statuses = {order::Status::sending, order::Status::reconciling,
                       order::Status::unresolved};
  }
  context.orders->list(
      std::move(filter),
      back<std::vector<order::Intent>>(
          context, std::move(call), [](Call asked, const std::vector<order::Intent>& orders) {
            Array all;
            for (const order::Intent& each : orders) all.push_back(json_of(each));
            std::move(asked).answer(Object{{"orders", std::move(all)}});
          }));
}

void tell_quota(Context& context, Call call) {
  if (is_refused(context, call)) return;
  context.orders->quota(
      back<order::Quota>(context, std::move(call), [](Call asked, const order::Quota& quota) {
        std::move(asked).answer(whole_json_of(quota));
      }));
}

// 200 whatever became of it: the question is answered.
void look(Context& context, Call call) {
  if (is_refused(context, call)) return;
  const std::string reference = call.text("reference");
  const bool asks_venue = call.truth("look");
  context.orders->status(
      reference, asks_venue,
      back<Placed>(context, std::move(call), [](Call asked, const Placed& placed) {
        std::move(asked).answer(whole_json_of(placed));
      }));
}

void reconcile(Context& context, Call call) {
  if (is_refused(context, call)) return;
  const std::string reference = call.text("reference");  // empty: all
  context.orders->reconcile(
      reference, back<std::vector<Placed>>(
                     context, std::move(call), [](Call asked, const std::vector<Placed>& found) {
                       Array all;
                       for (const Placed& each : found) all.push_back(json_of(each));
                       std::move(asked).answer(Object{{"orders", std::move(all)}});
                     }));
}

void resolve(Context& context, Call call) {
  if (is_refused(context, call)) return;
  const std::string reference = call.text("reference");
  order::Resolution resolution{.as = order::resolution_of(call.member("as")).value(),
                               .order_id = call.member("order_id"),
                               .reason = call.member("reason"),
                               .who = who_asks(call)};
  if (resolution.as == order::Resolution::As::placed && resolution.order_id.empty()) {
    return std::move(call).refuse(http::ProblemCode::bad_request,
                                  "A placed order has an order_id: that of the venue.");
  }
  context.orders->resolve(
      reference, std::move(resolution),
      back<Placed>(context, std::move(call), [](Call asked, const Placed& placed) {
        std::move(asked).answer(json_of(placed));
      }));
}

// The venue's no is an error of the desk.
void tell(Call call, const Changed& changed) {
  std::move(call).answer(json_of(changed));
}

void cancel(Context& context, Call call) {
  if (is_refused(context, call)) return;
  const std::string reference = call.text("reference");
  context.orders->cancel(
      reference, back<Changed>(context, std::move(call), [](Call asked, const Changed& changed) {
        tell(std::move(asked), changed);
      }));
}

Result<OrderChange> change_of(const Call& call) {
  OrderChange change;
  const auto take = [&](std::string_view name, std::optional<Decimal>& to) -> Result<void> {
    const std::string text = call.member(name);
    if (!text.empty()) to = PAWL_TRY(parse_decimal(text));
    return {};
  };
  PAWL_TRY(take("size", change.size));
  PAWL_TRY(take("price", change.price));
  PAWL_TRY(take("stop_price", change.stop_price));
  if (!change.size && !change.price && !change.stop_price) {
    return failure(Code::invalid, "nothing is to change: give size, price or stop_price");
  }
  return change;
}

void modify(Context& context, Call call) {
  if (is_refused(context, call)) return;
  Result<OrderChange> change = change_of(call);
  if (!change) return std::move(call).fail(change.error());
  const std::string reference = call.text("reference");
  context.orders->modify(
      reference, *std::move(change),
      back<Changed>(context, std::move(call),
                    [](Call asked, const Changed& changed) { tell(std::move(asked), changed); }));
}

void precheck(Context& context, Call call) {
  if (is_refused(context, call)) return;
  Result<order::Order> order = order::order_of(call.body());
  if (!order) return std::move(call).fail(order.error());
  context.orders->precheck(
      *std::move(order),
      back<Precheck>(context, std::move(call), [](Call asked, const Precheck& found) {
        std::move(asked).answer(json_of(found));
      }));
}

Result<std::vector<PlaceRequest>> batch_of(const Call& call) {
  std::vector<PlaceRequest> requests;
  const Array& orders = *call.body().find("orders")->if_array();
  if (orders.empty() || orders.size() > bounds::order_batch_file_max) {
    return failure(Code::invalid,
                   "a batch has 1 to " + std::to_string(bounds::order_batch_file_max) + " orders");
  }
  for (const Value& each : orders) requests.push_back(PAWL_TRY(place_request_of_json(each)));
  return requests;
}

void place_batch(Context& context, Call call) {
  if (is_refused(context, call)) return;
  Result<std::vector<PlaceRequest>> requests = batch_of(call);
  if (!requests) return std::move(call).fail(requests.error());
  for (PlaceRequest& each : *requests) {
    if (const auto joined = join(context, call, each); !joined) {
      return std::move(call).fail(joined.error());
    }
  }
  using Results = std::vector<Result<Placed>>;
  context.orders->place_batch(
      *std::move(requests),
      back<Results>(context, std::move(call), [](Call asked, const Results& results) {
        Array all;
        for (const Result<Placed>& each : results) {
          all.push_back(each ? Value(json_of(*each))
                             : Value(Object{{"error", each.error().message}}));
        }
        std::move(asked).answer(Object{{"orders", std::move(all)}});
      }));
}

Routes list_routes(Context& context) {
  return {
      {.path = "/v1/orders",
       .id = "list_orders",
       .summary = "Orders as they are kept, the newest first.",
       .parameters =
           {limit_in_query(),
            {"venue", "Of this venue alone.", schema::text(1, 64)},
            {"status", "Of this status alone.",
             schema::word({"sending", "reconciling", "unresolved", "confirmed", "rejected"})},
            {"unresolved", "Those whose outcome is not known: sending, reconciling and unresolved.",
             schema::truth()}},
       .answers = {{200, "The orders.",
                    schema::object({{"orders", schema::list_of(intent_schema())}})}},
       .problems = {404, 503},
       .handle = [&context](Call call) { list(context, std::move(call)); }},
      {.path = "/v1/orders/quota",
       .id = "order_quota",
       .summary = "How much of the week's orders is used.",
       .answers = {{200, "The week, from Monday 00:00 UTC.",
                    schema::object({{"used", schema::count()},
                                    {"limit", schema::count()},
                                    {"week_start", schema::text()},
                                    {"enabled", schema::truth()},
                                    {"remaining", schema::or_null(schema::count())},
                                    {"next_week", schema::instant()}})}},
       .problems = {404, 503},
       .handle = [&context](Call call) { tell_quota(context, std::move(call)); }},
  };
}

Route look_route(Context& context, std::string_view path, std::string_view id) {
  return {.path = path,
          .id = id,
          .summary = "What became of an order, and how that is known.",
          .parameters = {reference_in_path(),
                         {"look", "Ask the venue how it stands now.", schema::truth()}},
          .answers = {{200, "The order.", whole_schema()}},
          .problems = {404, 503},
          .handle = [&context](Call call) { look(context, std::move(call)); }};
}

Route place_route(Context& context) {
  return {.method = "POST",
          .path = "/v1/orders",
          .id = "place_order",
          .summary = "Places an order, once for its reference.",
          .access = Access::trade,
          .parameters = {{"dry_run", "Say what would happen, and do nothing.", schema::truth()},
                         {"wait_seconds",
                          "How long to wait for the outcome; 60 when absent. What was not sent by "
                          "then is withdrawn (503); of what was, the answer is 202, and the work "
                          "goes on.",
                          schema::whole(1, 600)}},
          .body = request_schema(),
          .answers = {{200, "Confirmed; or what a dry run would do.",
                       schema::map_of(schema::anything())},
                      {202, "Unresolved: nobody knows yet.", placed_schema()},
                      {422, "Rejected.", placed_schema()},
                      {429, "Denied by the weekly limit.", placed_schema()}},
          .problems = {404, 409, 503},
          .handle = [&context](Call call) { place(context, std::move(call)); }};
}

Routes settle_routes(Context& context) {
  return {
      {.method = "POST",
       .path = "/v1/orders/{reference}/reconcile",
       .id = "reconcile_order",
       .summary = "Finds out what became of an open order.",
       .parameters = {reference_in_path()},
       .answers = {{200, "What was found.", placements_schema()}},
       .problems = {404, 409, 503},
       .handle = [&context](Call call) { reconcile(context, std::move(call)); }},
      {.method = "POST",
       .path = "/v1/order-reconciliations",
       .id = "reconcile_orders",
       .summary = "Finds out what became of all open orders.",
       .answers = {{200, "What was found.", placements_schema()}},
       .problems = {404, 503},
       .handle = [&context](Call call) { reconcile(context, std::move(call)); }},
      {.method = "POST",
       .path = "/v1/orders/{reference}/resolve",
       .id = "resolve_order",
       .summary = "A person says what became of an open order.",
       .parameters = {reference_in_path()},
       .body = schema::object({{"as", schema::word({"placed", "absent"})},
                               {"reason", schema::text(1, bounds::admin_reason_bytes_max)},
                               {"order_id", schema::text(1, bounds::order_name_bytes_max), false}}),
       .answers = {{200, "As it is now.", placed_schema()}},
       .problems = {404, 409, 503},
       .handle = [&context](Call call) { resolve(context, std::move(call)); }},
  };
}

Routes change_routes(Context& context) {
  const Schema word = schema::text(1, bounds::order_name_bytes_max);
  return {
      {.method = "POST",
       .path = "/v1/orders/{reference}/cancel",
       .id = "cancel_order",
       .summary = "Cancels an order, before any new one leaves.",
       .access = Access::trade,
       .parameters = {reference_in_path()},
       .answers = {{200, "It is canceled, or was over.", changed_schema()}},
       .problems = {404, 409, 503},
       .handle = [&context](Call call) { cancel(context, std::move(call)); }},
      {.method = "POST",
       .path = "/v1/orders/{reference}/modify",
       .id = "modify_order",
       .summary = "Changes size or price of an order.",
       .access = Access::trade,
       .parameters = {reference_in_path()},
       .body = schema::object(
           {{"size", word, false}, {"price", word, false}, {"stop_price", word, false}}),
       .answers = {{200, "It is changed.", changed_schema()}},
       .problems = {404, 409, 503},
       .handle = [&context](Call call) { modify(context, std::move(call)); }},
      {.method = "POST",
       .path = "/v1/order-prechecks",
       .id = "precheck_order",
       .summary = "Asks the venue whether it would take an order; nothing is placed.",
       .body = order_schema(),
       .answers = {{200, "What it said.",
                    schema::object({{"ok", schema::truth()},
                                    {"code", schema::text()},
                                    {"message", schema::text()},
                                    {"details", schema::map_of(schema::text())}})}},
       .problems = {404, 409, 503},
       .keeps_answer = false,
       .handle = [&context](Call call) { precheck(context, std::move(call)); }},
      {.method = "POST",
       .path = "/v1/order-batches",
       .id = "place_orders",
       .summary = "Places several orders, each once for its reference.",
       .access = Access::trade,
       .body = schema::object({{"orders", schema::list_of(request_schema())}}),
       .answers = {{200, "Each as the answer of a placement, or with an error.",
                    schema::object(
                        {{"orders", schema::list_of(schema::map_of(schema::anything()))}})}},
       .problems = {404, 503},
       .handle = [&context](Call call) { place_batch(context, std::move(call)); }},
  };
}

}  // namespace

Routes order_routes(Context& context) {
  Routes all = list_routes(context);
  const auto add = [&all](Routes more) {
    for (Route& each : more) all.push_back(std::move(each));
  };
  add({place_route(context), look_route(context, "/v1/orders/{reference}", "get_order"),
       look_route(context, "/v1/orders/{reference}/status", "order_status")});
  add(settle_routes(context));
  add(change_routes(context));
  return all;
}

}  // namespace pawl::admin
