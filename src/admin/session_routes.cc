#include "admin/session_routes.h"

#include <string>
#include <utility>

namespace pawl::admin {
namespace {

using json::Object;
using json::Value;

Schema session_schema() {
  const Schema upgrade = schema::object({{"text", schema::text()}, {"link", schema::text()}});
  return schema::object({{"csrf", schema::or_null(schema::text())},
                         {"version", schema::text()},
                         {"run", schema::text()},
                         {"trading", schema::truth()},
                         {"upgrade", schema::or_null(upgrade)},
                         {"orders", schema::truth()},
                         {"venues", schema::list_of(schema::text())},
                         {"tasks", schema::truth()},
                         {"audit", schema::truth()}});
}

Value session_json(const Context& context, const std::string& csrf) {
  const PanelSettings& panel = context.panel;
  Value upgrade;
  if (!panel.upgrade_link.empty()) {
    upgrade = Object{{"text", panel.upgrade_text}, {"link", panel.upgrade_link}};
  }
  json::Array venues;
  for (const std::string& venue : panel.venues) venues.emplace_back(venue);
  return Object{{"csrf", csrf.empty() ? Value() : Value(csrf)},
                {"version", PAWL_VERSION},
                {"run", context.run},
                {"trading", context.gate.trading},
                {"upgrade", std::move(upgrade)},
                {"orders", context.orders != nullptr},
                {"venues", std::move(venues)},
                {"tasks", context.tasks != nullptr},
                {"audit", context.trail != nullptr}};
}

void tell(Context& context, Sessions& sessions, Call call) {
  const std::string csrf =
      sessions.csrf_of(call.request(), context.gate.token, context.clock.steady_now());
  std::move(call).answer(session_json(context, csrf));
}

// Without a token everybody is in already.
void sign_in(Context& context, Sessions& sessions, Call call) {
  if (context.gate.token.empty()) return std::move(call).answer(session_json(context, ""));
  const Sessions::Opened opened =
      sessions.open(context.entropy, context.gate.token, context.clock.steady_now());
  server::Response response = json_response(200, session_json(context, opened.csrf));
  response.extra_fields += cookie_field(call.request(), opened.id);
  std::move(call).answer(std::move(response));
}

void sign_out(Sessions& sessions, Call call) {
  sessions.close(call.request());
  server::Response response = json_response(200, Object{{"signed_out", true}});
  response.extra_fields += cookie_field(call.request(), "");
  std::move(call).answer(std::move(response));
}

}  // namespace

Routes session_routes(Context& context, Sessions& sessions) {
  return {
      {.path = "/v1/session",
       .id = "session",
       .summary = "What is here, and the CSRF token of the session that the cookie names.",
       .answers = {{200, "csrf is null where no session is shown.", session_schema()}},
       .handle = [&](Call call) { tell(context, sessions, std::move(call)); }},
      {.method = "POST",
       .path = "/v1/session",
       .id = "sign_in",
       .summary = "Signs a browser in: the token, once, for a cookie.",
       .answers = {{200, "The cookie comes with it.", session_schema()}},
       .keeps_answer = false,
       .handle = [&](Call call) { sign_in(context, sessions, std::move(call)); }},
      {.method = "DELETE",
       .path = "/v1/session",
       .id = "sign_out",
       .summary = "Ends the session that the cookie names.",
       .answers = {{200, "It is over.", schema::object({{"signed_out", schema::truth()}})}},
       .keeps_answer = false,
       .handle = [&](Call call) { sign_out(sessions, std::move(call)); }},
  };
}

}  // namespace pawl::admin
