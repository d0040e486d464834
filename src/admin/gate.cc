#include "admin/gate.h"

#include <algorithm>

#include "admin/call.h"
#include "base/sha256.h"
#include "base/text.h"

namespace pawl::admin {
namespace {

using http::ProblemCode;

constexpr std::string_view bearer = "Bearer ";

// Without its port; the colons of an IPv6 address stand in brackets.
std::string_view name_of(std::string_view authority) {
  return authority.substr(0, authority.find(':', authority.find(']') + 1));  // npos + 1 is 0
}

bool is_address(std::string_view name) {
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  return parse_ip(name).has_value();
}

bool is_localhost(std::string_view name) {
  constexpr std::string_view local = "localhost";
  if (name.size() < local.size()) return false;
  const std::string_view front = name.substr(0, name.size() - local.size());
  return equal_ignoring_case(name.substr(front.size()), local) &&
         (front.empty() || front.ends_with('.'));
}

bool is_listed(const std::vector<std::string>& hosts, std::string_view name) {
  return std::ranges::any_of(
      hosts, [&](const std::string& host) { return equal_ignoring_case(host, name); });
}

bool may_name_host(const GateSettings& settings, std::string_view authority) {
  const std::string_view name = name_of(authority);
  return is_address(name) || is_localhost(name) || is_listed(settings.hosts, name);
}

bool may_come_from(const GateSettings& settings, const server::Request& request) {
  const std::string_view site = request.header("Sec-Fetch-Site");
  if (!site.empty() && site != "same-origin" && site != "none") return false;
  std::string_view origin = request.header("Origin");
  if (origin.empty()) return true;
  const std::size_t scheme = origin.find("://");
  if (scheme == std::string_view::npos) return false;  // "null", say
  origin.remove_prefix(scheme + 3);
  return equal_ignoring_case(origin, request.header("Host")) ||
         is_listed(settings.hosts, name_of(origin));
}

bool changes_something(std::string_view method) {
  return method != "GET" && method != "HEAD";
}

std::string_view token_of(const server::Request& request, Access access) {
  if (access == Access::proxy) return request.header(proxy_token_field);
  const std::string_view given = request.header("Authorization");
  const bool named =
      given.size() >= bearer.size() && equal_ignoring_case(given.substr(0, bearer.size()), bearer);
  return named ? given.substr(bearer.size()) : std::string_view();
}

bool is_same(std::string_view given, const Secret<std::string>& token) {
  return equal_in_constant_time(to_hex(sha256(given)), to_hex(sha256(token.reveal())));
}

}  // namespace

bool is_of_browser(const server::Request& request) {
  return !request.header("Sec-Fetch-Site").empty() || !request.header("Origin").empty() ||
         !request.header("Cookie").empty();
}

std::optional<server::Response> Gate::refuse(const GateSettings& settings,
                                             const server::Request& request, Access access,
                                             SteadyInstant now) {
  const std::string_view host = request.header("Host");
  // HTTP/1.0 has none, and no browser sends that.
  if (access != Access::proxy && !host.empty() && !may_name_host(settings, host)) {
    return problem(ProblemCode::forbidden,
                   "The Host field names a host that is not served here. Ask by address or as "
                   "localhost, or add the name to server.admin.hosts.");
  }
  const bool is_ours = access == Access::token || access == Access::trade;
  if (is_ours && changes_something(request.method) && !may_come_from(settings, request)) {
    return problem(ProblemCode::forbidden,
                   "A page of another site may not change anything here. If it may, add its host "
                   "to server.admin.hosts.");
  }
  if (access == Access::trade && !settings.trading && is_of_browser(request)) {
    return problem(ProblemCode::forbidden,
                   "Orders are not placed or changed from the panel. If they may be, set "
                   "server.admin.panel.trading.");
  }
  if (access == Access::open || settings.token.empty()) return std::nullopt;
  if (is_ours && request.header("Authorization").empty()) {
    const std::string csrf = sessions_.csrf_of(request, settings.token, now);
    if (!csrf.empty()) return refuse_session(request, csrf);
  }
  return refuse_token(settings, request, access, now);
}

bool Gate::is_still_in(const GateSettings& settings, const server::Request& request,
                       SteadyInstant now) {
  if (settings.token.empty()) return true;
  if (request.header("Authorization").empty()) {
    return !sessions_.csrf_of(request, settings.token, now).empty();
  }
  return is_same(token_of(request, Access::token), settings.token);
}

std::optional<server::Response> Gate::refuse_session(const server::Request& request,
                                                     std::string_view csrf) const {
  if (!changes_something(request.method)) return std::nullopt;
  if (equal_in_constant_time(request.header(csrf_field), csrf)) return std::nullopt;
  return problem(ProblemCode::forbidden,
                 "What changes something must carry the CSRF token of its session: X-Pawl-Csrf. "
                 "Load the panel again.");
}

std::optional<server::Response> Gate::refuse_token(const GateSettings& settings,
                                                   const server::Request& request, Access access,
                                                   SteadyInstant now) {
  if (const Duration wait = lockout_.wait(request.peer, now); wait > Duration()) {
    return problem(ProblemCode::locked_out,
                   "Too many wrong tokens came from this address. Wait " +
                       std::to_string(wait.seconds_up()) + " seconds, then send the right one.",
                   "Retry-After: " + std::to_string(wait.seconds_up()) + "\r\n");
  }
  const std::string_view given = token_of(request, access);
  if (!given.empty() && is_same(given, settings.token)) {
    lockout_.succeeded(request.peer);
    return std::nullopt;
  }
  if (!given.empty()) lockout_.failed(request.peer, now);
  if (access == Access::proxy) {
    return problem(ProblemCode::unauthorized, "Let the proxy send the admin token: X-Pawl-Token.");
  }
  return problem(ProblemCode::unauthorized, "Send the admin token: Authorization: Bearer TOKEN.",
                 "WWW-Authenticate: Bearer\r\n");
}

}  // namespace pawl::admin
