#include "admin/admin.h"

#include <iterator>
#include <utility>

#include "admin/authorize.h"
#include "admin/broker.h"
#include "admin/chain.h"
#include "admin/idempotency.h"
#include "admin/limits.h"
#include "admin/openapi.h"
#include "admin/orders.h"
#include "admin/panel.h"
#include "admin/policies.h"
#include "admin/probes.h"
#include "admin/queue.h"
#include "admin/session_routes.h"
#include "admin/tasks.h"
#include "admin/tenants.h"
#include "admin/webhooks.h"

namespace pawl::admin {
namespace {

// What the routes stand on, besides the context.
struct Desks {
  Listeners& listeners;
  Sampler& sampler;
  UsageHistory& usage;
  Sessions& sessions;
};

Routes routes_of(Context& context, const Desks& desks, const std::string& document) {
  Routes all;
  const auto add = [&all](Routes more) { std::ranges::move(more, std::back_inserter(all)); };
  add(probe_routes(context));
  add({{.path = "/openapi.json",
        .id = "openapi",
        .summary = "This document.",
        .answers = {{200, "OpenAPI 3.1.", schema::map_of(schema::anything())}},
        .handle = [&document](Call call) {
          std::move(call).answer(server::Response{.status = 200,
                                                  .content_type = "application/json",
                                                  .body = document,
                                                  .extra_fields = {}});
        }}});
  add(tenant_routes(context));
  add(limit_routes(context));
  add(authorize_routes(context));
  add(idempotency_routes(context));
  add(usage_routes(context, desks.usage));
  add(audit_routes(context, desks.listeners));
  add(chain_routes(context));
  add(overview_routes(context, desks.sampler));
  add(policy_routes(context));
  add(session_routes(context, desks.sessions));
  add(webhook_routes(context));
  add(order_routes(context));
  add(task_routes(context));
  add(queue_routes(context));
  add(broker_routes(context));
  add(panel_routes(panel_assets()));
  return all;
}

// An empty body is one without members.
Result<json::Value> read_body(const Route& route, const std::string& text) {
  if (route.body.is_null()) return json::Value();
  json::Value body = PAWL_TRY(json::parse(text.empty() ? "{}" : text));
  if (std::string wrong = flaw(route.body, body, "the body"); !wrong.empty()) {
    return failure(Code::invalid, std::move(wrong));
  }
  return body;
}

Result<Call::Asked> read(const Found& found, const server::Request& request) {
  Call::Asked asked;
  asked.values = PAWL_TRY(read_parameters(found, request.target));
  asked.body = PAWL_TRY(read_body(*found.route, request.body));
  return asked;
}

// A token that a browser sends is a program's: who signed in shows a cookie.
Answers::From asked_from(const server::Request& request) {
  const bool shows_token = !request.header("Authorization").empty();
  return is_of_browser(request) && !shows_token ? Answers::From::panel : Answers::From::program;
}

void send(server::Reply reply, server::Response response) {
  std::move(reply).send(guarded(std::move(response)));
}

}  // namespace

Admin::Admin(Context& context)
    : context_(context),
      listeners_(context, gate_),
      sampler_(context, gate_),
      usage_(context),
      routes_(routes_of(context, {listeners_, sampler_, usage_, gate_.sessions()}, document_)),
      router_(routes_) {
  document_ = json::print(openapi(routes_, PAWL_VERSION)) + "\n";
}

void Admin::sample() {
  sampler_.tick();
  usage_.tick();
}

void Admin::answer(const server::Request& request, server::Reply reply) {
  const Found found = router_.find(request.method, request.target);
  const Access access = found.route == nullptr ? Access::token : found.route->access;
  auto refused = gate_.refuse(context_.gate, request, access, context_.clock.steady_now());
  if (refused) return send(std::move(reply), *std::move(refused));
  dispatch(found, request, std::move(reply));
}

void Admin::dispatch(const Found& found, const server::Request& request, server::Reply reply) {
  if (found.route == nullptr && found.allow.empty()) {
    return send(std::move(reply),
                problem(http::ProblemCode::not_found,
                        "Nothing is served at this path. GET /openapi.json lists what is."));
  }
  if (found.route == nullptr) {
    return send(std::move(reply), problem(http::ProblemCode::method_not_allowed,
                                          "This path is asked with: " + found.allow + ".",
                                          "Allow: " + found.allow + "\r\n"));
  }
  Result<Call::Asked> asked = read(found, request);
  if (!asked) {
    return send(std::move(reply), problem(http::ProblemCode::bad_request, asked.error().message));
  }
  std::unique_ptr<Answers::Tap> tap;
  if (may_carry_key(*found.route) && !request.header("Idempotency-Key").empty()) {
    const std::string_view run = request.header(run_field);
    if (!run.empty() && run != context_.run) {
      return send(std::move(reply), problem(http::ProblemCode::idempotency_key_forgotten,
                                            "pawl was restarted since, and knows no key from "
                                            "before. Nothing was done now; look what became of it "
                                            "then."));
    }
    tap = answers_.begin(request, asked_from(request), reply, context_.clock.steady_now());
    if (!tap) return;  // it is answered, or waits for who does the same
  }
  Call call(request, *std::move(asked), std::move(reply));
  call.keep_answer(std::move(tap));
  found.route->handle(std::move(call));
}

}  // namespace pawl::admin
