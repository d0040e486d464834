#include "config/server.h"

#include <optional>
#include <string>

#include "base/bounds.h"
#include "base/bounds_panel.h"
#include "base/text.h"
#include "base/utf8.h"
#include "config/places.h"
#include "config/values.h"

namespace pawl::config {
namespace {

Type<Duration> timeout() {
  return duration(bounds::config_timeout_min, bounds::config_timeout_max);
}

// What stands on a button.
Type<std::string> label() {
  return scalar<std::string>(
      {"text", "1 to " + std::to_string(bounds::panel_text_bytes_max) +
                   " bytes of text that can be printed"},
      [](const std::string& text) -> std::optional<std::string> {
        const bool good =
            !text.empty() && text.size() <= bounds::panel_text_bytes_max && is_printable(text);
        return good ? std::optional(text) : std::nullopt;
      },
      [](const std::string& value) { return value; });
}

Type<int> in_a_row() {
  return whole_number<int>(1, bounds::config_health_count_max);
}

Fields<Config> traffic_fields() {
  return {
      bind<Config>({"server.listen", "Where guarded traffic comes in.", Node::of("127.0.0.1:8080"),
                    needs_restart},
                   address(), PAWL_MEMBER(server.listen)),
      bind<Config>({"server.upstream",
                    "The service that guarded requests are passed to. Of several the one with the "
                    "fewest requests under way gets the next, if it is healthy.",
                    Node::of("http://127.0.0.1:9000")},
                   one_or_more(upstream(), bounds::config_upstreams_max),
                   PAWL_MEMBER(server.upstreams)),
      bind<Config>({"server.upstream_ca",
                    "A file of authorities (PEM) that an upstream's certificate must be signed by; "
                    "empty: those of the system.",
                    Node::of("")},
                   file_path_or_none(), PAWL_MEMBER(server.upstream_ca)),
      bind<Config>({"server.threads", "How many threads carry traffic; 0 is one per core.",
                    Node::of("0"), needs_restart},
                   whole_number<int>(0, bounds::threads_max), PAWL_MEMBER(server.threads)),
      bind<Config>(
          {"server.connections", "How many clients may be connected at once.", Node::of("10000")},
          whole_number<std::int64_t>(1, bounds::config_connections_max),
          PAWL_MEMBER(server.connections)),
      bind<Config>({"server.connections_per_address",
                    "How many of them from one address; tenants.trusted_proxies are not counted.",
                    Node::of("1000")},
                   whole_number<std::int64_t>(1, bounds::config_connections_max),
                   PAWL_MEMBER(server.connections_per_address)),
      bind<Config>({"server.requests",
                    "How many requests may be under way at once; beyond that the answer is 503.",
                    Node::of("4096")},
                   whole_number<std::int64_t>(1, bounds::config_requests_max),
                   PAWL_MEMBER(server.requests)),
      bind<Config>({"server.websocket",
                    "true: an upgrade to WebSocket is passed on. Any other upgrade is refused.",
                    truth().print(false)},
                   truth(), PAWL_MEMBER(server.websocket)),
  };
}

Fields<Config> health_fields() {
  return {
      bind<Config>({"server.health.path",
                    "What each upstream is asked (GET), which it must answer with 2xx; empty: that "
                    "it takes a connection is enough.",
                    Node::of("")},
                   request_path_or_none(), PAWL_MEMBER(server.health.path)),
      bind<Config>({"server.health.interval", "How often.", Node::of("5s")},
                   duration(bounds::config_health_interval_min, bounds::config_timeout_max),
                   PAWL_MEMBER(server.health.interval)),
      bind<Config>(
          {"server.health.timeout", "How long it may take over the answer.", Node::of("1s")},
          timeout(), PAWL_MEMBER(server.health.timeout)),
      bind<Config>({"server.health.unhealthy_after",
                    "After so many failures in a row it gets no requests.", Node::of("2")},
                   in_a_row(), PAWL_MEMBER(server.health.unhealthy_after)),
      bind<Config>({"server.health.healthy_after",
                    "After so many successes in a row it gets them again.", Node::of("1")},
                   in_a_row(), PAWL_MEMBER(server.health.healthy_after)),
  };
}

Fields<Config> timeout_fields() {
  return {
      bind<Config>(
          {"server.timeouts.head",
           "How long a client may take over a request's line and headers, in all.", Node::of("5s")},
          timeout(), PAWL_MEMBER(server.timeouts.head)),
      bind<Config>({"server.timeouts.idle",
                    "How long a client may be silent between two requests, or two pieces of a "
                    "body.",
                    Node::of("60s")},
                   timeout(), PAWL_MEMBER(server.timeouts.idle)),
      bind<Config>(
          {"server.timeouts.connect",
           "How long it may take to connect to an upstream, TLS included.", Node::of("5s")},
          timeout(), PAWL_MEMBER(server.timeouts.connect)),
      bind<Config>(
          {"server.timeouts.answer",
           "How long an upstream may be silent before and within its answer.", Node::of("60s")},
          timeout(), PAWL_MEMBER(server.timeouts.answer)),
  };
}

Fields<Config> tls_fields() {
  return {
      bind<Config>(
          {"server.tls.certificate",
           "The certificate of the guarded listener and those that lead to its authority, "
           "a file in PEM form; empty: no TLS. What the files hold is read again on SIGHUP.",
           Node::of(""), needs_restart},
          file_path_or_none(), PAWL_MEMBER(server.tls.certificate)),
      bind<Config>(
          {"server.tls.key", "Its private key, a file in PEM form.", Node::of(""), needs_restart},
          file_path_or_none(), PAWL_MEMBER(server.tls.key)),
  };
}

Fields<Config> admin_fields() {
  return {
      bind<Config>({"server.admin.listen",
                    "Where panel, API and metrics are; an address that others can reach needs a "
                    "token.",
                    Node::of("127.0.0.1:8081"), needs_restart},
                   address(), PAWL_MEMBER(server.admin.listen)),
      bind<Config>(
          {"server.admin.token",
           "What callers of the admin listener must show; nothing when it is empty.", Node::of("")},
          secret(), PAWL_MEMBER(server.admin.token)),
      bind<Config>({"server.admin.hosts",
                    "By which names callers may ask the admin listener, beside localhost and its "
                    "addresses, and whose pages may ask it: any other Host or Origin is refused.",
                    Node::texts({})},
                   list_of(host(), {0, bounds::config_list_max},
                           "a list of up to " + std::to_string(bounds::config_list_max) +
                               " names or addresses, as in [pawl.example.org]"),
                   PAWL_MEMBER(server.admin.hosts)),
      bind<Config>({"server.admin.panel.trading",
                    "Whether orders may be placed, modified and cancelled from the panel. Programs "
                    "may in any case.",
                    Node::of("false")},
                   truth(), PAWL_MEMBER(server.admin.panel.trading)),
      bind<Config>(
          {"server.admin.panel.upgrade_text",
           "What the panel offers for a tenant that is near a limit.", Node::of("Upgrade")},
          label(), PAWL_MEMBER(server.admin.panel.upgrade_text)),
      bind<Config>({"server.admin.panel.upgrade_link",
                    "Where that leads; empty: nothing is offered.", Node::of("")},
                   web_url_or_none(), PAWL_MEMBER(server.admin.panel.upgrade_link)),
  };
}

// Whether one of the two takes the port away from the other.
bool collide(const Endpoint& a, const Endpoint& b) {
  if (a.port != b.port || a.port == 0) return false;
  if (a.address == b.address) return true;
  return a.address.is_v4() == b.address.is_v4() &&
         (a.address.is_unspecified() || b.address.is_unspecified());
}

void check_listeners(const Server& server, Reader& reader) {
  const std::string path = "server.admin.listen";
  const Endpoint& admin = server.admin.listen;
  if (!reader.sound(path)) return;
  if (reader.sound("server.listen") && collide(server.listen, admin)) {
    reader.refuse_collision({path, to_string(admin)}, {"server.listen", to_string(server.listen)},
                            "give each listener a port of its own");
  }
  if (reader.sound("server.admin.token") && server.admin.token.empty() &&
      !admin.address.is_loopback()) {
    reader.problem(reader.line_of(path), path,
                   "found " + to_string(admin) +
                       ", which others can reach, without a server.admin.token; set the token, or "
                       "listen on 127.0.0.1 or [::1]");
  }
}

// Whether what is sent to `target` arrives at a listener of this machine.
bool arrives(const Endpoint& target, const Endpoint& listener) {
  if (target.port != listener.port) return false;
  const IpAddress& to = target.address;
  const IpAddress& at = listener.address;
  return to == at || (at.is_unspecified() && (to.is_loopback() || to.is_unspecified())) ||
         (to.is_unspecified() && at.is_loopback());
}

// Traffic sent to a listener of pawl's own would go round for ever, or lay the admin API open.
void check_upstream(const Upstream& upstream, const std::string& path, const Server& server,
                    Reader& reader) {
  const bool local = equal_ignoring_case(upstream.host, "localhost");
  const auto ip = parse_ip(local ? "127.0.0.1" : upstream.host);
  if (!ip) return;
  const Endpoint target{*ip, upstream.port};
  const auto check = [&](const std::string& name, const Endpoint& listener) {
    if (!reader.sound(name) || !arrives(target, listener)) return;
    reader.refuse_collision({path, to_string(target)}, {name, to_string(listener)},
                            "pawl must not send traffic to itself");
  };
  check("server.listen", server.listen);
  check("server.admin.listen", server.admin.listen);
}

void check_upstreams(const Server& server, Reader& reader) {
  const std::string path = "server.upstream";
  if (!reader.sound_below(path)) return;
  const bool listed = reader.line_of(path + "[0]") > 0;
  for (std::size_t i = 0; i < server.upstreams.size(); ++i) {
    const std::string place = listed ? path + "[" + std::to_string(i) + "]" : path;
    check_upstream(server.upstreams[i], place, server, reader);
  }
}

void check_tls(const Tls& tls, Reader& reader) {
  const std::string certificate = "server.tls.certificate";
  const std::string key = "server.tls.key";
  if (tls.certificate.empty() == tls.key.empty()) return;
  if (!reader.sound(certificate) || !reader.sound(key)) return;
  const std::string& given = tls.key.empty() ? certificate : key;
  const std::string& missing = tls.key.empty() ? key : certificate;
  reader.problem(reader.line_of(given), given,
                 "found it without a " + missing + "; give both, or neither for no TLS");
}

}  // namespace

Fields<Config> server_fields() {
  return joined(
      {traffic_fields(), health_fields(), timeout_fields(), tls_fields(), admin_fields()});
}

void check_server(const Server& server, Reader& reader) {
  check_listeners(server, reader);
  check_upstreams(server, reader);
  check_tls(server.tls, reader);
}

}  // namespace pawl::config
