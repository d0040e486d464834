#include "admin/webhooks.h"

#include "admin/parameters.h"
#include "base/bounds.h"

namespace pawl::admin {
namespace {

using json::Array;
using json::Object;
using json::text_or_null;
using json::Value;
using webhook::Delivery;
using webhook::State;

Schema delivery_schema() {
  return schema::object({{"event_id", schema::text()},
                         {"type", schema::text()},
                         {"tenant", schema::or_null(schema::text())},
                         {"endpoint", schema::text()},
                         {"state", schema::word({"pending", "acknowledged", "given_up"})},
                         {"attempts", schema::count()},
                         {"created_at", schema::instant()},
                         {"next_at", schema::or_null(schema::instant())},
                         {"ended_at", schema::or_null(schema::instant())},
                         {"last_status", schema::count()},
                         {"last_error", schema::or_null(schema::text())}});
}

Value to_json(const Delivery& delivery) {
  const bool pending = delivery.state == State::pending;
  return Object{{"event_id", delivery.event_id},
                {"type", delivery.type},
                {"tenant", text_or_null(delivery.tenant)},
                {"endpoint", delivery.endpoint},
                {"state", to_string(delivery.state)},
                {"attempts", delivery.attempts},
                {"created_at", to_string(delivery.created_at)},
                {"next_at", pending ? Value(to_string(delivery.next_at)) : Value()},
                {"ended_at", pending ? Value() : Value(to_string(delivery.ended_at))},
                {"last_status", delivery.last_status},
                {"last_error", text_or_null(delivery.last_error)}};
}

bool has_endpoints(const Context& context) {
  return context.webhooks != nullptr && context.webhooks->has_endpoints();
}

void refuse_without_endpoints(Call call) {
  std::move(call).refuse(http::ProblemCode::not_found,
                         "No webhook endpoint is set. Name one in webhooks.endpoints.");
}

void list(Context& context, Call call) {
  if (!has_endpoints(context)) return refuse_without_endpoints(std::move(call));
  const std::optional<State> state = webhook::state_of(call.text("state"));
  const std::size_t limit = limit_of(call);
  context.webhooks->deliveries(
      state, limit,
      back<std::vector<Delivery>>(context, std::move(call),
                                  [](Call asked, const std::vector<Delivery>& deliveries) {
                                    Array out;
                                    for (const Delivery& each : deliveries) {
                                      out.push_back(to_json(each));
                                    }
                                    std::move(asked).answer(Object{{"deliveries", std::move(out)}});
                                  }));
}

void emit(Context& context, Call call) {
  if (!has_endpoints(context)) return refuse_without_endpoints(std::move(call));
  const Value* data = call.body().find("data");
  webhook::Event event{.id = call.member("id"),
                       .type = call.member("type"),
                       .tenant = call.member("tenant"),
                       .time = context.clock.wall_now(),
                       .data = data == nullptr ? Value() : *data};
  if (const auto checked = webhook::check(event); !checked) {
    return std::move(call).fail(checked.error());
  }
  const auto recorded = record_change(
      context, call,
      {.type = audit::EventType::config,
       .timestamp = event.time,
       .operation = "webhook emit",
       .correlation = {.tenant_id = event.tenant},
       .details = {{"webhook_event_id", event.id}, {"webhook_event_type", event.type}}});
  if (!recorded) return std::move(call).fail(recorded.error());
  context.webhooks->emit(event, back<bool>(context, std::move(call), [](Call asked, bool is_new) {
                           std::move(asked).answer(Object{{"accepted", is_new}});
                         }));
}

}  // namespace

Routes webhook_routes(Context& context) {
  return {
      {.path = "/v1/webhooks/deliveries",
       .id = "list_deliveries",
       .summary = "What became of webhook events, an entry an event and endpoint.",
       .parameters = {limit_in_query(),
                      {"state", "Of this state alone.",
                       schema::word({"pending", "acknowledged", "given_up"})}},
       .answers = {{200, "The newest first.",
                    schema::object({{"deliveries", schema::list_of(delivery_schema())}})}},
       .problems = {404, 503},
       .handle = [&context](Call call) { list(context, std::move(call)); }},
      {.method = "POST",
       .path = "/v1/webhooks/events",
       .id = "emit_event",
       .summary = "Emits an event, once for its id.",
       .body = schema::object({{"id", schema::text(1, bounds::webhook_id_bytes_max)},
                               {"type", schema::text(1, bounds::webhook_type_bytes_max)},
                               {"tenant", schema::text(1, bounds::tenant_bytes_max), false},
                               {"data", schema::anything(), false}}),
       .answers = {{200, "It is on the disk; accepted is false for an id that was known.",
                    schema::object({{"accepted", schema::truth()}})}},
       .problems = {404, 503},
       .handle = [&context](Call call) { emit(context, std::move(call)); }},
  };
}

}  // namespace pawl::admin
