#include "gateway/admin.h"

#include <utility>

#include "base/json.h"
#include "base/sha256.h"

namespace pawl::gateway {
namespace {

constexpr std::string_view bearer = "Bearer ";

bool may_enter(const AdminContext& context, const server::Request& request) {
  if (context.token.empty()) return true;
  const std::string_view given = request.header("Authorization");
  return given.starts_with(bearer) &&
         equal_in_constant_time(given.substr(bearer.size()), context.token.reveal());
}

server::Response problem(http::ProblemCode code, std::string detail, std::string fields = "") {
  return server::problem_response({.code = code, .detail = std::move(detail)}, std::move(fields));
}

server::Response status(int code, json::Object body) {
  return {
      .status = code, .body = json::print(json::Value(std::move(body))) + "\n", .extra_fields = {}};
}

server::Response health(const AdminContext& context) {
  const std::string degraded = context.degraded();
  if (degraded.empty()) return status(200, {{"status", "ok"}});
  return status(200, {{"status", "degraded"}, {"detail", degraded}});
}

server::Response readiness(const AdminContext& context) {
  const Result<void> ready = context.ready();
  if (ready) return status(200, {{"status", "ready"}});
  return status(503, {{"status", "not ready"}, {"detail", ready.error().message}});
}

}  // namespace

server::Response answer_admin(const AdminContext& context, const server::Request& request) {
  const std::string_view path = request.path();
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (!reads) {
    return problem(http::ProblemCode::method_not_allowed, "Only GET is served here.",
                   "Allow: GET, HEAD\r\n");
  }
  if (path == "/healthz") return health(context);
  if (path == "/readyz") return readiness(context);
  if (!may_enter(context, request)) {
    return problem(http::ProblemCode::unauthorized,
                   "Send the admin token: Authorization: Bearer TOKEN.",
                   "WWW-Authenticate: Bearer\r\n");
  }
  if (path == "/metrics") {
    context.refresh();
    return {.content_type = "text/plain; version=0.0.4; charset=utf-8",
            .body = context.metrics.text(),
            .extra_fields = {}};
  }
  return problem(http::ProblemCode::not_found,
                 "Nothing is served at this path. Try /healthz, /readyz or /metrics.");
}

}  // namespace pawl::gateway
