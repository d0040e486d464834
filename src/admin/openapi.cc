#include "admin/openapi.h"

#include <array>
#include <set>

#include "base/text.h"
#include "core/http/problem.h"

namespace pawl::admin {
namespace {

using json::Array;
using json::Object;
using json::Value;

constexpr std::array<std::string_view, 7> any_method = {"get",   "head",   "post",   "put",
                                                        "patch", "delete", "options"};

Schema problem_schema() {
  const Schema error = schema::object(
      {{"type", schema::text()}, {"code", schema::text()}, {"message", schema::text()}});
  return schema::object({{"type", schema::text()},
                         {"title", schema::text()},
                         {"status", schema::whole(400, 599)},
                         {"detail", schema::text()},
                         {"code", schema::text()},
                         {"violated-policies", schema::list_of(schema::text()), false},
                         {"error", error}});
}

Value content(std::string_view type, Schema schema) {
  Object media;
  if (!schema.is_null()) media.emplace("schema", std::move(schema));
  return Object{{std::string(type), std::move(media)}};
}

Value told(const Told& answer) {
  return Object{{"description", answer.summary},
                {"content", content(answer.content_type, answer.schema)}};
}

Value told_problem(int status) {
  return Object{{"description", http::reason_phrase(status)},
                {"content", content("application/problem+json", schema::reference("Problem"))}};
}

// What a route may be refused with before anybody looks at what it asks.
std::set<int> problems_of(const Route& route) {
  std::set<int> statuses(route.problems.begin(), route.problems.end());
  if (route.access != Access::proxy) statuses.insert({400, 403});
  if (route.access != Access::open) statuses.insert({401, 429});
  if (!route.body.is_null() || !route.takes.empty()) statuses.insert(413);
  if (may_carry_key(route)) statuses.insert({409, 422, 503});
  return statuses;
}

Value responses_of(const Route& route) {
  Object out;
  for (const int status : problems_of(route)) {
    out.emplace(std::to_string(status), told_problem(status));
  }
  for (const Told& answer : route.answers) {
    out.insert_or_assign(std::to_string(answer.status), told(answer));
  }
  return out;
}

Value parameters_of(const Route& route) {
  Array out;
  for (const Parameter& parameter : route.parameters) {
    const bool in_path = parameter.in == Parameter::In::path;
    out.push_back(Object{{"name", parameter.name},
                         {"in", in_path ? "path" : "query"},
                         {"required", in_path},
                         {"description", parameter.summary},
                         {"schema", parameter.schema}});
  }
  return out;
}

Value security_of(Access access) {
  switch (access) {
    case Access::open:
      return Array();
    case Access::token:
    case Access::trade:
      return Array{Object{{"token", Array()}}};
    case Access::proxy:
      return Array{Object{{"proxy_token", Array()}}};
  }
  __builtin_unreachable();
}

Object operation_of(const Route& route) {
  Object out{{"operationId", route.id},
             {"summary", route.summary},
             {"responses", responses_of(route)},
             {"security", security_of(route.access)}};
  if (!route.parameters.empty()) out.emplace("parameters", parameters_of(route));
  if (!route.body.is_null() || !route.takes.empty()) {
    const std::string_view type = route.takes.empty() ? "application/json" : route.takes;
    out.emplace("requestBody", Object{{"required", true}, {"content", content(type, route.body)}});
  }
  return out;
}

std::string lower(std::string_view text) {
  std::string out;
  for (const char c : text) out.push_back(ascii_lower(c));
  return out;
}

void add(Object& paths, const Route& route) {
  Value& place = paths[std::string(route.path)];
  Object methods = place.if_object() == nullptr ? Object() : *place.if_object();
  if (route.method != "*") {
    methods.emplace(lower(route.method), operation_of(route));
  } else {
    for (const std::string_view method : any_method) {
      Object operation = operation_of(route);
      operation["operationId"] = std::string(route.id).append("_").append(method);
      methods.emplace(method, std::move(operation));
    }
  }
  place = std::move(methods);
}

}  // namespace

Value openapi(const Routes& routes, std::string_view version) {
  Object paths;
  for (const Route& route : routes) add(paths, route);
  return Object{
      {"openapi", "3.1.0"},
      {"info", Object{{"title", "pawl admin API"},
                      {"version", version},
                      {"description",
                       "Limits, tenants, idempotent writes, audit events, webhooks, orders and the "
                       "queue of a running pawl. Errors are problem+json with a stable code."}}},
      {"paths", std::move(paths)},
      {"components",
       Object{{"schemas", Object{{"Problem", problem_schema()}}},
              {"securitySchemes", Object{{"token", Object{{"type", "http"}, {"scheme", "bearer"}}},
                                         {"proxy_token", Object{{"type", "apiKey"},
                                                                {"in", "header"},
                                                                {"name", proxy_token_field}}}}}}},
  };
}

}  // namespace pawl::admin
