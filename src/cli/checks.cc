#include "cli/checks.h"

#include <algorithm>
#include <sys/resource.h>
#include <utility>

#include "cli/configuration.h"
#include "cli/probe.h"

namespace pawl::cli {
namespace {

constexpr std::string_view health_request =
    "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

// Where somebody on this machine finds what listens on `endpoint`.
net::Target target_of(const Endpoint& endpoint) {
  if (!endpoint.address.is_unspecified()) {
    return {.host = to_string(endpoint.address), .port = endpoint.port};
  }
  return {.host = endpoint.address.is_v4() ? "127.0.0.1" : "::1", .port = endpoint.port};
}

bool is_admin_of_a_pawl(const Endpoint& endpoint) {
  const Result<std::string> answer = ask(target_of(endpoint), health_request);
  return answer && answer->starts_with("HTTP/1.1 200 ") &&
         answer->find("{\"status\":\"ok\"}") != std::string::npos;
}

Finding taken(std::string check, const Endpoint& endpoint, std::string_view setting) {
  return {.check = std::move(check),
          .health = Health::fail,
          .found = "another program listens on " + to_string(endpoint),
          .advice = "end it, or choose another address with " + std::string(setting)};
}

// Everything but the one question that differs: whether a running pawl has the address.
Finding check_address(std::string check, const Endpoint& endpoint, std::string_view setting,
                      const Endpoint& admin) {
  const Result<bool> is_free_now = is_free(endpoint);
  if (!is_free_now) {
    return {.check = std::move(check),
            .health = Health::fail,
            .found = is_free_now.error().message,
            .advice = "set it with " + std::string(setting)};
  }
  if (*is_free_now) {
    return {.check = std::move(check),
            .found = endpoint.port == 0 ? "any free port of " + to_string(endpoint.address)
                                        : to_string(endpoint) + " is free",
            .advice = ""};
  }
  if (!is_admin_of_a_pawl(admin)) return taken(std::move(check), endpoint, setting);
  return {.check = std::move(check),
          .found = to_string(endpoint) + " is in use; a pawl is running, " + to_string(admin) +
                   " answers /healthz",
          .advice = ""};
}

}  // namespace

Finding check_configuration(const std::string& file, const config::Loaded& loaded) {
  Finding finding{.check = std::string(configuration_check), .found = {}, .advice = {}};
  if (loaded && file.empty()) {
    finding.found = "no file; the built-in defaults are in force";
    finding.advice = "to change them, write pawl.yaml; 'pawl config show' prints one to begin with";
  } else if (loaded) {
    finding.found = file + " is valid";
  } else {
    const auto& problems = loaded.error();
    finding.health = Health::fail;
    finding.found = to_string(problems.front());
    if (problems.size() > 1) {
      finding.found += " (and " + std::to_string(problems.size() - 1) + " more)";
    }
    finding.advice = "correct the file; 'pawl config check " + file + "' names every problem";
  }
  return finding;
}

Finding check_guarded_address(const config::Server& server) {
  return check_address("guarded address", server.listen, "server.listen", server.admin.listen);
}

Finding check_admin_address(const config::Admin& admin) {
  return check_address("admin address", admin.listen, "server.admin.listen", admin.listen);
}

Finding check_upstream(const config::Upstream& upstream, bool is_default) {
  const net::Target target{.host = upstream.host, .port = upstream.port};
  const Result<void> reached = reach(target);
  if (!reached && is_default) {
    return {.check = "upstream",
            .health = Health::warn,
            .found = reached.error().message + " (the default: none is named)",
            .advice = "name the service in server.upstream, if pawl is to stand in front of one"};
  }
  if (!reached) {
    return {.check = "upstream",
            .health = Health::fail,
            .found = reached.error().message,
            .advice = "start the service, or correct server.upstream; until then answers are 502"};
  }
  return {.check = "upstream",
          .found = target.host + ":" + std::to_string(target.port) + " accepts connections",
          .advice = ""};
}

std::uint64_t descriptors_allowed() {
  rlimit limit = {};
  // serve raises its own limit this far.
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : 0;
}

Finding check_descriptors(std::uint64_t allowed, std::int64_t connections) {
  // A client's connection and the one to the upstream.
  const std::uint64_t wanted = 2 * static_cast<std::uint64_t>(connections);
  const std::string found = std::to_string(allowed) + " allowed, enough for about " +
                            std::to_string(std::min<std::uint64_t>(allowed, wanted) / 2) +
                            " connections at once";
  if (allowed >= wanted) return {.check = "file descriptors", .found = found, .advice = ""};
  return {.check = "file descriptors",
          .health = Health::warn,
          .found = found,
          .advice = "for the " + std::to_string(connections) +
                    " of server.connections raise the hard limit to " + std::to_string(wanted) +
                    ": 'ulimit -Hn' as root, or LimitNOFILE in its unit"};
}

Finding check_clock(Clock& clock) {
  // 2026-01-01: this code is not older than that.
  constexpr Instant earliest = Instant::from_ns(1'767'225'600'000'000'000);
  constexpr int reads_max = 1'000'000;
  const Instant wall = clock.wall_now();
  if (wall < earliest) {
    return {.check = "clock",
            .health = Health::fail,
            .found = "the wall clock says " + to_string(wall),
            .advice = "set it, and keep it right with NTP: resets and the audit log depend on it"};
  }
  const SteadyInstant begin = clock.steady_now();
  for (int reads = 0; reads < reads_max; ++reads) {
    if (clock.steady_now() > begin) {
      return {
          .check = "clock", .found = to_string(wall) + "; the steady clock advances", .advice = ""};
    }
  }
  return {.check = "clock",
          .health = Health::fail,
          .found = "the steady clock stands still",
          .advice =
              "look at the machine's clock source; nothing that is limited would ever be "
              "allowed again"};
}

}  // namespace pawl::cli
